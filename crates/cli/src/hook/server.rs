//! The server, with the token of the agent and no other.

use sayso_client::api::ask::{Approval, Ask, AskStatus, NewAsk, Outcome, Question, ShownAnswer};
use sayso_client::{Client, Environment, ServerFile};
use sayso_core::ask::{AskBody, Decision};
use sayso_core::raw::Raw;

use super::Hooked;

impl Hooked {
    /// A client of this agent; nothing if `sayso connect` was not run here or no server has ever run.
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

/// What is asked, as the API takes it.
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

/// What was decided; nothing while it is pending, or if it makes no sense.
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

/// The words for an ask that this hook no longer waits for.
pub(super) fn answer_it_there(environment: &Environment) -> String {
    match environment.get("TMUX_PANE") {
        Some(pane) => format!("The agent no longer waits here; if it still asks, answer it in the terminal (tmux pane {pane})."),
        None => "The agent no longer waits here; if it still asks, answer it in the terminal.".to_owned(),
    }
}
