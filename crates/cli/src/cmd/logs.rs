//! `sayso logs`: the end of the server's log, and what is added.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use crate::app::App;
use crate::failure::Failure;
use crate::log;
use crate::sanitize;

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// How much of one file is read at most.
const TAIL: u64 = 8 * 1024 * 1024;

/// Shows the log.
pub(crate) async fn run(app: &App, lines: usize, follow: bool) -> Result<(), Failure> {
    let path = app.paths.log();
    let unreadable = |error: io::Error| Failure::io(&format!("{} cannot be read", path.display()), &error);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("There is no log at {}.", path.display()))
                .then("A server in the foreground writes to its terminal."));
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut rest = tail(&mut file).map_err(unreadable)?;
    let older = earlier(&path, lines.saturating_sub(rest.lines().count()));
    let all: Vec<&str> = older.iter().map(String::as_str).chain(rest.lines()).collect();
    for line in all.iter().skip(all.len().saturating_sub(lines)) {
        show(app, line)?;
    }
    if !follow {
        return Ok(());
    }
    rest.clear();
    loop {
        tokio::time::sleep(LOOK).await;
        // What was added to a file that has been moved aside since comes first.
        let moved = !is_at(&file, &path);
        read(&mut file, &mut rest).map_err(unreadable)?;
        while let Some(end) = rest.find('\n') {
            show(app, &rest[..end])?;
            rest.drain(..=end);
        }
        if moved && let Ok(next) = File::open(&path) {
            file = next;
        }
    }
}

/// The last lines of the files that were moved aside, as many as are wanted.
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

/// Whether this file still has this name.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        // Between two files there is none for a moment; it is looked at again.
        (Err(_), _) | (_, Err(_)) => true,
    }
}

/// The end of a file; it is read on from there.
fn tail(file: &mut File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut text = String::new();
    read(file, &mut text)?;
    Ok(text)
}

/// Reads to the end; bytes that are not text are replaced. A file that somebody emptied is read from its start.
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
