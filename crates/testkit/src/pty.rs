//! A program on a pseudo-terminal, operated as a person would: its output is read until an expected text appears.

use std::process::ExitStatus;

use anyhow::{Context as _, Result, bail};
use pty_process::Size;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::signals;
use crate::watch::{PATIENCE, within};

pub const CTRL_C: &str = "\u{3}";

pub const CTRL_D: &str = "\u{4}";

/// A program on a terminal of 80 columns and 24 lines. It is the controlling terminal, so Ctrl-C sends a signal. When
/// the value is dropped, the terminal is closed and the program is killed.
pub struct Pty {
    terminal: pty_process::Pty,
    child: Child,
    /// All received bytes, including colours.
    raw: Vec<u8>,
    /// The received text without colours.
    screen: String,
    /// How much of the text was consumed by `expect`.
    read: usize,
    /// The current screen, as a terminal emulator shows it.
    seen: vt100::Parser,
    ended: bool,
}

impl std::fmt::Debug for Pty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pty").field("child", &self.child).field("screen", &self.screen).finish_non_exhaustive()
    }
}

impl Pty {
    /// Starts a program with the command's environment, arguments and directory, and with the terminal as its streams.
    /// The program ignores and blocks no signals.
    ///
    /// # Errors
    /// If no terminal is available or the program does not start.
    pub fn spawn(mut command: Command) -> Result<Self> {
        let (terminal, inside) = pty_process::open().context("no pseudo-terminal")?;
        terminal.resize(Size::new(24, 80)).context("the terminal keeps its size")?;
        let seen = vt100::Parser::new(lines(24)?, lines(80)?, 0);
        command.kill_on_drop(true);
        signals::reset_in_child(&mut command);
        let child = pty_process::Command::from(command).spawn(inside).context("the program does not start")?;
        Ok(Self { terminal, child, raw: Vec::new(), screen: String::new(), read: 0, seen, ended: false })
    }

    /// Reads until this text appears after the consumed output, and returns the output up to and including the text.
    /// Colours are ignored.
    ///
    /// # Errors
    /// If the program exits first, or if the text does not appear.
    pub async fn expect(&mut self, text: &str) -> Result<String> {
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                self.screen = without_colours(&String::from_utf8_lossy(&self.raw));
                if let Some(at) = self.screen[self.read..].find(text) {
                    let end = self.read + at + text.len();
                    let found = self.screen[self.read..end].to_owned();
                    self.read = end;
                    return Ok(found);
                }
                if !self.more().await? {
                    bail!("the program ended before it wrote {text:?}");
                }
            }
        })
        .await
        .unwrap_or_else(|_| bail!("waited {PATIENCE:?} for {text:?}"));
        found.with_context(|| format!("on the screen:\n{}", self.screen))
    }

    /// Reads until the current screen contains this text, and returns the whole screen.
    ///
    /// # Errors
    /// If the program exits first, or if the text does not appear.
    pub async fn shows(&mut self, text: &str) -> Result<String> {
        self.shows_that(&format!("{text:?}"), |seen| seen.contains(text)).await
    }

    /// Reads until the current screen satisfies the condition, and returns it.
    ///
    /// # Errors
    /// If the program exits first, or if the condition never holds.
    pub async fn shows_that(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> Result<String> {
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                let seen = self.visible();
                if holds(&seen) {
                    return Ok(seen);
                }
                if !self.more().await? {
                    bail!("the program ended before it showed {what}");
                }
            }
        })
        .await
        .unwrap_or_else(|_| bail!("waited {PATIENCE:?} for {what}"));
        found.with_context(|| format!("on the screen:\n{}", self.visible()))
    }

    /// The current screen.
    #[must_use]
    pub fn visible(&self) -> String {
        self.seen.screen().contents()
    }

    /// Whether the program uses the alternate screen.
    #[must_use]
    pub fn is_full_screen(&self) -> bool {
        self.seen.screen().alternate_screen()
    }

    /// Reads until the current screen contains this text, not dimmed.
    ///
    /// # Errors
    /// If the program exits first, or if the text does not appear.
    pub async fn shows_lit(&mut self, text: &str) -> Result<()> {
        let found = tokio::time::timeout(PATIENCE, async {
            while !self.is_lit(text) {
                if !self.more().await? {
                    bail!("the program ended before it showed {text:?}");
                }
            }
            Ok(())
        })
        .await
        .unwrap_or_else(|_| bail!("waited {PATIENCE:?} for {text:?}"));
        found.with_context(|| format!("on the screen:\n{}", self.visible()))
    }

    fn is_lit(&self, text: &str) -> bool {
        let screen = self.seen.screen();
        let (_, columns) = screen.size();
        screen.rows(0, columns.get()).enumerate().any(|(row, line)| {
            let Some(at) = line.find(text) else { return false };
            let position = (u16::try_from(row), u16::try_from(line[..at].chars().count()));
            let (Ok(row), Ok(column)) = position else { return false };
            screen.cell(row, column).is_some_and(|cell| !cell.dim())
        })
    }

    /// Changes the size of the terminal.
    ///
    /// # Errors
    /// If the terminal rejects the size.
    pub fn resize(&mut self, columns: u16, rows: u16) -> Result<()> {
        self.terminal.resize(Size::new(rows, columns)).context("the terminal keeps its size")?;
        self.seen.set_size(lines(rows)?, lines(columns)?);
        Ok(())
    }

    /// The process id of the program.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Presses these keys.
    ///
    /// # Errors
    /// If the terminal is closed.
    pub async fn send(&mut self, keys: &str) -> Result<()> {
        self.terminal.write_all(keys.as_bytes()).await.with_context(|| format!("{keys:?} cannot be typed"))
    }

    /// Types a line and presses Enter.
    ///
    /// # Errors
    /// If the terminal is closed.
    pub async fn line(&mut self, text: &str) -> Result<()> {
        self.send(&format!("{text}\r")).await
    }

    /// Reads until the program has exited.
    ///
    /// # Errors
    /// If it does not exit.
    pub async fn end(&mut self) -> Result<ExitStatus> {
        let ended = within("the program to end", async {
            while self.more().await? {}
            Ok(self.child.wait().await?)
        })
        .await;
        self.screen = without_colours(&String::from_utf8_lossy(&self.raw));
        ended.with_context(|| format!("on the screen:\n{}", self.screen))
    }

    /// All output up to the last call of `expect` or `end`, without colours. Typed text is included as far as the
    /// terminal echoed it.
    #[must_use]
    pub fn screen(&self) -> &str {
        &self.screen
    }

    /// All bytes received from the terminal.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Reads available output; returns false if the program has closed the terminal.
    async fn more(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let mut buffer = [0; 4096];
        let length = match self.terminal.read(&mut buffer).await {
            Ok(length) => length,
            // Linux reports EIO when the other side is closed.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => 0,
            Err(error) => return Err(error).context("the terminal cannot be read"),
        };
        self.ended = length == 0;
        self.raw.extend_from_slice(&buffer[..length]);
        self.seen.process(&buffer[..length]);
        Ok(!self.ended)
    }
}

fn lines(number: u16) -> Result<std::num::NonZeroU16> {
    std::num::NonZeroU16::new(number).context("a terminal has columns and lines")
}

/// Removes `ESC [ … m` sequences and the carriage returns that a terminal adds. All other control sequences are kept.
#[must_use]
pub fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, sequence) = rest.split_at(at);
        out.push_str(before);
        let after = sequence[2..].trim_start_matches(|character: char| character.is_ascii_digit() || character == ';');
        match after.strip_prefix('m') {
            Some(after) => rest = after,
            None => {
                out.push_str("\u{1b}[");
                rest = &sequence[2..];
            }
        }
    }
    out.push_str(rest);
    out.replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_are_removed() {
        assert_eq!(without_colours("\u{1b}[1m[A]\u{1b}[0m b\r\n\u{1b}[38;5;1mc"), "[A] b\nc");
        for kept in ["\u{1b}[2J", "\u{1b}]0;t\u{7}", "\u{1b}", "\u{1b}[", "\u{1b}[1;", "a\rb"] {
            assert_eq!(without_colours(kept), kept);
        }
    }

    #[tokio::test]
    async fn program_gets_a_controlling_terminal() -> Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", "trap 'echo caught' INT; stty size </dev/tty; read a; echo \"<$a>\"; read b; exit 7"]);
        let mut pty = Pty::spawn(command)?;
        assert_eq!(pty.expect("24 80\n").await?, "24 80\n");
        pty.line("hello").await?;
        assert_eq!(pty.expect("<hello>\n").await?, "hello\n<hello>\n");
        pty.send(CTRL_C).await?;
        pty.expect("caught").await?;
        pty.send(CTRL_D).await?;
        assert_eq!(pty.end().await?.code(), Some(7));
        assert!(pty.expect("more").await.is_err());
        Ok(())
    }

    #[test]
    fn program_gets_default_signals_when_the_test_ignores_and_blocks_them() -> Result<()> {
        let signals = "HUP,INT,QUIT,TERM,TSTP";
        let mut again = std::process::Command::new("env");
        again.arg(format!("--ignore-signal={signals}")).arg(format!("--block-signal={signals}")).arg(std::env::current_exe()?);
        let ran = again.args(["--exact", "pty::tests::program_gets_a_controlling_terminal"]).output()?;
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        Ok(())
    }
}
