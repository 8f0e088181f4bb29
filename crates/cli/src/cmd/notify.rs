//! `sayso notify`: lists notification channels and tests them.

use sayso_client::api::notify::{Channel, Tested};

use crate::app::App;
use crate::args::NotifyAction;
use crate::autostart;
use crate::failure::Failure;
use crate::sanitize;
use crate::words;

const NONE: &str = "No channels are configured. Add one to config.toml under [[notify]]; see docs/notifications.md";

pub(crate) async fn run(app: &App, action: NotifyAction) -> Result<(), Failure> {
    match action {
        NotifyAction::List => {
            let list = app.client()?.channels().await?;
            app.out.result(&list, || or_none(list.data.iter().map(channel).collect()))
        }
        NotifyAction::Test { name } => {
            let list = autostart::client(app).await?.test_channels(name).await?;
            app.out.result(&list, || or_none(list.data.iter().map(tested).collect()))?;
            let failed = list.data.iter().filter(|tested| !tested.sent).count();
            match failed {
                0 => Ok(()),
                1 => Err(Failure::new("The test of 1 channel failed.")),
                failed => Err(Failure::new(format!("The tests of {failed} channels failed."))),
            }
        }
    }
}

fn or_none(lines: Vec<String>) -> String {
    if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
}

fn channel(channel: &Channel) -> String {
    let mut facts = Vec::new();
    facts.extend(channel.after.as_ref().map(|after| format!("after {after}")));
    facts.extend(channel.then.as_ref().map(|then| format!("then {} after {}", then.name, then.after)));
    facts.extend(channel.quiet.as_ref().map(|quiet| format!("quiet {quiet}")));
    facts.extend(channel.content.then(|| "includes the question".to_owned()));
    facts.extend(channel.person.as_ref().map(|person| format!("for {person}")));
    facts.extend(channel.gone.then(|| "off until the server restarts".to_owned()));
    facts.extend(channel.last_failure.as_ref().map(|failure| format!("last failure: {failure}")));
    row(&channel.name, &channel.kind, &facts.join(" · "))
}

fn tested(tested: &Tested) -> String {
    row(&tested.name, &tested.kind, tested.failure.as_deref().unwrap_or("sent"))
}

fn row(name: &str, kind: &str, facts: &str) -> String {
    let cell = |text: &str, width| words::pad(&sanitize::line(text), width);
    format!("{}  {}  {}", cell(name, 16), cell(kind, 8), sanitize::line(facts)).trim_end().to_owned()
}
