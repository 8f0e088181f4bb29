//! `sayso approve`, `deny` and `reject`.

use sayso_client::api::ask::{ApproveRequest, Ask, NoRequest};
use sayso_client::api::error::ErrorCode;

use super::answer::result;
use crate::app::App;
use crate::args::RefuseArgs;
use crate::failure::Failure;

pub(crate) async fn approve(app: &App, id: &str, choice: Option<String>, input: Option<String>) -> Result<(), Failure> {
    let client = app.client()?;
    let ask = client.find_ask(id).await?;
    let choice = choice.map(|choice| named(&ask, &choice)).transpose()?;
    let input = input.as_deref().map(serde_json::from_str).transpose();
    let input = input.map_err(|error| Failure::usage(format!("The input is not valid JSON: {error}.")))?;
    let decided = client.approve(&ask.id, &ApproveRequest { choice, input, content_digest: None }).await.map_err(|error| {
        match error.code() {
            Some(ErrorCode::WrongKind) => Failure::from(error).then("Answer a question with: sayso answer ID"),
            Some(ErrorCode::ContentChanged) => Failure::from(error).then("See what it executes now with: sayso show ID"),
            _ => error.into(),
        }
    })?;
    app.out.result(&decided, || result(&decided, &app.out))
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
