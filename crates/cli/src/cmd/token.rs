//! `sayso token`: creates, lists and revokes tokens.

use sayso_client::Client;
use sayso_client::api::token::{NewToken, Role, Token};
use sayso_core::time::Time;

use crate::app::App;
use crate::args::{TokenAction, TokenRole};
use crate::failure::Failure;
use crate::order;
use crate::sanitize;
use crate::words;

pub(crate) async fn run(app: &App, action: TokenAction) -> Result<(), Failure> {
    let client = app.client()?;
    match action {
        TokenAction::Own => print_own(app, &client).await,
        TokenAction::Create { name, role, session, labels, agent, project, expires } => {
            let session_id = match session {
                Some(session) => Some(client.find_session(&session).await?.id),
                None => None,
            };
            let created = client
                .create_token(&NewToken {
                    role: wire(role),
                    actor: name,
                    session_id,
                    labels: labels.into_iter().map(|label| (label.key, label.value)).collect(),
                    agent,
                    project,
                    expires_in: expires.map(|span| span.to_string()),
                })
                .await?;
            let Some(token) = &created.token else {
                return Err(Failure::new("The token was created, but the response with its secret was lost.")
                    .then("Revoke it with: sayso token revoke, then create another one."));
            };
            if !app.out.json {
                let variable = if role == TokenRole::Agent { "SAYSO_AGENT_TOKEN" } else { "SAYSO_TOKEN" };
                app.out.note(&format!("This token is shown only once. Pass it to the program as {variable}:"));
            }
            app.out.result(&created, || token.clone())
        }
        TokenAction::List => {
            let list = client.tokens().await?;
            app.out.result(&list, || {
                let length = order::ending_length(list.data.iter().map(|token| token.id.as_str()));
                list.data.iter().map(|token| row(token, length, sayso_client::now())).collect::<Vec<_>>().join("\n")
            })
        }
        TokenAction::Revoke { id } => {
            let tokens = client.tokens().await?.data;
            let token = find(&tokens, &id)?;
            client.revoke_token(&token.id).await?;
            app.out.result(token, || format!("Revoked: {} ({})", sanitize::line(&token.actor), role_word(token.role)))
        }
    }
}

/// Prints the address of the server and the token of this person.
async fn print_own(app: &App, client: &Client) -> Result<(), Failure> {
    app.person_only()?;
    let version = client.health().await?.version;
    let token = app.target()?.token;
    app.out.result(&serde_json::json!({ "url": client.url(), "token": token, "version": version }), || token.clone())
}

fn find<'a>(tokens: &'a [Token], typed: &str) -> Result<&'a Token, Failure> {
    let ending = typed.trim().trim_start_matches('…');
    let found: Vec<&Token> = tokens.iter().filter(|token| !ending.is_empty() && token.id.ends_with(ending)).collect();
    let ending = sanitize::line(ending);
    match found.as_slice() {
        [only] => Ok(only),
        [] => Err(Failure::new(format!("No token ID ends in {ending}.")).then("List all tokens with: sayso token list")),
        several => {
            let lines: Vec<String> =
                several.iter().map(|token| format!("  {}  {}", token.id, sanitize::line(&token.actor))).collect();
            Err(Failure::new(format!("Several token IDs end in {ending}."))
                .then(format!("Type more of the ID:\n{}", lines.join("\n"))))
        }
    }
}

fn row(token: &Token, length: usize, now: Time) -> String {
    let state = match (token.revoked_at, token.expires_at) {
        (Some(at), _) => format!("revoked {}", words::at(at, now)),
        (None, Some(at)) if at <= now => format!("expired {}", words::at(at, now)),
        (None, Some(at)) => format!("expires {}", words::at(at, now)),
        (None, None) => String::new(),
    };
    let scope = token.session_id.as_deref().map(|id| format!("session …{}", order::ending(id, 4)));
    let labels = token.labels.iter().map(|(key, value)| sanitize::line(&format!("{key}={value}")));
    let agent = token.agent.as_deref().map(|agent| format!("agent {}", sanitize::line(agent)));
    let project = token.project.as_deref().map(sanitize::line);
    let scope: Vec<String> = scope.into_iter().chain(agent).chain(project).chain(labels).collect();
    let who = match &token.device {
        Some(device) => format!("{}, {device}", token.actor),
        None => token.actor.clone(),
    };
    let line = format!(
        "{}  {}  {}  {}  {}",
        order::ending(&token.id, length),
        words::pad(role_word(token.role), 8),
        words::pad(&sanitize::line(&who), 16),
        scope.join(" "),
        state
    );
    line.trim_end().to_owned()
}

const fn wire(role: TokenRole) -> Role {
    match role {
        TokenRole::Admin => Role::Admin,
        TokenRole::Answerer => Role::Answerer,
        TokenRole::Viewer => Role::Viewer,
        TokenRole::Agent => Role::Agent,
    }
}

const fn role_word(role: Role) -> &'static str {
    match role {
        Role::Admin => "admin",
        Role::Answerer => "answerer",
        Role::Viewer => "viewer",
        Role::Agent => "agent",
    }
}
