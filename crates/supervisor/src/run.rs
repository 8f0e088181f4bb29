//! Sets everything up, and carries out what `life` decides.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, absolute};
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::agent::{self, Agent, Tree};
use crate::attach::{self, AttachContext};
use crate::hub::Hub;
use crate::input::{self, Inputs};
use crate::journal::{Files, Writer, segments};
use crate::life::{Action, Event, Grace, Life};
use crate::lock;
use crate::pump::{Exit, Pump};
use crate::spec::Spec;
use crate::sys::{self, Signal};

/// How a supervisor exits. 0: the agent ended, or could not be started, and the journal says how.
pub mod exit_code {
    /// Nothing was started: the directory, the socket or a thread could not be had. If there is a
    /// journal, it says why.
    pub const CANNOT_SUPERVISE: u8 = 70;
    /// Nothing was started: another supervisor has this directory.
    pub const ALREADY_SUPERVISED: u8 = 75;
    /// Nothing was started: there is a journal in this directory, of an agent that ran already.
    pub const ALREADY_RAN: u8 = 76;
}

/// How many messages may wait for the main thread. Those who send more wait for it; it does nothing
/// that takes long.
const MESSAGES: usize = 16;
/// Our threads keep what is large on the heap.
const STACK: usize = 128 * 1024;

/// What the main thread is told.
#[derive(Debug)]
pub(crate) enum Message {
    Life(Event),
    Reaped(i32, ExitStatus),
}

/// Supervises one agent from its start to its end. To be called on the main thread of a process of its
/// own, before it has any other threads; when it returns, the process has to exit.
#[must_use]
pub fn run(spec: Spec) -> ExitCode {
    match supervise(spec) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            // It may have been started by hand; else this goes nowhere.
            let _ = writeln!(io::stderr(), "sayso supervise: {}", refusal.message);
            ExitCode::from(refusal.code)
        }
    }
}

/// Why nothing is supervised.
struct Refusal {
    code: u8,
    message: String,
}

impl Refusal {
    fn because(what: &str, path: &Path, error: &io::Error) -> Self {
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
    // Held until the process ends; only the system lets go of it.
    let _lock = take_directory(&spec.dir)?;
    sys::close_standard_streams()?;
    // So that no file system is kept busy by where we happened to be started.
    std::env::set_current_dir("/")?;
    let signals = sys::catch_signals()?;
    sys::adopt_orphans();

    let hub = Arc::new(Hub::new(spec.dir.clone()));
    let writer = Writer::create(Files::new(spec.dir.clone())).map_err(|error| Refusal::because("write to", &spec.dir, &error))?;
    let listener = match listen(&spec.socket) {
        Ok(listener) => listener,
        Err(error) => {
            let refusal = Refusal::because("listen on", &spec.socket, &error);
            let _ = Pump::new(writer, &hub).fail(refusal.message.clone());
            return Err(refusal);
        }
    };
    let agent = match agent::start(&spec) {
        Ok(agent) => agent,
        Err(message) => {
            // If the directory was deleted meanwhile, nobody wants to know.
            let _ = Pump::new(writer, &hub).fail(message);
            let _ = fs::remove_file(&spec.socket);
            return Ok(());
        }
    };
    let pid = agent.pid;
    let (main, messages) = sync_channel(MESSAGES);
    let context = AttachContext { dir: spec.dir.clone(), hub, inputs: Arc::new(Inputs::default()), main, pid };
    let life = Life::started(Instant::now(), spec.lonely);
    let ended = Main::start(life, signals, writer, agent, listener, context, spec.line_limit).map(|main| main.run(&messages));
    if ended.is_err() {
        Tree::new(pid).signal(Signal::Kill);
    }
    let _ = fs::remove_file(&spec.socket);
    Ok(ended?)
}

fn take_directory(dir: &Path) -> Result<File, Refusal> {
    let failed = |error: io::Error| Refusal::because("use", dir, &error);
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    let Some(lock) = lock::take(dir, lock::PATIENCE).map_err(failed)? else {
        let message = format!("another supervisor uses {}", dir.display());
        return Err(Refusal { code: exit_code::ALREADY_SUPERVISED, message });
    };
    if !segments(dir).map_err(failed)?.is_empty() {
        let message = format!("{} has the journal of an agent that ran already", dir.display());
        return Err(Refusal { code: exit_code::ALREADY_RAN, message });
    }
    Ok(lock)
}

/// Listens on a socket that only the user can use. One that an earlier supervisor left is removed.
fn listen(path: &Path) -> io::Result<UnixListener> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work)
}

/// What the main thread owns.
struct Main {
    life: Life,
    tree: Tree,
    inputs: Arc<Inputs>,
    /// How the pump is told that the agent ended: the status, then the end of the pipe.
    exit: Option<(SyncSender<ExitStatus>, io::PipeWriter)>,
}

impl Main {
    /// Starts the threads. They end with the process; nobody waits for them, because each may be
    /// blocked for good reason: on a full disk, a slow server, an agent that does not read.
    fn start(
        life: Life,
        mut signals: io::PipeReader,
        writer: Writer<Files>,
        agent: Agent,
        listener: UnixListener,
        context: AttachContext,
        line_limit: usize,
    ) -> io::Result<Self> {
        let tree = Tree::new(agent.pid);
        let inputs = Arc::clone(&context.inputs);
        let (woken, wake) = io::pipe()?;
        let (tell_exit, status) = sync_channel(1);

        let (main, hub) = (context.main.clone(), Arc::clone(&context.hub));
        spawn("pump", move || {
            // Without a journal it ends early, and then the agent is stopped.
            let _ = Pump::new(writer, &hub).run(agent.stdout, agent.stderr, line_limit, Exit { status, woken });
            let _ = main.send(Message::Life(Event::Drained));
        })?;
        let (hub, inputs_there) = (Arc::clone(&context.hub), Arc::clone(&inputs));
        spawn("input", move || input::write_all(&inputs_there, &hub, agent.stdin))?;
        let main = context.main.clone();
        spawn("signals", move || {
            while signals.read_exact(&mut [0]).is_ok() {
                let _ = main.send(Message::Life(Event::Stop(Grace::DEFAULT)));
            }
        })?;
        let main = context.main.clone();
        spawn("wait", move || {
            while let Some((pid, status)) = sys::wait_for_child() {
                let _ = main.send(Message::Reaped(pid, status));
            }
            let _ = main.send(Message::Life(Event::TreeEmpty));
        })?;
        spawn("accept", move || attach::accept(&listener, context))?;
        Ok(Self { life, tree, inputs, exit: Some((tell_exit, wake)) })
    }

    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            let now = Instant::now();
            let action = self.life.tick(now);
            self.act(action);
            if self.life.is_over(now) {
                return;
            }
            let message = match self.life.deadline() {
                Some(at) => messages.recv_timeout(at.saturating_duration_since(now)),
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(message) => self.handle(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn handle(&mut self, message: Message) {
        let event = match message {
            Message::Life(event) => event,
            Message::Reaped(pid, status) if self.tree.is_agent(pid) => {
                self.tree.note_reaped();
                self.inputs.close("the agent has ended");
                if let Some((tell, wake)) = self.exit.take() {
                    // If the pump has gone there is no journal either.
                    let _ = tell.send(status);
                    drop(wake);
                }
                Event::Exited
            }
            // An orphan that we adopted.
            Message::Reaped(..) => return,
        };
        if event == Event::TreeEmpty && !cfg!(target_os = "linux") {
            // Having no children means less where orphans are not ours.
            self.tree.signal(Signal::Kill);
        }
        let action = self.life.handle(Instant::now(), event);
        self.act(action);
    }

    fn act(&self, action: Option<Action>) {
        match action {
            Some(Action::CloseInput) => self.inputs.close("the agent is being stopped"),
            Some(Action::TermTree) => self.tree.signal(Signal::Term),
            Some(Action::KillTree) => self.tree.signal(Signal::Kill),
            None => {}
        }
    }
}
