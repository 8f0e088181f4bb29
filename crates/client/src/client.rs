//! HTTP calls: address, token, idempotency key, retries, and parsing of the reply.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, Response, StatusCode, Url};
use sayso_api::error::{ErrorCode, Problem};
use sayso_api::policy::Health;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backoff::Backoff;
use crate::discover::{Target, discover};
use crate::environment::Environment;
use crate::error::{DiscoverError, Error};
use crate::paths::Paths;

/// How many times a call is retried when the connection is lost: pauses of about 0.1 to 1.6 s, 3 s in total.
const RETRIES: u32 = 5;

/// Timeout for a connection attempt.
const CONNECT: Duration = Duration::from_secs(5);

/// Timeout for a call that does not wait for a person.
const CALL: Duration = Duration::from_secs(30);

/// The surface that a person decides on. Every outcome records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// A program that uses the HTTP API.
    Http,
    /// The command line interface.
    Terminal,
    /// An editor that speaks ACP.
    Acp,
}

impl Surface {
    const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Terminal => "terminal",
            Self::Acp => "acp",
        }
    }
}

/// A client for one server with one token. Cloning is cheap.
#[derive(Clone)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    base: Arc<Url>,
    /// Whether the server was ever reached: calls are retried after a lost connection, but not if the server was never
    /// reachable.
    reached: Arc<AtomicBool>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Client {
    /// Creates a client for a program.
    ///
    /// # Errors
    /// If the address or the token is invalid.
    pub fn new(url: &str, token: &str) -> Result<Self, Error> {
        Self::for_surface(url, token, Surface::Http)
    }

    /// Creates a client for a surface that a person uses.
    ///
    /// # Errors
    /// If the address or the token is invalid.
    pub fn for_surface(url: &str, token: &str, surface: Surface) -> Result<Self, Error> {
        let bad = |reason: &str| Error::Address { url: url.to_owned(), reason: reason.to_owned() };
        let base: Url = url.parse().map_err(|_| bad("it must look like http://127.0.0.1:4517"))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(bad("it must begin with http:// or https://"));
        }
        let mut headers = HeaderMap::new();
        headers.insert("x-sayso-via", HeaderValue::from_static(surface.name()));
        if !token.is_empty() {
            let mut bearer =
                HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| bad("the token contains invalid characters"))?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let http = sayso_net::client(url)
            .default_headers(headers)
            .connect_timeout(CONNECT)
            .build()
            .map_err(|error| bad(&error.to_string()))?;
        Ok(Self { http, base: Arc::new(base), reached: Arc::default() })
    }

    /// Creates a client for the server that the environment of this process names; see [`discover`].
    ///
    /// # Errors
    /// If no server or no token is found.
    pub fn discover() -> Result<Self, Error> {
        let environment = Environment::of_process();
        let paths = Paths::new(&environment, None).map_err(DiscoverError::from)?;
        let Target { url, token, .. } = discover(&environment, &paths)?;
        Self::new(&url, &token)
    }

    /// The server's base URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Returns the server's health. The call needs no token and is never retried.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn health(&self) -> Result<Health, Error> {
        let request = self.http.get(self.address(&["health"])).timeout(Duration::from_secs(2));
        let response = request.send().await.map_err(|source| self.unreachable(source))?;
        self.reached.store(true, Ordering::Relaxed);
        self.read(response).await
    }

    /// The URL of a route below `/v1`.
    pub(crate) fn address(&self, segments: &[&str]) -> Url {
        let mut url = Url::clone(&self.base);
        // An http URL always has a path. Without one, this would call the base URL.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("v1").extend(segments);
        }
        url
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, segments: &[&str]) -> Result<T, Error> {
        self.get_with(segments, &()).await
    }

    pub(crate) async fn get_with<T: DeserializeOwned>(&self, segments: &[&str], query: &impl Serialize) -> Result<T, Error> {
        self.get_within(CALL, segments, query).await
    }

    /// Reads with a longer timeout, because the server waits for a person.
    pub(crate) async fn get_within<T: DeserializeOwned>(
        &self,
        limit: Duration,
        segments: &[&str],
        query: &impl Serialize,
    ) -> Result<T, Error> {
        let mut url = self.address(segments);
        append_query(&mut url, query);
        let response = self.send(|| self.http.get(url.clone()).timeout(limit)).await?;
        self.read(response).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, segments: &[&str], body: &impl Serialize) -> Result<T, Error> {
        self.change(Method::POST, segments, body).await
    }

    /// Sends a call that changes something. All retries use the same idempotency key.
    pub(crate) async fn change<T: DeserializeOwned>(
        &self,
        method: Method,
        segments: &[&str],
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let url = self.address(segments);
        let key = idempotency_key()?;
        let request = || self.http.request(method.clone(), url.clone()).timeout(CALL).header("idempotency-key", &key).json(body);
        let response = self.send(request).await?;
        self.read(response).await
    }

    /// A call that changes something, and that may find nothing: the reply is 204 then.
    pub(crate) async fn post_for_optional<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        body: &impl Serialize,
    ) -> Result<Option<T>, Error> {
        let url = self.address(segments);
        let key = idempotency_key()?;
        let request = || self.http.post(url.clone()).timeout(CALL).header("idempotency-key", &key).json(body);
        let response = self.send(request).await?;
        if response.status() == StatusCode::NO_CONTENT { Ok(None) } else { self.read(response).await.map(Some) }
    }

    /// Sends a call that changes something and ignores the reply's body.
    pub(crate) async fn post_without_reply(&self, segments: &[&str], body: &impl Serialize) -> Result<(), Error> {
        let url = self.address(segments);
        let key = idempotency_key()?;
        let response = self.send(|| self.http.post(url.clone()).timeout(CALL).header("idempotency-key", &key).json(body)).await?;
        if response.status().is_success() { Ok(()) } else { Err(self.problem(response).await) }
    }

    /// Sends a call that removes something and ignores the reply's body.
    pub(crate) async fn delete(&self, segments: &[&str]) -> Result<(), Error> {
        self.delete_with(segments, &()).await
    }

    /// Like [`Self::delete`], with query parameters.
    pub(crate) async fn delete_with(&self, segments: &[&str], query: &impl Serialize) -> Result<(), Error> {
        let mut url = self.address(segments);
        append_query(&mut url, query);
        let key = idempotency_key()?;
        let response = self.send(|| self.http.delete(url.clone()).timeout(CALL).header("idempotency-key", &key)).await?;
        if response.status().is_success() { Ok(()) } else { Err(self.problem(response).await) }
    }

    /// Sends a request, and retries while the connection is lost or the server is stopping.
    async fn send(&self, request: impl Fn() -> reqwest::RequestBuilder) -> Result<Response, Error> {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(1_600));
        loop {
            let lost = match request().send().await {
                Ok(response) if response.status() != StatusCode::SERVICE_UNAVAILABLE => {
                    self.reached.store(true, Ordering::Relaxed);
                    return Ok(response);
                }
                Ok(stopping) => {
                    self.reached.store(true, Ordering::Relaxed);
                    let problem = self.problem(stopping).await;
                    if problem.code() != Some(ErrorCode::ShuttingDown) {
                        return Err(problem);
                    }
                    problem
                }
                Err(error) if error.is_timeout() && !error.is_connect() => return Err(self.unreachable(error)),
                Err(error) => self.unreachable(error),
            };
            if !self.reached.load(Ordering::Relaxed) || backoff.attempt() >= RETRIES {
                return Err(lost);
            }
            tokio::time::sleep(backoff.next()).await;
        }
    }

    async fn read<T: DeserializeOwned>(&self, response: Response) -> Result<T, Error> {
        if !response.status().is_success() {
            return Err(self.problem(response).await);
        }
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        serde_json::from_slice(&body).map_err(|error| self.protocol(error.to_string()))
    }

    /// Converts an error reply into an error.
    pub(crate) async fn problem(&self, response: Response) -> Error {
        let status = response.status();
        match response.bytes().await {
            Ok(body) => match serde_json::from_slice::<Problem>(&body) {
                Ok(problem) => Error::Api(Box::new(problem)),
                Err(_) => self.protocol(format!("status {status} without a reason")),
            },
            Err(source) => self.unreachable(source),
        }
    }

    pub(crate) fn unreachable(&self, source: reqwest::Error) -> Error {
        // The URL of the call can contain private data; the server's URL is enough.
        Error::Unreachable { url: self.url().to_owned(), source: source.without_url() }
    }

    pub(crate) fn protocol(&self, reason: String) -> Error {
        Error::Protocol { url: self.url().to_owned(), reason }
    }
}

/// Appends the set fields of a query.
fn append_query(url: &mut Url, query: &impl Serialize) {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(query) else { return };
    for (name, value) in fields {
        match value {
            serde_json::Value::Null => {}
            serde_json::Value::String(text) => {
                url.query_pairs_mut().append_pair(&name, &text);
            }
            other => {
                url.query_pairs_mut().append_pair(&name, &other.to_string());
            }
        }
    }
}

/// 128 random bits in UUID notation.
fn idempotency_key() -> Result<String, Error> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Random(error.to_string()))?;
    let hex = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let parts = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]];
    Ok(parts.map(hex).join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_api::ask::{AskKind, AskQuery};

    #[test]
    fn urls_are_below_the_base_and_escaped() {
        let client = Client::new("http://127.0.0.1:4517", "t").unwrap();
        assert_eq!(client.address(&["asks", "a/../b"]).as_str(), "http://127.0.0.1:4517/v1/asks/a%2F..%2Fb");
        let client = Client::new("http://box/sayso/", "t").unwrap();
        assert_eq!(client.address(&["health"]).as_str(), "http://box/sayso/v1/health");
        assert_eq!(Client::new("https://box", "t").unwrap().url(), "https://box");
        assert!(matches!(Client::new("ssh://box", "t"), Err(Error::Address { .. })));
        assert!(matches!(Client::new("nonsense", "t"), Err(Error::Address { .. })));
        assert!(matches!(Client::new("http://box", "a\nb"), Err(Error::Address { .. })));
    }

    #[test]
    fn unset_query_fields_are_omitted() {
        let mut url: Url = "http://box/v1/asks".parse().unwrap();
        let query =
            AskQuery { kind: Some(AskKind::Approval), limit: Some(5), label: Some("a=b c".into()), ..AskQuery::default() };
        append_query(&mut url, &query);
        assert_eq!(url.query(), Some("kind=approval&label=a%3Db+c&limit=5"));
    }

    #[test]
    fn idempotency_keys_are_unique_uuids() {
        let (one, two) = (idempotency_key().unwrap(), idempotency_key().unwrap());
        assert_eq!(one.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert_ne!(one, two);
    }

    #[test]
    fn client_debug_output_hides_its_token() {
        assert!(!format!("{:?}", Client::new("http://box", "hush").unwrap()).contains("hush"));
    }
}
