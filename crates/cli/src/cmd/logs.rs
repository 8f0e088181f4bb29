//! `sayso logs`: prints the end of the server's log or the lines about one ask, and follows the log.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use sayso_client::{FindError, id_suffix};
use sayso_core::id::AskId;

use crate::app::App;
use crate::args::LogsArgs;
use crate::failure::Failure;
use crate::log;
use crate::sanitize;
use crate::service;

/// Interval between reads while following the log.
const LOOK: Duration = Duration::from_millis(250);

/// Maximum number of bytes that are read from one file.
const TAIL: u64 = 8 * 1024 * 1024;

/// Log field with the id of an ask.
const ASK_FIELD: &str = "ask=";
/// Length of an id: its prefix and 32 digits.
const ID_LENGTH: usize = AskId::PREFIX.len() + 32;

pub(crate) async fn run(app: &App, args: LogsArgs) -> Result<(), Failure> {
    let LogsArgs { ask, follow, lines } = args;
    let suffix = ask.as_deref().map(id_suffix);
    let path = app.paths.log();
    let unreadable = |error: io::Error| Failure::io(&format!("Cannot read {}", path.display()), &error);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("There is no log at {}.", path.display()))
                .then("A server that runs in a terminal logs to that terminal."));
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut rest = tail(&mut file).map_err(unreadable)?;
    let wanted = if suffix.is_some() { usize::MAX } else { lines.saturating_sub(rest.lines().count()) };
    let older = earlier(&path, wanted);
    let mut all: Vec<&str> = older.iter().map(String::as_str).chain(rest.lines()).collect();
    if let Some(suffix) = &suffix {
        match one_ask(&all, suffix)? {
            Some(_) => all.retain(|line| is_about(line, suffix)),
            None if follow => all.clear(),
            None => return Err(no_lines(app, &all, suffix)),
        }
    }
    for line in all.iter().skip(all.len().saturating_sub(lines)) {
        show(app, line)?;
    }
    if !follow {
        return Ok(());
    }
    rest.clear();
    loop {
        tokio::time::sleep(LOOK).await;
        // After a rotation, the rest of the old file is printed before the new file.
        let moved = !is_at(&file, &path);
        read(&mut file, &mut rest).map_err(unreadable)?;
        while let Some(end) = rest.find('\n') {
            if suffix.as_ref().is_none_or(|suffix| is_about(&rest[..end], suffix)) {
                show(app, &rest[..end])?;
            }
            rest.drain(..=end);
        }
        if moved && let Ok(next) = File::open(&path) {
            file = next;
        }
    }
}

/// Returns the ids of asks in the fields and spans of a log line.
fn ask_ids(line: &str) -> impl Iterator<Item = &str> {
    let fields = line.match_indices(ASK_FIELD).map(|(at, name)| &line[at + name.len()..]);
    fields.filter_map(|field| field.get(..ID_LENGTH)).filter(|id| id.parse::<AskId>().is_ok())
}

/// Returns true if the line is about an ask whose id has this suffix.
fn is_about(line: &str, suffix: &str) -> bool {
    ask_ids(line).any(|id| id.ends_with(suffix))
}

/// Finds the only ask in these lines whose id has this suffix. Fails if there are several.
fn one_ask(lines: &[&str], suffix: &str) -> Result<Option<String>, FindError> {
    if suffix.is_empty() {
        return Err(FindError::None { what: "ask", suffix: suffix.to_owned() });
    }
    let mut found = BTreeMap::new();
    for line in lines {
        let first_seen = || format!("first line at {}", line.split_whitespace().next().unwrap_or_default());
        for id in ask_ids(line).filter(|id| id.ends_with(suffix)) {
            found.entry(id.to_owned()).or_insert_with(first_seen);
        }
    }
    if found.len() > 1 {
        return Err(FindError::Several { what: "ask", suffix: suffix.to_owned(), candidates: found.into_iter().collect() });
    }
    Ok(found.into_keys().next())
}

/// Explains why no line is about this ask, and what to do.
fn no_lines(app: &App, lines: &[&str], suffix: &str) -> Failure {
    let is_debug = |line: &&str| line.split_whitespace().nth(1).is_some_and(|level| matches!(level, "DEBUG" | "TRACE"));
    if lines.iter().any(is_debug) {
        let what = format!("The log has no line about an ask whose id ends in {}.", sanitize::line(suffix));
        return Failure::new(what).then("Old lines are deleted. See past decisions with: sayso history");
    }
    let restart = match service::is_installed(app) {
        true => "SAYSO_LOG=debug sayso service install",
        false => "SAYSO_LOG=debug sayso restart",
    };
    Failure::new("The log has no lines about single asks, because the server logs at level info.")
        .then(format!("To log more from now on, run: {restart}"))
}

/// Returns up to `wanted` last lines of rotated files.
fn earlier(path: &Path, wanted: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for file in log::files(path).iter().rev().filter(|file| *file != path) {
        if lines.len() >= wanted {
            break;
        }
        let Ok(text) = File::open(file).and_then(|mut file| tail(&mut file)) else { continue };
        lines.splice(0..0, text.lines().map(str::to_owned));
    }
    lines.split_off(lines.len().saturating_sub(wanted))
}

/// Returns true if `path` still refers to this open file.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        // During a rotation the path does not exist for a moment; the caller checks again later.
        (Err(_), _) | (_, Err(_)) => true,
    }
}

/// Reads the end of a file and leaves the cursor at the end.
fn tail(file: &mut File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut text = String::new();
    read(file, &mut text)?;
    Ok(text)
}

/// Reads to the end and replaces bytes that are not valid UTF-8. Starts again from the beginning if the file was
/// truncated.
fn read(file: &mut File, into: &mut String) -> io::Result<()> {
    if file.metadata()?.len() < file.stream_position()? {
        file.rewind()?;
    }
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    into.push_str(&String::from_utf8_lossy(&bytes));
    Ok(())
}

fn show(app: &App, line: &str) -> Result<(), Failure> {
    let line = sanitize::line(line);
    app.out.result(&serde_json::json!({ "line": line }), || line.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "2026-11-17T10:00:00Z DEBUG x: ask opened ask=ask_0190a0000000700080000000000014f2 kind=\"question\"";
    const A_SENT: &str = "2026-11-17T10:00:02Z DEBUG delivery{outbox=7 ask=ask_0190a0000000700080000000000014f2}: x: ask sent";
    const B: &str = "2026-11-17T10:00:01Z DEBUG x: ask opened ask=ask_0190a0000000700080000000000024f2";
    const OTHER: &str = "2026-11-17T10:00:03Z  INFO x: stopping session=ses_0190a0000000700080000000000014f2 ask=short";

    #[test]
    fn ask_is_found_by_a_unique_suffix_of_its_id() {
        let lines = [A, B, A_SENT, OTHER];
        let id = "ask_0190a0000000700080000000000014f2";
        for typed in ["14f2", id, id.trim_start_matches("ask_")] {
            assert_eq!(one_ask(&lines, typed), Ok(Some(id.to_owned())), "{typed}");
            let about: Vec<&str> = lines.into_iter().filter(|line| is_about(line, typed)).collect();
            assert_eq!(about, [A, A_SENT], "{typed}");
        }
        assert_eq!(one_ask(&lines, "34f2"), Ok(None));
        assert_eq!(one_ask(&lines, "ask_14f2"), Ok(None), "a prefix belongs to a whole id");
    }

    #[test]
    fn ambiguous_suffix_is_refused_with_all_candidates() {
        let Err(FindError::Several { candidates, .. }) = one_ask(&[A, B, A_SENT], "4f2") else { panic!("two ids end in 4f2") };
        assert_eq!(
            candidates,
            [
                ("ask_0190a0000000700080000000000014f2".to_owned(), "first line at 2026-11-17T10:00:00Z".to_owned()),
                ("ask_0190a0000000700080000000000024f2".to_owned(), "first line at 2026-11-17T10:00:01Z".to_owned())
            ]
        );
        assert!(matches!(one_ask(&[A], ""), Err(FindError::None { .. })));
    }
}
