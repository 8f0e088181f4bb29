//! One file per command or small family.

mod acp;
mod agents;
mod answer;
mod ask;
mod backup;
mod completions;
mod decide;
mod doctor;
mod doctor_life;
mod history;
mod list;
mod login;
mod logs;
mod mcp;
pub(crate) mod mock_agent;
mod next;
mod notify;
mod own_agents;
mod phone;
mod policy;
mod rules;
mod serve;
pub(crate) mod sessions;
mod show;
mod snooze;
mod start;
mod status;
pub(crate) mod stop;
mod token;
mod uninstall;
mod workflow;

use crate::app::App;
use crate::args::Command;
use crate::connect::{self, OwnServer};
use crate::failure::Failure;
use crate::service;

/// Runs one command.
pub(crate) async fn run(app: &App, command: Option<Command>) -> Result<(), Failure> {
    let Some(command) = command else { return list::home(app).await };
    match command {
        Command::Inbox => list::inbox(app).await,
        Command::Next => next::run(app).await,
        Command::Ls(args) => list::ls(app, &args).await,
        Command::Show { id, raw } => show::run(app, &id, raw).await,
        Command::History { limit } => history::run(app, limit).await,
        Command::Answer(args) => answer::run(app, args).await,
        Command::Approve { id, choice, input } => decide::approve(app, &id, choice, input).await,
        Command::Deny(no) => decide::deny(app, no).await,
        Command::Reject(no) => decide::reject(app, no).await,
        Command::Snooze { id, time } => snooze::run(app, &id, time).await,
        Command::Start(args) => start::run(app, args).await,
        Command::Sessions { action, all } => sessions::run(app, action, all).await,
        Command::Agents => agents::run(app).await,
        Command::Connect { agent, url: Some(place), password_env, user, to } => {
            connect::attach(app, agent, OwnServer { place, password_env, user }, &to).await
        }
        Command::Connect { agent, url: None, to, .. } => connect::connect(app, agent, &to).await,
        Command::Disconnect { agent, url, to } => connect::disconnect(app, agent, url.as_deref(), &to).await,
        Command::Ask(args) => ask::run(app, args).await,
        Command::Policy { action } => policy::run(app, action).await,
        Command::Allow { command, time, project } => rules::allow(app, &command, time, project).await,
        Command::Away { time } => rules::away(app, time).await,
        Command::Workflow { action } => workflow::run(app, action).await,
        Command::Serve(args) => serve::run(app, args).await,
        Command::Status { line: true } => status::line(app).await,
        Command::Status { line: false } => status::run(app).await,
        Command::Restart => stop::restart(app).await,
        Command::Stop { all } => stop::run(app, all).await,
        Command::Mcp(args) => mcp::run(app, args).await,
        Command::Acp(args) => acp::run(app, args).await,
        // It runs before everything else is read; see `main`.
        Command::Hook { .. } => Ok(()),
        Command::MockAgent => mock_agent::run().map_err(|error| Failure::io("Standard input or output is broken", &error)),
        Command::Logs { follow, lines } => logs::run(app, lines, follow).await,
        Command::Doctor => doctor::run(app).await,
        Command::Token { action } => token::run(app, action).await,
        Command::Notify { action } => notify::run(app, action).await,
        Command::Phone(args) => phone::run(app, &args).await,
        Command::Service { action } => service::run(app, action).await,
        Command::Login { open } => login::run(app, open).await,
        Command::Backup { file } => backup::run(app, &file).await,
        Command::Uninstall(args) => uninstall::run(app, args).await,
        Command::Completions { shell } => completions::run(app, shell),
    }
}
