//! `sayso service`: starts the server when the person logs in, and restarts it when it fails.

mod file;

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Serialize;

use self::file::{LABEL, Manager, Service, UNIT};
use crate::app::App;
use crate::args::ServiceAction;
use crate::autostart;
use crate::cmd::serve::make_data_dir;
use crate::cmd::stop;
use crate::connect::Program;
use crate::failure::{Failure, no_server};
use crate::install;
use crate::words;

/// Variables that the service passes on: those that agents need to find programs and files, and the log level. No keys
/// or tokens.
const KEPT: &[&str] = &["LANG", "LC_ALL", "PATH", "SAYSO_LOG", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

pub(crate) async fn run(app: &App, action: ServiceAction) -> Result<(), Failure> {
    app.person_only()?;
    match action {
        ServiceAction::Install { listen, dry_run } => install_service(app, listen, dry_run).await,
        ServiceAction::Remove { dry_run } => {
            let removed = remove(app, dry_run)?;
            app.out.result(&removed, || removed.words(app))
        }
        ServiceAction::Status => {
            let found = read_state(app)?;
            app.out.result(&found, || found.words(app))
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServiceState {
    /// Path of the service file.
    pub(crate) path: PathBuf,
    /// True if the file exists.
    pub(crate) installed: bool,
    /// True if the service starts at login; `None` if the service manager cannot be reached.
    pub(crate) enabled: Option<bool>,
    /// True if the service is running; `None` if the service manager cannot be reached.
    pub(crate) running: Option<bool>,
    /// Program that the service starts.
    pub(crate) program: Option<String>,
    /// True if the service starts this program.
    pub(crate) is_this_program: bool,
}

impl ServiceState {
    fn words(&self, app: &App) -> String {
        let path = words::directory(&self.path.to_string_lossy(), &app.out.look);
        if !self.installed {
            return "The service is not installed. Install it with: sayso service install".to_owned();
        }
        let say =
            |known: Option<bool>, yes: &'static str, no: &'static str| known.map_or("unknown", |is| if is { yes } else { no });
        let program = match &self.program {
            Some(program) if self.is_this_program => program.clone(),
            Some(program) => format!("{program}, which is not this program; to change it, run: sayso service install"),
            None => "unknown; to repair the service, run: sayso service install".to_owned(),
        };
        format!(
            "File     {path}\nProgram  {program}\nStarts   {}\nState    {}",
            say(self.enabled, "when you log in", "manually; to start it at login, run: sayso service install"),
            say(self.running, "running", "not running")
        )
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Removed {
    path: PathBuf,
    was_installed: bool,
    removed: bool,
    /// Commands for the service manager that could not be run here.
    to_run: Vec<String>,
}

impl Removed {
    fn words(&self, app: &App) -> String {
        let path = words::directory(&self.path.to_string_lossy(), &app.out.look);
        match (self.was_installed, self.removed) {
            (false, _) => "The service is not installed.".to_owned(),
            (true, false) => format!("This would be removed: {path}"),
            (true, true) => format!("Removed: {path}{}", left_to_run(&self.to_run)),
        }
    }
}

fn left_to_run(commands: &[String]) -> String {
    match commands {
        [] => String::new(),
        some => {
            format!(
                "\nThe system's service manager cannot be reached from here. In a login session, run:\n  {}",
                some.join("\n  ")
            )
        }
    }
}

/// Returns the path of the service file.
pub(crate) fn path(app: &App) -> Result<PathBuf, Failure> {
    match Manager::here() {
        Manager::Systemd => {
            let config = app
                .paths
                .config_dir
                .parent()
                .ok_or_else(|| Failure::new("The configuration directory has no parent directory."))?;
            Ok(config.join("systemd/user").join(UNIT))
        }
        Manager::Launchd => {
            let home = app.environment.path("HOME").ok_or_else(|| Failure::new("HOME is not set."))?;
            Ok(home.join("Library/LaunchAgents").join(format!("{LABEL}.plist")))
        }
    }
}

fn installed(app: &App) -> Result<Option<String>, Failure> {
    let path = path(app)?;
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io(&format!("Cannot read {}", path.display()), &error)),
    }
}

/// Returns the program that the service of this data directory starts.
pub(crate) fn program(app: &App) -> Option<PathBuf> {
    let data_dir = std::path::absolute(&app.paths.data_dir).unwrap_or_else(|_| app.paths.data_dir.clone());
    let text = installed(app).ok().flatten().filter(|text| file::is_for(text, &data_dir, Manager::here()))?;
    file::program(&text, Manager::here()).map(PathBuf::from)
}

/// Returns true if the system's service manager starts the server.
pub(crate) fn is_installed(app: &App) -> bool {
    installed(app).is_ok_and(|file| file.is_some())
}

fn build_service(app: &App, listen: Option<SocketAddr>) -> Result<Service, Failure> {
    let data_dir = std::path::absolute(&app.paths.data_dir).unwrap_or_else(|_| app.paths.data_dir.clone());
    let kept = KEPT.iter().filter_map(|name| Some(((*name).to_owned(), app.environment.get(name)?.to_owned())));
    Ok(Service {
        program: Program::of(app)?.path().to_owned(),
        log: data_dir.join("logs/sayso.log"),
        data_dir,
        listen,
        environment: kept.collect(),
    })
}

/// A command line of the system's service manager.
type ManagerCall = Vec<String>;

fn line(words: &[&str]) -> ManagerCall {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn launchd_domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// Commands that load a new or changed file and start the service.
fn to_install(path: &std::path::Path) -> Vec<ManagerCall> {
    match Manager::here() {
        Manager::Systemd => vec![
            line(&["systemctl", "--user", "daemon-reload"]),
            line(&["systemctl", "--user", "enable", UNIT]),
            line(&["systemctl", "--user", "restart", UNIT]),
        ],
        Manager::Launchd => vec![line(&["launchctl", "bootstrap", &launchd_domain(), &path.to_string_lossy()])],
    }
}

/// Commands that stop and unload the service before its file is removed.
fn to_remove() -> Vec<ManagerCall> {
    match Manager::here() {
        Manager::Systemd => vec![line(&["systemctl", "--user", "disable", "--now", UNIT])],
        Manager::Launchd => vec![line(&["launchctl", "bootout", &format!("{}/{LABEL}", launchd_domain())])],
    }
}

/// Stops and unloads the service. Errors are ignored, because the service may not be running.
fn forget() {
    for line in to_remove() {
        call(&line);
    }
}

/// Runs a command and returns true if it succeeded.
fn call(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns true if the service manager can be reached. Containers often have none.
fn can_be_asked() -> bool {
    match Manager::here() {
        Manager::Systemd => call(&line(&["systemctl", "--user", "show-environment"])),
        Manager::Launchd => call(&line(&["launchctl", "print", &launchd_domain()])),
    }
}

fn is_running() -> bool {
    match Manager::here() {
        Manager::Systemd => call(&line(&["systemctl", "--user", "is-active", UNIT])),
        Manager::Launchd => call(&line(&["launchctl", "print", &format!("{}/{LABEL}", launchd_domain())])),
    }
}

fn is_enabled() -> bool {
    match Manager::here() {
        Manager::Systemd => call(&line(&["systemctl", "--user", "is-enabled", UNIT])),
        // launchd starts loaded services at the next login.
        Manager::Launchd => is_running(),
    }
}

/// Reads the state of the service.
pub(crate) fn read_state(app: &App) -> Result<ServiceState, Failure> {
    let text = installed(app)?;
    let asked = text.is_some() && can_be_asked();
    let program = text.as_deref().and_then(|text| file::program(text, Manager::here()));
    let same = |program: &String| {
        std::path::Path::new(program).canonicalize().ok() == std::env::current_exe().ok().and_then(|exe| exe.canonicalize().ok())
    };
    Ok(ServiceState {
        path: path(app)?,
        installed: text.is_some(),
        enabled: asked.then(is_enabled),
        running: asked.then(is_running),
        is_this_program: program.as_ref().is_some_and(same),
        program,
    })
}

/// Writes the file and starts the service. Stops a server that runs outside of the service first; agents keep running.
async fn install_service(app: &App, listen: Option<SocketAddr>, dry_run: bool) -> Result<(), Failure> {
    install::require_lasting_program(app, "The service")?;
    let path = path(app)?;
    let text = build_service(app, listen)?.text(Manager::here());
    if dry_run {
        let value = serde_json::json!({ "path": path, "text": text, "written": false });
        return app.out.result(&value, || format!("This would be written to {}:\n{text}", path.display()));
    }
    let broken = |error: std::io::Error| Failure::io(&format!("Cannot write {}", path.display()), &error);
    make_data_dir(app)?;
    // Installing the service makes this program the owner of the data directory.
    install::record(app)?;
    // Created here, because the service manager would make the file readable for other users.
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(app.paths.log()).map_err(broken)?;
    let changed = installed(app)?.as_ref() != Some(&text);
    if changed {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(broken)?;
        }
        fs::write(&path, &text).map_err(broken)?;
    }
    let asked = can_be_asked();
    if asked && (changed || !is_running() || !is_enabled()) {
        if !is_running() {
            match stop::stop(app).await {
                Ok(_) => {}
                Err(failure) if failure == no_server() => {}
                Err(failure) => return Err(failure),
            }
        } else if Manager::here() == Manager::Launchd {
            // launchd reads the file only when it loads the service.
            forget();
        }
        for line in to_install(&path) {
            if !call(&line) {
                return Err(Failure::new(format!("`{}` failed.", line.join(" "))).then("Run it yourself to see why."));
            }
        }
        autostart::wait(app).await?;
    }
    let to_run: Vec<String> = if asked { Vec::new() } else { to_install(&path).iter().map(|line| line.join(" ")).collect() };
    let value = serde_json::json!({ "path": path, "written": changed, "running": asked, "toRun": to_run });
    app.out.result(&value, || {
        let shown = words::directory(&path.to_string_lossy(), &app.out.look);
        let what = if changed { format!("Written: {shown}") } else { format!("Unchanged: {shown}") };
        if !asked {
            return format!("{what}{}", left_to_run(&to_run));
        }
        let linger = if Manager::here() == Manager::Systemd {
            "\nTo keep it running while you are logged out: loginctl enable-linger"
        } else {
            ""
        };
        format!("{what}\nThe server is running and will start when you log in.{linger}")
    })
}

/// Stops the service and removes its file. Agents keep running.
pub(crate) fn remove(app: &App, dry_run: bool) -> Result<Removed, Failure> {
    let path = path(app)?;
    let was_installed = path.symlink_metadata().is_ok();
    if !was_installed || dry_run {
        return Ok(Removed { path, was_installed, removed: false, to_run: Vec::new() });
    }
    let asked = can_be_asked();
    if asked {
        forget();
    }
    if let Some(parent) = path.parent() {
        // Removes the link that `enable` created, in case the service manager cannot be reached.
        let _ = fs::remove_file(parent.join("default.target.wants").join(UNIT));
    }
    fs::remove_file(&path).map_err(|error| Failure::io(&format!("Cannot remove {}", path.display()), &error))?;
    if asked && Manager::here() == Manager::Systemd {
        call(&line(&["systemctl", "--user", "daemon-reload"]));
    }
    let to_run = if asked { Vec::new() } else { to_remove().iter().map(|line| line.join(" ")).collect() };
    Ok(Removed { path, was_installed, removed: true, to_run })
}

/// Starts the server as a service. Returns false if it is not installed for this data directory, or if starting fails.
pub(crate) fn start(app: &App) -> bool {
    let data_dir = std::path::absolute(&app.paths.data_dir).unwrap_or_else(|_| app.paths.data_dir.clone());
    let ours = installed(app).ok().flatten().is_some_and(|text| file::is_for(&text, &data_dir, Manager::here()));
    let start = match Manager::here() {
        Manager::Systemd => line(&["systemctl", "--user", "start", UNIT]),
        Manager::Launchd => line(&["launchctl", "kickstart", &format!("{}/{LABEL}", launchd_domain())]),
    };
    ours && call(&start)
}
