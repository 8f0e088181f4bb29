//! The link to an agent that is an HTTP server, whether a process of ours listens there or not.
//!
//! One task owns it. It makes the calls it is given: those that change something one after the other, in
//! their order; those that only read beside them. And it keeps the stream of the server's events open.
//! A server with a socket of its own (`unix:PATH`) is spoken to by messages instead (`socket`).

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

/// Calls that wait for the task. What does not fit is told to be uncertain, or lost if it only reads.
const CALLS: usize = 64;
/// What was said and is not taken yet. When it is full the task waits, and with it the server's stream.
const SAID: usize = 16;
/// Calls that read at the same time; the next ones wait.
const READS: usize = 8;
/// How long a server may take until it accepts a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// What an agent's server says.
#[derive(Debug)]
pub(crate) enum HttpSaid {
    /// A stream was opened.
    Opened,
    /// An event of it.
    Event(String),
    /// The stream of events was closed.
    Closed,
    /// A reply, and the row that the call stood in.
    Reply { row: Option<OutboxId>, reply: HttpReply },
}

/// One server that we call.
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
    /// Calls this server; `secret` is the password or the token of its login.
    ///
    /// # Errors
    /// When there can be no client at all.
    pub(crate) fn new(server: HttpServer, secret: String) -> Result<Self, reqwest::Error> {
        if let Some(path) = server.url.strip_prefix("unix:").map(PathBuf::from) {
            let (calls, waiting) = mpsc::channel(CALLS);
            let (say, said) = mpsc::channel(SAID);
            let task = tokio::spawn(async move { socket::speak(&path, waiting, &say).await });
            return Ok(Self { server, calls, said, task: task.abort_handle() });
        }
        // A proxy of the person has no business between us and a process on this machine.
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

    /// The server.
    pub(crate) const fn server(&self) -> &HttpServer {
        &self.server
    }

    /// Makes a call. Gives it back if there are too many.
    pub(crate) fn call(&self, row: Option<OutboxId>, call: HttpCall) -> Result<(), HttpCall> {
        self.calls.try_send((row, call)).map_err(|error| error.into_inner().1)
    }

    /// What it says next, and what else is there. May be dropped while it waits; nothing is lost.
    pub(crate) async fn hear(&mut self) -> Vec<HttpSaid> {
        let mut said = Vec::new();
        // The task ends only with this.
        if self.said.recv_many(&mut said, SAID).await == 0 {
            std::future::pending::<()>().await;
        }
        said
    }
}

/// Makes the calls.
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
                // A call does not panic; if it did, its row would be found as tried.
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
