//! `sayso allow` and `sayso away`: temporary rules.

use std::path::PathBuf;

use sayso_client::api::policy::{NewGrant, SetProfile};
use sayso_core::time::Span;

use crate::app::App;
use crate::args::OnOff;
use crate::failure::Failure;
use crate::sanitize;
use crate::words;

/// Name of the profile that `away` turns on.
const AWAY: &str = "away";

/// Allows a command temporarily.
pub(crate) async fn allow(app: &App, command: &[String], time: Span, project: Option<PathBuf>) -> Result<(), Failure> {
    let client = app.client()?;
    let project = project.map(std::fs::canonicalize).transpose();
    let project = project.map_err(|error| Failure::io("Cannot use the project", &error))?;
    let grant = NewGrant {
        run: vec![command.join(" ")],
        for_: Some(time.to_string()),
        project: project.map(|project| project.to_string_lossy().into_owned()),
        ..NewGrant::default()
    };
    let granted = client.grant(&grant).await?;
    app.out.result(&granted, || {
        let until = granted.until.map(|until| format!(" until {}", words::at(until, sayso_client::now()))).unwrap_or_default();
        format!("Allowed{until}: {}", sanitize::line(&granted.run.join(", ")))
    })
}

/// Turns the profile `away` on or off.
pub(crate) async fn away(app: &App, time: Option<OnOff>) -> Result<(), Failure> {
    let client = app.client()?;
    let profile = match time {
        Some(OnOff::Off) => SetProfile { name: None, for_: None },
        Some(OnOff::For(span)) => SetProfile { name: Some(AWAY.to_owned()), for_: Some(span.to_string()) },
        None => SetProfile { name: Some(AWAY.to_owned()), for_: None },
    };
    let view = client.set_profile(&profile).await?;
    app.out.result(&view, || match &view.profile {
        None => "Away is off. Your away rules no longer apply.".to_owned(),
        Some(profile) => {
            let until =
                profile.until.map(|until| format!(" until {}", words::at(until, sayso_client::now()))).unwrap_or_default();
            format!("Away is on{until}. Your away rules apply. To turn it off: sayso away off")
        }
    })
}
