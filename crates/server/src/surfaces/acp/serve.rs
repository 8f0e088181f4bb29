//! The conversation with one client, carried out: one task owns it.

use std::collections::VecDeque;
use std::future::Future;

use futures_core::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::call::{Refusal, Reply, SessionCall};
use super::conversation::{Conversation, Frame, Heard, Input, Output};

/// Calls that may wait. Meanwhile the client is not listened to, and waits.
const CALLS: usize = 32;
/// What was heard of the sessions and not told yet. Those who follow them wait when there is more.
const HEARD: usize = 16;

/// The sessions that one client sees, here or on another machine.
pub trait Sessions: Clone + Send + Sync + 'static {
    /// Makes a call.
    fn call(&self, call: SessionCall) -> impl Future<Output = Result<Reply, Refusal>> + Send;

    /// Tells what happens in a session after this place in the feed, until nobody listens any more.
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

/// The way to the client.
pub trait Outlet: Send + Sync {
    /// Sends. False: the client takes no more.
    fn send(&self, frame: Frame) -> impl Future<Output = bool> + Send;
}

/// Speaks with the client until it ends its lines, takes no more, or is to be left. What it had said by then is still done.
pub async fn serve(
    conversation: &mut Conversation,
    sessions: &impl Sessions,
    lines: &mut mpsc::Receiver<Line>,
    outlet: &impl Outlet,
    leave: &CancellationToken,
) {
    let (tell, mut heard) = mpsc::channel::<(String, Heard)>(HEARD);
    // Whoever follows a session ends with this.
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
            // What it said already is read, and nothing more.
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
