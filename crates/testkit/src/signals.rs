//! Default signal actions for programs that tests start, regardless of how the test itself was started.
#![expect(unsafe_code, reason = "the standard library cannot change the signals of a child process")]

use std::ffi::{c_int, c_ulong};
use std::io;

use tokio::process::Command;

/// Signal numbers on Linux are 1 to 64.
const LAST_SIGNAL: c_int = 64;
const SIG_SETMASK: c_int = 2;

/// `sigset_t`. The C library uses 128 bytes.
#[repr(C)]
struct SignalSet([c_ulong; 16]);

unsafe extern "C" {
    /// No handler is `SIG_DFL`.
    fn signal(number: c_int, handler: Option<extern "C" fn(c_int)>) -> usize;
    fn sigprocmask(how: c_int, set: *const SignalSet, before: *mut SignalSet) -> c_int;
}

/// Gives the program that `command` starts the default action for every signal, and blocks none. Without this, a
/// program under `nohup` or in a background job inherits ignored signals, which a shell cannot trap.
pub(crate) fn reset_in_child(command: &mut Command) {
    let reset = || {
        for number in 1..=LAST_SIGNAL {
            // SAFETY: sets no handler. SIGKILL, SIGSTOP and numbers that the C library reserves are rejected without
            // effect.
            unsafe { signal(number, None) };
        }
        let empty = SignalSet([0; 16]);
        // SAFETY: `empty` outlives the call, and a null pointer requests no old mask.
        let result = unsafe { sigprocmask(SIG_SETMASK, &raw const empty, std::ptr::null_mut()) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec, this only makes system calls and does not allocate.
    unsafe { command.pre_exec(reset) };
}
