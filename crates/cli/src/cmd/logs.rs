//! `sayso logs`: the end of the server's log, and what is added.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use crate::app::App;
use crate::failure::Failure;
use crate::sanitize;

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// How much of the end is read at most.
const TAIL: u64 = 4 * 1024 * 1024;

/// Shows the log.
pub(crate) async fn run(app: &App, lines: usize, follow: bool) -> Result<(), Failure> {
    let path = app.paths.log();
    let unreadable = |error: std::io::Error| Failure::io(&format!("{} cannot be read", path.display()), &error);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("There is no log at {}.", path.display()))
                .then("A server in the foreground writes to its terminal."));
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut position = file.metadata().map_err(unreadable)?.len();
    file.seek(SeekFrom::Start(position.saturating_sub(TAIL))).map_err(unreadable)?;
    let mut text = String::new();
    read(&mut file, &mut text).map_err(unreadable)?;
    let all: Vec<&str> = text.lines().collect();
    for line in &all[all.len().saturating_sub(lines)..] {
        show(app, line)?;
    }
    if !follow {
        return Ok(());
    }
    let mut rest = String::new();
    loop {
        tokio::time::sleep(LOOK).await;
        let length = fs::metadata(&path).map(|data| data.len()).unwrap_or(position);
        if length < position {
            // Another file took its place.
            file = File::open(&path).map_err(unreadable)?;
            position = 0;
            rest.clear();
        }
        file.seek(SeekFrom::Start(position)).map_err(unreadable)?;
        position += read(&mut file, &mut rest).map_err(unreadable)?;
        while let Some(end) = rest.find('\n') {
            show(app, &rest[..end])?;
            rest.drain(..=end);
        }
    }
}

/// Reads to the end; bytes that are not text are replaced.
fn read(file: &mut File, into: &mut String) -> std::io::Result<u64> {
    let mut bytes = Vec::new();
    let read = file.take(TAIL).read_to_end(&mut bytes)?;
    into.push_str(&String::from_utf8_lossy(&bytes));
    Ok(u64::try_from(read).unwrap_or(0))
}

fn show(app: &App, line: &str) -> Result<(), Failure> {
    let line = sanitize::line(line);
    app.out.result(&serde_json::json!({ "line": line }), || line.clone())
}
