//! Tests with a real tmux: jumping from the inbox to the agent's pane, and answering in a popup.

use anyhow::{Context as _, Result, ensure};
use sayso_client::api::ask::ShownAnswer;
use sayso_testkit::pty::Pty;
use sayso_testkit::{sayso_bin, within};
use tokio::process::Command;

use crate::support::Person;

/// A tmux server of this test, stopped on drop.
struct Tmux<'a> {
    person: &'a Person,
    socket: String,
}

impl<'a> Tmux<'a> {
    fn new(person: &'a Person) -> Self {
        Self { person, socket: person.path("run/tmux").to_string_lossy().into_owned() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let whole = [&["-u", "-S", &self.socket, "-f", "/dev/null"], args].concat();
        let mut command = self.person.program("tmux", &whole);
        command.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").env("SHELL", "/bin/sh");
        command
    }

    async fn run(&self, args: &[&str]) -> Result<()> {
        let output = self.command(args).output().await.context("tmux is installed by scripts/need.sh test")?;
        ensure!(output.status.success(), "tmux {args:?}: {output:?}");
        Ok(())
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        // tmux may have ended with its last program.
        let _ = self.command(&["kill-server"]).as_std_mut().output();
    }
}

#[tokio::test]
async fn inbox_jumps_to_the_pane_and_popup_answers_an_ask() -> Result<()> {
    let person = Person::new().await?;
    person.write_config("[terminal]\nhold = \"0s\"\n")?;
    let sayso = sayso_bin()?;
    let sayso = sayso.to_string_lossy();
    let tmux = Tmux::new(&person);
    let mut client = Pty::spawn(tmux.command(&["new-session", "-s", "work", &format!("'{sayso}' start mock question")]))?;
    client.shows("Select [1-2, or type your own]:").await?;
    let asked = person.pending().await?;
    assert!(asked.labels.get("tmuxPane").is_some_and(|pane| pane.starts_with('%')), "{:?}", asked.labels);

    tmux.run(&["new-window", &format!("'{sayso}'")]).await?;
    client.shows("WAITING FOR YOU").await?;
    client.send("g").await?;
    client.shows_that("the agent's pane", |seen| seen.contains("Select [1-2") && !seen.contains("WAITING FOR YOU")).await?;

    let popup = tmux.command(&["display-popup", "-E", "-w", "90%", "-h", "90%", &format!("'{sayso}' next")]).spawn()?;
    client.shows("WAITING FOR YOU").await?;
    client.shows_lit("pick one to send it").await?;
    client.send("2").await?;
    client.shows("Nothing was sent from here.").await?;
    let ended = within("the popup to close", async { Ok(popup.wait_with_output().await?) }).await?;
    ensure!(ended.status.success(), "{ended:?}");
    assert!(!client.visible().contains("WAITING FOR YOU"), "{}", client.visible());
    let answered = person.client()?.ask(&asked.id).await?.outcome.context("no outcome")?;
    assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec!["PostgreSQL".into()])]));
    Ok(())
}

/// A complete run in a pane: the trace, and answers to a question and a checkpoint.
#[tokio::test]
async fn workflow_runs_in_a_pane() -> Result<()> {
    let person = Person::new().await?;
    let sayso = sayso_bin()?;
    let file = person.path("release.toml");
    std::fs::write(
        &file,
        "name = \"release\"\n\n[[steps]]\nid = \"plan\"\nagent = \"mock\"\nprompt = \"question\"\nquestions = \"forward\"\n\n\
         [[steps]]\nid = \"go\"\n[steps.checkpoint]\nquestion = \"Release it?\"\noptions = [\"Yes\", \"No\"]\n\n\
         [[steps]]\nid = \"publish\"\nagent = \"mock\"\nprompt = \"Publish: {{steps.plan.output}}\"\n",
    )?;
    let command = format!("'{}' workflow run '{}'; exec cat", sayso.display(), file.display());
    let tmux = Tmux::new(&person);
    let mut pane = Pty::spawn(tmux.command(&["new-session", "-s", "work", &command]))?;
    pane.shows("? plan: agent asks: Database").await?;
    pane.shows("Select [1-2, or type your own]:").await?;
    pane.send("1\r").await?;
    pane.shows("→ plan: answered: SQLite (you, terminal)").await?;
    pane.shows("? go: checkpoint").await?;
    pane.shows("Select [1-2]:").await?;
    pane.send("1\r").await?;
    pane.shows("publish: done: Publish: You answered: SQLite.").await?;
    pane.shows("The run completed.").await?;
    let asks = person.client()?.pending_asks().await?;
    assert!(asks.data.is_empty(), "{asks:?}");
    Ok(())
}
