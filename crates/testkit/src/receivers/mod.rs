//! What notes are sent to: small receivers on the loopback interface that follow the documented APIs of the real ones,
//! refuse what those would refuse, and keep every call.

mod ntfy;
mod push;
mod slack;
mod smtp;
mod telegram;

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::watch::within;

pub use ntfy::FakeNtfy;
pub use push::FakePush;
pub use slack::FakeSlack;
pub use smtp::{FakeSmtp, Mail};
pub use telegram::FakeTelegram;

/// One call that was received.
#[derive(Debug, Clone)]
pub struct ReceivedCall {
    /// The method.
    pub method: Method,
    /// The path.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// When it came.
    pub at: Instant,
}

impl ReceivedCall {
    /// The body as JSON; null if it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header; empty if it is not there.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A receiver of HTTP calls. It stops listening when it is dropped.
#[derive(Debug)]
pub struct Receiver {
    url: String,
    calls: Arc<watch::Sender<Vec<ReceivedCall>>>,
    server: JoinHandle<()>,
}

impl Receiver {
    /// Starts one that replies as this says.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start<F, R>(reply: F) -> Result<Self>
    where
        F: Fn(ReceivedCall) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Response> + Send,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for the receiver")?;
        Self::on(listener, reply)
    }

    /// The same on this socket.
    ///
    /// # Errors
    /// When the socket has no address.
    pub fn on<F, R>(listener: TcpListener, reply: F) -> Result<Self>
    where
        F: Fn(ReceivedCall) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Response> + Send,
    {
        let calls: Arc<watch::Sender<Vec<ReceivedCall>>> = Arc::new(watch::Sender::new(Vec::new()));
        let url = format!("http://{}", listener.local_addr()?);
        let kept = Arc::clone(&calls);
        let handle = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let call = ReceivedCall { method, path: uri.path().to_owned(), headers, body, at: Instant::now() };
            kept.send_modify(|calls| calls.push(call.clone()));
            let reply = reply.clone();
            async move { reply(call).await }
        };
        let router = Router::new().fallback(handle);
        let server = tokio::spawn(async move {
            // It ends by being aborted; an error of one connection does not end it.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, calls, server })
    }

    /// Starts one that takes everything with this status.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn with_status(status: u16) -> Result<Self> {
        let status = StatusCode::from_u16(status)?;
        Self::start(move |_| async move { status.into_response() }).await
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What came so far.
    #[must_use]
    pub fn so_far(&self) -> Vec<ReceivedCall> {
        self.calls.borrow().clone()
    }

    /// Waits until this many calls came; all that came.
    ///
    /// # Errors
    /// When they do not come.
    pub async fn calls(&self, count: usize) -> Result<Vec<ReceivedCall>> {
        self.until(&format!("{count} calls"), |calls| calls.len() >= count).await
    }

    /// Waits until what came is as this says; all that came.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn until(&self, what: &str, is_so: impl Fn(&[ReceivedCall]) -> bool) -> Result<Vec<ReceivedCall>> {
        let mut calls = self.calls.subscribe();
        let waited = async { Ok(calls.wait_for(|calls| is_so(calls)).await?.clone()) };
        within(what, waited).await.with_context(|| format!("{} calls came", self.so_far().len()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn json_reply(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}
