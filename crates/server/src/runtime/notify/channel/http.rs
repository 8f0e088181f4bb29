//! HTTP requests to notification receivers, limited in time and size and restricted to permitted addresses.

use std::time::{Duration, SystemTime};

use reqwest::header::RETRY_AFTER;
use reqwest::{RequestBuilder, StatusCode};
use sayso_net::AllowedAddresses;
use serde_json::Value;

use super::{Next, SendFailure};

/// How long a receiver may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of bytes that are read from a reply.
const REPLY: usize = 256 * 1024;

/// A base URL with the client for it.
#[derive(Debug, Clone)]
pub(crate) struct HttpEndpoint {
    pub(super) client: reqwest::Client,
    /// Without a trailing slash.
    pub(super) url: String,
    pub(super) reach: AllowedAddresses,
}

impl HttpEndpoint {
    /// Creates a receiver. Refuses addresses that may not be called.
    pub(crate) fn new(url: &str, reach: AllowedAddresses) -> Result<Self, String> {
        let client = sayso_net::client_within(url, reach).map_err(|error| format!("invalid url: {error}"))?;
        Ok(Self { client, url: url.trim_end_matches('/').to_owned(), reach })
    }

    /// Builds a POST request with JSON to a path below the base URL.
    pub(super) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.url)).json(body)
    }
}

/// Sends a request and returns the body of the reply if its status is a success.
pub(super) async fn send(request: RequestBuilder) -> Result<Vec<u8>, SendFailure> {
    send_within(request, LIMIT).await
}

/// Like [`send`], with another time limit.
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

/// Sends a request to a push service. 404 and 410 mean that the browser's subscription has ended.
pub(super) async fn send_push(request: RequestBuilder) -> Result<(), SendFailure> {
    let response = request.timeout(LIMIT).send().await.map_err(|error| lost(&error))?;
    match response.status() {
        status if status.is_success() => Ok(()),
        StatusCode::NOT_FOUND => Err(SendFailure { reason: "the browser is no longer subscribed".to_owned(), next: Next::Gone }),
        _ => Err(refused(&response)),
    }
}

/// Like [`send`], and parses the reply as JSON.
pub(super) async fn send_for_json(request: RequestBuilder) -> Result<Value, SendFailure> {
    let body = send(request).await?;
    serde_json::from_slice(&body).map_err(|_| SendFailure::later("the receiver's response is not JSON"))
}

/// Describes why there is no reply. Omits the URL, because it may contain a token.
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

/// Parses `Retry-After`, which is a number of seconds or a date. A date in the past is zero.
fn wait_of(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(value).ok().map(|at| at.duration_since(now).unwrap_or_default()),
    }
}

/// Decides from the status whether to retry.
fn refusal(status: StatusCode, wait: Option<Duration>) -> SendFailure {
    let reason = format!("the receiver responded with status {}", status.as_u16());
    let next = match status {
        StatusCode::GONE => Next::Gone,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => Next::Later(wait),
        status if status.is_server_error() => Next::Later(wait),
        // Includes redirects, which are never followed: a note must not go to another address.
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
