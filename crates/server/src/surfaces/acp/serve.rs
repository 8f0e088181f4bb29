//! Runs the conversation with one client, on one task.

use std::collections::VecDeque;
use std::future::Future;

use futures_core::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::call::{Refusal, Reply, SessionCall};
use super::conversation::{Conversation, Frame, Heard, Input, Output};

/// The maximum number of queued calls. While the queue is full, no message of the client is read.
const CALLS: usize = 32;
/// The maximum number of unprocessed session events. While the queue is full, the followers wait.
const HEARD: usize = 16;

/// The sessions that one client can see, on this server or through the HTTP API.
pub trait Sessions: Clone + Send + Sync + 'static {
    /// Executes a call.
    fn call(&self, call: SessionCall) -> impl Future<Output = Result<Reply, Refusal>> + Send;

    /// Sends the events of a session after this feed position, until the receiver is dropped.
    fn follow(&self, session: String, since: i64, tell: mpsc::Sender<(String, Heard)>) -> impl Future<Output = ()> + Send;
}

/// One message of the client.
#[derive(Debug)]
pub struct Line {
    /// The message.
    pub text: String,
    /// The session that the transport names.
    pub session: Option<String>,
}

/// The outgoing side of a client's connection.
pub trait Outlet: Send + Sync {
    /// Sends a message. Returns false if the client has disconnected.
    fn send(&self, frame: Frame) -> impl Future<Output = bool> + Send;
}

/// Runs the conversation until the client closes its input, the outlet fails, or `leave` is cancelled. Messages received by
/// then are still processed.
pub async fn serve(
    conversation: &mut Conversation,
    sessions: &impl Sessions,
    lines: &mut mpsc::Receiver<Line>,
    outlet: &impl Outlet,
    leave: &CancellationToken,
) {
    let (tell, mut heard) = mpsc::channel::<(String, Heard)>(HEARD);
    // The followers of sessions end when this is dropped.
    let mut following = JoinSet::new();
    let mut waiting: VecDeque<SessionCall> = VecDeque::new();
    let mut calling: Option<BoxFuture<'_, Result<Reply, Refusal>>> = None;
    let mut listens = true;
    loop {
        if calling.is_none() {
            calling = waiting.pop_front().map(|call| Box::pin(sessions.call(call)) as BoxFuture<'_, _>);
        }
        let room = waiting.len() < CALLS;
        let outputs = tokio::select! {
            outcome = async { match &mut calling { Some(call) => call.await, None => std::future::pending().await } } => {
                calling = None;
                conversation.handle(Input::Done(outcome))
            }
            line = lines.recv(), if listens && room => match line {
                Some(Line { text, session }) => conversation.handle(Input::Line { text: &text, session: session.as_deref() }),
                None => {
                    listens = false;
                    Vec::new()
                }
            },
            Some((session, what)) = heard.recv(), if listens && room && !conversation.is_sending() => {
                conversation.handle(Input::Heard { session: &session, what })
            }
            // Messages that were already received are read, and no more.
            () = leave.cancelled(), if listens && !lines.is_closed() => {
                lines.close();
                Vec::new()
            }
        };
        for output in outputs {
            match output {
                Output::Call(call) => waiting.push_back(call),
                Output::Send(frame) if listens => listens = outlet.send(frame).await,
                Output::Follow { session, since } if listens => {
                    let (sessions, tell) = (sessions.clone(), tell.clone());
                    following.spawn(async move { sessions.follow(session, since, tell).await });
                }
                Output::Send(_) | Output::Follow { .. } => {}
            }
        }
        if !listens && calling.is_none() && waiting.is_empty() {
            return;
        }
    }
}
