//! `sayso login`: prints a link that signs a browser in, once.

use crate::app::App;
use crate::editor;
use crate::failure::Failure;
use crate::words;

/// Prints the link, and also opens it if `open` is set.
pub(crate) async fn run(app: &App, open: bool) -> Result<(), Failure> {
    let code = app.client()?.login_code().await?;
    let now = sayso_client::now();
    app.out.result(&code, || code.url.clone())?;
    if !app.out.json {
        app.out.note(&format!("This link works once, until {}.", words::at(code.expires_at, now)));
    }
    if open { editor::open_in_browser(&code.url) } else { Ok(()) }
}
