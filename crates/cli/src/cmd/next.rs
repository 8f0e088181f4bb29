//! `sayso next`: answers the first ask of the inbox.

use sayso_client::api::ask::AskPage;

use super::answer::prompt_for;
use crate::app::App;
use crate::failure::Failure;
use crate::inbox::tmux::Place;
use crate::inbox::{self, Mode};
use crate::order;

/// Prompts for the first ask.
pub(crate) async fn run(app: &App) -> Result<(), Failure> {
    // A tmux popup closes when the program ends and cannot be scrolled, so the ask is shown full-screen there.
    if !app.out.json && app.out.is_terminal && Place::of(&app.environment).is_popup() {
        return inbox::run(app, Mode::Once).await;
    }
    let client = app.client()?;
    let AskPage { data: mut asks, .. } = client.pending_asks().await?;
    let now = sayso_client::now();
    asks.retain(|ask| !order::is_snoozed(ask, now));
    order::inbox(&mut asks);
    let Some(first) = asks.first() else {
        return app.out.result(&serde_json::Value::Null, || "You're all caught up.".to_owned());
    };
    // Lists may omit large fields, so the prompt needs the complete ask.
    let whole = client.ask(&first.id).await?;
    if app.out.json {
        return app.out.json(&whole);
    }
    prompt_for(app, &client, &whole).await?;
    match asks.len() - 1 {
        0 => {}
        1 => app.out.line("1 more ask is pending."),
        several => app.out.line(&format!("{several} more asks are pending.")),
    }
    Ok(())
}
