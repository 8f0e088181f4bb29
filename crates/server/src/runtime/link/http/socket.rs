//! The link to a server on a Unix socket of this machine, which exchanges messages over WebSocket. Each message from the server
//! is an event. A call is a list of messages. Its reply means that they were written, and their results arrive as events. A
//! closed socket is opened again, with increasing delays.

use std::path::Path;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use sayso_agents::translator::{HttpCall, HttpReply};
use sayso_core::limits;
use sayso_store::OutboxId;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::{CONNECT, HttpSaid};

/// The delay before the socket is opened again: the first and the longest.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// How long writing a message may take.
const WRITE: Duration = Duration::from_secs(30);
/// The status of a call whose messages were written.
const WRITTEN: u16 = 200;

const NOT_OPEN: &str = "its socket is not open";
const NOT_WRITTEN: &str = "its socket closed during the write";

type Calls = mpsc::Receiver<(Option<OutboxId>, HttpCall)>;
type Socket = WebSocketStream<UnixStream>;

/// Exchanges messages until the receiver is dropped.
pub(super) async fn speak(path: &Path, mut calls: Calls, say: &mpsc::Sender<HttpSaid>) {
    let [first, most] = PAUSE;
    let mut pause = first;
    loop {
        let opened =
            tokio::time::timeout(CONNECT, open(path)).await.unwrap_or_else(|_| Err("it did not answer in time".to_owned()));
        let ended = match opened {
            Ok(mut socket) => {
                pause = first;
                if say.send(HttpSaid::Opened).await.is_err() || talk(&mut socket, &mut calls, say).await.is_err() {
                    return;
                }
                HttpSaid::Closed
            }
            Err(why) => reply_to_call(None, HttpReply::EVENTS, Err(why)),
        };
        if say.send(ended).await.is_err() || !refuse_for(pause, &mut calls, say).await {
            return;
        }
        pause = (pause * 2).min(most);
    }
}

async fn open(path: &Path) -> Result<Socket, String> {
    let stream = UnixStream::connect(path).await.map_err(|error| error.to_string())?;
    let config = WebSocketConfig::default().max_message_size(Some(limits::LINE)).max_frame_size(Some(limits::LINE));
    // The URL is used only for the handshake; the connection is the socket.
    let opened = tokio_tungstenite::client_async_with_config("ws://localhost/", stream, Some(config)).await;
    opened.map(|(socket, _)| socket).map_err(|error| error.to_string())
}

/// The receiver was dropped.
struct Unheard;

/// Exchanges messages until the socket closes.
async fn talk(socket: &mut Socket, calls: &mut Calls, say: &mpsc::Sender<HttpSaid>) -> Result<(), Unheard> {
    loop {
        tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => say.send(HttpSaid::Event(text.as_str().to_owned())).await.map_err(|_| Unheard)?,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(()),
                Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            },
            call = calls.recv() => {
                let Some((row, call)) = call else { return Err(Unheard) };
                let done = write(socket, &call).await;
                let closed = done.is_err();
                say.send(reply_to_call(row, call.id, done)).await.map_err(|_| Unheard)?;
                if closed {
                    return Ok(());
                }
            }
        }
    }
}

async fn write(socket: &mut Socket, call: &HttpCall) -> Result<(), String> {
    let messages: Vec<String> = call.body.as_ref().and_then(|body| serde_json::from_str(body.as_str()).ok()).unwrap_or_default();
    for message in messages {
        let sent = tokio::time::timeout(WRITE, socket.send(Message::text(message))).await;
        if !matches!(sent, Ok(Ok(()))) {
            return Err(NOT_WRITTEN.to_owned());
        }
    }
    Ok(())
}

/// Replies to calls during `pause` that the server cannot be reached. Returns false if the receiver was dropped.
async fn refuse_for(pause: Duration, calls: &mut Calls, say: &mpsc::Sender<HttpSaid>) -> bool {
    let until = Instant::now() + pause;
    loop {
        tokio::select! {
            () = tokio::time::sleep_until(until) => return true,
            call = calls.recv() => {
                let Some((row, call)) = call else { return false };
                if say.send(reply_to_call(row, call.id, Err(NOT_OPEN.to_owned()))).await.is_err() {
                    return false;
                }
            }
        }
    }
}

fn reply_to_call(row: Option<OutboxId>, id: u64, done: Result<(), String>) -> HttpSaid {
    let (status, body) = match done {
        Ok(()) => (Some(WRITTEN), String::new()),
        Err(why) => (None, why),
    };
    HttpSaid::Reply { row, reply: HttpReply { id, status, body } }
}
