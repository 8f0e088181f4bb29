//! The commands, one file per command or small family of commands.

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
pub(crate) mod serve;
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
use crate::args::CliCommand;
use crate::connect::{self, OwnServer};
use crate::failure::Failure;
use crate::service;

/// Runs one command.
pub(crate) async fn run(app: &App, command: Option<CliCommand>) -> Result<(), Failure> {
    let Some(command) = command else { return list::home(app).await };
    match command {
        CliCommand::Inbox => list::inbox(app).await,
        CliCommand::Next => next::run(app).await,
        CliCommand::Ls(args) => list::ls(app, &args).await,
        CliCommand::Show { id, raw } => show::run(app, &id, raw).await,
        CliCommand::History { limit } => history::run(app, limit).await,
        CliCommand::Answer(args) => answer::run(app, args).await,
        CliCommand::Approve(args) => decide::approve(app, args).await,
        CliCommand::Deny(args) => decide::deny(app, args).await,
        CliCommand::Reject(args) => decide::reject(app, args).await,
        CliCommand::Snooze { id, time } => snooze::run(app, &id, time).await,
        CliCommand::Start(args) => start::run(app, args).await,
        CliCommand::Sessions { action, all } => sessions::run(app, action, all).await,
        CliCommand::Agents => agents::run(app).await,
        CliCommand::Connect { agent, url: Some(place), password_env, user, to } => {
            connect::attach(app, agent, OwnServer { place, password_env, user }, &to).await
        }
        CliCommand::Connect { agent, url: None, to, .. } => connect::connect(app, agent, &to).await,
        CliCommand::Disconnect { agent, url, to } => connect::disconnect(app, agent, url.as_deref(), &to).await,
        CliCommand::Ask(args) => ask::run(app, args).await,
        CliCommand::Policy { action } => policy::run(app, action).await,
        CliCommand::Allow { command, time, project } => rules::allow(app, &command, time, project).await,
        CliCommand::Away { time } => rules::away(app, time).await,
        CliCommand::Workflow { action } => workflow::run(app, action).await,
        CliCommand::Serve(args) => serve::run(app, args).await,
        CliCommand::Status { line: true } => status::line(app).await,
        CliCommand::Status { line: false } => status::run(app).await,
        CliCommand::Restart { take_over } => stop::restart(app, take_over).await,
        CliCommand::Stop { all } => stop::run(app, all).await,
        CliCommand::Mcp(args) => mcp::run(app, args).await,
        CliCommand::Acp(args) => acp::run(app, args).await,
        // Hooks are handled in `main`, before the configuration is read.
        CliCommand::Hook { .. } => Ok(()),
        CliCommand::MockAgent => mock_agent::run().map_err(|error| Failure::io("Standard input or output failed", &error)),
        CliCommand::Logs(args) => logs::run(app, args).await,
        CliCommand::Doctor => doctor::run(app).await,
        CliCommand::Token { action } => token::run(app, action).await,
        CliCommand::Notify { action } => notify::run(app, action).await,
        CliCommand::Phone(args) => phone::run(app, &args).await,
        CliCommand::Service { action } => service::run(app, action).await,
        CliCommand::Login { open } => login::run(app, open).await,
        CliCommand::Backup { file } => backup::run(app, &file).await,
        CliCommand::Uninstall(args) => uninstall::run(app, args).await,
        CliCommand::Completions { shell } => completions::run(app, shell),
        CliCommand::Man { directory } => completions::man(app, &directory),
    }
}
