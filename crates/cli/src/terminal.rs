//! The keyboard: lines on request, Ctrl-C, and hidden input.

use std::io::{self, BufRead, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as blocking;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal as Number;
use rustix::termios::{self, LocalModes, OptionalActions, QueueSelector, Termios};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::line::{Echo, Edited, Line};
use crate::output::Output;

/// Interval for updating the text of an open prompt, which may contain a countdown.
const AGAIN: Duration = Duration::from_secs(1);

/// Standard input: a person at the terminal, or a pipe.
#[derive(Debug)]
pub(crate) struct Keyboard {
    /// Requests one line from the reading thread. The thread reads only on request, so that text that is typed ahead
    /// stays in the terminal and can be discarded.
    wanted: blocking::SyncSender<()>,
    lines: mpsc::Receiver<Option<String>>,
    /// True while a requested line is outstanding.
    asked: bool,
    interrupts: Signal,
    continued: Signal,
    /// True if standard input is a terminal.
    pub(crate) is_terminal: bool,
    screen: PromptScreen,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line without its newline.
    Line(String),
    /// Ctrl-D, or the end of piped input.
    End,
    Interrupt,
}

impl Keyboard {
    /// Opens standard input. From now on Ctrl-C is an event and no longer ends the process.
    pub(crate) fn open(out: &Output) -> Result<Self, Failure> {
        let watch = |kind: SignalKind| signal(kind).map_err(|error| Failure::io("Cannot listen for signals", &error));
        let interrupts = watch(SignalKind::interrupt())?;
        let continued = watch(SignalKind::from_raw(Number::CONT.as_raw()))?;
        let (wanted, asked_for) = blocking::sync_channel::<()>(1);
        // At most one line is in transit, because the thread reads only on request.
        let (send, lines) = mpsc::channel(1);
        let is_terminal = io::stdin().is_terminal();
        let screen = PromptScreen::new(out, is_terminal);
        let reader = screen.clone();
        // A blocking read cannot be cancelled, so the thread lives as long as the process.
        std::thread::spawn(move || {
            while asked_for.recv().is_ok() {
                let line = if reader.edits { reader.edit_line() } else { read_line() };
                // Ctrl-D ends one prompt only. A pipe has ended for good.
                let ended = line.is_none() && !is_terminal;
                if send.blocking_send(line).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self { wanted, lines, asked: false, interrupts, continued, is_terminal, screen })
    }

    /// Returns the next line, or Ctrl-C. Cancel-safe: the text that was typed so far is kept.
    pub(crate) async fn next(&mut self, prompt: &dyn Fn() -> String, echo: Echo) -> Typed {
        self.screen.open(&prompt(), echo);
        if !self.asked {
            // This fails only after the end of the input, which `recv` then reports.
            self.asked = self.wanted.try_send(()).is_ok();
        }
        let typed = loop {
            tokio::select! {
                biased;
                _ = self.interrupts.recv() => break Typed::Interrupt,
                line = self.lines.recv() => {
                    self.asked = false;
                    break line.flatten().map_or(Typed::End, Typed::Line);
                }
                // After the process was stopped and continued, the shell may have changed the terminal.
                _ = self.continued.recv() => {
                    self.screen.close();
                    self.screen.open(&prompt(), echo);
                }
                () = tokio::time::sleep(AGAIN), if self.screen.edits => self.screen.reword(&prompt()),
            }
        };
        self.screen.close();
        typed
    }

    pub(crate) async fn interrupt(&mut self) {
        self.interrupts.recv().await;
    }

    /// Returns a handle for printing while a prompt is open.
    pub(crate) fn screen(&self) -> PromptScreen {
        self.screen.clone()
    }

    /// Discards text that was typed before the question appeared. Keys that were meant for something else must never
    /// make a decision.
    pub(crate) fn forget(&mut self) {
        if !self.is_terminal {
            return;
        }
        while self.lines.try_recv().is_ok() {
            self.asked = false;
        }
        self.screen.line().clear();
        // If the terminal cannot be flushed, the typed text stays visible to the person.
        let _ = termios::tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.screen.close();
    }
}

/// The screen with an open prompt, which stays the last line.
#[derive(Debug, Clone)]
pub(crate) struct PromptScreen {
    out: Output,
    line: Arc<Mutex<Line>>,
    /// Terminal modes before the first change.
    before: Option<Termios>,
    /// True while the modes differ from `before`.
    is_changed: Arc<AtomicBool>,
    /// True if lines are edited here; otherwise the terminal edits them.
    edits: bool,
}

impl PromptScreen {
    fn new(out: &Output, is_terminal: bool) -> Self {
        let before = is_terminal.then(|| termios::tcgetattr(io::stdin()).ok()).flatten();
        Self {
            out: out.clone(),
            line: Arc::default(),
            edits: before.is_some() && out.moves_cursor,
            before,
            is_changed: Arc::default(),
        }
    }

    /// Prints a line, above the prompt if one is open.
    pub(crate) fn print(&self, text: &str) {
        let line = self.line();
        match self.edits {
            true => self.out.write(&line.above(text, columns())),
            false => self.out.line(text),
        }
    }

    /// Closes the prompt. It stays on the screen, and later output goes below it.
    pub(crate) fn leave(&self) {
        if self.close() {
            self.out.write("\n");
        }
    }

    fn close(&self) -> bool {
        let was_open = self.line().close();
        // Modes that were not changed are not restored, because a background process must not set them.
        if let (Some(before), true) = (&self.before, self.is_changed.swap(false, Ordering::AcqRel)) {
            // If this fails, the terminal is gone.
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
        was_open
    }

    fn open(&self, prompt: &str, echo: Echo) {
        let mut line = self.line();
        if let Some(mut modes) = self.before.clone() {
            match (self.edits, echo) {
                (true, _) => modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO),
                (false, Echo::Hidden) => {
                    modes.local_modes.remove(LocalModes::ECHO);
                    modes.local_modes.insert(LocalModes::ECHONL);
                }
                (false, Echo::Shown) => {}
            }
            self.is_changed.store(true, Ordering::Release);
            // If this fails, the terminal is gone, or the input is not a terminal.
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
        // Written only now, after echo is off, so that no typed secret is shown.
        self.out.write(&line.open(prompt, echo));
    }

    fn reword(&self, prompt: &str) {
        let mut line = self.line();
        let changed = line.reword(prompt, columns());
        if !changed.is_empty() {
            self.out.write(&changed);
        }
    }

    /// Reads a line byte by byte, so that nothing after its end is consumed.
    fn edit_line(&self) -> Option<String> {
        let mut byte = [0];
        loop {
            match rustix::io::read(io::stdin(), &mut byte) {
                Err(rustix::io::Errno::INTR) => continue,
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            let mut line = self.line();
            let edited = line.byte(byte[0], columns());
            let done = match edited {
                Edited::On(echo) if echo.is_empty() => continue,
                Edited::On(echo) => {
                    self.out.write(&echo);
                    continue;
                }
                Edited::Line(text) => Some(text),
                Edited::End => return None,
            };
            line.close();
            self.out.write("\n");
            return done;
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // A panic cannot leave a `Line` in an invalid state, so a poisoned lock is safe.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the current width of the terminal.
fn columns() -> usize {
    let size = termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    size.filter(|columns| *columns > 0).unwrap_or(80)
}

fn read_line() -> Option<String> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => None,
        Ok(_) => {
            let line = String::from_utf8_lossy(&bytes);
            Some(line.trim_end_matches(['\n', '\r']).to_owned())
        }
    }
}

/// Asks a yes-or-no question. Every reply other than yes counts as no.
pub(crate) fn confirm(question: &str, say: impl FnOnce(&str)) -> bool {
    say(question);
    read_line().is_some_and(|line| matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
