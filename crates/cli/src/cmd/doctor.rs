//! `sayso doctor`: checks the installation and suggests a fix for each problem.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use sayso_client::{Client, ServerFile};
use serde::Serialize;

use super::{doctor_life, own_agents};
use crate::app::App;
use crate::failure::Failure;
use crate::output::{Look, Style};
use crate::sanitize;
use crate::words;

/// With less free space than this, the check of the disk fails.
const LEAST_SPACE: u64 = 200 * 1024 * 1024;

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DoctorCheck {
    name: &'static str,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl DoctorCheck {
    pub(super) fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, ok: true, found: found.into(), next: None }
    }

    /// The check passed, with a remark.
    pub(super) fn note(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, ok: true, found: found.into(), next: Some(next.into()) }
    }

    pub(super) fn bad(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, ok: false, found: found.into(), next: Some(next.into()) }
    }
}

/// Runs all checks and prints the results. Fails if a check failed.
pub(crate) async fn run(app: &App) -> Result<(), Failure> {
    let mut checks = vec![directory(app), token_file(app), space(&app.paths.data_dir)];
    checks.extend(doctor_life::files(app));
    checks.extend(server(app).await);
    checks.extend(own_agents::checks(app).await);
    let failed = checks.iter().filter(|check| !check.ok).count();
    app.out.result(&checks, || checks.iter().map(|check| render_check(check, &app.out.look)).collect::<Vec<_>>().join("\n"))?;
    match failed {
        0 => Ok(()),
        several => Err(Failure::new(format!("{} failed.", words::count(several, "check", "checks")))),
    }
}

fn render_check(check: &DoctorCheck, look: &Look) -> String {
    let sign = match (check.ok, look.ascii) {
        (true, false) => look.paint(Style::Good, "✓"),
        (true, true) => look.paint(Style::Good, "v"),
        (false, _) => look.paint(Style::Bad, "x"),
    };
    let next = check.next.as_deref().map(|next| format!("\n  {:<10} {next}", "")).unwrap_or_default();
    format!("{sign} {:<10} {}{next}", check.name, check.found)
}

fn directory(app: &App) -> DoctorCheck {
    let path = &app.paths.data_dir;
    let shown = words::directory(&path.to_string_lossy(), &app.out.look);
    match std::fs::metadata(path) {
        Err(_) => DoctorCheck::good("Data", format!("{shown} does not exist yet; the server creates it")),
        Ok(data) if data.uid() != rustix::process::getuid().as_raw() => DoctorCheck::bad(
            "Data",
            format!("{shown} belongs to another user"),
            "Choose another directory with --data-dir, or change the owner of this one.",
        ),
        Ok(data) if data.permissions().mode() & 0o077 != 0 => {
            DoctorCheck::bad("Data", format!("other users can read {shown}"), format!("Run: chmod 700 {}", path.display()))
        }
        Ok(_) => DoctorCheck::good("Data", format!("only you can read {shown}")),
    }
}

fn token_file(app: &App) -> DoctorCheck {
    let path = app.paths.token();
    match std::fs::metadata(&path) {
        Err(_) => DoctorCheck::good("Token", "none yet; the server creates it"),
        Ok(data) if data.permissions().mode() & 0o077 != 0 => DoctorCheck::bad(
            "Token",
            format!("other users can read {}", path.display()),
            format!("Run chmod 600 {}, then create a new token.", path.display()),
        ),
        Ok(_) => DoctorCheck::good("Token", "only you can read its file"),
    }
}

fn space(directory: &Path) -> DoctorCheck {
    let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(directory);
    match rustix::fs::statvfs(existing) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let shown = format!("{} MiB free", free / (1024 * 1024));
            if free < LEAST_SPACE {
                DoctorCheck::bad(
                    "Disk",
                    shown,
                    "Free some disk space. While the disk is full, agents wait and new asks are refused.",
                )
            } else {
                DoctorCheck::good("Disk", shown)
            }
        }
        Err(error) => DoctorCheck::bad("Disk", format!("cannot read the free space: {error}"), "Check it with: df -h"),
    }
}

async fn server(app: &App) -> Vec<DoctorCheck> {
    let url = match app.environment.get("SAYSO_URL").map(str::to_owned) {
        Some(url) => Some(url),
        None => ServerFile::read(&app.paths.server_file()).ok().flatten().map(|file| file.url),
    };
    let Some(url) = url else { return vec![DoctorCheck::bad("Server", "not running", "Start one with: sayso serve")] };
    let health = match Client::new(&url, "") {
        Ok(client) => client.health().await,
        Err(error) => Err(error),
    };
    let health = match health {
        Ok(health) => health,
        Err(error) => return vec![DoctorCheck::bad("Server", error.to_string(), "Start one with: sayso serve")],
    };
    let mut checks = vec![match health.status.as_str() {
        "ok" => DoctorCheck::good("Server", format!("running at {url}")),
        other => DoctorCheck::bad(
            "Server",
            format!("running at {url}, but: {}", sanitize::line(other)),
            "See its log with: sayso logs",
        ),
    }];
    let ours = env!("CARGO_PKG_VERSION");
    checks.push(if health.version == ours {
        DoctorCheck::good("Version", ours)
    } else {
        let found = format!("the server is version {}, this program is {ours}", sanitize::line(&health.version));
        DoctorCheck::bad("Version", found, "Restart the server with this version: sayso restart")
    });
    let client = match app.client() {
        Ok(client) => client,
        Err(failure) => {
            checks.push(DoctorCheck::bad("Login", failure.what, failure.next.unwrap_or_default()));
            return checks;
        }
    };
    checks.push(match client.agents().await {
        Ok(agents) => {
            DoctorCheck::good("Login", format!("the token is valid; {}", words::count(agents.data.len(), "agent", "agents")))
        }
        Err(error) => {
            DoctorCheck::bad("Login", error.to_string(), "Restart the server, or unset SAYSO_TOKEN if that token is old.")
        }
    });
    checks.extend(doctor_life::reach(&client).await);
    // The `Login` check above already reports a token that may not read the policy.
    if let Ok(view) = client.policy().await {
        checks.push(match view.error {
            None => DoctorCheck::good("Policy", "valid"),
            Some(error) => DoctorCheck::bad("Policy", sanitize::line(&error), "Fix it with: sayso policy edit"),
        });
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::look;

    #[test]
    fn failed_check_shows_its_fix() {
        assert_eq!(render_check(&DoctorCheck::good("Disk", "9 MiB free"), &look()), "✓ Disk       9 MiB free");
        assert_eq!(
            render_check(&DoctorCheck::bad("Server", "not running", "Start one"), &look()),
            "x Server     not running\n             Start one"
        );
        assert!(space(Path::new("/tmp/not/there")).found.ends_with("MiB free"));
    }
}
