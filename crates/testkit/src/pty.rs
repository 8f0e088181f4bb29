//! A person at a terminal: a program on a pseudo-terminal of its own, read until what is expected
//! stands there.

use std::process::ExitStatus;

use anyhow::{Context as _, Result, bail};
use pty_process::Size;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::signals;
use crate::watch::{PATIENCE, within};

/// Ctrl-C.
pub const CTRL_C: &str = "\u{3}";

/// Ctrl-D.
pub const CTRL_D: &str = "\u{4}";

/// A program on a terminal of 80 columns and 24 lines, which is its controlling terminal: Ctrl-C there
/// is a signal. Dropped, the terminal is closed and the program killed.
pub struct Pty {
    terminal: pty_process::Pty,
    child: Child,
    /// Every byte that came, colours and all.
    raw: Vec<u8>,
    /// The same without colours.
    screen: String,
    /// How much of the screen was expected already.
    read: usize,
    /// What a person sees now, on a terminal that understands every sequence.
    seen: vt100::Parser,
    ended: bool,
}

impl std::fmt::Debug for Pty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pty").field("child", &self.child).field("screen", &self.screen).finish_non_exhaustive()
    }
}

impl Pty {
    /// Starts a program. Its environment, arguments and directory are the command's; only its streams
    /// are the terminal's. No signal is ignored or blocked in it.
    ///
    /// # Errors
    /// When there is no terminal to be had, or the program does not start.
    pub fn spawn(mut command: Command) -> Result<Self> {
        let (terminal, inside) = pty_process::open().context("no pseudo-terminal")?;
        terminal.resize(Size::new(24, 80)).context("the terminal keeps its size")?;
        let seen = vt100::Parser::new(lines(24)?, lines(80)?, 0);
        command.kill_on_drop(true);
        signals::reset_in_child(&mut command);
        let child = pty_process::Command::from(command).spawn(inside).context("the program does not start")?;
        Ok(Self { terminal, child, raw: Vec::new(), screen: String::new(), read: 0, seen, ended: false })
    }

    /// Reads until this text stands on the screen, behind what was expected before, and gives what
    /// stands between the two, this text included. Colours do not count.
    ///
    /// # Errors
    /// When the program ends first, or the text does not come.
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

    /// Reads until a person sees this text now, and gives the whole screen.
    ///
    /// # Errors
    /// When the program ends first, or the text does not come.
    pub async fn shows(&mut self, text: &str) -> Result<String> {
        self.shows_that(&format!("{text:?}"), |seen| seen.contains(text)).await
    }

    /// Reads until a person sees a screen for which this holds, and gives it.
    ///
    /// # Errors
    /// When the program ends first, or it never holds.
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

    /// What a person sees now.
    #[must_use]
    pub fn visible(&self) -> String {
        self.seen.screen().contents()
    }

    /// Whether the program has the screen for itself.
    #[must_use]
    pub fn is_full_screen(&self) -> bool {
        self.seen.screen().alternate_screen()
    }

    /// Reads until a person sees this text now, and it is not dimmed.
    ///
    /// # Errors
    /// When the program ends first, or the text does not come.
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

    /// Gives the terminal another size.
    ///
    /// # Errors
    /// When it cannot have that size.
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
    /// When the terminal is gone.
    pub async fn send(&mut self, keys: &str) -> Result<()> {
        self.terminal.write_all(keys.as_bytes()).await.with_context(|| format!("{keys:?} cannot be typed"))
    }

    /// Types a line and presses Enter.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub async fn line(&mut self, text: &str) -> Result<()> {
        self.send(&format!("{text}\r")).await
    }

    /// Reads until the program has ended by itself.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn end(&mut self) -> Result<ExitStatus> {
        let ended = within("the program to end", async {
            while self.more().await? {}
            Ok(self.child.wait().await?)
        })
        .await;
        self.screen = without_colours(&String::from_utf8_lossy(&self.raw));
        ended.with_context(|| format!("on the screen:\n{}", self.screen))
    }

    /// Everything that was on the screen until `expect` or `end` was called last, without colours. What was
    /// typed is there as far as the terminal showed it.
    #[must_use]
    pub fn screen(&self) -> &str {
        &self.screen
    }

    /// Every byte that came from the terminal.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Reads what there is; false when the program has closed the terminal.
    async fn more(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let mut buffer = [0; 4096];
        let length = match self.terminal.read(&mut buffer).await {
            Ok(length) => length,
            // Linux says so when nobody holds the other side any more.
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

/// Text without `ESC [ … m` and without the carriage returns that a terminal adds. Every other control
/// sequence stays and is seen.
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
    fn only_colours_are_taken_away() {
        assert_eq!(without_colours("\u{1b}[1m[A]\u{1b}[0m b\r\n\u{1b}[38;5;1mc"), "[A] b\nc");
        for kept in ["\u{1b}[2J", "\u{1b}]0;t\u{7}", "\u{1b}", "\u{1b}[", "\u{1b}[1;", "a\rb"] {
            assert_eq!(without_colours(kept), kept);
        }
    }

    #[tokio::test]
    async fn a_program_has_a_terminal_of_its_own() -> Result<()> {
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
        let ran = again.args(["--exact", "pty::tests::a_program_has_a_terminal_of_its_own"]).output()?;
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        Ok(())
    }
}
