//! A minimal HTTP client with one connection per call, so that each call either gets a complete reply or has an unknown
//! outcome. The typed client retries automatically; this program tests retries, so it makes its own.

use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The pause between attempts. The server is down for longer than this.
const RETRY_PAUSE: Duration = Duration::from_millis(5);
/// Timeout of a call. Only a broken server reaches it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server's address and the token.
#[derive(Debug, Clone)]
pub(crate) struct ChaosServer {
    address: String,
    token: String,
}

#[derive(Debug, Clone)]
pub(crate) struct ChaosCall {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) body: Option<Value>,
}

/// The reply, and the number of attempts.
#[derive(Debug, Clone)]
pub(crate) struct ChaosReply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) sent: u32,
}

impl ChaosCall {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), key: None, body: None }
    }

    pub(crate) fn post(path: impl Into<String>, key: impl Into<String>, body: Value) -> Self {
        Self { method: "POST", path: path.into(), key: Some(key.into()), body: Some(body) }
    }
}

impl ChaosServer {
    pub(crate) fn new(address: &str, token: &str) -> Self {
        Self { address: address.to_owned(), token: token.to_owned() }
    }

    /// Retries a call until there is a reply.
    pub(crate) async fn call(&self, call: &ChaosCall) -> anyhow::Result<ChaosReply> {
        let mut sent = 0;
        let until_replied = async {
            loop {
                sent += 1;
                if let Ok((status, body)) = self.once(call).await
                    && status != 503
                {
                    return (status, body);
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        };
        match tokio::time::timeout(PATIENCE, until_replied).await {
            Ok((status, body)) => Ok(ChaosReply { status, body, sent }),
            Err(_) => anyhow::bail!("no reply to {} {} in {PATIENCE:?}, sent {sent} times", call.method, call.path),
        }
    }

    /// Sends a call once. After an error, the outcome of the call is unknown.
    async fn once(&self, call: &ChaosCall) -> Result<(u16, Value)> {
        let body = call.body.as_ref().map(Value::to_string).unwrap_or_default();
        let key = call.key.as_ref().map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
        let request = format!(
            "{} {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{key}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            call.method,
            call.path,
            self.address,
            self.token,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        stream.write_all(request.as_bytes()).await?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).await?;
        parse(&reply)
    }
}

fn parse(reply: &[u8]) -> Result<(u16, Value)> {
    let broken = |what: &'static str| Error::new(ErrorKind::UnexpectedEof, what);
    let end = reply.windows(4).position(|window| window == b"\r\n\r\n").ok_or_else(|| broken("no head"))?;
    let head = std::str::from_utf8(&reply[..end]).map_err(|_| broken("the head is no text"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| broken("no status"))?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok()).flatten()
    });
    let body = &reply[end + 4..];
    match length {
        Some(length) if body.len() < length => Err(broken("the body is cut")),
        None if status != 204 => Err(broken("no length")),
        // Replies that are not JSON are not inspected.
        _ => Ok((
            status,
            serde_json::from_slice(body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned())),
        )),
    }
}
