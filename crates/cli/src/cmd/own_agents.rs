//! The part of `sayso doctor` about agents that a person runs themselves: the whole way from the agent's hook to
//! a decision and back, tried with an ask that does nothing; and which asks will come, and which will not.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use sayso_client::Client;
use sayso_client::api::ask::{ApproveRequest, Ask};
use sayso_client::api::session::{Attachment, AttachmentState};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::doctor::DoctorCheck;
use super::status::own_server;
use crate::app::App;
use crate::args::ConnectAgent;
use crate::connect::{self, ClaudeSettings, look_at_claude};
use crate::output::Look;
use crate::{sanitize, words};

/// How long the way there and back may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the ask is looked for meanwhile.
const LOOK: Duration = Duration::from_millis(50);
/// The tool that the ask is about. There is no such tool.
const TOOL: &str = "SaysoDoctor";

/// Everything about the agents of this person that are connected.
pub(super) async fn checks(app: &App) -> Vec<DoctorCheck> {
    let (Some(home), Ok(here)) = (app.environment.path("HOME"), std::env::current_dir()) else { return Vec::new() };
    let found = look_at_claude(&app.environment, &home, &here);
    let mut checks: Vec<DoctorCheck> = found.broken.iter().map(|(path, why)| broken(path, why, &app.out.look)).collect();
    checks.extend(connect::others(app).iter().map(|(agent, path)| other(*agent, path, &app.out.look)));
    checks.extend(own_servers(app).await);
    if found.connected.is_empty() {
        return checks;
    }
    checks.push(match (&found.hooks_off, &found.command) {
        (Some(path), _) => {
            let found = format!("hooks are switched off in {}", shown(path, &app.out.look));
            DoctorCheck::bad("Claude", found, "Take disableAllHooks out; until then nothing comes from Claude Code.")
        }
        (None, Some(command)) => way(app, command).await,
        (None, None) => return checks,
    });
    checks.extend(expect(&found).into_iter().map(|words| DoctorCheck::good("Claude", words)));
    checks
}

fn shown(path: &Path, look: &Look) -> String {
    words::directory(&path.to_string_lossy(), look)
}

fn broken(path: &Path, why: &str, look: &Look) -> DoctorCheck {
    let found = format!("{}: {}", shown(path, look), sanitize::line(why));
    DoctorCheck::bad("Claude", found, "Correct it; Claude Code may not read it either.")
}

/// What comes from an agent whose way cannot be tried without it.
fn other(agent: ConnectAgent, path: &Path, look: &Look) -> DoctorCheck {
    let path = shown(path, look);
    match agent {
        ConnectAgent::Claude => DoctorCheck::good("Claude", format!("connected in {path}")),
        ConnectAgent::Codex => DoctorCheck::good(
            "Codex",
            format!(
                "connected in {path}; rules decide once you trust the hook in /hooks, questions come by ask_user, the rest is asked there"
            ),
        ),
        ConnectAgent::Opencode => DoctorCheck::good(
            "OpenCode",
            format!("connected in {path}; questions come by ask_user, its own permissions are asked there"),
        ),
    }
}

/// How it stands with the servers that are listened to.
async fn own_servers(app: &App) -> Vec<DoctorCheck> {
    let Ok(client) = app.client() else { return Vec::new() };
    let Ok(agents) = client.agents().await else { return Vec::new() };
    let check = |attached: &Attachment| match attached.state {
        AttachmentState::Connected => DoctorCheck::good("Yours", own_server(attached)),
        AttachmentState::Connecting | AttachmentState::Unreachable => {
            let (agent, place) = (sanitize::line(&attached.agent), sanitize::line(&attached.place));
            let next =
                format!("If it runs somewhere else now: sayso connect {agent} ADDRESS, then sayso disconnect {agent} {place}");
            DoctorCheck::bad("Yours", own_server(attached), next)
        }
    };
    agents.data.iter().flat_map(|agent| &agent.attached).map(check).collect()
}

/// Which asks come, and which do not and why.
fn expect(found: &ClaudeSettings) -> Vec<String> {
    let approvals = match found.mode.as_deref() {
        None => {
            "approvals come when Claude Code itself asks; in auto mode, the default of newer versions, it decides most of them alone"
        }
        Some("default" | "manual") => "approvals come: it asks before it uses tools",
        Some("acceptEdits") => "approvals of commands come; edits do not, because its mode is acceptEdits",
        Some("plan") => "plans come for approval; tools are not used, because its mode is plan",
        Some("auto") => "few approvals come: in its mode auto it decides most of them alone",
        Some("dontAsk") => "no approvals come: in its mode dontAsk what is not allowed is denied",
        Some("bypassPermissions") => "no approvals come: in its mode bypassPermissions everything is allowed",
        Some(_) => "approvals come when Claude Code itself asks",
    };
    vec![
        "questions come, and plans when they are done".to_owned(),
        approvals.to_owned(),
        "what its own allow and deny rules settle does not come; forms of MCP servers stay in the terminal".to_owned(),
    ]
}

/// Tries the hook exactly as Claude Code runs it.
async fn way(app: &App, command: &str) -> DoctorCheck {
    let Ok(client) = app.client() else {
        return DoctorCheck::bad("Claude", "its hook was not tried: there is no server", "Start one with: sayso serve");
    };
    match tokio::time::timeout(PATIENCE, there_and_back(&client, command)).await {
        Ok(Some(true)) => DoctorCheck::good("Claude", "connected; a trial ask came here and its decision went back"),
        Ok(Some(false)) => DoctorCheck::bad("Claude", "its hook said nothing", "Connect it again with: sayso connect claude"),
        Ok(None) => DoctorCheck::bad("Claude", "its hook cannot be run", "Connect it again with: sayso connect claude"),
        Err(_) => DoctorCheck::bad("Claude", "a trial ask did not arrive", "Connect it again with: sayso connect claude"),
    }
}

/// Whether a decision came back; nothing if the hook cannot be run.
async fn there_and_back(client: &Client, command: &str) -> Option<bool> {
    let session = format!("sayso-doctor-{}-{}", std::process::id(), sayso_client::now().as_millis());
    let here = std::env::current_dir().ok()?;
    let told = |event: &str| {
        let told = serde_json::json!({
            "session_id": session, "cwd": here, "hook_event_name": event, "tool_name": TOOL,
            "tool_input": { "note": "sayso doctor tries the way to you and back; nothing happens" },
        });
        told.to_string()
    };
    let asking = run(command, told("PermissionRequest"));
    tokio::pin!(asking);
    let said = loop {
        tokio::select! {
            said = &mut asking => break said?,
            () = tokio::time::sleep(LOOK) => approve(client).await,
        }
    };
    run(command, told("SessionEnd")).await?;
    Some(said.contains("hookSpecificOutput"))
}

/// Says yes to the trial, and to nothing else.
async fn approve(client: &Client) {
    let is_trial = |ask: &&Ask| ask.approval.as_ref().is_some_and(|approval| approval.tool == TOOL);
    let Ok(pending) = client.pending_asks().await else { return };
    for ask in pending.data.iter().filter(is_trial) {
        let _ = client.approve(&ask.id, &ApproveRequest::default()).await;
    }
}

async fn run(command: &str, told: String) -> Option<String> {
    let mut hook = Command::new("sh");
    hook.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut hook = hook.spawn().ok()?;
    let mut stdin = hook.stdin.take()?;
    // A hook that ends at once does not listen.
    let _ = stdin.write_all(told.as_bytes()).await;
    drop(stdin);
    let output = hook.wait_with_output().await.ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_not_come_is_said() {
        let said = |mode: Option<&str>| {
            expect(&ClaudeSettings { mode: mode.map(str::to_owned), ..ClaudeSettings::default() })[1].clone()
        };
        assert!(said(None).contains("auto mode"));
        assert!(said(Some("acceptEdits")).contains("edits do not"));
        assert!(said(Some("bypassPermissions")).contains("no approvals come"));
        assert!(said(Some("new")).contains("when Claude Code itself asks"));
    }
}
