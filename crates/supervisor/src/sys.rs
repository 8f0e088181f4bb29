//! The few system calls that the standard library lacks. All unsafe code of the crate is here.
#![expect(unsafe_code, reason = "calls into the C library; each is small and says why it is sound")]

use std::ffi::{c_int, c_short, c_void};
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// The signals that the supervisor sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Term,
    Kill,
}

const SIGHUP: c_int = 1;
const SIGINT: c_int = 2;
const SIGKILL: c_int = 9;
const SIGTERM: c_int = 15;
const SIGPIPE: c_int = 13;
const SIGSEGV: c_int = 11;
#[cfg(target_os = "linux")]
const SIGBUS: c_int = 7;
#[cfg(not(target_os = "linux"))]
const SIGBUS: c_int = 10;
#[cfg(target_os = "linux")]
const SIGCHLD: c_int = 17;
#[cfg(not(target_os = "linux"))]
const SIGCHLD: c_int = 20;
/// The highest signal number on Linux. Other systems have fewer and reject the rest.
const LAST_SIGNAL: c_int = 64;
#[cfg(target_os = "linux")]
const SIG_SETMASK: c_int = 2;
#[cfg(not(target_os = "linux"))]
const SIG_SETMASK: c_int = 3;
const POLLIN: c_short = 1;
const POLLOUT: c_short = 4;
const WNOHANG: c_int = 1;
const F_GETFL: c_int = 3;
const F_SETFL: c_int = 4;
#[cfg(target_os = "linux")]
const O_NONBLOCK: c_int = 0o4_000;
#[cfg(not(target_os = "linux"))]
const O_NONBLOCK: c_int = 0x4;
#[cfg(target_os = "linux")]
const PR_SET_PDEATHSIG: c_int = 1;
#[cfg(target_os = "linux")]
const PR_SET_CHILD_SUBREAPER: c_int = 36;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const M_MMAP_THRESHOLD: c_int = -3;
#[cfg(target_os = "linux")]
const SOL_SOCKET: c_int = 1;
#[cfg(target_os = "linux")]
const SO_PEERCRED: c_int = 17;

/// `O_NOFOLLOW | O_NONBLOCK`: opening a file follows no symbolic link and does not wait for the other end of a pipe.
#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "arm")))]
pub(crate) const NO_FOLLOW_NO_WAIT: c_int = 0o100_000 | 0o4_000;
#[cfg(all(target_os = "linux", not(any(target_arch = "aarch64", target_arch = "arm"))))]
pub(crate) const NO_FOLLOW_NO_WAIT: c_int = 0o400_000 | 0o4_000;
#[cfg(not(target_os = "linux"))]
pub(crate) const NO_FOLLOW_NO_WAIT: c_int = 0x100 | 0x4;

#[cfg(target_os = "linux")]
type Count = std::ffi::c_ulong;
#[cfg(not(target_os = "linux"))]
type Count = std::ffi::c_uint;

#[repr(C)]
#[derive(Debug)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}

/// The descriptors to wait for. Fill it again before every wait.
#[derive(Debug, Default)]
pub(crate) struct PollSet {
    entries: Vec<PollFd>,
}

impl PollSet {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a descriptor and returns its slot. Linux reports the end of a connection even if neither reading nor writing is
    /// requested; macOS reports it with the next request to read.
    pub(crate) fn add(&mut self, fd: BorrowedFd<'_>, read: bool, write: bool) -> usize {
        let events = if read { POLLIN } else { 0 } | if write { POLLOUT } else { 0 };
        self.entries.push(PollFd { fd: fd.as_raw_fd(), events, revents: 0 });
        self.entries.len() - 1
    }

    /// Waits until a descriptor is ready. A signal can end the wait early; then no descriptor is ready.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        // Rounded up, so that waiting for less than a millisecond does not spin.
        let timeout = timeout.map_or(-1, |time| c_int::try_from(time.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX));
        // SAFETY: the entries are exclusively borrowed for the call, and the count is their number.
        let ready = unsafe { poll(self.entries.as_mut_ptr(), self.entries.len() as Count, timeout) };
        if ready >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        for entry in &mut self.entries {
            entry.revents = 0;
        }
        Ok(())
    }

    pub(crate) fn is_ready(&self, slot: usize) -> bool {
        self.entries.get(slot).is_some_and(|entry| entry.revents != 0)
    }
}

/// `struct ucred`: the process that connected to a socket.
#[cfg(target_os = "linux")]
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeerCredentials {
    /// 0 if the process is in an invisible namespace.
    pub(crate) pid: c_int,
    pub(crate) uid: std::ffi::c_uint,
    _gid: std::ffi::c_uint,
}

/// `sigset_t`: 128 bytes on Linux, fewer elsewhere. All zeros is the empty set.
#[repr(C)]
struct SignalSet([u64; 16]);

unsafe extern "C" {
    safe fn setsid() -> c_int;
    safe fn getppid() -> c_int;
    #[link_name = "kill"]
    safe fn send_signal(pid: c_int, signal: c_int) -> c_int;
    safe fn dup2(from: c_int, to: c_int) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn poll(fds: *mut PollFd, count: Count, timeout: c_int) -> c_int;
    fn write(fd: c_int, bytes: *const c_void, count: usize) -> isize;
    /// `None` is `SIG_DFL`.
    fn signal(number: c_int, handler: Option<extern "C" fn(c_int)>) -> usize;
    fn sigprocmask(how: c_int, set: *const SignalSet, before: *mut SignalSet) -> c_int;
    #[cfg(target_os = "linux")]
    fn prctl(option: c_int, ...) -> c_int;
    #[cfg(target_os = "linux")]
    safe fn geteuid() -> std::ffi::c_uint;
    #[cfg(target_os = "linux")]
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut std::ffi::c_uint) -> c_int;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    safe fn mallopt(option: c_int, value: c_int) -> c_int;
}

/// Makes the allocator return the memory of large inputs immediately. By default, it adapts to large allocations and
/// keeps their memory.
pub(crate) fn keep_no_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

/// Detaches from the terminal. `setsid` only fails for the leader of a process group, which has no terminal any more.
pub(crate) fn leave_terminal() {
    setsid();
}

/// Redirects stdin, stdout and stderr to `/dev/null`, so that no terminal and no pipe of the server stays open.
pub(crate) fn close_standard_streams() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    for fd in 0..3 {
        dup2(null.as_raw_fd(), fd);
    }
    Ok(())
}

/// Makes the supervisor adopt orphaned descendants, including those that left their process group.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: this option takes one integer and does not access memory.
    unsafe {
        prctl(PR_SET_CHILD_SUBREAPER, 1 as std::ffi::c_ulong);
    }
}

/// Makes the kernel kill the process that `command` starts when the starting thread ends for any reason. That thread
/// must therefore be the main thread.
pub(crate) fn kill_with_parent(command: &mut Command) {
    let parent = c_int::try_from(std::process::id()).unwrap_or(0);
    let before_exec = move || {
        #[cfg(target_os = "linux")]
        // SAFETY: this option takes one integer and does not access memory.
        unsafe {
            prctl(PR_SET_PDEATHSIG, SIGKILL as std::ffi::c_ulong);
        }
        // If the supervisor died before this call, nothing would ever stop the new process.
        if getppid() == parent { Ok(()) } else { Err(io::Error::from(io::ErrorKind::BrokenPipe)) }
    };
    // SAFETY: between fork and exec, the closure makes two system calls and does not allocate.
    unsafe {
        command.pre_exec(before_exec);
    }
}

/// Sends a signal to a process, or to a process group if `pid` is negative. A missing process is not an error.
pub(crate) fn kill(pid: i32, signal: Signal) {
    let number = match signal {
        Signal::Term => SIGTERM,
        Signal::Kill => SIGKILL,
    };
    send_signal(pid, number);
}

#[derive(Debug)]
pub(crate) enum Reaped {
    Child(i32, ExitStatus),
    /// There are running children, but none has exited.
    NoneEnded,
    NoChildren,
}

/// Reaps an exited child without blocking.
pub(crate) fn reap_child() -> Reaped {
    loop {
        let mut status = 0;
        // SAFETY: the pointer refers to a local variable that outlives the call.
        match unsafe { waitpid(-1, &raw mut status, WNOHANG) } {
            0 => return Reaped::NoneEnded,
            pid if pid > 0 => return Reaped::Child(pid, ExitStatus::from_raw(status)),
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return Reaped::NoChildren,
        }
    }
}

/// Makes reads and writes return instead of blocking.
pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: these commands take and return integers.
    let flags = unsafe { fcntl(fd.as_raw_fd(), F_GETFL) };
    // SAFETY: as above.
    if flags < 0 || unsafe { fcntl(fd.as_raw_fd(), F_SETFL, flags | O_NONBLOCK) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Whether the peer has closed a socket. Does not block or consume data.
#[cfg(target_os = "linux")]
pub(crate) fn is_hung_up(socket: &UnixStream) -> bool {
    let mut poll = PollSet::default();
    let slot = poll.add(socket.as_fd(), false, false);
    poll.wait(Some(Duration::ZERO)).is_ok() && poll.is_ready(slot)
}

/// Whether the peer has closed a socket. `poll` on macOS does not report the end of a connection whose events were not
/// requested, although `poll(2)` documents it. `getpeername(2)` fails once the socket is disconnected.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_hung_up(socket: &UnixStream) -> bool {
    socket.peer_addr().is_err()
}

/// The process that connected to a socket, as of the time of the connection.
#[cfg(target_os = "linux")]
pub(crate) fn peer_credentials(socket: BorrowedFd<'_>) -> io::Result<PeerCredentials> {
    let mut found = PeerCredentials::default();
    let mut length = std::ffi::c_uint::try_from(size_of::<PeerCredentials>()).unwrap_or(0);
    // SAFETY: both pointers refer to local variables that outlive the call, and `length` is the size of the first.
    let failed =
        unsafe { getsockopt(socket.as_raw_fd(), SOL_SOCKET, SO_PEERCRED, (&raw mut found).cast(), &raw mut length) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(found) }
}

/// The effective user id of this process.
#[cfg(target_os = "linux")]
pub(crate) fn effective_user_id() -> std::ffi::c_uint {
    geteuid()
}

/// Unblocks all signals and gives SIGCHLD its default action, for this process and all processes that it starts later.
/// A parent may block SIGTERM, which `sayso stop` and supervisors send. If the parent ignores SIGCHLD, exit codes of
/// children are lost. Other ignored signals stay ignored, as `nohup` expects. Call it before the process has other
/// threads.
pub fn unblock_signals() {
    use_default_action(SIGCHLD);
    let none = SignalSet([0; 16]);
    // SAFETY: the set outlives the call, and a null pointer requests no old mask. The call cannot fail with these
    // arguments.
    unsafe {
        sigprocmask(SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Like [`unblock_signals`], and also gives ignored signals their default action, because an agent inherits ignored
/// signals. The standard library manages three signals itself: it handles SIGSEGV and SIGBUS to report stack overflows,
/// and ignores SIGPIPE except in children.
pub(crate) fn reset_signals() {
    unblock_signals();
    for number in (1..=LAST_SIGNAL).filter(|number| ![SIGPIPE, SIGSEGV, SIGBUS].contains(number)) {
        use_default_action(number);
    }
}

fn use_default_action(number: c_int) {
    // SAFETY: sets no handler. Signals that cannot be changed are refused without effect.
    unsafe {
        signal(number, None);
    }
}

/// A caught signal, encoded as one byte in the pipe of [`catch_signals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caught {
    /// SIGTERM or SIGINT.
    Stop,
    Child,
}

impl Caught {
    const STOP: u8 = 1;
    const CHILD: u8 = 2;

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            Self::STOP => Some(Self::Stop),
            Self::CHILD => Some(Self::Child),
            _ => None,
        }
    }
}

/// The descriptor that the handler writes to.
static CAUGHT: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_signal(number: c_int) {
    let byte = match number {
        SIGHUP => return,
        SIGCHLD => Caught::CHILD,
        _ => Caught::STOP,
    };
    // SAFETY: `write` is async-signal-safe. If the pipe is full, enough bytes wait to be read. A handler must not
    // change `errno`; a failed write would, and the pipe is never full in practice.
    unsafe {
        write(CAUGHT.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
    }
}

/// Makes SIGTERM, SIGINT and SIGCHLD write a byte to the returned pipe, and makes SIGHUP do nothing. The signals are
/// caught instead of ignored, because the agent would inherit ignored signals.
pub(crate) fn catch_signals() -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    set_nonblocking(writer.as_fd())?;
    // The handler needs the descriptor until the process ends.
    CAUGHT.store(writer.into_raw_fd(), Ordering::Relaxed);
    for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] {
        // SAFETY: the handler makes one system call and does not allocate.
        unsafe {
            signal(number, Some(on_signal));
        }
    }
    Ok(reader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn closed_peer_is_reported_while_data_is_unread() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"unread").unwrap();
        assert!(!is_hung_up(&ours));
        drop(theirs);
        assert!(is_hung_up(&ours));
    }
}
