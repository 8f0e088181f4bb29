//! Access to the server with the token of the agent.

use sayso_client::api::ask::{Approval, Ask, AskStatus, NewAsk, Outcome, Question, ShownAnswer};
use sayso_client::{Client, Environment, ServerFile};
use sayso_core::ask::{AskBody, Decision};
use sayso_core::raw::Raw;

use super::Hooked;

impl Hooked {
    /// Creates a client for this agent. `None` if `sayso connect` was not run, or if no server has ever run.
    pub(super) fn client(&self, agent: &str) -> Option<Client> {
        let read = std::fs::read_to_string;
        let token = read(self.paths.agent_token_of(agent)).or_else(|_| read(self.paths.agent_token())).ok()?;
        let url = match self.environment.get("SAYSO_URL") {
            Some(url) => url.to_owned(),
            None => ServerFile::read(&self.paths.server_file()).ok().flatten()?.url,
        };
        Client::new(&url, token.trim()).ok()
    }
}

/// Converts the content of an ask to a request.
pub(super) fn new_ask(body: &AskBody) -> NewAsk {
    match body {
        AskBody::Question { questions } => {
            NewAsk { questions: Some(questions.iter().map(Question::from).collect()), ..NewAsk::default() }
        }
        AskBody::Approval(approval) => NewAsk { approval: Some(Approval::from(approval)), ..NewAsk::default() },
        AskBody::Link(link) => NewAsk {
            link: Some(sayso_client::api::ask::Link { url: link.url.clone(), message: link.message.clone() }),
            ..NewAsk::default()
        },
    }
}

/// Converts the outcome to a decision; `None` while the ask is pending, or if the outcome is incomplete.
pub(super) fn decision(ask: &Ask) -> Option<Decision> {
    let outcome = ask.outcome.clone()?;
    let Outcome { status, answers, note, message, stop, choice, input, .. } = outcome;
    let message = message.unwrap_or_default();
    Some(match status {
        AskStatus::Pending => return None,
        AskStatus::Answered => {
            let entries = |answer| match answer {
                ShownAnswer::Entries(entries) => Some(entries),
                ShownAnswer::Secret { .. } => None,
            };
            Decision::Answered { answers: answers?.into_iter().map(entries).collect::<Option<_>>()?, note }
        }
        AskStatus::Rejected => Decision::Rejected { message, stop },
        AskStatus::Approved => Decision::Approved { choice, input: input.as_ref().map(Raw::of) },
        AskStatus::Denied => Decision::Denied { message, stop },
        AskStatus::Withdrawn => Decision::Withdrawn { reason: message },
    })
}

/// The reason for withdrawing an ask that this hook no longer waits for.
pub(super) fn answer_it_there(environment: &Environment) -> String {
    match environment.get("TMUX_PANE") {
        Some(pane) => format!(
            "The agent no longer waits for an answer from Sayso. If it still asks, answer it in its terminal (tmux pane {pane})."
        ),
        None => "The agent no longer waits for an answer from Sayso. If it still asks, answer it in its terminal.".to_owned(),
    }
}
