//! `sayso mcp`: the MCP server on standard input and output, for one client. It is a caller of the HTTP API that
//! does not give up: while the server is being restarted, whoever waits for a person goes on waiting.

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

/// How long a call that does not wait for a person is tried again when no server answers.
const TRY: Duration = Duration::from_secs(60);
/// How often.
const AGAIN: Duration = Duration::from_millis(500);
/// How often a wait looks whether the server is where it was.
const LOOK: Duration = Duration::from_secs(20);
/// How long the end may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves until the client closes our input.
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
    let broken = |error: std::io::Error| Failure::io("Signals cannot be heard", &error);
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate()).map_err(broken)?, signal(SignalKind::interrupt()).map_err(broken)?);
    let served = async {
        // A client that goes away before it has said anything is no fault.
        if let Ok(serving) = Tools::new(remote.clone()).serve(rmcp::transport::stdio()).await {
            let _ = serving.waiting().await;
        }
    };
    tokio::select! {
        () = served => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    // Nobody waits any more. Questions are kept for a while; a permission must not be given later.
    let _ = tokio::time::timeout(FAREWELL, remote.farewell()).await;
    Ok(())
}

/// The name of the agent's session: whoever started us, as long as it lives. Started again by the same agent, we
/// find its asks again.
fn session() -> String {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    let started = u32::try_from(parent).ok().and_then(crate::sys::start_of);
    let started = started.unwrap_or_else(|| format!("{}-{}", std::process::id(), sayso_client::now()));
    format!("mcp-{parent}-{started}")
}

/// The asks of a server, wherever it is now.
#[derive(Debug, Clone)]
struct RemoteAsks(Arc<RemoteAsksState>);

#[derive(Debug)]
struct RemoteAsksState {
    environment: Environment,
    paths: Paths,
    token_file: Option<PathBuf>,
    place: CallOrigin,
    /// The client that was used last, with its token. The server may come back elsewhere.
    client: Mutex<Option<(String, Client)>>,
    /// Approvals that are waited for.
    approvals: Mutex<BTreeSet<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RemoteAsks {
    /// Where the server is and what to say there: the token that was named, an agent's own, the one that `sayso connect`
    /// made for agents, or, for whoever runs this by hand, their own.
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

    /// A client of the server as it is now, or was last.
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
            // It is between two lives: it has taken its address away and will be back.
            (Err(DiscoverError::NoServer { .. }), Some((_, client))) => Ok(client.clone()),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Calls until a server answers, for a while.
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

/// Whether it is worth to wait for the server.
fn is_away(error: &Error) -> bool {
    error.is_unreachable() || matches!(error, Error::Discover(DiscoverError::NoServer { .. }))
}

/// What the model reads.
fn refusal(error: &Error) -> ToolFailure {
    ToolFailure(match error {
        error if is_away(error) => "Sayso does not run. Tell the user to start it with: sayso serve".to_owned(),
        Error::Discover(DiscoverError::AgentShell { .. } | DiscoverError::NoToken { .. }) => {
            "Sayso has no token for you. Tell the user to connect you, or to give `sayso mcp` an agent's token.".to_owned()
        }
        error => format!("Sayso could not do it: {error}"),
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
                // Whoever waits for a person waits for the server, too.
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
        // If somebody was first, that is as good. Should we end meanwhile, it is still known what is left to do.
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
