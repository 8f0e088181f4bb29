//! `sayso snooze`: hides an ask temporarily.

use crate::app::App;
use crate::args::OnOff;
use crate::failure::Failure;
use crate::words;

/// Hides an ask for some time, or shows it again.
pub(crate) async fn run(app: &App, id: &str, time: OnOff) -> Result<(), Failure> {
    let client = app.client()?;
    let ask = client.find_ask(id).await?;
    let now = sayso_client::now();
    let until = match time {
        OnOff::For(span) => Some(now.plus(span.0)),
        OnOff::Off => None,
    };
    let snoozed = client.snooze(&ask.id, until).await?;
    app.out.result(&snoozed, || match until {
        Some(until) => format!("Snoozed until {}. The agent keeps waiting.", words::at(until, now)),
        None => "The ask is back in your inbox.".to_owned(),
    })
}
