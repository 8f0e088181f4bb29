//! The channel `desktop`: `notify-send`, or `osascript` on macOS.

use super::{ChannelVariables, SendResult, program};
use crate::service::notes::Note;

/// The desktop of the user who started the server.
#[derive(Debug)]
pub(crate) struct DesktopChannel {
    pub(crate) variables: ChannelVariables,
}

/// The script for `osascript`. Texts are passed as arguments and are never part of the script.
const SCRIPT: &str = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

impl DesktopChannel {
    pub(super) async fn send_note(&self, note: &Note) -> SendResult {
        let body = note.content.as_deref().unwrap_or(note.open_to_answer());
        let ran = if cfg!(target_os = "macos") {
            program::run("osascript", &["-e", SCRIPT, &note.line, body], b"", &self.variables).await
        } else {
            let body = without_markup(body);
            program::run("notify-send", &["--app-name=sayso", "--", &note.line, &body], b"", &self.variables).await
        };
        ran.map(|_| None)
    }
}

/// Escapes the body, because desktops parse it as markup.
fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn agent_text_is_escaped_in_desktop_markup() {
        assert_eq!(super::without_markup("<a href=\"x\">&</a>"), "&lt;a href=\"x\"&gt;&amp;&lt;/a&gt;");
    }
}
