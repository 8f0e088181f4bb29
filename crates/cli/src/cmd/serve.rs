//! `sayso serve`: runs the server in this terminal.

use std::path::Path;
use std::sync::Mutex;

use sayso_client::DataDir;
use sayso_server::{Options, TlsFiles};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, ParseError};

use crate::app::App;
use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::install;
use crate::log::RotatingLog;
use crate::watchdog::Watchdog;
use crate::words;

/// Runs the server until it is stopped.
pub(crate) async fn run(app: &App, args: ServeArgs) -> Result<(), Failure> {
    if sayso_supervisor::is_started_by_an_agent(std::process::id(), &app.paths.data_dir.join("agents")) {
        let what = "An agent of this server runs this command. A server started here could not reach any agent and would end with this agent.";
        return Err(Failure::new(what).then("Start the server in a terminal of your own: sayso serve"));
    }
    make_data_dir(app)?;
    install::require_owner(app)?;
    if install::other_owner(app).is_none() {
        install::record(app)?;
    }
    log(&app.paths.log(), app.environment.get("SAYSO_LOG"));
    allow_many_connections();
    let listen = args.listen.unwrap_or(sayso_client::DEFAULT_LISTEN);
    let mut options = Options::new(listen, &app.paths.data_dir, &app.paths.config_dir);
    options.runtime_dir = app.paths.make_runtime_dir()?;
    options.reach.public_url = args.public_url;
    options.reach.allow_hosts = args.allow_hosts;
    options.reach.tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
    let watchdog = Watchdog::of(&app.environment);
    let ready = |url: &str| {
        app.out.line(&format!("listening on {url}"));
        // It ends with the runtime, after the server has stopped.
        if let Some(watchdog) = watchdog {
            tokio::spawn(watchdog.run(url.to_owned()));
        }
    };
    let served = sayso_server::run(options, ready).await;
    served.map_err(|error| Failure::caused("The server did not start", &error))
}

/// Creates the data directory. Removes access for other users if they had it, and says so.
pub(crate) fn make_data_dir(app: &App) -> Result<(), Failure> {
    if app.paths.make_data_dir()? == DataDir::MadePrivate {
        let shown = words::directory(&app.paths.data_dir.to_string_lossy(), &app.out.look);
        app.out.note(&format!("Other users of this machine could read {shown}. Sayso changed its mode to 700."));
        app.out.note("If you don't trust these users, revoke your tokens. List them with: sayso token list");
    }
    Ok(())
}

/// Logs to standard error, which `autostart` and the service redirect to the log file.
fn log(file: &Path, setting: Option<&str>) {
    let setting = setting.map(str::trim).filter(|setting| !setting.is_empty());
    let chosen = setting.map(filter).transpose();
    let invalid = chosen.as_ref().err().map(ToString::to_string);
    let filter = chosen.ok().flatten().unwrap_or_else(|| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(Mutex::new(RotatingLog::new(file))).with_ansi(false).init();
    if let Some(reason) = invalid {
        tracing::warn!(reason, "SAYSO_LOG is not valid; logging at info. Use error, warn, info, debug or trace");
    }
}

/// The filter for a value of `SAYSO_LOG`: a level, or directives such as `info,sayso_server::runtime=debug`.
///
/// A level below `info` applies to Sayso only. Libraries stay at `info`, because some of them log whole messages at
/// `debug`, and a message can hold an answer.
fn filter(setting: &str) -> Result<EnvFilter, ParseError> {
    match setting.parse::<LevelFilter>() {
        Ok(level) if level > LevelFilter::INFO => EnvFilter::try_new(format!("info,sayso={level}")),
        Ok(_) | Err(_) => EnvFilter::try_new(setting),
    }
}

/// Raises the limit of open files as far as the system allows. Each stream is an open file, and the usual limit of
/// 1,024 exists for programs that cannot handle more.
fn allow_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(65_536, |most| most.min(65_536));
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        tracing::warn!(%error, "cannot raise the limit on open files");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_level_applies_to_sayso_and_leaves_libraries_at_info() {
        assert_eq!(filter("debug").unwrap().to_string(), "sayso=debug,info");
        assert_eq!(filter("TRACE").unwrap().to_string(), "sayso=trace,info");
        assert_eq!(filter("warn").unwrap().to_string(), "warn");
        assert_eq!(filter("info,rmcp=debug").unwrap().to_string(), "rmcp=debug,info");
        assert!(filter("sayso=loud").is_err());
    }
}
