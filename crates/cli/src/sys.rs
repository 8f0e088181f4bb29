//! What the operating systems do differently, as far as the CLI needs it. Nothing else in this crate reads `/proc`.
//!
//! | need | Linux | macOS |
//! |---|---|---|
//! | path of another process's program | link `/proc/PID/exe`; ` (deleted)` after the file was replaced | not available without unsafe code (`proc_pidpath`): unknown |
//! | state of a process | `/proc/PID/stat` | unknown; a process that was reaped is gone, and `kill(2)` with signal 0 says so |
//! | when a process started | field 22 of `/proc/PID/stat` | `ps -o lstart=`, as `ps(1)` documents |
//! | abstract sockets, for `NOTIFY_SOCKET` | `unix(7)` | none; launchd has no such protocol |
//! | length of a socket path | 108 bytes, `unix(7)` | 104 bytes, `unix(4)` |

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessProgram {
    /// Where its file is, or was.
    pub(crate) path: PathBuf,
    /// Whether the file was replaced or removed since the process started.
    pub(crate) is_replaced: bool,
}

/// Returns the program of a process, if the system tells.
pub(crate) fn program_of(pid: u32) -> Option<ProcessProgram> {
    let link = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let text = link.to_string_lossy();
    Some(match text.strip_suffix(" (deleted)") {
        Some(path) => ProcessProgram { path: PathBuf::from(path), is_replaced: true },
        None => ProcessProgram { path: link.clone(), is_replaced: false },
    })
}

/// Whether a process has ended and its parent has not collected it. False where the system does not tell.
pub(crate) fn has_ended(pid: u32) -> bool {
    // The state follows the name, which is in parentheses and can contain any character.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// Returns a text that changes when another process gets the same number: when this one started.
pub(crate) fn start_of(pid: u32) -> Option<String> {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The 22nd field; the second can contain spaces and parentheses.
        Ok(stat) => stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)).map(str::to_owned),
        Err(_) if cfg!(target_os = "linux") => None,
        Err(_) => {
            let output = Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
            let started = String::from_utf8(output.stdout).ok()?.split_whitespace().collect::<Vec<_>>().join("-");
            Some(started).filter(|started| !started.is_empty())
        }
    }
}

/// Whether standard error is this file. The numbers of devices have different types on Linux and macOS; the standard library
/// makes them one.
pub(crate) fn is_stderr(path: &Path) -> bool {
    let stderr = io::stderr().as_fd().try_clone_to_owned().and_then(|fd| std::fs::File::from(fd).metadata());
    match (std::fs::metadata(path), stderr) {
        (Ok(file), Ok(stderr)) => (file.dev(), file.ino()) == (stderr.dev(), stderr.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Sends one message to a socket that is named as in `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
pub(crate) fn send_datagram(socket: &str, message: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    match socket.strip_prefix('@') {
        None => sender.send_to(message.as_bytes(), socket)?,
        Some(name) => send_to_abstract(&sender, name, message)?,
    };
    Ok(())
}

#[cfg(target_os = "linux")]
fn send_to_abstract(sender: &UnixDatagram, name: &str, message: &str) -> io::Result<usize> {
    use std::os::linux::net::SocketAddrExt as _;
    sender.send_to_addr(message.as_bytes(), &std::os::unix::net::SocketAddr::from_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn send_to_abstract(_sender: &UnixDatagram, _name: &str, _message: &str) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn process_ends_once_it_is_a_zombie() {
        assert!(!has_ended(std::process::id()));
        let mut child = Command::new("true").spawn().unwrap();
        while !has_ended(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!has_ended(child.id()), "a process that was collected has no state");
    }

    #[test]
    fn own_process_has_a_program_and_a_start() {
        let program = ProcessProgram { path: std::env::current_exe().unwrap(), is_replaced: false };
        assert_eq!(program_of(std::process::id()), cfg!(target_os = "linux").then_some(program));
        assert_eq!(start_of(std::process::id()), start_of(std::process::id()));
        assert!(start_of(std::process::id()).is_some());
    }

    #[test]
    fn datagrams_reach_path_sockets_and_abstract_sockets() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let by_path = UnixDatagram::bind(&path).unwrap();
        send_datagram(path.to_str().unwrap(), "READY=1").unwrap();
        let mut bytes = [0; 64];
        let length = by_path.recv(&mut bytes).unwrap();
        assert_eq!(&bytes[..length], b"READY=1");
        assert!(send_datagram("/not/there", "READY=1").is_err());
        #[cfg(target_os = "linux")]
        {
            use std::os::linux::net::SocketAddrExt as _;
            let name = format!("sayso-test-{}", std::process::id());
            let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
            let by_name = UnixDatagram::bind_addr(&address).unwrap();
            send_datagram(&format!("@{name}"), "WATCHDOG=1").unwrap();
            let length = by_name.recv(&mut bytes).unwrap();
            assert_eq!(&bytes[..length], b"WATCHDOG=1");
        }
    }
}
