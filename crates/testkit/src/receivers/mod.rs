//! Receivers of notifications on the loopback interface. They implement the documented APIs of the real services,
//! reject invalid calls, and record all calls.

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

#[derive(Debug, Clone)]
pub struct ReceivedCall {
    pub method: Method,
    /// The path of the URL.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The time of arrival.
    pub at: Instant,
}

impl ReceivedCall {
    /// The body as JSON; null if it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The value of a header; empty if it is missing.
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
    /// Starts a receiver that replies with the result of this function.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start<F, R>(reply: F) -> Result<Self>
    where
        F: Fn(ReceivedCall) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Response> + Send,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for the receiver")?;
        Self::on(listener, reply)
    }

    /// Starts a receiver on this listener.
    ///
    /// # Errors
    /// If the socket has no address.
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
            // The task ends by being aborted; an error of one connection does not end it.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, calls, server })
    }

    /// Starts a receiver that replies to everything with this status.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn with_status(status: u16) -> Result<Self> {
        let status = StatusCode::from_u16(status)?;
        Self::start(move |_| async move { status.into_response() }).await
    }

    /// The URL of the receiver.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All calls so far.
    #[must_use]
    pub fn so_far(&self) -> Vec<ReceivedCall> {
        self.calls.borrow().clone()
    }

    /// Waits until there are this many calls, and returns all.
    ///
    /// # Errors
    /// If they do not arrive.
    pub async fn calls(&self, count: usize) -> Result<Vec<ReceivedCall>> {
        self.until(&format!("{count} calls"), |calls| calls.len() >= count).await
    }

    /// Waits until the calls satisfy the condition, and returns all.
    ///
    /// # Errors
    /// If the condition never holds.
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
