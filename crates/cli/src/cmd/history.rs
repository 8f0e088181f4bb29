//! `sayso history`: lists who decided what, when, how fast, and by which rule.

use sayso_client::api::ask::{Ask, AskQuery};
use sayso_core::time::Time;
use unicode_width::UnicodeWidthStr;

use crate::app::App;
use crate::failure::Failure;
use crate::order;
use crate::output::Look;
use crate::words;

/// Lists decisions, newest first.
pub(crate) async fn run(app: &App, limit: u32) -> Result<(), Failure> {
    let client = app.client()?;
    let query = AskQuery { status: Some("resolved".to_owned()), limit: Some(limit), ..AskQuery::default() };
    let page = client.asks(&query).await?;
    app.out.result(&page, || match page.data.as_slice() {
        [] => "No decisions yet.".to_owned(),
        asks => table(asks, sayso_client::now(), &app.out.look),
    })
}

fn table(asks: &[Ask], now: Time, look: &Look) -> String {
    let length = order::ending_length(asks.iter().map(|ask| ask.id.as_str()));
    let rows: Vec<[String; 4]> = asks
        .iter()
        .map(|ask| match &ask.outcome {
            Some(outcome) => {
                let took = words::after(outcome.at.since(ask.opened_at));
                [words::at(outcome.at, now), took, words::subject(ask), words::state(ask)]
            }
            None => [String::new(), String::new(), words::subject(ask), words::state(ask)],
        })
        .collect();
    let column = |index: usize, most: usize| rows.iter().map(|row| row[index].width()).max().unwrap_or(0).min(most);
    let (when, took, subject) = (column(0, 16), column(1, 10), column(2, 36));
    let lines = asks.iter().zip(&rows).map(|(ask, row)| {
        let subject = words::pad(&words::cut(&row[2], subject, look.ellipsis()), subject);
        format!(
            "{} {}  {}  {}  {subject}  {}{}",
            words::sign(ask, look),
            order::ending(&ask.id, length),
            words::pad(&row[0], when),
            words::pad(&row[1], took),
            row[3],
            digest(ask)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the digest of an approval as a sentence; empty for other asks.
fn digest(ask: &Ask) -> String {
    let digest = words::short_digest(ask);
    if digest.is_empty() { digest } else { format!(" Digest {digest}.") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, look, question_ask};
    use sayso_client::api::ask::{Actor, AskStatus, Outcome, ShownAnswer};

    #[test]
    fn row_names_the_actor_and_the_response_time() {
        let ask = question_ask();
        let by = Actor {
            kind: "person".into(),
            name: Some("ada".into()),
            via: Some("terminal".into()),
            token_id: None,
            rule: None,
            after: None,
        };
        let at = Time::from_millis(ask.opened_at.as_millis() + 90_000);
        let answers = Some(vec![ShownAnswer::Entries(vec!["SQLite".into()])]);
        let outcome = Outcome {
            status: AskStatus::Answered,
            answers,
            note: None,
            message: None,
            message_code: None,
            stop: false,
            choice: None,
            input: None,
            by,
            at,
        };
        let row = table(&[Ask { status: AskStatus::Answered, outcome: Some(outcome), ..ask }], at, &look());
        assert!(row.starts_with("✓ 4f2a  "), "{row}");
        assert!(
            row.ends_with("  after 1m  Which database should this feature…   Answered by ada in the terminal: \"SQLite\"."),
            "{row}"
        );
    }
    #[test]
    fn approval_row_shows_its_digest() {
        let ask = Ask { digest: Some("0123456789abcdef".repeat(4)), ..approval_ask() };
        let row = table(std::slice::from_ref(&ask), ask.opened_at, &look());
        assert!(row.ends_with("Waiting for your approval. Digest 0123456789ab."), "{row}");
    }
}
