//! What stands at `/` while the page is not part of the binary.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// Says how to use the server without the page.
pub(crate) async fn root() -> Response {
    let text = "Sayso is running. This build has no page; use the terminal: `sayso`, `sayso ls`, `sayso next`.\n\
                The API is described at /openapi.json.\n";
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
