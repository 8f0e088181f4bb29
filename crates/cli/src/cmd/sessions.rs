//! `sayso sessions`: lists, shows, messages, interrupts, stops and resumes sessions, and prints transcripts.

use std::time::{Duration, Instant};

use sayso_client::Client;
use sayso_client::api::session::{IfPending, Session, SessionQuery, SessionStatus, TranscriptQuery};
use sayso_core::time::{Time, in_short};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::list;
use crate::app::App;
use crate::args::SessionAction;
use crate::failure::Failure;
use crate::order;
use crate::output::{Look, Style};
use crate::sanitize;
use crate::words;

/// Time limit for a session to end, and the interval between checks.
const ENDS: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// Lists sessions, or runs one action on a session.
pub(crate) async fn run(app: &App, action: Option<SessionAction>, all: bool) -> Result<(), Failure> {
    let client = app.client()?;
    let Some(action) = action else { return list_all(app, &client, all).await };
    match action {
        SessionAction::Show { id } => {
            let found = client.find_session(&id).await?;
            let session = client.session(&found.id).await?;
            app.out.result(&session, || describe(&session, sayso_client::now(), &app.out.look))
        }
        SessionAction::Message { id, text, queue } => {
            let session = client.find_session(&id).await?;
            let if_pending = if queue { IfPending::Queue } else { IfPending::Refuse };
            let accepted = client.message(&session.id, &text, if_pending).await?;
            app.out.result(&accepted, || match &accepted.answered {
                Some(ask) => format!("Your message answered: {}", words::subject(ask)),
                None => "Sent.".to_owned(),
            })
        }
        SessionAction::Interrupt { id } => {
            let session = client.find_session(&id).await?;
            let session = client.interrupt(&session.id).await?;
            app.out.result(&session, || "Stopping the turn.".to_owned())
        }
        SessionAction::Stop { id } => {
            let session = client.find_session(&id).await?;
            client.end_session(&session.id).await?;
            let ended = has_ended(&client, &session.id).await?;
            app.out.result(&serde_json::json!({ "id": session.id, "ended": ended }), || match ended {
                true => "The session has ended.".to_owned(),
                false => "The session is ending, but its agent has not stopped yet.".to_owned(),
            })
        }
        SessionAction::Resume { id } => {
            let session = client.find_session(&id).await?;
            let session = client.resume(&session.id).await?;
            app.out.result(&session, || format!("The session is {}.", status(session.status)))
        }
        SessionAction::Log { id } => log(app, &client, &id).await,
    }
}

async fn list_all(app: &App, client: &Client, all: bool) -> Result<(), Failure> {
    let query = SessionQuery { open: (!all).then_some(true), limit: Some(100), ..SessionQuery::default() };
    let page = client.sessions(&query).await?;
    app.out.result(&page, || match page.data.as_slice() {
        [] => "No sessions yet. Try: sayso start mock \"ask me a question\"".to_owned(),
        sessions => table(sessions, sayso_client::now(), &app.out.look),
    })
}

const fn status(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Running => "running",
        SessionStatus::Waiting => "waiting for you",
        SessionStatus::Idle => "idle",
        SessionStatus::Stalled => "stalled",
        SessionStatus::Ended => "ended",
        SessionStatus::Failed => "failed",
    }
}

fn table(sessions: &[Session], now: Time, look: &Look) -> String {
    let length = order::ending_length(sessions.iter().map(|session| session.id.as_str()));
    let titles: Vec<String> = sessions.iter().map(|session| sanitize::line(&session.title)).collect();
    let widest = titles.iter().map(|title| title.width()).max().unwrap_or(0).min(look.width.saturating_sub(60).max(20));
    let lines = sessions.iter().zip(&titles).map(|(session, title)| {
        let agent = words::pad(&words::cut(&sanitize::line(&session.agent), 10, look.ellipsis()), 10);
        format!(
            "{}  {agent}  {}  {}  {:>4}  {}",
            order::ending(&session.id, length),
            words::pad(&words::cut(title, widest, look.ellipsis()), widest),
            words::pad(status(session.status), 15),
            in_short(now.since(session.updated_at)),
            words::directory(&session.cwd, look)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn describe(session: &Session, now: Time, look: &Look) -> String {
    let mut lines = vec![look.paint(Style::Bold, &sanitize::line(&session.title))];
    let mut fact = |name: &str, value: String| lines.push(format!("{}{value}", look.paint(Style::Dim, &format!("{name:<10}"))));
    fact("Session", session.id.clone());
    fact("Agent", sanitize::line(&session.agent));
    let branch = session.branch.as_deref().map(|branch| format!(" ({})", sanitize::line(branch))).unwrap_or_default();
    fact("Project", format!("{}{branch}", words::directory(&session.cwd, look)));
    let reason = session.reason.as_deref().map(|reason| format!(": {}", sanitize::line(reason))).unwrap_or_default();
    fact("State", format!("{}{reason}", status(session.status)));
    fact("Started", words::at(session.created_at, now));
    if session.resumable {
        fact("Resume", format!("sayso sessions resume {}", order::ending(&session.id, 4)));
    }
    for (key, value) in &session.labels {
        fact("Label", sanitize::line(&format!("{key}={value}")));
    }
    if let Some(asks) = session.asks.as_deref().filter(|asks| !asks.is_empty()) {
        lines.push(String::new());
        lines.push(list::table(asks, now, look));
    }
    lines.join("\n")
}

/// Waits until the session has ended. Returns false after the time limit.
async fn has_ended(client: &Client, id: &str) -> Result<bool, Failure> {
    let deadline = Instant::now() + ENDS;
    loop {
        if matches!(client.session(id).await?.status, SessionStatus::Ended | SessionStatus::Failed) {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn log(app: &App, client: &Client, id: &str) -> Result<(), Failure> {
    let session = client.find_session(id).await?;
    let mut query = TranscriptQuery { limit: Some(500), cursor: None };
    loop {
        let page = client.transcript(&session.id, &query).await?;
        for block in &page.data {
            if app.out.json {
                app.out.json(block)?;
            } else {
                app.out.line(&block_text(block, &app.out.look));
            }
        }
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return Ok(()),
        }
    }
}

/// Formats a block of a transcript. Newer servers may send new kinds of blocks; unknown blocks are printed as JSON.
pub(crate) fn block_text(block: &Value, look: &Look) -> String {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(sanitize::text);
    let line = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(sanitize::line);
    match block.get("type").and_then(Value::as_str) {
        Some("message") => {
            let said = text(block, "text").unwrap_or_default();
            match block.get("role").and_then(Value::as_str) {
                Some("user") => look.paint(Style::Bold, &format!("> {}", said.trim_end())),
                Some(_) | None => said.trim_end().to_owned(),
            }
        }
        Some("tool") => {
            let output = text(block, "output").map(|output| format!("\n{}", output.trim_end())).unwrap_or_default();
            let head = format!("[{}] {}", line(block, "name").unwrap_or_default(), line(block, "status").unwrap_or_default());
            format!("{}{output}", look.paint(Style::Dim, &head))
        }
        Some("notice") => look.paint(Style::Dim, &text(block, "text").unwrap_or_default()),
        Some("error") => look.paint(Style::Bad, &text(block, "text").unwrap_or_default()),
        Some("action") => {
            let extra = block.get("extra").unwrap_or(&Value::Null);
            let what =
                line(extra, "questionText").or_else(|| line(block, "title")).or_else(|| line(block, "text")).unwrap_or_default();
            let state = line(block, "status").unwrap_or_default();
            let answer = line(extra, "answerText").map(|answer| format!(": \"{answer}\"")).unwrap_or_default();
            format!("{} {what} {state}{answer}", look.paint(Style::Waiting, "?"))
        }
        Some(_) | None => sanitize::line(&block.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::look;
    use serde_json::json;

    #[test]
    fn each_kind_of_block_is_formatted() {
        for (block, wanted) in [
            (json!({"type": "message", "role": "user", "text": "hi\n"}), "> hi"),
            (json!({"type": "message", "role": "assistant", "text": "\u{1b}[2Jhello"}), "<U+001B>[2Jhello"),
            (json!({"type": "tool", "name": "Bash", "status": "complete", "output": "ok\n"}), "[Bash] complete\nok"),
            (json!({"type": "notice", "text": "resumed"}), "resumed"),
            (
                json!({"type": "action", "action_type": "question_request", "status": "success", "extra": {"questionText": "Which?", "answerText": "A"}}),
                "? Which? success: \"A\"",
            ),
            (json!({"type": "new", "x": 1}), r#"{"type":"new","x":1}"#),
        ] {
            assert_eq!(block_text(&block, &look()), wanted);
        }
    }
}
