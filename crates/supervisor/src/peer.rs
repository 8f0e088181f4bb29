//! Identification of the process at the other end of a socket. A supervisor accepts commands from a server, never from
//! an agent: an agent that could write to its own input would answer its own questions.
//!
//! A process counts as started by an agent if one of its ancestors is a supervisor. Supervisors adopt the orphans of
//! their agents, so a process does not leave the tree by forking and exiting. A process can leave the tree if another
//! program starts it, such as the user's service manager; this check cannot detect that.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::agent::Process;

/// Maximum depth of a process tree.
const MAX_ANCESTORS: usize = 4096;
/// How many times the ancestors are read if they change concurrently.
const MAX_READINGS: usize = 50;

/// A process that may not attach; 0 if its id is unknown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RefusedPeer(pub(crate) u32);

/// The process that connected, unless it belongs to another user or to an agent. `dir` is the directory of this
/// supervisor. On systems that do not report the peer (0), the mode of the socket is the only check.
#[cfg(target_os = "linux")]
pub(crate) fn check_peer(socket: &UnixStream, dir: &Path) -> Result<u32, RefusedPeer> {
    use std::os::fd::AsFd;
    let peer = crate::sys::peer_credentials(socket.as_fd()).map_err(|_| RefusedPeer(0))?;
    let pid = u32::try_from(peer.pid).unwrap_or(0);
    let ancestors = read_ancestors(peer.pid).ok_or(RefusedPeer(pid))?;
    let agents = dir.parent().and_then(Path::parent);
    let is_ours = |ancestor: &i32| {
        u32::try_from(*ancestor) == Ok(std::process::id()) || agents.is_some_and(|agents| supervises_in(*ancestor, agents))
    };
    if peer.uid != crate::sys::effective_user_id() || ancestors.iter().any(is_ours) { Err(RefusedPeer(pid)) } else { Ok(pid) }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn check_peer(_socket: &UnixStream, _dir: &Path) -> Result<u32, RefusedPeer> {
    Ok(0)
}

/// Whether an agent started this process, directly or indirectly. Only agents whose supervisor keeps its journal below
/// `agents` count. Always false on systems without `/proc`.
#[must_use]
pub fn is_started_by_an_agent(pid: u32, agents: &Path) -> bool {
    let ancestors = i32::try_from(pid).ok().and_then(read_ancestors).unwrap_or_default();
    ancestors.iter().skip(1).any(|ancestor| supervises_in(*ancestor, agents))
}

/// A process and its ancestors, nearest first, up to those that are hidden from us. `None` if the process exited, or if
/// the process table changes too fast for a consistent reading.
fn read_ancestors(pid: i32) -> Option<Vec<i32>> {
    // A process whose parent exits gets a new parent, and the former parent's id can be reused. Two equal readings are
    // consistent.
    let mut before = read_ancestors_once(pid)?;
    for _ in 0..MAX_READINGS {
        let now = read_ancestors_once(pid)?;
        if now == before {
            return Some(now);
        }
        before = now;
    }
    None
}

fn read_ancestors_once(pid: i32) -> Option<Vec<i32>> {
    let mut process = Process::read(pid)?;
    let mut found = vec![pid];
    while process.parent > 0 && found.len() < MAX_ANCESTORS {
        found.push(process.parent);
        match Process::read(process.parent) {
            Some(parent) => process = parent,
            None => break,
        }
    }
    Some(found)
}

/// Whether this process is a supervisor that keeps its journal below `agents`.
fn supervises_in(pid: i32, agents: &Path) -> bool {
    let Ok(arguments) = std::fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    let arguments: Vec<OsString> = arguments.split(|byte| *byte == 0).map(|part| OsString::from_vec(part.to_vec())).collect();
    supervised_dir(&arguments).and_then(Path::parent).and_then(Path::parent).is_some_and(|found| real(found) == real(agents))
}

/// The directory in `… supervise --dir DIR …`.
fn supervised_dir(arguments: &[OsString]) -> Option<&Path> {
    let rest = arguments.get(1).filter(|argument| *argument == "supervise").and(arguments.get(2..))?;
    let mut options = rest.iter().take_while(|argument| *argument != "--").skip_while(|argument| *argument != "--dir");
    options.nth(1).map(Path::new)
}

fn real(path: &Path) -> PathBuf {
    let resolved: io::Result<PathBuf> = path.canonicalize();
    resolved.unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_of_a_supervisor_is_read_from_its_command_line() {
        let read = |line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            supervised_dir(&arguments).map(Path::to_owned)
        };
        assert_eq!(read("sayso supervise --dir /d/agents/c/1 --socket s -- cat"), Some("/d/agents/c/1".into()));
        assert_eq!(read("sayso supervise --socket s --dir d -- cat"), Some("d".into()));
        for other in
            ["", "sayso", "sayso serve --dir d", "sayso supervise", "sayso supervise --dir", "sayso supervise -- cat --dir d"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn ancestors_start_with_the_process_and_end_with_init() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let found = read_ancestors(pid).unwrap();
        assert_eq!(found[..2], [pid, own]);
        assert_eq!(found[1..], read_ancestors(own).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(read_ancestors(pid), None);
    }
}
