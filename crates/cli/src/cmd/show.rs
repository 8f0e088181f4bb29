//! `sayso show`: prints all fields of an ask, unabridged.

use std::fmt::Write as _;

use sayso_client::api::ask::{Ask, AskFiles, AskKind};
use sayso_core::time::{Time, in_words};

use crate::app::App;
use crate::failure::Failure;
use crate::files;
use crate::output::{Look, Style};
use crate::prompt::render;
use crate::sanitize;
use crate::words;

pub(crate) async fn run(app: &App, id: &str, raw: bool) -> Result<(), Failure> {
    let client = app.client()?;
    let mut ask = client.find_ask(id).await?;
    if raw {
        ask = client.ask_raw(&ask.id).await?;
    }
    let seen = files::read(&client, &ask).await;
    app.out.result(&ask, || describe(&ask, seen.as_ref(), sayso_client::now(), &app.out.look))
}

fn describe(ask: &Ask, seen: Option<&AskFiles>, now: Time, look: &Look) -> String {
    let mut out = render::banner(ask, look);
    let mut fact = |name: &str, value: String| {
        let _ = write!(out, "\n{}{value}", look.paint(Style::Dim, &format!("{name:<10}")));
    };
    fact("Ask", ask.id.clone());
    if let Some(session) = &ask.session_id {
        fact("Session", session.clone());
    }
    fact("State", words::state(ask));
    fact("Opened", format!("{}, {}", words::at(ask.opened_at, now), words::ago(now.since(ask.opened_at))));
    match &ask.outcome {
        Some(outcome) => {
            let took = in_words(outcome.at.since(ask.opened_at));
            fact("Decided", format!("{}, after {took}", words::at(outcome.at, now)));
        }
        None => fact("Deadline", words::deadline(ask, now)),
    }
    if let Some(until) = ask.snoozed_until.filter(|until| *until > now) {
        fact("Snoozed", format!("until {}", words::at(until, now)));
    }
    if ask.kind == AskKind::Approval
        && let Some(digest) = &ask.digest
    {
        fact("Digest", format!("{}  {}", words::short_digest(ask), look.paint(Style::Dim, &sanitize::line(digest))));
    }
    if !ask.blocking {
        fact("Blocking", "no, the agent continues".to_owned());
    }
    if let Some(why) = &ask.why {
        fact("Why", sanitize::line(why));
    }
    for (key, value) in &ask.labels {
        fact("Label", sanitize::line(&format!("{key}={value}")));
    }
    if let (Some(run), step) = (&ask.run_id, &ask.step_id) {
        fact("Run", sanitize::line(&format!("{run} {}", step.as_deref().unwrap_or_default())));
    }
    if let Some(context) = render::context(ask, look) {
        let _ = write!(out, "\n\n{context}");
    }
    for question in &ask.questions {
        let _ = write!(out, "\n\n{}", render::question(question, look));
        for option in question.options.iter().filter(|option| option.preview.is_some()) {
            let preview = sanitize::text(option.preview.as_deref().unwrap_or_default());
            let heading = look.paint(Style::Dim, &format!("Preview of {}", sanitize::line(&option.label)));
            let _ = write!(out, "\n{heading}\n{}", preview.trim_end());
        }
    }
    if let Some(approval) = &ask.approval {
        let _ = write!(out, "\n\n{}", render::approval(&Ask { why: None, ..ask.clone() }, approval, look));
        let shown = render::files(ask, seen, look);
        if !shown.is_empty() {
            let _ = write!(out, "\n{shown}");
        }
        if let Some(command) = seen.and_then(|files| files::approve_command(ask, files)) {
            let _ = write!(out, "\nApprove this content with: {command}");
        }
        let _ = write!(
            out,
            "\n\n{}\n{}",
            look.paint(Style::Dim, &format!("Input of {}", sanitize::line(&approval.tool))),
            pretty(&approval.input)
        );
    }
    if let Some(link) = &ask.link {
        let _ = write!(out, "\n\n{}", render::link(link, look));
    }
    if let Some(outcome) = &ask.outcome {
        for (name, text) in [("Message", &outcome.message), ("Note", &outcome.note), ("Choice", &outcome.choice)] {
            if let Some(text) = text {
                let _ = write!(out, "\n\n{}\n{}", look.paint(Style::Dim, name), sanitize::text(text));
            }
        }
        if let Some(input) = &outcome.input {
            let _ = write!(out, "\n\n{}\n{}", look.paint(Style::Dim, "Approved with this input instead"), pretty(input));
        }
    }
    if let Some(raw) = &ask.raw {
        let _ = write!(out, "\n\n{}\n{}", look.paint(Style::Dim, "Original request"), pretty(raw));
    }
    let _ = write!(out, "\n{}", render::rule(look));
    out
}

fn pretty(value: &serde_json::Value) -> String {
    // Serializing a JSON value cannot fail.
    sanitize::text(&serde_json::to_string_pretty(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, look};

    #[test]
    fn description_contains_all_fields_without_control_characters() {
        let mut ask = approval_ask();
        ask.context = Some("I ran the tests.\nThey \u{1b}[31mfail\u{1b}[0m.".into());
        ask.labels.insert("team".into(), "shop".into());
        ask.why = Some("no rule allows it".into());
        ask.digest = Some("0123456789abcdef".repeat(4));
        let now = Time::from_millis(ask.opened_at.as_millis() + 60_000);
        let text = describe(&ask, None, now, &look());
        for wanted in [
            "ask_01930000",
            "cargo test --workspace",
            "│ They <U+001B>[31mfail<U+001B>[0m.",
            "team=shop",
            "no rule allows it",
            "\"command\": \"cargo test --workspace\"",
            "Waiting for your approval.",
            "Digest    0123456789ab  0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        ] {
            assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
    }
}
