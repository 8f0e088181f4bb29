//! The channel `tmux`: shows a line or rings the bell in all terminals of a tmux server.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use super::{ChannelVariables, SendFailure, SendResult, program};
use crate::service::notes::Note;

/// How long a line is shown, in milliseconds.
const SHOWN: &str = "5000";

/// All clients of one tmux server.
#[derive(Debug)]
pub(crate) struct TmuxChannel {
    /// The socket, if it is not the default.
    pub(crate) socket: Option<String>,
    /// How the terminal signals a note.
    pub(crate) sign: Sign,
    pub(crate) variables: ChannelVariables,
}

/// How a note is signalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A message in the status line.
    Line,
    /// The bell of the terminal.
    Bell,
}

impl TmuxChannel {
    pub(super) async fn send_note(&self, note: &Note) -> SendResult {
        let clients = self.run(&["list-clients", "-F", "#{client_tty}"]).await?;
        let terminals: Vec<&str> = clients.lines().filter(|line| line.starts_with("/dev/")).collect();
        if terminals.is_empty() {
            return Err(SendFailure::later("no terminal is attached to tmux"));
        }
        match self.sign {
            Sign::Line => {
                let line = literally(&note.line);
                for terminal in terminals {
                    self.run(&["display-message", "-c", terminal, "-d", SHOWN, "--", &line]).await?;
                }
            }
            Sign::Bell => {
                for terminal in terminals {
                    ring(terminal).map_err(|error| SendFailure::later(format!("cannot ring the bell of a terminal: {error}")))?;
                }
            }
        }
        Ok(None)
    }

    async fn run(&self, args: &[&str]) -> Result<String, SendFailure> {
        let socket: Vec<&str> = self.socket.as_deref().map_or(Vec::new(), |socket| vec!["-S", socket]);
        program::run("tmux", &[&socket, args].concat(), b"", &self.variables).await
    }
}

/// Escapes text, because tmux executes `#(…)` and replaces `%H` with the time.
fn literally(text: &str) -> String {
    text.replace('#', "##").replace('%', "%%")
}

/// Rings the bell of a terminal. Does not block: if the terminal does not accept the byte, the bell is skipped.
fn ring(terminal: &str) -> std::io::Result<()> {
    let flags = rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    std::fs::OpenOptions::new().write(true).custom_flags(flags).open(terminal)?.write_all(b"\x07")
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_in_a_line_is_a_command() {
        assert_eq!(super::literally("#(touch x) #{pane_id} 100% %H"), "##(touch x) ##{pane_id} 100%% %%H");
    }
}
