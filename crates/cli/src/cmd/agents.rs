//! `sayso agents`: what can be started, and what each can do.

use sayso_client::api::session::{Agent, Capabilities};

use crate::app::App;
use crate::failure::Failure;
use crate::sanitize;
use crate::words;

/// Lists the agents.
pub(crate) async fn run(app: &App) -> Result<(), Failure> {
    let list = app.client()?.agents().await?;
    app.out.result(&list, || list.data.iter().map(describe).collect::<Vec<_>>().join("\n"))
}

fn describe(agent: &Agent) -> String {
    let Capabilities { questions, approvals, plans, elicitation, resume, survives_restart, message_answers_sets: _ } =
        agent.capabilities;
    let can = [
        (questions, "questions"),
        (approvals, "approvals"),
        (plans, "plans"),
        (elicitation, "forms and links"),
        (resume, "resumes"),
        (survives_restart, "survives a restart"),
    ];
    let can: Vec<&str> = can.into_iter().filter(|(can, _)| *can).map(|(_, word)| word).collect();
    format!(
        "{}  {}  {}",
        words::pad(&sanitize::line(&agent.name), 12),
        words::pad(&sanitize::line(&agent.protocol), 12),
        can.join(", ")
    )
}
