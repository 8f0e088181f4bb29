//! Servers of agents that a person runs: Sayso listens to them, and nothing of theirs is changed.

use sayso_client::Client;
use sayso_client::api::error::ErrorCode;
use sayso_client::api::session::{Attachment, AttachmentState, NewAttachment};

use crate::app::App;
use crate::args::{ConnectAgent, ConnectArgs};
use crate::failure::Failure;
use crate::line::Echo;
use crate::terminal::{Keyboard, Typed};
use crate::{autostart, sanitize};

/// The variable that a person gave OpenCode its password with.
const USUAL: &str = "OPENCODE_SERVER_PASSWORD";

/// A server of a person's own.
#[derive(Debug)]
pub(crate) struct OwnServer {
    /// Where it is.
    pub(crate) place: String,
    /// The variable with its password.
    pub(crate) password_env: Option<String>,
    /// The name that goes with it.
    pub(crate) user: Option<String>,
}

pub(super) const fn name(agent: ConnectAgent) -> &'static str {
    match agent {
        ConnectAgent::Claude => "claude",
        ConnectAgent::Codex => "codex",
        ConnectAgent::Opencode => "opencode",
    }
}

/// Listens to a server.
pub(crate) async fn attach(app: &App, agent: ConnectAgent, server: OwnServer, to: &ConnectArgs) -> Result<(), Failure> {
    app.person_only()?;
    let OwnServer { place, password_env, user } = server;
    let password = match &password_env {
        Some(variable) => Some(
            app.environment
                .get(variable)
                .map(str::to_owned)
                .ok_or_else(|| Failure::usage(format!("The variable {} is not set.", sanitize::line(variable))))?,
        ),
        None => app.environment.get(USUAL).map(str::to_owned).filter(|_| agent == ConnectAgent::Opencode),
    };
    if to.dry_run {
        let value = serde_json::json!({ "agent": name(agent), "place": place, "written": false });
        return app.out.result(&value, || format!("Sayso would listen to {}. Nothing was changed.", sanitize::line(&place)));
    }
    let client = autostart::client(app).await?;
    let mut new = NewAttachment { agent: name(agent).to_owned(), place, user, password };
    let mut made = client.attach(&new).await;
    // Only a server that wants a password answers like this, and only a person can know it.
    if let Err(sayso_client::Error::Api(problem)) = &made
        && problem.code == ErrorCode::AgentUnreachable
        && problem.detail.contains("status 401")
        && let Some(typed) = ask_password(app).await?
    {
        new.password = Some(typed);
        made = client.attach(&new).await;
    }
    let made = made.map_err(|error| {
        Failure::from(error).then(match agent {
            ConnectAgent::Codex => "Nothing is connected. A codex in a terminal starts the daemon that listens there.",
            ConnectAgent::Claude | ConnectAgent::Opencode => {
                "Nothing is connected. Is it running there? `opencode serve` prints its address."
            }
        })
    })?;
    app.out.result(&made, || told(&made))
}

fn told(made: &Attachment) -> String {
    let (place, agent) = (sanitize::line(&made.place), sanitize::line(&made.agent));
    match made.state {
        AttachmentState::Connected => {
            let version = made.version.as_deref().map(|version| format!(" (version {})", sanitize::line(version)));
            format!(
                "Sayso listens to {agent}{} at {place}. What it asks comes here, too; whoever answers first wins.\nTake it back with: sayso disconnect {agent} {place}",
                version.unwrap_or_default()
            )
        }
        AttachmentState::Connecting | AttachmentState::Unreachable => {
            format!("{place} has not answered yet. Sayso tries again and again; see how it stands with: sayso status")
        }
    }
}

/// The password as a person types it; nothing if nobody is there.
async fn ask_password(app: &App) -> Result<Option<String>, Failure> {
    if app.out.json {
        return Ok(None);
    }
    let mut keyboard = Keyboard::open(&app.out)?;
    if !keyboard.is_terminal {
        return Ok(None);
    }
    keyboard.forget();
    Ok(match keyboard.next(&|| "Password of the server (it is not shown): ".to_owned(), Echo::Hidden).await {
        Typed::Line(line) if !line.is_empty() => Some(line),
        Typed::Line(_) | Typed::End | Typed::Interrupt => None,
    })
}

/// Stops listening to one server, or to all of the agent's. Says which.
pub(super) async fn detach(
    app: &App,
    agent: ConnectAgent,
    place: Option<&str>,
    to: &ConnectArgs,
) -> Result<Vec<String>, Failure> {
    // Without a server nothing is listened to, and a person who only takes entries out needs none.
    let client = match app.client() {
        Ok(client) => client,
        Err(failure) => return if place.is_some() { Err(failure) } else { Ok(Vec::new()) },
    };
    let mut left = Vec::new();
    for attached in attached(&client, name(agent)).await? {
        if place.is_none_or(|place| place.trim_end_matches('/') == attached.place) {
            if !to.dry_run {
                client.detach(&attached.id).await?;
            }
            left.push(attached.place);
        }
    }
    Ok(left)
}

async fn attached(client: &Client, agent: &str) -> Result<Vec<Attachment>, Failure> {
    let agents = client.agents().await?.data;
    Ok(agents.into_iter().filter(|known| known.name == agent).flat_map(|known| known.attached).collect())
}

/// Says which servers are not listened to any more.
pub(super) fn said_left(app: &App, left: &[String], to: &ConnectArgs) -> Result<(), Failure> {
    let value = serde_json::json!({ "changes": [], "written": false, "servers": left });
    app.out.result(&value, || match (left, to.dry_run) {
        ([], _) => "Sayso does not listen there; nothing was changed.".to_owned(),
        (left, true) => format!("Sayso would not listen to {} any more. Nothing was changed.", sanitize::line(&left.join(", "))),
        (left, false) => format!("Sayso does not listen to {} any more. It runs on as it did.", sanitize::line(&left.join(", "))),
    })
}
