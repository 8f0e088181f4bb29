//! Answers that reach a process before their delivery is committed, while the server or the process is killed.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use rustix::process::{Pid, Signal, kill_process};
use sayso_client::api::ask::{ApproveRequest, Ask, AskStatus, Delivery};
use sayso_testkit::{ScriptedAgent, reaches, within};

use crate::processes::{World, script};

/// An ACP agent that asks for approval of one command and appends all replies to the file `replies`. It ends after a
/// reply if the file `end` exists.
const QUIET: &str = r#"
    result() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
    while IFS= read -r line; do
        id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *'"initialize"'*) result "$id" '{"protocolVersion":1,"agentCapabilities":{}}';;
        *session/new*) result "$id" '{"sessionId":"s"}';;
        *session/prompt*) printf '%s\n' '{"jsonrpc":"2.0","id":"ask-1","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t1","title":"make","kind":"execute","rawInput":{"command":"make"}},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}';;
        *ask-1*) printf '%s\n' "$line" >> replies; if [ -e end ]; then exit 0; fi;;
        esac
    done"#;

struct Quiet {
    world: World,
    agent: ScriptedAgent,
    ask: Ask,
}

impl Quiet {
    async fn start() -> Result<Self> {
        let world = World::with(&script("quiet", "acp", QUIET)).await?;
        let mut agent = world.start("quiet", "go").await?;
        let ask = agent.asks().await?;
        Ok(Self { world, agent, ask })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.world.server.project().join(name)
    }

    async fn approve(&self) -> Result<()> {
        self.world.server.client()?.approve(&self.ask.id, &ApproveRequest::default()).await?;
        Ok(())
    }

    /// Waits for the first reply and returns how many the agent has read.
    async fn replies(&self) -> Result<usize> {
        let file = self.file("replies");
        within("a reply", async {
            while !file.exists() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            Ok(())
        })
        .await?;
        Ok(std::fs::read_to_string(file)?.lines().count())
    }
}

#[tokio::test]
async fn approval_is_given_once_when_the_server_is_killed_right_after_it() -> Result<()> {
    for _ in 0..3 {
        let mut quiet = Quiet::start().await?;
        quiet.approve().await?;
        assert_eq!(quiet.replies().await?, 1);
        // The kill comes before or just after the commit of the delivery.
        quiet.world.server.kill9().await?;
        quiet.world.server.start_again().await?;
        reaches(&quiet.world.server.client()?, &quiet.ask.id, Delivery::Delivered).await?;
        assert_eq!(quiet.replies().await?, 1);
        quiet.world.close().await?;
    }
    Ok(())
}

#[tokio::test]
async fn answer_is_uncertain_when_server_and_process_are_killed_right_after_it() -> Result<()> {
    let mut quiet = Quiet::start().await?;
    let processes = quiet.world.processes()?;
    quiet.approve().await?;
    assert_eq!(quiet.replies().await?, 1);
    quiet.world.server.kill9().await?;
    for pid in processes {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
    }
    quiet.world.server.start_again().await?;
    let client = quiet.world.server.client()?;
    let ask = within("the delivery to be settled", async {
        loop {
            let ask = client.ask(&quiet.ask.id).await?;
            if ask.delivery != Some(Delivery::Queued) {
                return Ok(ask);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await?;
    assert_eq!(ask.status, AskStatus::Approved);
    // The delivery may have been committed before the kill.
    let reason = ask.delivery_reason.unwrap_or_default();
    assert!(
        ask.delivery == Some(Delivery::Delivered) || reason == "The agent ended before it was certain that this reached it.",
        "{:?} {reason}",
        ask.delivery
    );
    quiet.world.close().await
}

#[tokio::test]
async fn approval_is_delivered_when_the_agent_ends_right_after_it() -> Result<()> {
    let mut quiet = Quiet::start().await?;
    std::fs::write(quiet.file("end"), "")?;
    quiet.approve().await?;
    quiet.agent.watch().until("the end", |event| event.name() == "session.ended").await?;
    let ask = quiet.world.server.client()?.ask(&quiet.ask.id).await?;
    assert_eq!(ask.delivery, Some(Delivery::Delivered));
    quiet.world.close().await
}
