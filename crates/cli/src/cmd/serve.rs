//! `sayso serve`: the server in this terminal.

use std::path::Path;
use std::sync::Mutex;

use sayso_server::{Options, TlsFiles};
use tracing_subscriber::EnvFilter;

use crate::app::App;
use crate::args::Serve;
use crate::failure::Failure;
use crate::log::Log;

/// Runs the server until it is stopped.
pub(crate) async fn run(app: &App, args: Serve) -> Result<(), Failure> {
    app.paths.make_data_dir()?;
    log(&app.paths.log());
    allow_many_connections();
    let listen = args.listen.unwrap_or(sayso_client::DEFAULT_LISTEN);
    let mut options = Options::new(listen, &app.paths.data_dir, &app.paths.config_dir);
    options.runtime_dir = app.paths.make_runtime_dir()?;
    options.reach.public_url = args.public_url;
    options.reach.allow_hosts = args.allow_hosts;
    options.reach.tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
    let served = sayso_server::run(options, |url| app.out.line(&format!("listening on {url}"))).await;
    served.map_err(|error| Failure::caused("The server did not start", &error))
}

/// Logs to standard error, which `autostart` and the service send to the log file. `SAYSO_LOG` says how much.
fn log(file: &Path) {
    let filter = EnvFilter::try_from_env("SAYSO_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(Mutex::new(Log::new(file))).with_ansi(false).init();
}

/// Every stream is an open file, and the usual limit of 1,024 is there for programs that cannot
/// handle more. What we may raise it to is up to the system.
fn allow_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(65_536, |most| most.min(65_536));
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        tracing::warn!(%error, "the limit on open files stays as it is");
    }
}
