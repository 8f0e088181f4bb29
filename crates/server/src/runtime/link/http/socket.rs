//! A server that listens on a socket of this machine and speaks by messages: WebSocket over a unix socket.
//! Each message from it is an event. A call is a list of messages, and its reply says that they were written;
//! what they lead to comes as events. A socket that closes is opened again, after a while that grows.

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

/// How long to wait before the socket is opened again: the first time, and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// How long a message may take to be written.
const WRITE: Duration = Duration::from_secs(30);
/// The status of a call that was written.
const WRITTEN: u16 = 200;

const NOT_OPEN: &str = "its socket is not open";
const NOT_WRITTEN: &str = "its socket closed while this was written";

type Calls = mpsc::Receiver<(Option<OutboxId>, HttpCall)>;
type Socket = WebSocketStream<UnixStream>;

/// Speaks for ever, or until nobody wants to hear it any more.
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
            Err(why) => told(None, HttpReply::EVENTS, Err(why)),
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
    // The name is only for the handshake; the socket is what is spoken to.
    let opened = tokio_tungstenite::client_async_with_config("ws://localhost/", stream, Some(config)).await;
    opened.map(|(socket, _)| socket).map_err(|error| error.to_string())
}

/// Nobody listens any more.
struct Unheard;

/// Speaks until the socket closes.
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
                say.send(told(row, call.id, done)).await.map_err(|_| Unheard)?;
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

/// Tells whoever calls that there is nobody to speak to, for this long; false if nobody listens any more.
async fn refuse_for(pause: Duration, calls: &mut Calls, say: &mpsc::Sender<HttpSaid>) -> bool {
    let until = Instant::now() + pause;
    loop {
        tokio::select! {
            () = tokio::time::sleep_until(until) => return true,
            call = calls.recv() => {
                let Some((row, call)) = call else { return false };
                if say.send(told(row, call.id, Err(NOT_OPEN.to_owned()))).await.is_err() {
                    return false;
                }
            }
        }
    }
}

fn told(row: Option<OutboxId>, id: u64, done: Result<(), String>) -> HttpSaid {
    let (status, body) = match done {
        Ok(()) => (Some(WRITTEN), String::new()),
        Err(why) => (None, why),
    };
    HttpSaid::Reply { row, reply: HttpReply { id, status, body } }
}
