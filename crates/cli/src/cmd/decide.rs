//! `sayso approve`, `deny` and `reject`.

use sayso_client::api::ask::{ApproveRequest, Ask, NoRequest};
use sayso_client::api::error::ErrorCode;

use super::answer::{prompt_for, result};
use crate::app::App;
use crate::args::{ApproveArgs, RefuseArgs};
use crate::failure::Failure;
use crate::files;
use crate::order::ending;

pub(crate) async fn approve(app: &App, args: ApproveArgs) -> Result<(), Failure> {
    let client = app.client()?;
    let ask = client.find_ask(&args.id).await?;
    let choice = args.choice.map(|choice| named(&ask, &choice)).transpose()?;
    let input = args.input.as_deref().map(serde_json::from_str).transpose();
    let input = input.map_err(|error| Failure::usage(format!("The input is not valid JSON: {error}.")))?;
    let current = files::read(&client, &ask).await.and_then(|files| files.digest);
    let content_digest = match (args.content, current) {
        (None, None) => None,
        // The server says how the ask was decided.
        (Some(_), None) if ask.outcome.is_some() => None,
        (None, Some(_)) if app.out.is_terminal && !app.out.json && choice.is_none() && input.is_none() => {
            return prompt_for(app, &client, &ask).await;
        }
        (None, Some(_)) => return Err(content_not_named(&ask)),
        (Some(seen), current) => Some(whole_digest(&seen, current, &ask)?),
    };
    let decided =
        client.approve(&ask.id, &ApproveRequest { choice, input, content_digest }).await.map_err(|error| match error.code() {
            Some(ErrorCode::WrongKind) => Failure::from(error).then("Answer a question with: sayso answer ID"),
            Some(ErrorCode::ContentChanged) => Failure::from(error).then(see_files(&ask)),
            _ => error.into(),
        })?;
    app.out.result(&decided, || result(&decided, &app.out))
}

fn see_files(ask: &Ask) -> String {
    format!("See the files, and the command that approves them, with: sayso show {}", ending(&ask.id, 4))
}

fn content_not_named(ask: &Ask) -> Failure {
    Failure::usage("Not sent. This command executes files, so the approval must name the content that you saw.")
        .then(see_files(ask))
}

/// Completes the digest that a person typed. Fails if the files are no longer those that the person saw.
fn whole_digest(seen: &str, current: Option<String>, ask: &Ask) -> Result<String, Failure> {
    let is_digest = (files::SHORT_CONTENT..=64).contains(&seen.len()) && seen.chars().all(|digit| digit.is_ascii_hexdigit());
    if !is_digest {
        let what = format!("A content digest has at least {} hexadecimal digits.", files::SHORT_CONTENT);
        return Err(Failure::usage(what).then(see_files(ask)));
    }
    let Some(current) = current else {
        return Err(Failure::new("Not sent. There is no content to compare for this ask."));
    };
    if current.starts_with(&seen.to_ascii_lowercase()) {
        return Ok(current);
    }
    let changed = Failure::new("Not sent. A file that this command executes has changed since you saw it.").then(see_files(ask));
    Err(Failure { code: Some(ErrorCode::ContentChanged), ..changed })
}

/// Denies an approval or a link.
pub(crate) async fn deny(app: &App, refusal: RefuseArgs) -> Result<(), Failure> {
    let client = app.client()?;
    let ask = client.find_ask(&refusal.id).await?;
    let decided = client.deny(&ask.id, &NoRequest { message: refusal.message, stop: refusal.stop }).await.map_err(|error| {
        match error.code() {
            Some(ErrorCode::WrongKind) => Failure::from(error).then("Reject a question with: sayso reject ID"),
            _ => error.into(),
        }
    })?;
    app.out.result(&decided, || result(&decided, &app.out))
}

/// Rejects a question.
pub(crate) async fn reject(app: &App, refusal: RefuseArgs) -> Result<(), Failure> {
    let client = app.client()?;
    let ask = client.find_ask(&refusal.id).await?;
    let decided =
        client.reject(&ask.id, &NoRequest { message: refusal.message, stop: refusal.stop }).await.map_err(|error| match error
            .code()
        {
            Some(ErrorCode::WrongKind) => Failure::from(error).then("Deny an approval with: sayso deny ID"),
            _ => error.into(),
        })?;
    app.out.result(&decided, || result(&decided, &app.out))
}

/// Finds one of the agent's own choices by its ID or its number.
fn named(ask: &Ask, typed: &str) -> Result<String, Failure> {
    let choices = ask.approval.as_ref().map(|approval| approval.choices.as_slice()).unwrap_or_default();
    let by_id = choices.iter().find(|choice| choice.id == typed);
    let by_number = || typed.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    match by_id.or_else(by_number) {
        Some(choice) => Ok(choice.id.clone()),
        None => Err(Failure::usage("The agent does not offer this choice.").then("See its choices with: sayso show ID")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::approval_ask;
    use sayso_client::api::ask::Choice;

    #[test]
    fn choice_is_found_by_id_or_number() {
        let mut ask = approval_ask();
        let choice = |id: &str| Choice { id: id.into(), label: "Always".into() };
        ask.approval.as_mut().unwrap().choices = vec![choice("once"), choice("1")];
        assert_eq!(named(&ask, "once").unwrap(), "once");
        assert_eq!((named(&ask, "1").unwrap().as_str(), named(&ask, "2").unwrap().as_str()), ("1", "1"));
        assert!(named(&ask, "0").is_err() && named(&ask, "3").is_err() && named(&ask, "x").is_err());
    }
}
