//! `sayso agents`: lists the agents that can be started and their capabilities.

use sayso_client::api::session::{Agent, Capabilities};

use crate::app::App;
use crate::failure::Failure;
use crate::sanitize;
use crate::words;

pub(crate) async fn run(app: &App) -> Result<(), Failure> {
    let list = app.client()?.agents().await?;
    app.out.result(&list, || list.data.iter().map(describe).collect::<Vec<_>>().join("\n"))
}

fn describe(agent: &Agent) -> String {
    let Capabilities {
        questions,
        approvals,
        plans,
        elicitation,
        resume,
        survives_restart,
        message_answers_sets: _,
        change_settings: _,
    } = agent.capabilities;
    let can = [
        (questions, "questions"),
        (approvals, "approvals"),
        (plans, "plans"),
        (elicitation, "forms and links"),
        (resume, "resumes"),
        (survives_restart, "survives restarts"),
    ];
    let can: Vec<&str> = can.into_iter().filter(|(can, _)| *can).map(|(_, word)| word).collect();
    let missing = match (agent.installed, &agent.install) {
        (true, _) => String::new(),
        (false, Some(install)) => format!("\n{}not installed; install it with: {}", " ".repeat(28), sanitize::line(install)),
        (false, None) => {
            format!("\n{}not installed; see [agents.{}] in config.toml", " ".repeat(28), sanitize::line(&agent.name))
        }
    };
    let attached: String = agent
        .attached
        .iter()
        .map(|attached| format!("\n{}yours: {}", " ".repeat(28), super::status::own_server(attached)))
        .collect();
    format!(
        "{}  {}  {}{missing}{attached}",
        words::pad(&sanitize::line(&agent.name), 12),
        words::pad(&sanitize::line(&agent.protocol), 12),
        can.join(", ")
    )
}
