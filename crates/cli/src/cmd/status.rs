//! `sayso status`: shows the server and the number of pending asks. `--line` prints one line for a status bar.

use sayso_client::ServerFile;
use sayso_client::api::ask::{AskPage, AskQuery};
use sayso_client::api::session::{Attachment, AttachmentState, SessionQuery, SessionStatus};
use sayso_core::time::{Time, in_short};

use crate::app::App;
use crate::failure::Failure;
use crate::order;
use crate::sanitize;
use crate::words;

/// Number of asks to load for the status line. Small, because status bars run this often.
const LOOKED_AT: u32 = 50;

/// Prints one short line, or nothing if no server is running.
pub(crate) async fn line(app: &App) -> Result<(), Failure> {
    let Ok(client) = app.client() else { return Ok(()) };
    let query = AskQuery { status: Some("pending".to_owned()), limit: Some(LOOKED_AT), ..AskQuery::default() };
    let Ok(page) = client.asks(&query).await else { return Ok(()) };
    let now = sayso_client::now();
    let (waiting, oldest) = waiting(&page, now);
    app.out.result(&serde_json::json!({ "waiting": waiting, "oldestOpenedAt": oldest }), || short(waiting, oldest, now))
}

/// Counts pending asks that are not snoozed, and returns when the oldest was opened.
fn waiting(page: &AskPage, now: Time) -> (u64, Option<Time>) {
    let shown: Vec<_> = page.data.iter().filter(|ask| !order::is_snoozed(ask, now)).collect();
    let hidden = u64::try_from(page.data.len() - shown.len()).unwrap_or(0);
    let all = page.pending.unwrap_or(u64::try_from(page.data.len()).unwrap_or(u64::MAX));
    (all.saturating_sub(hidden), shown.iter().map(|ask| ask.opened_at).min())
}

fn short(waiting: u64, oldest: Option<Time>, now: Time) -> String {
    match oldest {
        Some(oldest) => format!("{waiting} waiting · {}", in_short(now.since(oldest))),
        None => format!("{waiting} waiting"),
    }
}

/// Prints the server and the number of pending asks.
pub(crate) async fn run(app: &App) -> Result<(), Failure> {
    let client = app.client()?;
    let health = client.health().await?;
    let now = sayso_client::now();
    let page = client.asks(&AskQuery { status: Some("pending".to_owned()), limit: Some(500), ..AskQuery::default() }).await?;
    let sessions = client.sessions(&SessionQuery { open: Some(true), limit: Some(500), ..SessionQuery::default() }).await?.data;
    let working = sessions.iter().filter(|session| session.status == SessionStatus::Running).count();
    let attached: Vec<Attachment> = client.agents().await?.data.into_iter().flat_map(|agent| agent.attached).collect();
    let (waiting, oldest) = waiting(&page, now);
    let pid = ServerFile::read(&app.paths.server_file())
        .ok()
        .flatten()
        .filter(|file| client.url().starts_with(&file.url))
        .map(|file| file.pid);
    let value = serde_json::json!({
        "url": client.url(), "pid": pid, "version": health.version, "status": health.status,
        "waiting": waiting, "oldestOpenedAt": oldest, "sessions": sessions.len(), "working": working, "attached": attached,
        "dataDir": app.paths.data_dir, "log": app.paths.log(),
    });
    app.out.result(&value, || {
        let pid = pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
        let state = if health.status == "ok" { String::new() } else { format!("\nState    {}", sanitize::line(&health.status)) };
        format!(
            "Server   {} (version {}{pid}){state}\nInbox    {}\nAgents   {}, {working} working{}\nData     {}\nLog      {}\nPage     open it with: sayso login --open",
            client.url(),
            sanitize::line(&health.version),
            short(waiting, oldest, now),
            words::count(sessions.len(), "session open", "sessions open"),
            attached.iter().map(|attached| format!("\nYours    {}", own_server(attached))).collect::<String>(),
            words::directory(&app.paths.data_dir.to_string_lossy(), &app.out.look),
            words::directory(&app.paths.log().to_string_lossy(), &app.out.look),
        )
    })
}

/// Describes an agent server that the person runs, and its connection.
pub(super) fn own_server(attached: &Attachment) -> String {
    let what = format!("{} at {}", sanitize::line(&attached.agent), sanitize::line(&attached.place));
    match (attached.state, &attached.problem) {
        (AttachmentState::Connected, _) => format!("{what}, connected"),
        (AttachmentState::Connecting, _) => format!("{what}, connecting"),
        (AttachmentState::Unreachable, Some(problem)) => format!("{what}, unreachable: {}", sanitize::line(problem)),
        (AttachmentState::Unreachable, None) => format!("{what}, unreachable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::question_ask;
    use sayso_client::api::ask::Ask;

    #[test]
    fn status_line_does_not_count_snoozed_asks() {
        let opened = question_ask().opened_at;
        let now = Time::from_millis(opened.as_millis() + 7 * 60_000);
        let snoozed = Ask {
            snoozed_until: Some(Time::from_millis(now.as_millis() + 1)),
            opened_at: Time::from_millis(0),
            ..question_ask()
        };
        let data = vec![snoozed, question_ask(), question_ask()];
        let page = AskPage { data, next_cursor: None, seq: 1, pending: Some(3), truncated: false };
        let (count, oldest) = waiting(&page, now);
        assert_eq!(short(count, oldest, now), "2 waiting · 7m");
        let none = AskPage { data: Vec::new(), pending: None, ..page };
        let (count, oldest) = waiting(&none, now);
        assert_eq!(short(count, oldest, now), "0 waiting");
    }
}
