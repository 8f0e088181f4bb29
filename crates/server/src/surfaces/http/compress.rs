//! Compresses JSON responses with gzip when the client accepts it.
//!
//! Only whole JSON bodies of a known size are compressed, so event streams are never buffered. Responses that carry a token
//! or a secret are never compressed: their compressed size would tell an attacker, who can put text into the same
//! response, how much of the secret that text repeats (BREACH).

use std::io::Write as _;

use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Body as _;

/// The minimum size in bytes. Smaller bodies fit into one packet anyway.
const SMALLEST: u64 = 1_400;
/// The size in bytes from which a body is compressed on a blocking thread, because it takes longer than a task may block.
const LARGE: usize = 64 * 1024;

/// Routes whose GET responses are about tokens.
const ABOUT_TOKENS: [&str; 1] = ["/v1/tokens"];
/// POST routes that only read.
const READS_BY_POST: [&str; 2] = ["/v1/policy/explain", "/v1/policy/edit"];

/// Returns whether responses of a route may be compressed. Tokens, login codes and secret answers are returned only by requests
/// that change something, so a new route is safe unless it is added to a list here.
fn may_compress(method: &Method, route: &str) -> bool {
    let reads = *method == Method::GET || (*method == Method::POST && READS_BY_POST.contains(&route));
    reads && !ABOUT_TOKENS.contains(&route)
}

/// Returns whether the client accepts gzip.
pub(super) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let offered = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    offered.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip")) && !parts.any(|part| part.replace(' ', "") == "q=0")
    })
}

/// Compresses the response if its route, its type, its size and the client allow it.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let allowed = may_compress(request.method(), route);
    let accepted = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    if !allowed || !is_json(response.headers()) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !accepted || response.body().size_hint().exact().is_none_or(|size| size < SMALLEST) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(plain) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    match gzip(plain.clone()).await {
        Some(packed) => {
            parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            parts.headers.remove(header::CONTENT_LENGTH);
            Response::from_parts(parts, Body::from(packed))
        }
        None => Response::from_parts(parts, Body::from(plain)),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind == "application/json" || kind.ends_with("+json")
}

/// Compresses the bytes. `None` if compression fails; the response is then sent uncompressed.
async fn gzip(plain: Bytes) -> Option<Vec<u8>> {
    if plain.len() < LARGE { pack(&plain) } else { tokio::task::spawn_blocking(move || pack(&plain)).await.ok().flatten() }
}

fn pack(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_used_only_for_clients_that_accept_it() {
        let accepts = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            accepts_gzip(&headers)
        };
        assert!(accepts("gzip, deflate") && accepts("br;q=1.0, GZIP;q=0.5"));
        assert!(!accepts("br") && !accepts("gzip;q=0") && !accepts("identity"));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn only_reads_without_tokens_may_be_compressed() {
        let compressed = [
            (Method::GET, "/v1/asks"),
            (Method::POST, "/v1/policy/explain"),
            (Method::GET, "/v1/tokens"),
            (Method::POST, "/v1/tokens"),
            (Method::POST, "/v1/login"),
            (Method::POST, "/v1/login-codes"),
            (Method::POST, "/v1/asks/{id}/receipt"),
        ]
        .map(|(method, route)| may_compress(&method, route));
        assert_eq!(compressed, [true, true, false, false, false, false, false]);
    }
}
