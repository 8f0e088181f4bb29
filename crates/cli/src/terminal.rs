//! The keyboard: lines as they are asked for, Ctrl-C, and input that is not shown.

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

/// How often the words of an open prompt are looked at again: they may count down.
const AGAIN: Duration = Duration::from_secs(1);

/// The person at this terminal, or what is piped in.
#[derive(Debug)]
pub(crate) struct Keyboard {
    /// Asks the reading thread for one line. The thread reads nothing that nobody asked for, so that
    /// what is typed ahead stays with the terminal and can be thrown away.
    wanted: blocking::SyncSender<()>,
    lines: mpsc::Receiver<Option<String>>,
    /// A line was asked for and has not come.
    asked: bool,
    interrupts: Signal,
    continued: Signal,
    /// Whether a person types.
    pub(crate) is_terminal: bool,
    screen: PromptScreen,
}

/// What came from the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line, without its end.
    Line(String),
    /// Ctrl-D, or the end of what is piped in.
    End,
    /// Ctrl-C.
    Interrupt,
}

impl Keyboard {
    /// Opens standard input. From then on Ctrl-C is an event and no longer ends the process.
    pub(crate) fn open(out: &Output) -> Result<Self, Failure> {
        let watch = |kind: SignalKind| signal(kind).map_err(|error| Failure::io("Ctrl-C cannot be watched", &error));
        let interrupts = watch(SignalKind::interrupt())?;
        let continued = watch(SignalKind::from_raw(Number::CONT.as_raw()))?;
        let (wanted, asked_for) = blocking::sync_channel::<()>(1);
        // One line at most is on its way: the thread reads the next one only when it is asked to.
        let (send, lines) = mpsc::channel(1);
        let is_terminal = io::stdin().is_terminal();
        let screen = PromptScreen::new(out, is_terminal);
        let reader = screen.clone();
        // The thread lives as long as the process: a blocked read cannot be called off.
        std::thread::spawn(move || {
            while asked_for.recv().is_ok() {
                let line = if reader.edits { reader.edit_line() } else { read_line() };
                // Ctrl-D ends one prompt; the terminal goes on.
                let ended = line.is_none() && !is_terminal;
                if send.blocking_send(line).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self { wanted, lines, asked: false, interrupts, continued, is_terminal, screen })
    }

    /// The next line, or Ctrl-C. May be dropped and called again: what was typed so far is kept.
    pub(crate) async fn next(&mut self, prompt: &dyn Fn() -> String, echo: Echo) -> Typed {
        self.screen.open(&prompt(), echo);
        if !self.asked {
            // It fails only when the thread has seen the end, which `recv` then tells.
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
                // The shell had the terminal meanwhile.
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

    /// Waits for Ctrl-C only.
    pub(crate) async fn interrupt(&mut self) {
        self.interrupts.recv().await;
    }

    /// What goes on the screen while a prompt is open.
    pub(crate) fn screen(&self) -> PromptScreen {
        self.screen.clone()
    }

    /// Throws away what was typed before the question was there. A decision must never be made by
    /// keys that were meant for something else.
    pub(crate) fn forget(&mut self) {
        if !self.is_terminal {
            return;
        }
        while self.lines.try_recv().is_ok() {
            self.asked = false;
        }
        self.screen.line().clear();
        // A terminal that cannot be flushed keeps what was typed; the person sees it.
        let _ = termios::tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.screen.close();
    }
}

/// The screen with the prompt on it: the prompt stays the last line.
#[derive(Debug, Clone)]
pub(crate) struct PromptScreen {
    out: Output,
    line: Arc<Mutex<Line>>,
    /// How the terminal was before.
    before: Option<Termios>,
    /// Whether the terminal is not as it was before.
    is_changed: Arc<AtomicBool>,
    /// Whether lines are edited here; else the terminal does it.
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

    /// Prints a line; above the prompt, if one is open.
    pub(crate) fn print(&self, text: &str) {
        let line = self.line();
        match self.edits {
            true => self.out.write(&line.above(text, columns())),
            false => self.out.line(text),
        }
    }

    /// Closes the prompt. It stays on the screen, and what is written next goes below it.
    pub(crate) fn leave(&self) {
        if self.close() {
            self.out.write("\n");
        }
    }

    fn close(&self) -> bool {
        let was_open = self.line().close();
        // Untouched it stays untouched: a program in the background may not set it.
        if let (Some(before), true) = (&self.before, self.is_changed.swap(false, Ordering::AcqRel)) {
            // Nothing better can be done if the terminal is gone.
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
            // A terminal that keeps its modes is gone, or is none.
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
        // Nothing is shown any more when the words invite to type.
        self.out.write(&line.open(prompt, echo));
    }

    fn reword(&self, prompt: &str) {
        let mut line = self.line();
        let changed = line.reword(prompt, columns());
        if !changed.is_empty() {
            self.out.write(&changed);
        }
    }

    /// Reads a line byte by byte: nothing behind its end is read.
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
        // A line is whole after each of its methods.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How wide the terminal is now.
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

/// Asks yes or no; anything but yes is no.
pub(crate) fn confirm(question: &str, say: impl FnOnce(&str)) -> bool {
    say(question);
    read_line().is_some_and(|line| matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
