//! `sayso mcp`: an MCP server on standard input and output, for one client. It calls the HTTP API and retries: calls
//! that wait for a person keep waiting while the server restarts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::Extensions;
use rmcp::{ErrorData, ServiceExt as _};
use sayso_client::api::ask::{Ask, AskStatus, NewAsk};
use sayso_client::api::notice::NewNotice;
use sayso_client::{Client, DiscoverError, Environment, Error, Paths, ServerFile, discover};
use sayso_server::mcp::{Asks, CallOrigin, ToolFailure, Tools};
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::args::McpArgs;
use crate::failure::Failure;

/// How long to retry a call that does not wait for a person while no server is running.
const TRY: Duration = Duration::from_secs(60);
/// Interval between retries.
const AGAIN: Duration = Duration::from_millis(500);
/// Longest single wait for an outcome; after it the address of the server is read again.
const LOOK: Duration = Duration::from_secs(20);
/// Time limit for withdrawing approvals when this process ends.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves until the client closes our standard input.
pub(crate) async fn run(app: &App, args: McpArgs) -> Result<(), Failure> {
    let place = CallOrigin {
        session: Some(session()),
        directory: std::env::current_dir().ok().map(|directory| directory.to_string_lossy().into_owned()),
        patience: args.wait.map(|wait| wait.0),
    };
    let remote = RemoteAsks(Arc::new(RemoteAsksState {
        environment: app.environment.clone(),
        paths: app.paths.clone(),
        token_file: args.token_file,
        place,
        client: Mutex::default(),
        approvals: Mutex::default(),
    }));
    let broken = |error: std::io::Error| Failure::io("Cannot listen for signals", &error);
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate()).map_err(broken)?, signal(SignalKind::interrupt()).map_err(broken)?);
    let served = async {
        // A client that disconnects before the handshake is not an error.
        if let Ok(serving) = Tools::new(remote.clone()).serve(rmcp::transport::stdio()).await {
            let _ = serving.waiting().await;
        }
    };
    tokio::select! {
        () = served => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    // The client is gone. Its questions stay pending for a while, but approvals must not be granted later.
    let _ = tokio::time::timeout(FAREWELL, remote.farewell()).await;
    Ok(())
}

/// Names the agent's session after the parent process and its start time. The same agent process finds its asks again
/// after it restarts this server.
fn session() -> String {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    // Field 22 is the start time. Field 2 is the process name, which may contain spaces and parentheses.
    let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)).map(str::to_owned);
    let started = started.unwrap_or_else(|| format!("{}-{}", std::process::id(), sayso_client::now()));
    format!("mcp-{parent}-{started}")
}

/// Calls the asks API of the server, which may restart and change its address.
#[derive(Debug, Clone)]
struct RemoteAsks(Arc<RemoteAsksState>);

#[derive(Debug)]
struct RemoteAsksState {
    environment: Environment,
    paths: Paths,
    token_file: Option<PathBuf>,
    place: CallOrigin,
    /// The most recent client with its token. The server may come back at another address.
    client: Mutex<Option<(String, Client)>>,
    /// Ids of pending approvals, which are withdrawn at the end.
    approvals: Mutex<BTreeSet<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RemoteAsks {
    /// Returns the address of the server and the first token found: from `--token-file`, from the agent's environment,
    /// the one that `sayso connect` created for agents, or the token of the person who runs this by hand.
    fn target(&self) -> Result<(String, String), DiscoverError> {
        let RemoteAsksState { environment, paths, token_file, .. } = &*self.0;
        let token = match token_file {
            Some(file) => {
                let unreadable =
                    |error: std::io::Error| DiscoverError::Unreadable { path: file.clone(), reason: error.to_string() };
                Ok(std::fs::read_to_string(file).map_err(unreadable)?)
            }
            None if environment.get("SAYSO_AGENT_TOKEN").is_some() => Err(()),
            None => std::fs::read_to_string(paths.agent_token()).map_err(|_| ()),
        };
        let Ok(token) = token.map(|token| token.trim().to_owned()) else {
            let target = discover(environment, paths)?;
            return Ok((target.url, target.token));
        };
        let url = match environment.get("SAYSO_URL") {
            Some(url) => url.to_owned(),
            None => {
                let looked_in = paths.server_file();
                ServerFile::read(&looked_in)?.ok_or(DiscoverError::NoServer { looked_in })?.url
            }
        };
        Ok((url, token))
    }

    /// Returns a client for the current address of the server, or the most recent client while the server restarts.
    fn client(&self) -> Result<Client, Error> {
        let target = self.target();
        let mut last = lock(&self.0.client);
        match (target, &*last) {
            (Ok((url, token)), Some((used, client))) if client.url() == url.trim_end_matches('/') && *used == token => {
                Ok(client.clone())
            }
            (Ok((url, token)), _) => {
                let client = Client::new(&url, &token)?;
                *last = Some((token, client.clone()));
                Ok(client)
            }
            // The server is restarting: it has removed its address and will write a new one.
            (Err(DiscoverError::NoServer { .. }), Some((_, client))) => Ok(client.clone()),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Repeats a call until a server responds, for at most `TRY`.
    async fn call<T, F>(&self, make: impl Fn(Client) -> F) -> Result<T, ToolFailure>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let until = Instant::now() + TRY;
        loop {
            let made = match self.client() {
                Ok(client) => make(client).await,
                Err(error) => Err(error),
            };
            match made {
                Ok(done) => return Ok(done),
                Err(error) if is_away(&error) && Instant::now() < until => tokio::time::sleep(AGAIN).await,
                Err(error) => return Err(refusal(&error)),
            }
        }
    }

    async fn farewell(&self) {
        let approvals = std::mem::take(&mut *lock(&self.0.approvals));
        for id in approvals {
            if let Ok(client) = self.client() {
                let _ = client.withdraw(&id).await;
            }
        }
    }
}

/// Returns true if retrying is worthwhile, because the server may be restarting.
fn is_away(error: &Error) -> bool {
    error.is_unreachable() || matches!(error, Error::Discover(DiscoverError::NoServer { .. }))
}

/// Converts an error to the text that the model reads.
fn refusal(error: &Error) -> ToolFailure {
    ToolFailure(match error {
        error if is_away(error) => "Sayso is not running. Ask the user to start it with: sayso serve".to_owned(),
        Error::Discover(DiscoverError::AgentShell { .. } | DiscoverError::NoToken { .. }) => {
            "Sayso has no token for you. Ask the user to connect you, or to pass an agent token to `sayso mcp`.".to_owned()
        }
        error => format!("The call to Sayso failed: {error}"),
    })
}

impl Asks for RemoteAsks {
    fn of_call(&self, _: &Extensions) -> Result<(Self, CallOrigin), ErrorData> {
        Ok((self.clone(), self.0.place.clone()))
    }

    async fn open(&self, ask: NewAsk) -> Result<Ask, ToolFailure> {
        let opened = self
            .call(|client| {
                let ask = ask.clone();
                async move { client.open_ask(&ask).await }
            })
            .await?;
        if ask.approval.is_some() && opened.status == AskStatus::Pending {
            lock(&self.0.approvals).insert(opened.id.clone());
        }
        Ok(opened)
    }

    async fn wait(&self, id: &str, within: Option<Duration>) -> Result<Ask, ToolFailure> {
        let until = within.map(|within| Instant::now() + within);
        loop {
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()).min(LOOK));
            let found = match self.client() {
                Ok(client) => match tokio::time::timeout(left, client.wait_for_outcome(id)).await {
                    Ok(found) => found.map(Some),
                    Err(_) => Ok(None),
                },
                Err(error) => Err(error),
            };
            match found {
                Ok(Some(ask)) => return Ok(ask),
                Ok(None) => {}
                // A call that waits for a person also waits for the server.
                Err(error) if is_away(&error) => tokio::time::sleep(AGAIN).await,
                Err(error) => return Err(refusal(&error)),
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                return self.call(|client| async move { client.ask(id).await }).await;
            }
        }
    }

    async fn receive(&self, id: &str) -> Result<Ask, ToolFailure> {
        lock(&self.0.approvals).remove(id);
        self.call(|client| async move { client.receive(id).await }).await
    }

    async fn withdraw(&self, id: &str) {
        // An error is ignored: if a person was faster, the ask is resolved. The id is removed only after the call, so
        // that `farewell` withdraws the ask if this process ends during the call.
        let _ = self.call(|client| async move { client.withdraw(id).await }).await;
        lock(&self.0.approvals).remove(id);
    }

    async fn notify(&self, notice: NewNotice) -> Result<(), ToolFailure> {
        self.call(|client| {
            let notice = notice.clone();
            async move { client.notify(&notice).await }
        })
        .await
    }
}
