//! Calls to receivers: bounded in time and size, and only to where they may go.

use std::time::{Duration, SystemTime};

use reqwest::header::RETRY_AFTER;
use reqwest::{RequestBuilder, StatusCode};
use sayso_net::AllowedAddresses;
use serde_json::Value;

use super::{Next, SendFailure};

/// How long a receiver may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How much of a reply is read.
const REPLY: usize = 256 * 1024;

/// An address and the client that reaches it.
#[derive(Debug, Clone)]
pub(crate) struct HttpEndpoint {
    pub(super) client: reqwest::Client,
    /// Without a slash at its end.
    pub(super) url: String,
    pub(super) reach: AllowedAddresses,
}

impl HttpEndpoint {
    /// Refuses what may not be reached.
    pub(crate) fn new(url: &str, reach: AllowedAddresses) -> Result<Self, String> {
        let client = sayso_net::client_within(url, reach).map_err(|error| format!("invalid url: {error}"))?;
        Ok(Self { client, url: url.trim_end_matches('/').to_owned(), reach })
    }

    /// A POST of JSON to a place below the address.
    pub(super) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.url)).json(body)
    }
}

/// Makes a call; its reply if it was a success.
pub(super) async fn send(request: RequestBuilder) -> Result<Vec<u8>, SendFailure> {
    send_within(request, LIMIT).await
}

/// The same for a call that may take longer.
pub(super) async fn send_within(request: RequestBuilder, limit: Duration) -> Result<Vec<u8>, SendFailure> {
    let mut response = request.timeout(limit).send().await.map_err(|error| lost(&error))?;
    if !response.status().is_success() {
        return Err(refused(&response));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > REPLY {
            break;
        }
    }
    Ok(body)
}

/// A call to a push service. One that does not know the browser any more says 404 or 410.
pub(super) async fn send_push(request: RequestBuilder) -> Result<(), SendFailure> {
    let response = request.timeout(LIMIT).send().await.map_err(|error| lost(&error))?;
    match response.status() {
        status if status.is_success() => Ok(()),
        StatusCode::NOT_FOUND => Err(SendFailure { reason: "the browser is no longer subscribed".to_owned(), next: Next::Gone }),
        _ => Err(refused(&response)),
    }
}

/// The same, with JSON in the reply.
pub(super) async fn send_for_json(request: RequestBuilder) -> Result<Value, SendFailure> {
    let body = send(request).await?;
    serde_json::from_slice(&body).map_err(|_| SendFailure::later("the receiver's response is not JSON"))
}

/// Why there is no reply, without the address: it may hold a token.
pub(super) fn lost(error: &reqwest::Error) -> SendFailure {
    if error.is_timeout() {
        return SendFailure::later("the receiver did not respond in time");
    }
    let mut cause = std::error::Error::source(error);
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    SendFailure::later(
        cause.map_or_else(|| "the request failed".to_owned(), |cause| format!("could not reach the receiver: {cause}")),
    )
}

fn refused(response: &reqwest::Response) -> SendFailure {
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    refusal(response.status(), retry_after.and_then(|value| wait_of(value, SystemTime::now())))
}

/// How long a `Retry-After` asks to wait: seconds, or a date. A date in the past asks for no wait.
fn wait_of(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(value).ok().map(|at| at.duration_since(now).unwrap_or_default()),
    }
}

/// What a status means for another try.
fn refusal(status: StatusCode, wait: Option<Duration>) -> SendFailure {
    let reason = format!("the receiver responded with status {}", status.as_u16());
    let next = match status {
        StatusCode::GONE => Next::Gone,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => Next::Later(wait),
        status if status.is_server_error() => Next::Later(wait),
        // Redirects too: a note goes where it was meant to go, or nowhere.
        _ => Next::Never,
    };
    SendFailure { reason, next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let next = |status: u16, wait: Option<Duration>| refusal(StatusCode::from_u16(status).unwrap(), wait).next;
        for status in [408, 425, 429, 500, 502, 503, 504] {
            assert_eq!(next(status, None), Next::Later(None), "{status}");
        }
        let wait = Some(Duration::from_secs(120));
        assert_eq!(next(503, wait), Next::Later(wait));
        for status in [301, 302, 307, 400, 401, 403, 404, 413] {
            assert_eq!(next(status, None), Next::Never, "{status}");
        }
        assert_eq!(next(410, None), Next::Gone);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let wait = |value: &str| wait_of(value, now);
        assert_eq!(wait(" 120 "), Some(Duration::from_secs(120)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:50:07 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:00 GMT"), Some(Duration::ZERO));
        for nonsense in ["", "soon", "-1", "1.5", "Sun, 99 Nov 1994 08:50:07 GMT"] {
            assert_eq!(wait(nonsense), None, "{nonsense}");
        }
    }
}
