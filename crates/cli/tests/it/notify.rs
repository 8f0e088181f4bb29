//! `sayso notify`, and the channels on this machine.

use anyhow::{Context as _, Result, ensure};
use sayso_client::api::ask::NewAsk;
use sayso_client::question;
use sayso_testkit::pty::Pty;
use sayso_testkit::receivers::Receiver;

use crate::support::Person;

/// Starts a background server with these channels.
async fn with_channels(channels: &str) -> Result<Person> {
    let person = Person::without_server()?;
    std::fs::write(person.path("secret"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")?;
    person.write_config(channels)?;
    person.ok(&["restart"]).await?;
    Ok(person)
}

#[tokio::test]
async fn test_reports_each_channel_and_fails_if_one_fails() -> Result<()> {
    let (good, bad) = (Receiver::with_status(200).await?, Receiver::with_status(500).await?);
    let hook = |name: &str, url: &str| {
        format!(
            "[[notify]]\nname = \"{name}\"\nkind = \"webhook\"\nurl = \"{url}\"\nsecret_file = \"../../secret\"\nallow_private = true\n"
        )
    };
    let person = with_channels(&(hook("good", good.url()) + &hook("bad", bad.url()))).await?;
    assert_eq!(person.ok(&["notify", "test", "good"]).await?, "good              webhook   sent");
    let ran = person.run(&["notify", "test"]).await?;
    ensure!(
        ran.code == Some(1) && ran.out.contains("bad               webhook   the receiver responded with status 500"),
        "{ran:?}"
    );
    ensure!(ran.err.contains("The test of 1 channel failed."), "{ran:?}");
    let list = person.ok(&["notify", "list"]).await?;
    assert_eq!(
        list,
        "good              webhook   after 20s\nbad               webhook   after 20s · last failure: the receiver responded with status 500"
    );
    let ran = person.run(&["notify", "test", "none"]).await?;
    ensure!(ran.code == Some(1) && ran.err.contains("No such channel"), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn notify_without_channels_says_how_to_add_one() -> Result<()> {
    // Listing starts no server. A test needs a server and starts it.
    let person = Person::without_server()?;
    let looked = person.run(&["notify", "list"]).await?;
    ensure!(looked.code == Some(1) && looked.err.contains("No server is running"), "{looked:?}");
    let said = person.ok(&["notify", "test"]).await?;
    ensure!(said.contains("docs/notifications.md"), "{said}");
    Ok(())
}

#[tokio::test]
async fn server_refuses_an_unknown_channel_kind() -> Result<()> {
    let person = Person::without_server()?;
    person.write_config("[[notify]]\nkind = \"pigeon\"\n")?;
    let ran = person.run(&["restart"]).await?;
    let log = std::fs::read_to_string(person.data_dir().join("logs/sayso.log")).unwrap_or_default();
    let said = format!("{}{}{log}", ran.out, ran.err);
    ensure!(ran.code != Some(0) && said.contains("pigeon"), "{ran:?}\n{log}");
    Ok(())
}

#[tokio::test]
async fn tmux_notification_rings_and_runs_no_command() -> Result<()> {
    let person = Person::without_server()?;
    let socket = person.path("run/tmux").to_string_lossy().into_owned();
    let tmux = |args: &[&str]| {
        let mut command = person.program("tmux", &[&["-u", "-S", &socket, "-f", "/dev/null"], args].concat());
        command.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").env("SHELL", "/bin/sh");
        command
    };
    person.write_config(&format!(
        "[[notify]]\nkind = \"tmux\"\nafter = \"0s\"\nsocket = \"{socket}\"\n[[notify]]\nkind = \"bell\"\nafter = \"1d\"\nsocket = \"{socket}\"\n"
    ))?;
    person.ok(&["restart"]).await?;
    let mut client = Pty::spawn(tmux(&["new-session", "-s", "work", "echo ready; exec cat"]))?;
    client.shows("ready").await?;
    let rung = |client: &Pty| client.raw().iter().filter(|byte| **byte == 7).count();
    let before = rung(&client);
    person.ok(&["notify", "test", "bell"]).await?;
    person.ok(&["notify", "test", "tmux"]).await?;
    client.shows("This is a test notification from Sayso").await?;
    assert_eq!(rung(&client), before + 1, "the bell");
    let trace = person.path("run/pwned");
    let name = format!("#(touch {})", trace.display());
    person.asks(&NewAsk { agent: Some(name), ..question("Which?", &[]) }).await?;
    client.shows("#(touch").await?;
    ensure!(!trace.exists(), "tmux ran text of an agent");
    // A name that looks like an option is shown as text.
    person.asks(&NewAsk { agent: Some("-F#{session_name}".to_owned()), ..question("Which?", &[]) }).await?;
    client.shows("-F#{session_name}").await?;
    let ended = tmux(&["kill-server"]).output().await.context("tmux is installed by scripts/need.sh test")?;
    ensure!(ended.status.success(), "{ended:?}");
    Ok(())
}
