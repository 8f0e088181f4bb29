//! The few calls of the system that the standard library lacks. Nothing else in the crate is unsafe.
#![expect(unsafe_code, reason = "calls into the C library; each is small and says why it is sound")]

use std::ffi::{c_int, c_short, c_void};
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// What we send to processes.
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
/// The highest signal number on Linux. Other systems have fewer and refuse the rest.
const LAST_SIGNAL: c_int = 64;
#[cfg(target_os = "linux")]
const SIG_SETMASK: c_int = 2;
#[cfg(not(target_os = "linux"))]
const SIG_SETMASK: c_int = 3;
const POLLIN: c_short = 1;
#[cfg(target_os = "linux")]
const PR_SET_PDEATHSIG: c_int = 1;
#[cfg(target_os = "linux")]
const PR_SET_CHILD_SUBREAPER: c_int = 36;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const M_MMAP_THRESHOLD: c_int = -3;

#[cfg(target_os = "linux")]
type Count = std::ffi::c_ulong;
#[cfg(not(target_os = "linux"))]
type Count = std::ffi::c_uint;

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
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
    fn poll(fds: *mut PollFd, count: Count, timeout: c_int) -> c_int;
    fn write(fd: c_int, bytes: *const c_void, count: usize) -> isize;
    /// `None` is `SIG_DFL`.
    fn signal(number: c_int, handler: Option<extern "C" fn(c_int)>) -> usize;
    fn sigprocmask(how: c_int, set: *const SignalSet, before: *mut SignalSet) -> c_int;
    #[cfg(target_os = "linux")]
    fn prctl(option: c_int, ...) -> c_int;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    safe fn mallopt(option: c_int, value: c_int) -> c_int;
}

/// Tells the allocator to give the memory of large inputs back at once. By itself it learns from them
/// to keep such memory, which is right for other programs.
pub(crate) fn keep_no_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

/// Leaves the terminal. It fails only for the leader of a process group, which has left already.
pub(crate) fn leave_terminal() {
    setsid();
}

/// Points standard input, output and error at nothing, so that no terminal and no pipe of the server
/// is held open.
pub(crate) fn close_standard_streams() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    for fd in 0..3 {
        dup2(null.as_raw_fd(), fd);
    }
    Ok(())
}

/// Makes orphans among our descendants our own children, also those that left their process group.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: this option takes one integer and touches no memory of ours.
    unsafe {
        prctl(PR_SET_CHILD_SUBREAPER, 1 as std::ffi::c_ulong);
    }
}

/// The process that `command` starts is killed when the thread that starts it ends, however it ends.
/// That thread must therefore be the main one.
pub(crate) fn die_with_us(command: &mut Command) {
    let parent = c_int::try_from(std::process::id()).unwrap_or(0);
    let before_exec = move || {
        #[cfg(target_os = "linux")]
        // SAFETY: this option takes one integer and touches no memory of ours.
        unsafe {
            prctl(PR_SET_PDEATHSIG, SIGKILL as std::ffi::c_ulong);
        }
        // We may have died before the request was made; then nobody would ever end the new process.
        if getppid() == parent { Ok(()) } else { Err(io::Error::from(io::ErrorKind::BrokenPipe)) }
    };
    // SAFETY: between fork and exec this makes two system calls and allocates nothing.
    unsafe {
        command.pre_exec(before_exec);
    }
}

/// Sends a signal to a process, or with a negative number to a process group. That it is gone already
/// is no error to anybody here.
pub(crate) fn kill(pid: i32, signal: Signal) {
    let number = match signal {
        Signal::Term => SIGTERM,
        Signal::Kill => SIGKILL,
    };
    send_signal(pid, number);
}

/// Waits for any child to end. `None`: there are no children left.
pub(crate) fn wait_for_child() -> Option<(i32, ExitStatus)> {
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to a local that outlives the call.
        let pid = unsafe { waitpid(-1, &raw mut status, 0) };
        if pid > 0 {
            return Some((pid, ExitStatus::from_raw(status)));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// Waits until one of the descriptors can be read or is at its end; tells which. `None` in place of a
/// descriptor is never ready. Without a timeout it waits for ever; a signal may end it early.
pub(crate) fn readable<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], timeout: Option<Duration>) -> io::Result<[bool; N]> {
    poll_for(POLLIN, fds, timeout)
}

/// Has the other side of a socket closed it? Does not wait and reads nothing.
pub(crate) fn is_hung_up(socket: BorrowedFd<'_>) -> bool {
    matches!(poll_for(0, [Some(socket)], Some(Duration::ZERO)), Ok([true]))
}

fn poll_for<const N: usize>(
    events: c_short,
    fds: [Option<BorrowedFd<'_>>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut list = fds.map(|fd| PollFd { fd: fd.map_or(-1, |fd| fd.as_raw_fd()), events, revents: 0 });
    // Rounded up, so that a wait for the last half of a millisecond does not spin.
    let timeout = timeout.map_or(-1, |time| c_int::try_from(time.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX));
    // SAFETY: the list lives on this stack, and `N` is its length.
    let ready = unsafe { poll(list.as_mut_ptr(), N as Count, timeout) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok([false; N]) } else { Err(error) };
    }
    Ok(list.map(|entry| entry.revents != 0))
}

/// Unblocks all signals and gives SIGCHLD its default action, also for every process started from now on. A parent may
/// block SIGTERM, which `sayso stop` and supervisors send. If it ignores SIGCHLD, exit codes of children are lost. Other
/// ignored signals stay ignored, as `nohup` expects. Call it before the process has other threads.
pub fn unblock_signals() {
    use_default_action(SIGCHLD);
    let none = SignalSet([0; 16]);
    // SAFETY: the set outlives the call, and a null pointer asks for no old mask. It cannot fail with these arguments.
    unsafe {
        sigprocmask(SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Like [`unblock_signals`], and gives ignored signals their default action, because an agent inherits what we ignore.
/// The standard library manages three signals itself: it handles SIGSEGV and SIGBUS to report stack overflows, and
/// ignores SIGPIPE but not in children.
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

/// Where the handler writes.
static SIGNALLED: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_signal(number: c_int) {
    if number == SIGHUP {
        return;
    }
    // SAFETY: `write` may be called in a handler. One byte fits: the reader takes them as they come.
    unsafe {
        write(SIGNALLED.load(Ordering::Relaxed), (&raw const BYTE).cast(), 1);
    }
}

static BYTE: u8 = 1;

/// From now on SIGTERM and SIGINT put a byte into the pipe that is returned, and SIGHUP does nothing.
/// Handlers, not "ignore", because the agent would inherit what is ignored.
pub(crate) fn catch_signals() -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    // The handler needs it for ever.
    SIGNALLED.store(writer.into_raw_fd(), Ordering::Relaxed);
    for number in [SIGTERM, SIGINT, SIGHUP] {
        // SAFETY: the handler makes one system call and allocates nothing.
        unsafe {
            signal(number, Some(on_signal));
        }
    }
    Ok(reader)
}
