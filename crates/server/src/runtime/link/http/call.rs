//! One call to an agent's server. Failures become replies as well.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, header};
use sayso_agents::translator::{Guard, HttpCall, HttpReply, HttpServer, Login, Method};
use sayso_core::limits;
use sayso_net::SseReader;
use serde::de::IgnoredAny;
use tokio::sync::mpsc;

use super::HttpSaid;

/// How long a reply may take. An agent may have to start something first.
const REPLY: Duration = Duration::from_secs(120);
/// How long a streamed reply may be silent, for example while a model thinks.
const SILENCE: Duration = Duration::from_secs(600);

/// Makes calls to one server.
#[derive(Clone)]
pub(super) struct Caller {
    client: Client,
    base: String,
    login: Login,
    secret: String,
}

impl Caller {
    pub(super) fn new(client: Client, server: &HttpServer, secret: String) -> Self {
        let base = server.url.trim_end_matches('/').to_owned();
        Self { client, base, login: server.login.clone(), secret }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.base);
        let request = match method {
            Method::Get => self.client.get(url),
            Method::Post => self.client.post(url),
        };
        match &self.login {
            Login::Open => request,
            Login::Basic(user) => request.basic_auth(user, Some(&self.secret)),
            Login::Bearer(_) => request.bearer_auth(&self.secret),
        }
    }

    /// Makes one call and returns its reply.
    pub(super) async fn make(&self, call: HttpCall, say: &mpsc::Sender<HttpSaid>) -> HttpReply {
        let id = call.id;
        let done = async {
            if let Some(guard) = &call.guard
                && !self.guard_holds(guard).await?
            {
                return Ok((HttpReply::NOT_SENT, String::new()));
            }
            let mut request = self.request(call.method, &call.path);
            if let Some(body) = call.body {
                request = request.header(header::CONTENT_TYPE, "application/json").body(body.as_str().to_owned());
            }
            if call.streamed {
                return stream(request, say).await;
            }
            tokio::time::timeout(REPLY, whole(request)).await.unwrap_or_else(|_| Err(NO_REPLY.to_owned()))
        };
        match done.await {
            Ok((status, body)) => HttpReply { id, status: Some(status), body },
            Err(why) => HttpReply { id, status: None, body: why },
        }
    }

    async fn guard_holds(&self, guard: &Guard) -> Result<bool, String> {
        let asked = tokio::time::timeout(REPLY, whole(self.request(Method::Get, &guard.path)));
        let (status, body) = asked.await.unwrap_or_else(|_| Err(NO_REPLY.to_owned()))?;
        let object: std::collections::HashMap<String, IgnoredAny> =
            serde_json::from_str(&body).map_err(|_| format!("its first reply had status {status} and was not a JSON object"))?;
        Ok(status == 200 && object.contains_key(&guard.key))
    }
}

const NO_REPLY: &str = "it did not reply in time";
const TOO_LARGE: &str = "its reply is larger than 16 MiB";

async fn whole(request: RequestBuilder) -> Result<(u16, String), String> {
    let response = request.send().await.map_err(words)?;
    let status = response.status().as_u16();
    Ok((status, text(response).await?))
}

/// Reads the text of a response, up to the size limit.
pub(super) async fn text(mut response: Response) -> Result<String, String> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(words)? {
        if body.len() + piece.len() > limits::LINE {
            return Err(TOO_LARGE.to_owned());
        }
        body.extend_from_slice(&piece);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Returns whether a response is an event stream.
pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    response.status().is_success() && kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Makes a call whose reply is streamed event by event. A response that is not an event stream is an ordinary reply.
async fn stream(request: RequestBuilder, say: &mpsc::Sender<HttpSaid>) -> Result<(u16, String), String> {
    let response = tokio::time::timeout(SILENCE, request.send()).await.map_err(|_| NO_REPLY)?.map_err(words)?;
    let status = response.status().as_u16();
    if !is_stream(&response) {
        return Ok((status, text(response).await?));
    }
    follow(response, SILENCE, say).await?;
    Ok((status, String::new()))
}

/// Forwards the events of a stream until it ends. An error counts as an early end.
pub(super) async fn follow(mut response: Response, silence: Duration, say: &mpsc::Sender<HttpSaid>) -> Result<(), String> {
    const GONE: &str = "the receiver was dropped";
    say.send(HttpSaid::Opened).await.map_err(|_| GONE)?;
    let mut reader = SseReader::new(limits::LINE);
    loop {
        let piece =
            tokio::time::timeout(silence, response.chunk()).await.map_err(|_| "it stopped sending data")?.map_err(words)?;
        let Some(piece) = piece else { return Ok(()) };
        reader.push(&piece).map_err(|_| "an event of it is larger than 16 MiB")?;
        while let Some(frame) = reader.pop() {
            say.send(HttpSaid::Event(frame.data)).await.map_err(|_| GONE)?;
        }
    }
}

/// Describes an error without the URL, which may contain credentials.
pub(super) fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
