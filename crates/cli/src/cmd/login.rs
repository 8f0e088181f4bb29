//! `sayso login`: a link that opens the page in a browser, once.

use crate::app::App;
use crate::editor;
use crate::failure::Failure;
use crate::words;

/// Prints the link, and opens it if that is wanted.
pub(crate) async fn run(app: &App, open: bool) -> Result<(), Failure> {
    let code = app.client()?.login_code().await?;
    let now = sayso_client::now();
    app.out.result(&code, || code.url.clone())?;
    if !app.out.json {
        app.out.note(&format!("It opens the page once, until {}.", words::at(code.expires_at, now)));
    }
    if open { editor::open_in_browser(&code.url) } else { Ok(()) }
}
