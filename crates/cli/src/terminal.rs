//! The keyboard: lines as they are asked for, Ctrl-C, and input that is not shown.

use std::io::{self, BufRead, IsTerminal};
use std::sync::mpsc as blocking;

use rustix::termios::{self, LocalModes, OptionalActions, QueueSelector, Termios};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::failure::Failure;

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
    /// Whether a person types.
    pub(crate) is_terminal: bool,
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
    pub(crate) fn open() -> Result<Self, Failure> {
        let interrupts = signal(SignalKind::interrupt()).map_err(|error| Failure::io("Ctrl-C cannot be watched", &error))?;
        let (wanted, asked_for) = blocking::sync_channel::<()>(1);
        // One line at most is on its way: the thread reads the next one only when it is asked to.
        let (send, lines) = mpsc::channel(1);
        let is_terminal = io::stdin().is_terminal();
        // The thread lives as long as the process: a blocked read cannot be called off.
        std::thread::spawn(move || {
            while asked_for.recv().is_ok() {
                let line = read_line();
                // Ctrl-D ends one prompt; the terminal goes on.
                let ended = line.is_none() && !is_terminal;
                if send.blocking_send(line).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self { wanted, lines, asked: false, interrupts, is_terminal })
    }

    /// The next line, or Ctrl-C. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Typed {
        if !self.asked {
            // It fails only when the thread has seen the end, which `recv` then tells.
            self.asked = self.wanted.try_send(()).is_ok();
        }
        tokio::select! {
            biased;
            _ = self.interrupts.recv() => Typed::Interrupt,
            line = self.lines.recv() => {
                self.asked = false;
                line.flatten().map_or(Typed::End, Typed::Line)
            }
        }
    }

    /// Waits for Ctrl-C only.
    pub(crate) async fn interrupt(&mut self) {
        self.interrupts.recv().await;
    }

    /// Throws away what was typed before the question was there. An approval must never be given by
    /// keys that were meant for something else.
    pub(crate) fn forget(&mut self) {
        if !self.is_terminal {
            return;
        }
        while self.lines.try_recv().is_ok() {
            self.asked = false;
        }
        // A terminal that cannot be flushed keeps what was typed; the person sees it.
        let _ = termios::tcflush(io::stdin(), QueueSelector::IFlush);
    }

    /// Stops showing what is typed, until the guard is dropped.
    pub(crate) fn hide(&self) -> Option<Hidden> {
        if !self.is_terminal {
            return None;
        }
        let before = termios::tcgetattr(io::stdin()).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        termios::tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).ok()?;
        Some(Hidden(before))
    }
}

/// The terminal shows nothing while this lives.
#[derive(Debug)]
pub(crate) struct Hidden(Termios);

impl Drop for Hidden {
    fn drop(&mut self) {
        // Nothing better can be done if the terminal is gone.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
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
