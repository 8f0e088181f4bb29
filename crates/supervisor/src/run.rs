//! Sets up a supervisor and runs its event loop.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, absolute};
use std::process::ExitCode;
use std::thread;

use crate::agent::{self, Tree};
use crate::event_loop::{DISK_RETRY, EventLoop};
use crate::journal::{Files, Record, Writer, segments};
use crate::lock;
use crate::spec::Spec;
use crate::sys::{self, Signal};

/// Exit codes of a supervisor. 0 means that the agent exited or could not be started; the journal has the details.
pub mod exit_code {
    /// The agent was not started because a directory, socket or thread could not be created. The journal has the
    /// reason, if there is a journal.
    pub const CANNOT_SUPERVISE: u8 = 70;
    /// The agent was not started because another supervisor uses this directory.
    pub const ALREADY_SUPERVISED: u8 = 75;
    /// The agent was not started because this directory already has the journal of an earlier agent.
    pub const ALREADY_RAN: u8 = 76;
}

/// Supervises one agent from its start to its exit. Call it on the main thread of a separate process, before that
/// process has other threads. When it returns, the process has to exit.
#[must_use]
pub fn run(spec: Spec) -> ExitCode {
    match supervise(spec) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            // Visible only if the supervisor was started by hand.
            let _ = writeln!(io::stderr(), "sayso supervise: {}", refusal.message);
            ExitCode::from(refusal.code)
        }
    }
}

/// The reason why the agent was not started.
struct Refusal {
    code: u8,
    message: String,
}

impl Refusal {
    fn with_io_error(what: &str, path: &Path, error: &io::Error) -> Self {
        Self { code: exit_code::CANNOT_SUPERVISE, message: format!("cannot {what} {}: {error}", path.display()) }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self { code: exit_code::CANNOT_SUPERVISE, message: error.to_string() }
    }
}

fn supervise(spec: Spec) -> Result<(), Refusal> {
    sys::reset_signals();
    sys::leave_terminal();
    sys::keep_no_memory();
    let spec = Spec { dir: absolute(&spec.dir)?, socket: absolute(&spec.socket)?, directory: absolute(&spec.directory)?, ..spec };
    // Held until the process ends; the kernel releases it.
    let _lock = take_directory(&spec.dir)?;
    sys::close_standard_streams()?;
    // A working directory of the caller would keep its file system busy.
    std::env::set_current_dir("/")?;
    let signals = sys::catch_signals()?;
    sys::adopt_orphans();

    let mut writer =
        Writer::create(Files::new(spec.dir.clone())).map_err(|error| Refusal::with_io_error("write to", &spec.dir, &error))?;
    let listener = match listen_on(&spec.socket) {
        Ok(listener) => listener,
        Err(error) => {
            let refusal = Refusal::with_io_error("listen on", &spec.socket, &error);
            record_failure(&mut writer, refusal.message.clone());
            return Err(refusal);
        }
    };
    let agent = match agent::start(&spec) {
        Ok(agent) => agent,
        Err(message) => {
            record_failure(&mut writer, message);
            let _ = fs::remove_file(&spec.socket);
            return Ok(());
        }
    };
    let pid = agent.pid;
    let ended = EventLoop::new(&spec, signals, writer, agent, listener).map(EventLoop::run);
    if ended.is_err() {
        Tree::new(pid).signal(Signal::Kill);
    }
    let _ = fs::remove_file(&spec.socket);
    Ok(ended?)
}

/// Records why the agent was not started. Waits while the disk is full, unless the directory is deleted.
fn record_failure(writer: &mut Writer<Files>, message: String) {
    let mut record = Vec::new();
    Record::Failed(message).append_to(&mut record);
    let mut written = writer.append(&record);
    while written.is_ok() && writer.is_blocked() {
        thread::sleep(DISK_RETRY);
        written = writer.flush();
    }
}

fn take_directory(dir: &Path) -> Result<File, Refusal> {
    let failed = |error: io::Error| Refusal::with_io_error("use", dir, &error);
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    let Some(lock) = lock::acquire(dir, lock::LOCK_TIMEOUT).map_err(failed)? else {
        let message = format!("another supervisor uses {}", dir.display());
        return Err(Refusal { code: exit_code::ALREADY_SUPERVISED, message });
    };
    if !segments(dir).map_err(failed)?.is_empty() {
        let message = format!("{} contains the journal of an earlier agent", dir.display());
        return Err(Refusal { code: exit_code::ALREADY_RAN, message });
    }
    Ok(lock)
}

/// Listens on a socket that only the user can access. A socket of an earlier supervisor is removed.
fn listen_on(path: &Path) -> io::Result<UnixListener> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}
