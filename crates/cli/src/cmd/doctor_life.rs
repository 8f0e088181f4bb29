//! Checks of `sayso doctor` for the environment of the server: the service, the network, the certificate, files with
//! secrets, and the log.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sayso_client::api::listener::ListenerList;
use sayso_client::{Client, ServerFile};

use super::doctor::DoctorCheck;
use crate::app::App;
use crate::install;
use crate::log;
use crate::sanitize;
use crate::service;
use crate::sys;
use crate::words;

/// A certificate that expires within this time should be renewed.
const SOON: std::time::Duration = std::time::Duration::from_secs(7 * 86_400);

/// Checks that need no server.
pub(super) fn files(app: &App) -> Vec<DoctorCheck> {
    let mut checks = vec![installation(app), private(app), log_size(app)];
    checks.extend(interference(app));
    checks.extend(program(app));
    checks.extend(service(app));
    checks
}

/// Reports how this program was installed and how to upgrade it. Fails if another program owns the data directory.
fn installation(app: &App) -> DoctorCheck {
    let program = match install::this_program() {
        Ok(program) => program,
        Err(failure) => return DoctorCheck::bad("Install", failure.what, "Start Sayso by its full path."),
    };
    let kind = install::InstallKind::of(&program, &app.environment);
    let shown = words::directory(&program.to_string_lossy(), &app.out.look);
    match install::other_owner(app) {
        None => DoctorCheck::note("Install", format!("{shown}, {}", kind.describe()), format!("Upgrade: {}", kind.upgrade())),
        Some(other) => {
            let found = format!(
                "{shown}, {}; the server belongs to {}{}",
                kind.describe(),
                other.display_path(),
                other.display_version()
            );
            DoctorCheck::bad("Install", found, install::next_step(app, &other.display_path()))
        }
    }
}

/// Checks that other users can't read secrets or change settings.
fn private(app: &App) -> DoctorCheck {
    let paths = &app.paths;
    let mode = |path: &Path| fs::metadata(path).map_or(0, |data| data.permissions().mode());
    let tokens = ["claude", "codex", "opencode"].map(|agent| paths.agent_token_of(agent));
    let secret = [paths.agent_token(), paths.database(), paths.log()].into_iter().chain(tokens).chain(key_file(app));
    for path in secret {
        if mode(&path) & 0o077 != 0 {
            return DoctorCheck::bad(
                "Files",
                format!("other users can read {}", path.display()),
                format!("Run: chmod 600 {}", path.display()),
            );
        }
    }
    // These files decide which programs run and which actions are allowed.
    for path in [paths.config(), paths.policy()] {
        if mode(&path) & 0o022 != 0 {
            return DoctorCheck::bad(
                "Files",
                format!("other users can change {}", path.display()),
                format!("Run: chmod go-w {}", path.display()),
            );
        }
    }
    DoctorCheck::good("Files", "only you can read your secrets and change your settings")
}

/// Finds the key of the person's certificate, if the settings have one.
fn key_file(app: &App) -> Option<PathBuf> {
    let settings: toml_edit::DocumentMut = fs::read_to_string(app.paths.config()).ok()?.parse().ok()?;
    settings.get("server")?.get("tls_key")?.as_str().map(PathBuf::from)
}

fn log_size(app: &App) -> DoctorCheck {
    let size: u64 = log::files(&app.paths.log()).iter().filter_map(|path| fs::metadata(path).ok()).map(|data| data.len()).sum();
    let shown = format!("{} MiB", size.div_ceil(1024 * 1024));
    if size > log::most() {
        let dir = app.paths.log();
        let next = format!("Another program may be writing to {}", dir.parent().unwrap_or(&dir).display());
        DoctorCheck::bad("Log", format!("{shown}, which is larger than expected"), next)
    } else {
        DoctorCheck::good("Log", shown)
    }
}

/// Reports other programs that connected to the supervisors of running agents.
fn interference(app: &App) -> Option<DoctorCheck> {
    let warnings = sayso_server::agent_warnings(&app.paths.data_dir);
    let last = sanitize::line(warnings.last()?);
    let found = if warnings.len() == 1 { last } else { format!("{last} ({} such warnings)", warnings.len()) };
    Some(DoctorCheck::bad("Agents", found, "See the transcript of the session, or the log: sayso logs"))
}

/// Checks that the server runs the program that is installed now.
fn program(app: &App) -> Option<DoctorCheck> {
    let server = ServerFile::read(&app.paths.server_file()).ok().flatten()?;
    let is_replaced = sys::program_of(server.pid)?.is_replaced;
    is_replaced.then(|| {
        DoctorCheck::bad(
            "Program",
            "the program was replaced after the server started",
            "Restart the server with: sayso restart. Agents keep running.",
        )
    })
}

fn service(app: &App) -> Option<DoctorCheck> {
    let found = match service::read_state(app) {
        Ok(found) => found,
        Err(failure) => return Some(DoctorCheck::bad("Service", failure.what, "Reinstall it with: sayso service install")),
    };
    if !found.installed {
        return Some(DoctorCheck::good("Service", "not installed; commands start the server when they need it"));
    }
    let again = "Reinstall it with: sayso service install";
    Some(match (&found.program, found.is_this_program, found.enabled, found.running) {
        (Some(program), false, _, _) => DoctorCheck::bad("Service", format!("starts {program} instead of this program"), again),
        (None, _, _, _) => DoctorCheck::bad("Service", format!("{} was changed", found.path.display()), again),
        (Some(_), true, Some(false), _) => DoctorCheck::bad("Service", "installed, but not enabled", again),
        (Some(_), true, _, Some(false)) => {
            DoctorCheck::bad("Service", "installed, but not running", "Start it with: sayso restart")
        }
        (Some(_), true, None, _) => DoctorCheck::good("Service", "installed; cannot tell whether it is enabled"),
        (Some(_), true, Some(true), _) => DoctorCheck::good("Service", "starts when you log in"),
    })
}

/// Asks the server how it can be reached. Returns nothing if the token may not ask; the `Login` check reports that.
pub(super) async fn reach(client: &Client) -> Vec<DoctorCheck> {
    match client.listeners().await {
        Ok(reached) => network(&reached).into_iter().chain(certificate(&reached)).collect(),
        Err(_) => Vec::new(),
    }
}

fn network(reached: &ListenerList) -> Option<DoctorCheck> {
    let opened: Vec<&str> = reached.data.iter().filter(|listener| !listener.main).map(|listener| listener.url.as_str()).collect();
    let public = reached.public_url.as_ref().map(|url| format!("other devices use {url}"));
    let open = (!opened.is_empty()).then(|| format!("open to the network at {} until: sayso phone --close", opened.join(", ")));
    let said: Vec<String> = public.into_iter().chain(open).collect();
    let said = if said.is_empty() { "only this machine can reach the server".to_owned() } else { said.join("; ") };
    Some(DoctorCheck::good("Network", said))
}

fn certificate(reached: &ListenerList) -> Option<DoctorCheck> {
    let found = reached.certificate.as_ref()?;
    let now = sayso_client::now();
    if let Some(problem) = &found.problem {
        return Some(DoctorCheck::bad(
            "TLS",
            crate::sanitize::line(problem),
            "Fix it; until then the server uses the previous certificate.",
        ));
    }
    Some(match found.expires_at {
        Some(end) if end <= now => DoctorCheck::bad(
            "TLS",
            format!("{} expired {}", found.file, words::at(end, now)),
            "Renew it; the server reloads it automatically.",
        ),
        Some(end) if end <= now.plus(SOON) => DoctorCheck::bad(
            "TLS",
            format!("{} expires {}", found.file, words::at(end, now)),
            "Renew it; the server reloads it automatically.",
        ),
        Some(end) => DoctorCheck::good("TLS", format!("{} is valid until {}", found.file, words::at(end, now))),
        None => DoctorCheck::good("TLS", format!("{} is in use", found.file)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_client::api::listener::{Certificate, Listener};

    fn reached(opened: &[&str], public: Option<&str>, certificate: Option<Certificate>) -> ListenerList {
        let listener = |url: &&str| Listener { address: String::new(), url: (*url).into(), main: false };
        ListenerList {
            data: opened.iter().map(listener).collect(),
            public_url: public.map(str::to_owned),
            suggested: None,
            certificate,
        }
    }

    #[test]
    fn network_check_names_open_addresses() {
        let said = |reached: &ListenerList| serde_json::to_value(network(reached).unwrap()).unwrap()["found"].clone();
        assert_eq!(said(&reached(&[], None, None)), "only this machine can reach the server");
        let open = reached(&["http://192.0.2.7:4517"], Some("https://box"), None);
        assert_eq!(
            said(&open),
            "other devices use https://box; open to the network at http://192.0.2.7:4517 until: sayso phone --close"
        );
    }

    #[test]
    fn expiring_certificate_fails_its_check() {
        let ok = |end: Option<i64>, problem: Option<&str>| {
            let expires_at =
                end.map(|hours| sayso_core::time::Time::from_millis(sayso_client::now().as_millis() + hours * 3_600_000));
            let certificate = Certificate { file: "c.pem".into(), expires_at, problem: problem.map(str::to_owned) };
            let check = certificate_check(certificate);
            serde_json::to_value(check).unwrap()["ok"].as_bool().unwrap()
        };
        assert!(ok(Some(24 * 30), None) && ok(None, None));
        assert!(!ok(Some(24), None) && !ok(Some(-1), None) && !ok(Some(24 * 30), Some("k.pem cannot be read")));
    }

    fn certificate_check(found: Certificate) -> DoctorCheck {
        certificate(&reached(&[], None, Some(found))).unwrap()
    }
}
