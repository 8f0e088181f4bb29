//! `sayso`, `sayso inbox` and `sayso ls`: show pending asks.

use std::io::IsTerminal;

use sayso_client::DiscoverError;
use sayso_client::api::ask::{Ask, AskPage};
use sayso_client::api::session::{SessionQuery, SessionStatus};
use sayso_core::time::{Time, in_short};
use unicode_width::UnicodeWidthStr;

use crate::app::App;
use crate::args::ListArgs;
use crate::failure::Failure;
use crate::inbox::{self, Mode};
use crate::order;
use crate::output::{Look, Style};
use crate::sanitize;
use crate::words;

/// Shown to people who run `sayso` for the first time.
const FIRST: &str = "All your agents ask here, and you answer in one place.\n\
Try it:         sayso start mock \"ask me a question\"\n\
Your inbox:     sayso          Answer the next: sayso next          All commands: sayso --help";

/// Runs `sayso` without a command.
pub(crate) async fn home(app: &App) -> Result<(), Failure> {
    match app.target() {
        Err(DiscoverError::NoServer { .. }) if !app.paths.token().exists() && !app.out.json => {
            app.out.line(FIRST);
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(_) => inbox(app).await,
    }
}

/// Runs `sayso inbox`: opens the inbox in a terminal and prints the list otherwise.
pub(crate) async fn inbox(app: &App) -> Result<(), Failure> {
    if app.out.json || !app.out.is_terminal || !std::io::stdin().is_terminal() {
        return ls(app, &ListArgs { all: false }).await;
    }
    inbox::run(app, Mode::All).await
}

/// Runs `sayso ls`.
pub(crate) async fn ls(app: &App, args: &ListArgs) -> Result<(), Failure> {
    let client = app.client()?;
    let mut page = client.pending_asks().await?;
    order::inbox(&mut page.data);
    if app.out.json {
        return app.out.json(&page);
    }
    let now = sayso_client::now();
    let AskPage { data: all, .. } = page;
    let (snoozed, asks): (Vec<Ask>, Vec<Ask>) = all.into_iter().partition(|ask| !args.all && order::is_snoozed(ask, now));
    if !asks.is_empty() {
        app.out.line(&table(&asks, now, &app.out.look));
    }
    // Output to a pipe is the plain list only.
    if !app.out.is_terminal {
        return Ok(());
    }
    if asks.is_empty() {
        let open = client.sessions(&SessionQuery { open: Some(true), limit: Some(500), ..SessionQuery::default() }).await?.data;
        let working = open.iter().filter(|session| session.status == SessionStatus::Running).count();
        app.out.line(&nothing(open.len(), working));
    } else {
        app.out.line(&app.out.look.paint(Style::Dim, "Answer the first: sayso next. Answer another: sayso answer ID"));
    }
    if !snoozed.is_empty() {
        app.out.line(&app.out.look.paint(Style::Dim, &format!("{} snoozed. List all: sayso ls --all", snoozed.len())));
    }
    Ok(())
}

/// Says that no ask is pending, and how many agents are working.
fn nothing(open: usize, working: usize) -> String {
    match (open, working) {
        (0, _) => "No agents yet. Try: sayso start mock \"ask me a question\"".to_owned(),
        (_, 0) => "You're all caught up.".to_owned(),
        (_, 1) => "You're all caught up. 1 agent is working.".to_owned(),
        (_, several) => format!("You're all caught up. {several} agents are working."),
    }
}

/// Formats one line per ask: sign, suffix of the id, subject, agent, project, one fact, age.
pub(crate) fn table(asks: &[Ask], now: Time, look: &Look) -> String {
    let length = order::ending_length(asks.iter().map(|ask| ask.id.as_str()));
    let rows: Vec<[String; 4]> = asks
        .iter()
        .map(|ask| {
            let agent = sanitize::line(&ask.agent);
            [agent, words::project(ask), words::fact(ask, now), in_short(now.since(ask.opened_at))]
        })
        .collect();
    let column = |index: usize, most: usize| rows.iter().map(|row| row[index].width()).max().unwrap_or(0).min(most);
    let (agent, project, fact, age) = (column(0, 12), column(1, 16), column(2, 16), column(3, 6));
    let fixed =
        2 + length + 2 + [agent, project, fact, age].iter().filter(|width| **width > 0).map(|width| width + 2).sum::<usize>();
    let room = look.width.saturating_sub(fixed).max(16);
    let widest = asks.iter().map(|ask| words::subject(ask).width()).max().unwrap_or(0).min(room);
    let lines = asks.iter().zip(&rows).map(|(ask, row)| {
        let subject = words::pad(&words::cut(&words::subject(ask), widest, look.ellipsis()), widest);
        let mut line = format!("{} {}  {subject}", words::sign(ask, look), order::ending(&ask.id, length));
        for (text, width) in row[..2].iter().zip([agent, project]) {
            if width > 0 {
                line.push_str(&format!("  {}", words::pad(&words::cut(text, width, look.ellipsis()), width)));
            }
        }
        for (text, width) in row[2..].iter().zip([fact, age]) {
            if width > 0 {
                line.push_str(&format!("  {text:>width$}"));
            }
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, look, question_ask};
    use sayso_client::api::ask::{OnTimeout, Reach};

    #[test]
    fn list_fits_the_terminal_width() {
        let opened = question_ask().opened_at.as_millis();
        let now = Time::from_millis(opened + 24 * 60_000);
        let mut set = question_ask();
        set.id = "ask_9999".into();
        set.questions = (0..4).map(|_| question_ask().questions[0].clone()).collect();
        let mut asks = vec![
            Ask { id: "ask_1111".into(), agent: "claude".into(), ..question_ask() },
            Ask {
                id: "ask_2222".into(),
                deadline_at: Some(Time::from_millis(now.as_millis() + 221_000)),
                on_timeout: Some(OnTimeout::Deny),
                opened_at: Time::from_millis(opened + 18 * 60_000),
                ..approval_ask()
            },
            Ask { id: "ask_3333".into(), reach: Some(Reach::Parked), project: None, ..question_ask() },
            set,
        ];
        asks[0].questions[0].text = "Where should login sessions be stored, and\nfor how long should they be kept there?".into();
        order::inbox(&mut asks);
        insta::assert_snapshot!("list", table(&asks, now, &look()));
        insta::assert_snapshot!("list_ascii", table(&asks, now, &Look { ascii: true, width: 60, ..look() }));
    }

    #[test]
    fn empty_list_says_how_many_agents_work() {
        assert_eq!(nothing(2, 2), "You're all caught up. 2 agents are working.");
        assert_eq!(nothing(1, 0), "You're all caught up.");
        assert_eq!(FIRST.lines().count(), 3);
    }
}
