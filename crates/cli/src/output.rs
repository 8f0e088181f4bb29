//! Output of commands: colors only on a terminal, JSON on request.

use std::io::{self, IsTerminal, Write};

use sayso_client::Environment;
use serde::Serialize;

use crate::failure::Failure;

/// Width of a horizontal rule, minimum width for layouts, and the width to assume for pipes. In columns.
pub(crate) const RULE: usize = 72;
const NARROWEST: usize = 40;
const IN_A_PIPE: usize = 100;

/// The meaning of a piece of text. Color is used for states only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// For headings and hosts.
    Bold,
    /// For less important text.
    Dim,
    /// For pending asks.
    Waiting,
    /// For approvals, answers and success.
    Good,
    /// For refusals and errors.
    Bad,
    /// For parked asks.
    Parked,
}

/// How text is drawn. Passed as a value, so that drawing is pure.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) colour: bool,
    pub(crate) ascii: bool,
    /// Width in columns.
    pub(crate) width: usize,
    /// Home directory, abbreviated to `~`.
    pub(crate) home: Option<String>,
}

impl Look {
    /// Wraps text in the escape codes of a style.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Waiting => "33",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Parked => "35",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Separator between facts.
    pub(crate) const fn dot(&self) -> &'static str {
        if self.ascii { "*" } else { "·" }
    }

    /// Sign where text was cut.
    pub(crate) const fn ellipsis(&self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }

    /// Character of a horizontal rule.
    pub(crate) const fn rule(&self) -> &'static str {
        if self.ascii { "=" } else { "━" }
    }

    /// Prefix for quoted lines of other people's or agents' text.
    pub(crate) const fn bar(&self) -> &'static str {
        if self.ascii { "|" } else { "│" }
    }
}

/// Standard output and standard error of this command.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// True with `--json`.
    pub(crate) json: bool,
    /// True if standard output is a terminal.
    pub(crate) is_terminal: bool,
    /// True if the terminal can move its cursor, so that text can be printed above a prompt.
    pub(crate) moves_cursor: bool,
    pub(crate) look: Look,
}

impl Output {
    /// Detects the output settings of this process.
    pub(crate) fn of_process(environment: &Environment, format: Format) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let columns = rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
        let look = Look {
            colour: is_terminal && environment.get("NO_COLOR").is_none() && environment.get("TERM") != Some("dumb"),
            ascii: is_terminal && !speaks_utf8(environment),
            width: columns.filter(|columns| *columns > 0).unwrap_or(IN_A_PIPE).max(NARROWEST),
            home: environment.get("HOME").map(str::to_owned),
        };
        let moves_cursor = is_terminal && environment.get("TERM").is_some_and(|term| term != "dumb");
        Self { json: format == Format::Json, is_terminal, moves_cursor, look }
    }

    /// Prints one or several lines.
    pub(crate) fn line(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// Prints text without a newline.
    pub(crate) fn write(&self, text: &str) {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if written.is_err() {
            // The reader has closed the pipe (`sayso ls | head`).
            std::process::exit(0);
        }
    }

    /// Prints a message for the person to standard error.
    pub(crate) fn note(&self, text: &str) {
        let mut err = io::stderr().lock();
        // If standard error cannot be written, there is no other place to report it.
        let _ = writeln!(err, "{text}");
    }

    /// Prints a JSON document on one line.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(|error| Failure::new(format!("Internal error: {error}.")))?;
        self.line(&text);
        Ok(())
    }

    /// Prints the JSON document with `--json`, and the text otherwise.
    pub(crate) fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json {
            return self.json(value);
        }
        self.line(&text());
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
}

/// Checks the first locale variable that is set. Without any, assumes UTF-8, as most terminals use it today.
fn speaks_utf8(environment: &Environment) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| environment.get(name));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locale_decides_between_utf8_and_ascii_signs() {
        let speaks = |name, value| speaks_utf8(&Environment::from_pairs([(name, value)]));
        assert!(speaks("LANG", "en_GB.UTF-8") && speaks("LC_ALL", "C.utf8") && speaks_utf8(&Environment::default()));
        assert!(!speaks("LC_ALL", "C") && !speaks("LANG", "de_DE.ISO-8859-1"));
    }

    #[test]
    fn no_escape_codes_without_color() {
        let look = Look { colour: false, ascii: false, width: 80, home: None };
        assert_eq!(look.paint(Style::Bad, "no"), "no");
        assert_eq!(Look { colour: true, ..look }.paint(Style::Bad, "no"), "\u{1b}[31mno\u{1b}[0m");
    }
}
