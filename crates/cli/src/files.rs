//! Text about the files that the command of an approval executes.

use sayso_client::Client;
use sayso_client::api::ask::{Ask, AskFile, AskFiles, AskStatus, FileDiff};

use crate::order::ending;
use crate::sanitize;

/// Said in place of content that cannot be shown.
const NOT_AVAILABLE: &str = "Content not available";
const UNLISTED: &str = "Runs code from the project";
/// Said after the contents of all files.
const STILL_CHANGEABLE: &str = "The agent can still change these files after you approve.";

/// How many digits of the content digest `sayso show` prints, and `sayso approve --content` needs at least. An agent that knows
/// them cannot find other content with the same digits.
pub(crate) const SHORT_CONTENT: usize = 16;

/// Returns the command that approves the content of these files. `None` if the server does not compare them.
pub(crate) fn approve_command(ask: &Ask, files: &AskFiles) -> Option<String> {
    let digest: String = sanitize::line(files.digest.as_deref()?).chars().take(SHORT_CONTENT).collect();
    Some(format!("sayso approve {} --content {digest}", ending(&ask.id, 4)))
}

/// Reads the files of a pending ask. `None` if it has none, or if this token may not read them.
pub(crate) async fn read(client: &Client, ask: &Ask) -> Option<AskFiles> {
    if ask.status != AskStatus::Pending || ask.executes.is_none() {
        return None;
    }
    client.ask_files(&ask.id).await.ok()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileLine {
    /// Path of a file, or a sentence about a file.
    Heading(String),
    /// A line of content or of a diff.
    Text(String),
    Note(String),
}

/// Formats the code that an ask executes. `files` is `None` if the contents are not known.
pub(crate) fn lines(ask: &Ask, files: Option<&AskFiles>, changes: &[FileDiff]) -> Vec<FileLine> {
    let Some(executes) = &ask.executes else { return Vec::new() };
    let mut lines = Vec::new();
    for change in changes {
        lines.push(FileLine::Heading(format!("Changed since you looked: {}", sanitize::line(&change.path))));
        lines.extend(sanitize::text(&change.diff).lines().map(|line| FileLine::Text(line.to_owned())));
    }
    match files {
        Some(files) => {
            files.files.iter().for_each(|file| push_file(file, &mut lines));
            if files.files.iter().any(|file| file.text.is_some()) {
                lines.push(FileLine::Note(STILL_CHANGEABLE.to_owned()));
            }
        }
        None => {
            for path in &executes.files {
                lines.push(FileLine::Heading(sanitize::line(path)));
                lines.push(FileLine::Note(NOT_AVAILABLE.to_owned()));
            }
        }
    }
    if executes.unlisted {
        lines.push(FileLine::Note(UNLISTED.to_owned()));
    }
    lines
}

fn push_file(file: &AskFile, lines: &mut Vec<FileLine>) {
    let path = sanitize::line(&file.path);
    let digest = file.digest.as_deref().map(sanitize::line).unwrap_or_default();
    let digest: String = digest.chars().take(12).collect();
    match (&file.text, file.size) {
        (Some(text), Some(size)) => {
            lines.push(FileLine::Heading(format!("{path}  {size} bytes  {digest}")));
            lines.extend(sanitize::text(text).lines().map(|line| FileLine::Text(line.to_owned())));
            if file.truncated {
                lines.push(FileLine::Note(format!("Only the first {} bytes are shown.", text.len())));
            }
        }
        (None, Some(size)) => {
            lines.push(FileLine::Heading(format!("{path}  {size} bytes  {digest}")));
            lines.push(FileLine::Note(format!("{NOT_AVAILABLE}: not text")));
        }
        (_, None) => {
            lines.push(FileLine::Heading(path));
            lines.push(FileLine::Note(NOT_AVAILABLE.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use sayso_client::api::ask::ExecutedCode;

    use super::*;
    use crate::fixtures::approval_ask;

    fn file(text: Option<&str>, size: Option<u64>) -> AskFile {
        let digest = size.map(|_| "0123456789abcdef".repeat(4));
        AskFile { path: "/p/x.sh".into(), text: text.map(Into::into), truncated: text.is_some(), size, digest }
    }

    #[test]
    fn lines_show_contents_changes_and_missing_contents() {
        use FileLine::{Heading, Note, Text};
        let executes = ExecutedCode { files: vec!["/p/x.sh".into()], unlisted: true, readable: true };
        let ask = Ask { executes: Some(executes), ..approval_ask() };
        let head = Heading("/p/x.sh  9 bytes  0123456789ab".into());
        let files = [file(Some("a\u{1b}b\nc"), Some(9)), file(None, Some(9)), file(None, None)];
        let files = AskFiles { digest: None, files: files.into(), unlisted: true };
        let change = FileDiff { path: "/p/x.sh".into(), diff: "@@ -1,1 +1,1 @@\n-a\n+b\n".into() };
        assert_eq!(
            lines(&ask, Some(&files), &[change]),
            [
                Heading("Changed since you looked: /p/x.sh".into()),
                Text("@@ -1,1 +1,1 @@".into()),
                Text("-a".into()),
                Text("+b".into()),
                head.clone(),
                Text("a<U+001B>b".into()),
                Text("c".into()),
                Note("Only the first 5 bytes are shown.".into()),
                head,
                Note("Content not available: not text".into()),
                Heading("/p/x.sh".into()),
                Note("Content not available".into()),
                Note("The agent can still change these files after you approve.".into()),
                Note("Runs code from the project".into()),
            ]
        );
        let unread = [Heading("/p/x.sh".into()), Note("Content not available".into()), Note("Runs code from the project".into())];
        assert_eq!(lines(&ask, None, &[]), unread);
        assert_eq!(lines(&approval_ask(), None, &[]), []);
    }
}
