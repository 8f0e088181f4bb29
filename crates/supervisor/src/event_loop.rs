//! The single thread of a supervisor. It waits for the agent, servers, signals and deadlines, and handles whatever is
//! ready without blocking.
//!
//! One wake-up passes a line of the agent to the server: read the pipe, append to the journal, write to the socket. One
//! wake-up passes an input to the agent: read the socket, append its acceptance to the journal, write to the pipe,
//! reply.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::agent::{Agent, Tree};
use crate::input::{AgentInput, Submitted};
use crate::journal::{Files, Record, Writer};
use crate::lifecycle::{Grace, Lifecycle, LifecycleAction, LifecycleEvent};
use crate::output::AgentOutput;
use crate::protocol::{Acceptance, CHAINED_INPUT, ToServer, ToSupervisor};
use crate::servers::{AgentStatus, Dropped, Servers};
use crate::spec::Spec;
use crate::sys::{self, Caught, PollSet, Signal};

/// Maximum size of a single read from a pipe or socket, in bytes.
const READ: usize = 32 * 1024;
/// The interval between attempts to write to a full disk.
pub(crate) const DISK_RETRY: Duration = Duration::from_millis(200);
/// The pause after `poll` failed.
const POLL_RETRY: Duration = Duration::from_millis(10);

/// All resources of a running supervisor.
#[derive(Debug)]
pub(crate) struct EventLoop {
    life: Lifecycle,
    tree: Tree,
    pid: u32,
    signals: PipeReader,
    journal: Writer<Files>,
    /// When to retry a write to a full disk.
    disk_again: Option<Instant>,
    output: AgentOutput,
    input: AgentInput<File>,
    /// The acceptance of the current input could not be written to the journal yet, because the disk is full.
    input_waits_for_disk: bool,
    servers: Servers,
    buffer: Vec<u8>,
    batch: Vec<u8>,
}

/// The index of each descriptor in the poll set.
#[derive(Debug)]
struct Slots {
    signals: usize,
    listener: Option<usize>,
    stdout: Option<usize>,
    stderr: Option<usize>,
    stdin: Option<usize>,
    attached: Option<usize>,
    /// The index of the first connection that has not sent `Hello`.
    greeting: usize,
}

impl EventLoop {
    pub(crate) fn new(
        spec: &Spec,
        signals: PipeReader,
        journal: Writer<Files>,
        agent: Agent,
        listener: UnixListener,
    ) -> io::Result<Self> {
        let pipes: [OwnedFd; 3] = [agent.stdin.into(), agent.stdout.into(), agent.stderr.into()];
        let [stdin, stdout, stderr] = pipes.map(File::from);
        for pipe in [&stdin, &stdout, &stderr] {
            sys::set_nonblocking(pipe.as_fd())?;
        }
        Ok(Self {
            life: Lifecycle::started(Instant::now(), spec.lonely),
            tree: Tree::new(agent.pid),
            pid: agent.pid,
            signals,
            journal,
            disk_again: None,
            output: AgentOutput::new(stdout, stderr, spec.line_limit),
            input: AgentInput::new(stdin),
            input_waits_for_disk: false,
            servers: Servers::new(spec.dir.clone(), listener)?,
            buffer: vec![0; READ],
            batch: Vec::new(),
        })
    }

    /// Runs until the agent has exited and the server has read the remaining records.
    pub(crate) fn run(mut self) {
        let mut poll = PollSet::default();
        loop {
            let now = Instant::now();
            let action = self.life.tick(now);
            self.perform_action(action);
            self.servers.tick(now);
            if self.disk_again.is_some_and(|at| now >= at) {
                self.flush_journal(now);
            }
            self.finish_output(now);
            self.write_to_server(now);
            if self.life.is_over(now) {
                return;
            }
            let slots = self.fill(&mut poll);
            let deadlines = [self.life.deadline(), self.servers.deadline(), self.disk_again, self.output_deadline()];
            let timeout = deadlines.into_iter().flatten().min().map(|at| at.saturating_duration_since(now));
            if poll.wait(timeout).is_err() {
                std::thread::sleep(POLL_RETRY);
                continue;
            }
            self.handle(&poll, &slots, Instant::now());
        }
    }

    /// Records that the journal has no room for delay the deadline.
    fn output_deadline(&self) -> Option<Instant> {
        self.output.deadline().filter(|_| !self.journal.is_blocked())
    }

    fn fill(&self, poll: &mut PollSet) -> Slots {
        poll.clear();
        let readable = |poll: &mut PollSet, pipe: Option<&File>| pipe.map(|pipe| poll.add(pipe.as_fd(), true, false));
        // While the disk is full, the agent's pipes are not read, so the agent blocks as well.
        let reads = !self.journal.is_blocked();
        let waiting_pipe = self.input.waiting_pipe().filter(|_| !self.input_waits_for_disk);
        Slots {
            signals: poll.add(self.signals.as_fd(), true, false),
            listener: self.servers.listener().map(|listener| poll.add(listener.as_fd(), true, false)),
            stdout: readable(poll, self.output.stdout.pipe().filter(|_| reads)),
            stderr: readable(poll, self.output.stderr.pipe().filter(|_| reads)),
            stdin: waiting_pipe.map(|pipe| poll.add(pipe.as_fd(), false, true)),
            attached: self.servers.attached.as_ref().map(|server| {
                // A server whose input waits for another input is only polled for disconnection.
                poll.add(server.socket().as_fd(), server.held.is_none(), server.is_writing())
            }),
            greeting: {
                let first = poll.len();
                for server in &self.servers.greeting {
                    poll.add(server.socket().as_fd(), true, false);
                }
                first
            },
        }
    }

    fn handle(&mut self, poll: &PollSet, slots: &Slots, now: Instant) {
        let is_ready = |slot: Option<usize>| slot.is_some_and(|slot| poll.is_ready(slot));
        if poll.is_ready(slots.signals) {
            self.handle_signals(now);
        }
        if is_ready(slots.stdout) {
            self.output.stdout.read(&mut self.buffer, &mut self.batch);
            self.append_batch(now);
        }
        if is_ready(slots.stderr) && !self.journal.is_blocked() {
            self.output.stderr.read(&mut self.buffer, &mut self.batch);
            self.append_batch(now);
        }
        if is_ready(slots.stdin) {
            self.write_input(now);
        }
        if is_ready(slots.attached) {
            let served = self.serve();
            self.keep_server(served, now);
        }
        // In reverse order: removing a connection only changes the indices of those after it.
        for index in (0..self.servers.greeting.len()).rev() {
            if poll.is_ready(slots.greeting + index) {
                self.read_hello(index, now);
            }
        }
        if is_ready(slots.listener) {
            self.servers.accept(now);
        }
    }

    // Signals and children

    fn handle_signals(&mut self, now: Instant) {
        let mut caught = [0; 64];
        let count = self.signals.read(&mut caught).unwrap_or(0);
        for signal in caught[..count].iter().filter_map(|byte| Caught::from_byte(*byte)) {
            match signal {
                Caught::Stop => self.apply_event(LifecycleEvent::Stop(Grace::DEFAULT), now),
                Caught::Child => self.reap(now),
            }
        }
    }

    /// Reaps exited children: the agent and adopted orphans.
    fn reap(&mut self, now: Instant) {
        loop {
            match sys::reap_child() {
                sys::Reaped::Child(pid, status) if self.tree.is_agent(pid) => self.agent_exited(status, now),
                sys::Reaped::Child(..) => {}
                sys::Reaped::NoneEnded => return,
                sys::Reaped::NoChildren => {
                    if !cfg!(target_os = "linux") {
                        // Without orphan adoption, having no children does not mean that the process group is empty.
                        self.tree.signal(Signal::Kill);
                    }
                    self.apply_event(LifecycleEvent::TreeEmpty, now);
                    return;
                }
            }
        }
    }

    fn agent_exited(&mut self, status: ExitStatus, now: Instant) {
        self.tree.note_reaped();
        self.input.close("the agent has ended");
        self.output.exited(status, now);
        self.apply_event(LifecycleEvent::Exited, now);
    }

    fn apply_event(&mut self, event: LifecycleEvent, now: Instant) {
        let action = self.life.handle(now, event);
        self.perform_action(action);
    }

    fn perform_action(&mut self, action: Option<LifecycleAction>) {
        match action {
            Some(LifecycleAction::CloseInput) => self.input.close("the agent is being stopped"),
            Some(LifecycleAction::TermTree) => self.tree.signal(Signal::Term),
            Some(LifecycleAction::KillTree) => self.tree.signal(Signal::Kill),
            None => {}
        }
    }

    // The journal

    /// Appends the collected records to the journal, and sends them to the server if it has all earlier records.
    fn append_batch(&mut self, now: Instant) {
        if self.batch.is_empty() {
            return;
        }
        let start = self.journal.end();
        let was_blocked = self.journal.is_blocked();
        match self.journal.append(&self.batch) {
            Ok(()) if self.journal.is_blocked() => self.disk_again = Some(now + DISK_RETRY),
            Ok(()) => {
                if let Some(server) = self.servers.attached.as_mut().filter(|_| !was_blocked) {
                    server.send_appended(start, &self.batch);
                }
            }
            Err(_) => self.abandon_journal(now),
        }
        self.batch.clear();
        self.batch.shrink_to(READ);
    }

    fn flush_journal(&mut self, now: Instant) {
        if self.journal.flush().is_err() {
            self.abandon_journal(now);
        } else if self.journal.is_blocked() {
            self.disk_again = Some(now + DISK_RETRY);
        } else {
            self.disk_again = None;
            if std::mem::take(&mut self.input_waits_for_disk) {
                self.write_input(now);
            }
            if self.output.is_finished() {
                self.apply_event(LifecycleEvent::Drained, now);
            }
        }
    }

    /// Stops the agent because the directory was deleted, so its output can no longer be stored.
    fn abandon_journal(&mut self, now: Instant) {
        self.disk_again = None;
        self.output.abandon();
        self.apply_event(LifecycleEvent::Drained, now);
    }

    /// Appends the last records after the agent has exited.
    fn finish_output(&mut self, now: Instant) {
        if self.output.is_finished() || self.journal.is_blocked() {
            return;
        }
        self.output.finish(now, &mut self.buffer, &mut self.batch);
        if self.output.is_finished() {
            self.append_batch(now);
            if !self.journal.is_blocked() {
                self.apply_event(LifecycleEvent::Drained, now);
            }
        }
    }

    // The agent's input

    /// Writes the current input. When it is finished, sends the reply and starts the server's next input.
    fn write_input(&mut self, now: Instant) {
        if let Some(reply) = self.input.write() {
            let served = self.finish_input(&reply);
            self.keep_server(served, now);
        }
    }

    fn finish_input(&mut self, reply: &ToServer) -> Result<(), Dropped> {
        let Some(server) = self.servers.attached.as_mut() else { return Ok(()) };
        server.reply(reply)?;
        if let Some(frame) = server.held.take() {
            self.serve_frame(frame)?;
            self.serve_frames()?;
        }
        Ok(())
    }

    /// Starts an input. If it has an acceptance, the acceptance is in the journal before the agent receives the first
    /// byte.
    fn start_input(&mut self, id: u64, acceptance: Option<Acceptance>, now: Instant) -> Result<(), Dropped> {
        if let Some(Acceptance { after, digest }) = acceptance {
            Record::Accepted { id, after, digest }.append_to(&mut self.batch);
            self.append_batch(now);
            if self.journal.is_blocked() {
                self.input_waits_for_disk = true;
                return Ok(());
            }
        }
        match (self.input.write(), self.servers.attached.as_mut()) {
            (Some(reply), Some(server)) => server.reply(&reply),
            (Some(_), None) | (None, _) => Ok(()),
        }
    }

    // Servers

    fn status(&self) -> AgentStatus {
        AgentStatus {
            pid: self.pid,
            last_input: self.input.last(),
            start: self.journal.start(),
            end: self.journal.end(),
            exited: self.output.is_finished() && !self.journal.is_blocked(),
        }
    }

    fn read_hello(&mut self, index: usize, now: Instant) {
        let status = self.status();
        if self.servers.read_hello(index, &mut self.buffer, status) {
            if let Some(server) = &self.servers.attached {
                self.apply_event(LifecycleEvent::Attached(server.number), now);
            }
            // Frames can arrive together with `Hello`.
            let served = self.serve_frames();
            self.keep_server(served, now);
        }
    }

    /// Reads from the attached server and handles its frames.
    fn serve(&mut self) -> Result<(), Dropped> {
        let Some(server) = self.servers.attached.as_mut() else { return Ok(()) };
        if server.held.is_some() {
            // The server is only polled for disconnection.
            return if sys::is_hung_up(server.socket()) { Err(Dropped) } else { Ok(()) };
        }
        server.read(&mut self.buffer)?;
        self.serve_frames()
    }

    fn serve_frames(&mut self) -> Result<(), Dropped> {
        while let Some(server) = self.servers.attached.as_mut().filter(|server| server.held.is_none()) {
            match server.next_frame()? {
                Some(frame) => self.serve_frame(frame)?,
                None => break,
            }
        }
        Ok(())
    }

    fn serve_frame(&mut self, frame: ToSupervisor) -> Result<(), Dropped> {
        let now = Instant::now();
        let Some(server) = self.servers.attached.as_mut() else { return Ok(()) };
        match frame {
            ToSupervisor::Hello { .. } => Err(Dropped),
            // Only servers of version 1 omit the previous input.
            ToSupervisor::Input { previous: None, .. } if server.version >= CHAINED_INPUT => Err(Dropped),
            ToSupervisor::Input { id, previous, acceptance, bytes } => match self.input.submit(id, previous, bytes) {
                Submitted::Started => self.start_input(id, acceptance, now),
                Submitted::UnderWay => Ok(()),
                Submitted::Reply(reply) => server.reply(&reply),
                Submitted::Wait(bytes) => {
                    server.held = Some(ToSupervisor::Input { id, previous, acceptance, bytes });
                    Ok(())
                }
                Submitted::Diverged => Err(Dropped),
            },
            ToSupervisor::Trim { to } => {
                self.journal.trim(to);
                Ok(())
            }
            ToSupervisor::Stop { after_close, after_term } => {
                self.apply_event(LifecycleEvent::Stop(Grace { after_close, after_term }), now);
                Ok(())
            }
        }
    }

    fn write_to_server(&mut self, now: Instant) {
        let end = self.journal.end();
        let dir = self.servers.dir().to_owned();
        if let Some(server) = self.servers.attached.as_mut() {
            let written = server.write(&dir, end);
            self.keep_server(written, now);
        }
    }

    /// Detaches the server after an error. The server reconnects.
    fn keep_server(&mut self, served: Result<(), Dropped>, now: Instant) {
        if served.is_err()
            && let Some(server) = self.servers.attached.take()
        {
            self.apply_event(LifecycleEvent::Detached(server.number), now);
        }
    }
}
