//! The stream of a server's events, kept open: what ends is opened again, after a while that grows.

use std::time::Duration;

use reqwest::header;
use sayso_agents::translator::{HttpReply, Method};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::HttpSaid;
use super::call::{Caller, follow, is_stream, text, words};

/// How long to wait before the stream is opened again: the first time, and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// How long it may be silent. Servers that keep one open send something every ten seconds or so.
const SILENCE: Duration = Duration::from_secs(30);
/// A stream that lasted this long was a good one.
const GOOD: Duration = Duration::from_secs(10);

/// Listens for ever.
pub(super) async fn listen(caller: &Caller, path: &str, say: &mpsc::Sender<HttpSaid>) {
    let [first, most] = PAUSE;
    let mut pause = first;
    loop {
        let since = Instant::now();
        if !once(caller, path, say).await {
            return;
        }
        pause = if since.elapsed() > GOOD { first } else { pause };
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(most);
    }
}

/// Opens it and listens until it ends; false if nobody wants to hear it any more.
async fn once(caller: &Caller, path: &str, say: &mpsc::Sender<HttpSaid>) -> bool {
    let request = caller.request(Method::Get, path).header(header::ACCEPT, "text/event-stream");
    let failed = |status, body| HttpSaid::Reply { row: None, reply: HttpReply { id: HttpReply::EVENTS, status, body } };
    let said = match tokio::time::timeout(SILENCE, request.send()).await {
        Err(_) => failed(None, "it did not reply in time".to_owned()),
        Ok(Err(error)) => failed(None, words(error)),
        Ok(Ok(response)) if is_stream(&response) => {
            // However it ended, what is listened to next begins with a look at everything.
            let _ = follow(response, SILENCE, say).await;
            HttpSaid::Closed
        }
        Ok(Ok(response)) => {
            let status = response.status().as_u16();
            failed(Some(status), text(response).await.unwrap_or_else(|why| why))
        }
    };
    say.send(said).await.is_ok()
}
