//! The link to an agent that is an HTTP server, whether or not Sayso started it.
//!
//! One task owns the link. It makes the requested calls: those that change something one after another, in order, and those
//! that only read concurrently with them. It also keeps the event stream of the server open. A server with a Unix socket
//! (`unix:PATH`) exchanges messages instead (`socket`).

mod call;
mod events;
mod socket;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use sayso_agents::translator::{HttpCall, HttpReply, HttpServer};
use sayso_store::OutboxId;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use call::Caller;

/// The capacity of the call queue. Calls that do not fit get the reply that their arrival is uncertain, or are dropped if they
/// only read.
const CALLS: usize = 64;
/// The capacity of the queue of events and replies. If it is full, the task waits, and with it the server's stream.
const SAID: usize = 16;
/// The maximum number of concurrent calls that only read.
const READS: usize = 8;
/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A message from an agent's server.
#[derive(Debug)]
pub(crate) enum HttpSaid {
    /// The event stream was opened.
    Opened,
    /// An event of the stream.
    Event(String),
    /// The stream of events was closed.
    Closed,
    /// The reply to a call, and the outbox row of the call.
    Reply { row: Option<OutboxId>, reply: HttpReply },
}

/// A server that Sayso calls.
#[derive(Debug)]
pub(crate) struct Http {
    server: HttpServer,
    calls: mpsc::Sender<(Option<OutboxId>, HttpCall)>,
    said: mpsc::Receiver<HttpSaid>,
    task: AbortHandle,
}

impl Drop for Http {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Http {
    /// Creates a link to this server. `secret` is the password or token of its login.
    ///
    /// # Errors
    /// If no HTTP client can be created.
    pub(crate) fn new(server: HttpServer, secret: String) -> Result<Self, reqwest::Error> {
        if let Some(path) = server.url.strip_prefix("unix:").map(PathBuf::from) {
            let (calls, waiting) = mpsc::channel(CALLS);
            let (say, said) = mpsc::channel(SAID);
            let task = tokio::spawn(async move { socket::speak(&path, waiting, &say).await });
            return Ok(Self { server, calls, said, task: task.abort_handle() });
        }
        // A configured proxy must not be used for a process on this machine.
        let here = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"].iter().any(|here| server.url.starts_with(here));
        let client = sayso_net::client(&server.url).connect_timeout(CONNECT);
        let client = if here { client.no_proxy() } else { client }.build()?;
        let caller = Caller::new(client, &server, secret);
        let (calls, waiting) = mpsc::channel(CALLS);
        let (say, said) = mpsc::channel(SAID);
        let path = server.events.clone();
        let task = tokio::spawn(async move {
            tokio::join!(work(&caller, waiting, say.clone()), async {
                if let Some(path) = path {
                    events::listen(&caller, &path, &say).await;
                }
            });
        });
        Ok(Self { server, calls, said, task: task.abort_handle() })
    }

    pub(crate) const fn server(&self) -> &HttpServer {
        &self.server
    }

    /// Queues a call. Returns the call if the queue is full.
    pub(crate) fn call(&self, row: Option<OutboxId>, call: HttpCall) -> Result<(), HttpCall> {
        self.calls.try_send((row, call)).map_err(|error| error.into_inner().1)
    }

    /// Waits for the next message, and returns it with all others that are available. Cancel safe.
    pub(crate) async fn receive(&mut self) -> Vec<HttpSaid> {
        let mut said = Vec::new();
        // The task ends only when this value is dropped.
        if self.said.recv_many(&mut said, SAID).await == 0 {
            std::future::pending::<()>().await;
        }
        said
    }
}

/// Runs the calls and the event stream.
async fn work(caller: &Caller, mut calls: mpsc::Receiver<(Option<OutboxId>, HttpCall)>, say: mpsc::Sender<HttpSaid>) {
    let mut changes = VecDeque::new();
    let mut reads = VecDeque::new();
    let mut under_way: JoinSet<(Option<OutboxId>, HttpReply)> = JoinSet::new();
    let mut changing = false;
    loop {
        if !changing && let Some((row, call)) = changes.pop_front() {
            changing = true;
            start(&mut under_way, caller, row, call, &say);
        }
        while under_way.len() < READS + usize::from(changing)
            && let Some(call) = reads.pop_front()
        {
            start(&mut under_way, caller, None, call, &say);
        }
        tokio::select! {
            call = calls.recv(), if changes.len() + reads.len() < CALLS => match call {
                Some((None, call)) => reads.push_back(call),
                Some((row, call)) => changes.push_back((row, call)),
                None => return,
            },
            Some(done) = under_way.join_next() => {
                // Calls do not panic. If one did, its row would be found marked as tried.
                let Ok((row, reply)) = done else { continue };
                changing &= row.is_none();
                if say.send(HttpSaid::Reply { row, reply }).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn start(
    under_way: &mut JoinSet<(Option<OutboxId>, HttpReply)>,
    caller: &Caller,
    row: Option<OutboxId>,
    call: HttpCall,
    say: &mpsc::Sender<HttpSaid>,
) {
    let (caller, say) = (caller.clone(), say.clone());
    under_way.spawn(async move { (row, caller.make(call, &say).await) });
}
