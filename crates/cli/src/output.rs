//! Where text goes, and how it looks: colours only on a terminal, JSON when asked for.

use std::io::{self, IsTerminal, Write};

use sayso_client::Environment;
use serde::Serialize;

use crate::failure::Failure;

/// How wide a rule is drawn, and the least width that columns are laid out for.
pub(crate) const RULE: usize = 72;
const NARROWEST: usize = 40;
const IN_A_PIPE: usize = 100;

/// What a piece of text means. Colour carries state only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A header, a host.
    Bold,
    /// What matters less.
    Dim,
    /// It waits.
    Waiting,
    /// Yes.
    Good,
    /// No.
    Bad,
    /// Parked.
    Parked,
}

/// How text is drawn. A value, so that drawing is pure.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// Whether colours are used.
    pub(crate) colour: bool,
    /// Whether only ASCII signs are used.
    pub(crate) ascii: bool,
    /// How many columns there are.
    pub(crate) width: usize,
    /// The home directory, which is written `~`.
    pub(crate) home: Option<String>,
}

impl Look {
    /// Text in a style.
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

    /// Between two facts.
    pub(crate) const fn dot(&self) -> &'static str {
        if self.ascii { "*" } else { "·" }
    }

    /// Where something was cut.
    pub(crate) const fn ellipsis(&self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }

    /// What a rule is made of.
    pub(crate) const fn rule(&self) -> &'static str {
        if self.ascii { "=" } else { "━" }
    }

    /// Before a line of somebody else's text.
    pub(crate) const fn bar(&self) -> &'static str {
        if self.ascii { "|" } else { "│" }
    }
}

/// Standard output and standard error of this command.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// Whether JSON was asked for.
    pub(crate) json: bool,
    /// Whether a person looks at it.
    pub(crate) is_terminal: bool,
    /// Whether it is a terminal that can move its cursor, so that something can be written above a prompt.
    pub(crate) moves_cursor: bool,
    /// How text is drawn.
    pub(crate) look: Look,
}

impl Output {
    /// The output of this process.
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

    /// One line, or several.
    pub(crate) fn line(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// A piece that more is to follow.
    pub(crate) fn write(&self, text: &str) {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if written.is_err() {
            // The reader has gone (`sayso ls | head`); there is nobody to tell.
            std::process::exit(0);
        }
    }

    /// Something for the person that is not the result.
    pub(crate) fn note(&self, text: &str) {
        let mut err = io::stderr().lock();
        // When even this cannot be written there is nowhere left to say so.
        let _ = writeln!(err, "{text}");
    }

    /// One JSON document, on one line.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(|error| Failure::new(format!("Internal error: {error}.")))?;
        self.line(&text);
        Ok(())
    }

    /// The document if JSON was asked for, else the text.
    pub(crate) fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json {
            return self.json(value);
        }
        self.line(&text());
        Ok(())
    }
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The first locale variable that is set decides; without any, UTF-8 is what terminals speak today.
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
    fn the_locale_decides_about_signs() {
        let speaks = |name, value| speaks_utf8(&Environment::from_pairs([(name, value)]));
        assert!(speaks("LANG", "en_GB.UTF-8") && speaks("LC_ALL", "C.utf8") && speaks_utf8(&Environment::default()));
        assert!(!speaks("LC_ALL", "C") && !speaks("LANG", "de_DE.ISO-8859-1"));
    }

    #[test]
    fn no_colour_means_no_escape() {
        let look = Look { colour: false, ascii: false, width: 80, home: None };
        assert_eq!(look.paint(Style::Bad, "no"), "no");
        assert_eq!(Look { colour: true, ..look }.paint(Style::Bad, "no"), "\u{1b}[31mno\u{1b}[0m");
    }
}
