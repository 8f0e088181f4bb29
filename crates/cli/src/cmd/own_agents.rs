//! Checks of `sayso doctor` for agents that the person runs. The check of Claude Code runs its hook with a harmless
//! trial ask, approves that, and verifies that the decision comes back. Other checks say which asks will arrive.

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
use crate::connect::{self, ClaudeSettings, read_claude_settings};
use crate::output::Look;
use crate::{sanitize, words};

/// Time limit for the whole trial.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval between checks for the trial ask.
const LOOK: Duration = Duration::from_millis(50);
/// Tool name of the trial ask. No agent has such a tool.
const TOOL: &str = "SaysoDoctor";

/// Runs all checks of connected agents.
pub(super) async fn checks(app: &App) -> Vec<DoctorCheck> {
    let (Some(home), Ok(here)) = (app.environment.path("HOME"), std::env::current_dir()) else { return Vec::new() };
    let found = read_claude_settings(&app.environment, &home, &here);
    let mut checks: Vec<DoctorCheck> = found.broken.iter().map(|(path, why)| broken(path, why, &app.out.look)).collect();
    checks.extend(connect::others(app).iter().map(|(agent, path)| other(*agent, path, &app.out.look)));
    checks.extend(own_servers(app).await);
    if found.connected.is_empty() {
        return checks;
    }
    checks.push(match (&found.hooks_off, &found.command) {
        (Some(path), _) => {
            let found = format!("hooks are disabled in {}", display_path(path, &app.out.look));
            DoctorCheck::bad("Claude", found, "Remove disableAllHooks; until then no asks of Claude Code reach Sayso.")
        }
        (None, Some(command)) => check_claude_hook(app, command).await,
        (None, None) => return checks,
    });
    checks.extend(expect(&found).into_iter().map(|words| DoctorCheck::good("Claude", words)));
    checks
}

fn display_path(path: &Path, look: &Look) -> String {
    words::directory(&path.to_string_lossy(), look)
}

fn broken(path: &Path, why: &str, look: &Look) -> DoctorCheck {
    let found = format!("{}: {}", display_path(path, look), sanitize::line(why));
    DoctorCheck::bad("Claude", found, "Fix the file; Claude Code may be unable to read it as well.")
}

/// Describes an agent that cannot be tested without running it.
fn other(agent: ConnectAgent, path: &Path, look: &Look) -> DoctorCheck {
    let path = display_path(path, look);
    match agent {
        ConnectAgent::Claude => DoctorCheck::good("Claude", format!("connected in {path}")),
        ConnectAgent::Codex => DoctorCheck::good(
            "Codex",
            format!(
                "connected in {path}; rules apply once you trust the hook in /hooks, questions arrive with ask_user, other asks stay in Codex"
            ),
        ),
        ConnectAgent::Opencode => DoctorCheck::good(
            "OpenCode",
            format!("connected in {path}; questions arrive with ask_user, its own permission requests stay in OpenCode"),
        ),
    }
}

/// Checks the connections to agent servers that the person runs.
async fn own_servers(app: &App) -> Vec<DoctorCheck> {
    let Ok(client) = app.client() else { return Vec::new() };
    let Ok(agents) = client.agents().await else { return Vec::new() };
    let check = |attached: &Attachment| match attached.state {
        AttachmentState::Connected => DoctorCheck::good("Yours", own_server(attached)),
        AttachmentState::Connecting | AttachmentState::Unreachable => {
            let (agent, place) = (sanitize::line(&attached.agent), sanitize::line(&attached.place));
            let next =
                format!("If its address has changed: sayso connect {agent} ADDRESS, then sayso disconnect {agent} {place}");
            DoctorCheck::bad("Yours", own_server(attached), next)
        }
    };
    agents.data.iter().flat_map(|agent| &agent.attached).map(check).collect()
}

/// Describes which asks of Claude Code arrive, and which don't.
fn expect(found: &ClaudeSettings) -> Vec<String> {
    let approvals = match found.mode.as_deref() {
        None => {
            "approvals arrive when Claude Code asks for them; in auto mode, the default of newer versions, it decides most of them itself"
        }
        Some("default" | "manual") => "approvals arrive: Claude Code asks before it uses tools",
        Some("acceptEdits") => "approvals of commands arrive; edits do not, because the mode is acceptEdits",
        Some("plan") => "plans arrive for approval; no tools are used, because the mode is plan",
        Some("auto") => "few approvals arrive: in mode auto, Claude Code decides most of them itself",
        Some("dontAsk") => "no approvals arrive: in mode dontAsk, everything that is not allowed is denied",
        Some("bypassPermissions") => "no approvals arrive: in mode bypassPermissions, everything is allowed",
        Some(_) => "approvals arrive when Claude Code asks for them",
    };
    vec![
        "questions and finished plans arrive".to_owned(),
        approvals.to_owned(),
        "decisions of its own allow and deny rules do not arrive; forms of MCP servers stay in the terminal".to_owned(),
    ]
}

/// Runs the hook command exactly as Claude Code does.
async fn check_claude_hook(app: &App, command: &str) -> DoctorCheck {
    let Ok(client) = app.client() else {
        return DoctorCheck::bad("Claude", "its hook was not tested: the server is not running", "Start one with: sayso serve");
    };
    match tokio::time::timeout(PATIENCE, there_and_back(&client, command)).await {
        Ok(Some(true)) => DoctorCheck::good("Claude", "connected; a trial ask arrived and its decision went back"),
        Ok(Some(false)) => DoctorCheck::bad("Claude", "its hook returned no decision", "Reconnect it with: sayso connect claude"),
        Ok(None) => DoctorCheck::bad("Claude", "its hook cannot be started", "Reconnect it with: sayso connect claude"),
        Err(_) => DoctorCheck::bad("Claude", "a trial ask did not arrive", "Reconnect it with: sayso connect claude"),
    }
}

/// Returns whether a decision came back; `None` if the hook cannot be started.
async fn there_and_back(client: &Client, command: &str) -> Option<bool> {
    let session = format!("sayso-doctor-{}-{}", std::process::id(), sayso_client::now().as_millis());
    let here = std::env::current_dir().ok()?;
    let told = |event: &str| {
        let told = serde_json::json!({
            "session_id": session, "cwd": here, "hook_event_name": event, "tool_name": TOOL,
            "tool_input": { "note": "sayso doctor tests the connection; nothing is executed" },
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

/// Approves the trial ask and no other.
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
    // A hook that ends at once does not read its input.
    let _ = stdin.write_all(told.as_bytes()).await;
    drop(stdin);
    let output = hook.wait_with_output().await.ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_follow_the_permission_mode() {
        let said = |mode: Option<&str>| {
            expect(&ClaudeSettings { mode: mode.map(str::to_owned), ..ClaudeSettings::default() })[1].clone()
        };
        assert!(said(None).contains("auto mode"));
        assert!(said(Some("acceptEdits")).contains("edits do not"));
        assert!(said(Some("bypassPermissions")).contains("no approvals arrive"));
        assert!(said(Some("new")).contains("when Claude Code asks for them"));
    }
}
