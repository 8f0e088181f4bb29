//! The page: the files of `web/dist`, embedded into the binary. A debug build reads the folder from the disk.
//!
//! Files with a fingerprint in their name never change and are cached without a limit. All other files are revalidated.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};

use super::ApiError;
use super::compress::accepts_gzip;

/// Where the files with a fingerprint in their names are.
const FINGERPRINTED: &str = "assets/";

const NO_PAGE: &str = "Sayso is running. This build has no page. `make run` builds it, or `npm ci && npm run build --workspace web` \
                       before `cargo build`.\nThe terminal has everything too: `sayso`, `sayso ls`, `sayso next`. The API is described at \
                       /openapi.json.\n";

/// Serves the page, or explains how to build it.
pub(crate) async fn root(headers: HeaderMap) -> Response {
    serve("index.html", &headers).unwrap_or_else(|| {
        ([(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))], NO_PAGE).into_response()
    })
}

/// The views of the page. Their URLs follow the `#`.
const VIEWS: [&str; 5] = ["inbox", "sessions", "runs", "history", "settings"];

/// Serves a file of the page, or redirects to the view whose URL was entered without the `#`. Everything else is not found.
pub(crate) async fn file(method: Method, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    let path = uri.path().trim_start_matches('/');
    let is_read = method == Method::GET || method == Method::HEAD;
    let found = if is_read { serve(path, &headers).or_else(|| view_redirect(path)) } else { None };
    found.ok_or_else(|| ApiError::not_found("no such route; see /openapi.json"))
}

/// Redirects `/inbox` and `/sessions/ses_1` to `/#/inbox` and `/#/sessions/ses_1`.
fn view_redirect(path: &str) -> Option<Response> {
    let view = path.split('/').next()?;
    VIEWS.contains(&view).then(|| Redirect::to(&format!("/#/{path}")).into_response())
}

/// Builds the response for a file. Uses the compressed copy if there is one and the client accepts it.
fn serve(path: &str, headers: &HeaderMap) -> Option<Response> {
    let kind = content_type(path)?;
    let packed = if accepts_gzip(headers) { dist::get(&format!("{path}.gz")) } else { None };
    let is_packed = packed.is_some();
    let body = match packed.or_else(|| dist::get(path))? {
        Cow::Borrowed(bytes) => Body::from(bytes),
        Cow::Owned(bytes) => Body::from(bytes),
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching(path)));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some(response)
}

/// Returns the content type for a file name. Files of other types are not served, including the compressed copies under their
/// own names.
fn content_type(path: &str) -> Option<&'static str> {
    Some(match path.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => return None,
    })
}

fn caching(path: &str) -> &'static str {
    if path.starts_with(FINGERPRINTED) { "public, max-age=31536000, immutable" } else { "no-cache" }
}

/// The page that `build.rs` compiled into the binary.
#[cfg(not(debug_assertions))]
mod dist {
    use std::borrow::Cow;

    include!(concat!(env!("OUT_DIR"), "/page.rs"));

    pub(super) fn get(path: &str) -> Option<Cow<'static, [u8]>> {
        let index = FILES.binary_search_by_key(&path, |(name, _)| name).ok()?;
        Some(Cow::Borrowed(FILES[index].1))
    }
}

/// Reads the folder on every request, so that a rebuilt page needs no rebuild of the server.
#[cfg(debug_assertions)]
mod dist {
    use std::borrow::Cow;
    use std::path::{Component, Path};

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist");

    pub(super) fn get(path: &str) -> Option<Cow<'static, [u8]>> {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if is_inside { std::fs::read(Path::new(FOLDER).join(path)).ok().map(Cow::Owned) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_what_they_are_and_others_are_not_served() {
        let named: Vec<_> = ["index.html", "assets/a-1.js", "assets/a-1.js.gz", "icon.svg", "notes", "../Cargo.toml", ".npmrc"]
            .into_iter()
            .map(content_type)
            .collect();
        let js = Some("text/javascript; charset=utf-8");
        assert_eq!(named, [Some("text/html; charset=utf-8"), js, None, Some("image/svg+xml"), None, None, None]);
    }

    #[test]
    fn only_views_without_a_hash_are_redirected() {
        let target = |path: &str| {
            let response = view_redirect(path)?;
            Some((response.status().as_u16(), response.headers()[header::LOCATION].to_str().unwrap_or_default().to_owned()))
        };
        assert_eq!(target("inbox"), Some((303, "/#/inbox".to_owned())));
        assert_eq!(target("sessions/ses_1/events"), Some((303, "/#/sessions/ses_1/events".to_owned())));
        assert_eq!([target(""), target("inboxes"), target("v1/inbox")], [None, None, None]);
    }

    #[test]
    fn only_fingerprinted_files_are_kept() {
        assert_eq!(caching("assets/index-Dy2d1e6H.js"), "public, max-age=31536000, immutable");
        assert_eq!(caching("index.html"), "no-cache");
        assert_eq!(caching("manifest.webmanifest"), "no-cache");
    }
}
