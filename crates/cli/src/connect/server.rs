//! Connections to agent servers that the person runs. They change no files of the agent.

use sayso_client::Client;
use sayso_client::api::error::ErrorCode;
use sayso_client::api::session::{Attachment, AttachmentState, NewAttachment};

use crate::app::App;
use crate::args::{ConnectAgent, ConnectArgs};
use crate::failure::Failure;
use crate::line::Echo;
use crate::terminal::{Keyboard, Typed};
use crate::{autostart, sanitize};

/// Environment variable in which OpenCode expects its password.
const USUAL: &str = "OPENCODE_SERVER_PASSWORD";

/// An agent server that the person runs.
#[derive(Debug)]
pub(crate) struct OwnServer {
    /// Address or path of the socket.
    pub(crate) place: String,
    /// Environment variable with the password of the server.
    pub(crate) password_env: Option<String>,
    /// User name for the password.
    pub(crate) user: Option<String>,
}

pub(super) const fn name(agent: ConnectAgent) -> &'static str {
    match agent {
        ConnectAgent::Claude => "claude",
        ConnectAgent::Codex => "codex",
        ConnectAgent::Opencode => "opencode",
    }
}

/// Connects Sayso to a server.
pub(crate) async fn attach(app: &App, agent: ConnectAgent, server: OwnServer, to: &ConnectArgs) -> Result<(), Failure> {
    app.person_only()?;
    let OwnServer { place, password_env, user } = server;
    let password = match &password_env {
        Some(variable) => Some(
            app.environment
                .get(variable)
                .map(str::to_owned)
                .ok_or_else(|| Failure::usage(format!("The environment variable {} is not set.", sanitize::line(variable))))?,
        ),
        None => app.environment.get(USUAL).map(str::to_owned).filter(|_| agent == ConnectAgent::Opencode),
    };
    if to.dry_run {
        let value = serde_json::json!({ "agent": name(agent), "place": place, "written": false });
        return app.out.result(&value, || format!("Sayso would connect to {}. Nothing was changed.", sanitize::line(&place)));
    }
    let client = autostart::client(app).await?;
    let mut new = NewAttachment { agent: name(agent).to_owned(), place, user, password };
    let mut made = client.attach(&new).await;
    // Only a server that requires a password responds with 401.
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
            ConnectAgent::Codex => {
                "Sayso is not connected. Start codex in a terminal; it starts the daemon that Sayso connects to."
            }
            ConnectAgent::Claude | ConnectAgent::Opencode => {
                "Sayso is not connected. Check that the server runs at this address; `opencode serve` prints its address."
            }
        })
    })?;
    app.out.result(&made, || attachment_text(&made))
}

fn attachment_text(made: &Attachment) -> String {
    let (place, agent) = (sanitize::line(&made.place), sanitize::line(&made.agent));
    match made.state {
        AttachmentState::Connected => {
            let version = made.version.as_deref().map(|version| format!(" (version {})", sanitize::line(version)));
            format!(
                "Sayso is connected to {agent}{} at {place}. You can answer its asks here or in {agent}; the first answer counts.\nTo undo this: sayso disconnect {agent} {place}",
                version.unwrap_or_default()
            )
        }
        AttachmentState::Connecting | AttachmentState::Unreachable => {
            format!("{place} has not responded yet. Sayso keeps trying; see the state with: sayso status")
        }
    }
}

/// Prompts for a password; `None` if input is not a terminal.
async fn ask_password(app: &App) -> Result<Option<String>, Failure> {
    if app.out.json {
        return Ok(None);
    }
    let mut keyboard = Keyboard::open(&app.out)?;
    if !keyboard.is_terminal {
        return Ok(None);
    }
    keyboard.forget();
    Ok(match keyboard.next(&|| "Password of the server (not shown): ".to_owned(), Echo::Hidden).await {
        Typed::Line(line) if !line.is_empty() => Some(line),
        Typed::Line(_) | Typed::End | Typed::Interrupt => None,
    })
}

/// Disconnects from one server, or from all servers of the agent. Returns their addresses.
pub(super) async fn detach(
    app: &App,
    agent: ConnectAgent,
    place: Option<&str>,
    to: &ConnectArgs,
) -> Result<Vec<String>, Failure> {
    // Without a Sayso server there are no connections, and removing entries from files must work.
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

/// Prints which servers were disconnected.
pub(super) fn said_left(app: &App, left: &[String], to: &ConnectArgs) -> Result<(), Failure> {
    let value = serde_json::json!({ "changes": [], "written": false, "servers": left });
    app.out.result(&value, || match (left, to.dry_run) {
        ([], _) => "Sayso is not connected to this server. Nothing was changed.".to_owned(),
        (left, true) => format!("Sayso would disconnect from {}. Nothing was changed.", sanitize::line(&left.join(", "))),
        (left, false) => format!("Sayso has disconnected from {}. The agent keeps running.", sanitize::line(&left.join(", "))),
    })
}
