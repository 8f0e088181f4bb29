//! Keeps the event stream of a server open. A stream that ends is opened again, with increasing delays.

use std::time::Duration;

use reqwest::header;
use sayso_agents::translator::{HttpReply, Method};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::HttpSaid;
use super::call::{Caller, follow, is_stream, text, words};

/// The delay before the stream is opened again: the first and the longest.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// How long the stream may be silent. Servers usually send a keep-alive every ten seconds.
const SILENCE: Duration = Duration::from_secs(30);
/// A stream that lasted this long resets the delay.
const GOOD: Duration = Duration::from_secs(10);

/// Receives events until the receiver is dropped.
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

/// Opens the stream and forwards events until it ends. Returns false if the receiver was dropped.
async fn once(caller: &Caller, path: &str, say: &mpsc::Sender<HttpSaid>) -> bool {
    let request = caller.request(Method::Get, path).header(header::ACCEPT, "text/event-stream");
    let failed = |status, body| HttpSaid::Reply { row: None, reply: HttpReply { id: HttpReply::EVENTS, status, body } };
    let said = match tokio::time::timeout(SILENCE, request.send()).await {
        Err(_) => failed(None, "it did not reply in time".to_owned()),
        Ok(Err(error)) => failed(None, words(error)),
        Ok(Ok(response)) if is_stream(&response) => {
            // Regardless of the reason, the next stream starts by reading the complete state.
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
