//! `sayso next`: answer the first ask of the inbox here.

use sayso_client::api::ask::AskPage;

use super::answer::prompt_for;
use crate::app::App;
use crate::failure::Failure;
use crate::inbox::tmux::Place;
use crate::inbox::{self, Mode};
use crate::order;

/// Prompts for the ask that comes first.
pub(crate) async fn run(app: &App) -> Result<(), Failure> {
    // A popup of tmux goes with the program and cannot be scrolled: there the whole screen is used.
    if !app.out.json && app.out.is_terminal && Place::of(&app.environment).is_popup() {
        return inbox::run(app, Mode::Once).await;
    }
    let client = app.client()?;
    let AskPage { data: mut asks, .. } = client.pending_asks().await?;
    let now = sayso_client::now();
    asks.retain(|ask| !order::is_snoozed(ask, now));
    order::inbox(&mut asks);
    let Some(first) = asks.first() else {
        return app.out.result(&serde_json::Value::Null, || "Nothing waits for you.".to_owned());
    };
    // The list may leave out what is large; the prompt must not.
    let whole = client.ask(&first.id).await?;
    if app.out.json {
        return app.out.json(&whole);
    }
    prompt_for(app, &client, &whole).await?;
    match asks.len() - 1 {
        0 => {}
        1 => app.out.line("1 more waits."),
        several => app.out.line(&format!("{several} more wait.")),
    }
    Ok(())
}
