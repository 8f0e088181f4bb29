//! An agent built with the official crate of the Agent Client Protocol, hosted by the real server. It parses our
//! messages with the crate's types and reports them as JSON.

use anyhow::{Context as _, Result};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, ApproveRequest, Ask, AskKind, AskStatus, Delivery, NoRequest};
use sayso_client::api::session::{IfPending, NewSession, TranscriptQuery};
use sayso_testkit::{ScriptedAgent, ServerProcess, acp_peer_bin, reaches, write_config};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A session with this agent.
struct Peer {
    client: Client,
    agent: ScriptedAgent,
    /// Stopped on drop.
    _server: ServerProcess,
    _dir: TempDir,
}

impl Peer {
    async fn start(prompt: &str) -> Result<Self> {
        Self::under("", prompt).await
    }

    /// Like `start`, with a policy.
    async fn under(policy: &str, prompt: &str) -> Result<Self> {
        let dir = TempDir::with_prefix("sayso-peer-")?;
        write_config(dir.path(), &format!("[agents.peer]\ncommand = {:?}\n", acp_peer_bin()?))?;
        std::fs::write(dir.path().join("config/sayso/policy.toml"), policy)?;
        let server = ServerProcess::start(dir.path()).await?;
        let client = server.client()?;
        let cwd = Some(server.project().display().to_string());
        let new = NewSession { agent: "peer".to_owned(), prompt: Some(prompt.to_owned()), cwd, ..NewSession::default() };
        let agent = ScriptedAgent::with(&client, &new).await?;
        Ok(Self { client, agent, _server: server, _dir: dir })
    }

    /// Sends a prompt and returns the resulting ask.
    async fn prompt_for_ask(&mut self, prompt: &str) -> Result<Ask> {
        self.client.message(self.agent.session(), prompt, IfPending::Refuse).await?;
        self.agent.asks().await
    }

    /// Returns what the agent received, after its turn.
    async fn received(&mut self) -> Result<Value> {
        let said = self.agent.finished().await?;
        serde_json::from_str(&said).context(said)
    }

    async fn answered(&mut self, ask: &Ask, answers: &[&[&str]]) -> Result<Value> {
        let answers = answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
        self.client.answer(&ask.id, &AnswerRequest { answers, note: None }).await?;
        self.received().await
    }

    async fn approved(&mut self, ask: &Ask, choice: Option<&str>) -> Result<Value> {
        let choice = choice.map(str::to_owned);
        self.client.approve(&ask.id, &ApproveRequest { choice, ..ApproveRequest::default() }).await?;
        self.received().await
    }

    /// Refuses an ask and returns what the agent received.
    async fn refused(&mut self, ask: &Ask, words: Option<&str>) -> Result<Value> {
        let no = NoRequest { message: words.map(str::to_owned), stop: false };
        match ask.kind {
            AskKind::Question => self.client.reject(&ask.id, &no).await?,
            AskKind::Approval | AskKind::Link => self.client.deny(&ask.id, &no).await?,
        };
        self.received().await
    }

    /// Interrupts the turn and returns what the agent received.
    async fn interrupted(&mut self, ask: &Ask) -> Result<Value> {
        self.client.interrupt(self.agent.session()).await?;
        let received = self.received().await?;
        assert_eq!(self.withdrawn(ask).await?, "The turn was interrupted.");
        Ok(received)
    }

    /// Returns why an ask was withdrawn.
    async fn withdrawn(&self, ask: &Ask) -> Result<String> {
        let ask = self.client.ask(&ask.id).await?;
        assert_eq!(ask.status, AskStatus::Withdrawn);
        ask.outcome.and_then(|outcome| outcome.message).context("a reason")
    }

    /// Returns all messages that were sent to the agent in the person's name.
    async fn prompts(&self) -> Result<Vec<String>> {
        let page = self.client.transcript(self.agent.session(), &TranscriptQuery::default()).await?;
        let said = page.data.iter().filter(|block| block["type"] == "message" && block["role"] == "user");
        Ok(said.filter_map(|block| block["text"].as_str()).map(str::to_owned).collect())
    }

    async fn close(self) -> Result<()> {
        self.client.stop_agents().await?;
        Ok(())
    }
}

fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

#[tokio::test]
async fn agent_receives_the_client_capabilities() -> Result<()> {
    let mut peer = Peer::start("hello").await?;
    let received = peer.received().await?;
    assert_eq!(received["prompt"], "hello");
    assert_eq!(received["client"]["elicitation"], json!({ "form": {}, "url": {} }));
    assert_eq!(received["client"]["fs"], json!({ "readTextFile": false, "writeTextFile": false }));
    peer.close().await
}

#[tokio::test]
async fn permission_requests_receive_all_kinds_of_outcomes() -> Result<()> {
    let mut peer = Peer::start("permission").await?;
    let ask = peer.agent.asks().await?;
    let approval = ask.approval.as_ref().context("an approval")?;
    assert_eq!((approval.tool.as_str(), approval.title.as_str()), ("Bash", "Remove the build"));
    assert_eq!(peer.approved(&ask, None).await?, selected("once"));
    // The agent reports the call afterwards.
    reaches(&peer.client, &ask.id, Delivery::Confirmed).await?;
    let ask = peer.prompt_for_ask("permission").await?;
    assert_eq!(peer.approved(&ask, Some("always")).await?, selected("always"));
    let ask = peer.prompt_for_ask("permission").await?;
    assert_eq!(peer.refused(&ask, None).await?, selected("no"));
    let ask = peer.prompt_for_ask("permission").await?;
    assert_eq!(peer.interrupted(&ask).await?, json!({ "outcome": { "outcome": "cancelled" } }));
    assert_eq!(peer.prompts().await?, ["permission"; 4], "no message is sent in the person's name");
    peer.close().await
}

#[tokio::test]
async fn forms_receive_all_kinds_of_outcomes() -> Result<()> {
    let mut peer = Peer::start("form").await?;
    let ask = peer.agent.asks().await?;
    let keys: Vec<&str> = ask.questions.iter().filter_map(|question| question.key.as_deref()).collect();
    assert_eq!(keys, ["areas", "database", "name", "public", "replicas", "share"], "the crate sorts them");
    let answers: &[&[&str]] = &[&["login", "export"], &["postgres"], &[], &["false"], &["3"], &["0.5"]];
    let content = json!({ "areas": ["login", "export"], "database": "postgres", "public": false, "replicas": 3, "share": 0.5 });
    assert_eq!(peer.answered(&ask, answers).await?, json!({ "action": "accept", "content": content }));
    let ask = peer.prompt_for_ask("form").await?;
    assert_eq!(peer.refused(&ask, None).await?, json!({ "action": "decline" }));
    let ask = peer.prompt_for_ask("form").await?;
    assert_eq!(peer.interrupted(&ask).await?, json!({ "action": "cancel" }));
    peer.close().await
}

#[tokio::test]
async fn links_receive_all_kinds_of_outcomes() -> Result<()> {
    let mut peer = Peer::start("link").await?;
    let ask = peer.agent.asks().await?;
    assert_eq!(ask.kind, AskKind::Link);
    assert_eq!(peer.approved(&ask, None).await?, json!({ "action": "accept" }));
    let ask = peer.prompt_for_ask("link").await?;
    assert_eq!(peer.refused(&ask, None).await?, json!({ "action": "decline" }));
    let ask = peer.prompt_for_ask("link").await?;
    assert_eq!(peer.interrupted(&ask).await?, json!({ "action": "cancel" }));
    let ask = peer.prompt_for_ask("elsewhere").await?;
    assert_eq!(peer.received().await?, json!({ "action": "cancel" }));
    assert_eq!(peer.withdrawn(&ask).await?, "It was opened elsewhere.");
    peer.close().await
}

#[tokio::test]
async fn questions_of_the_sandbox_extension_receive_all_kinds_of_outcomes() -> Result<()> {
    let mut peer = Peer::start("question").await?;
    let ask = peer.agent.asks().await?;
    assert_eq!(peer.answered(&ask, &[&["b"]]).await?, json!({ "status": "answered", "answers": [["b"]] }));
    let ask = peer.prompt_for_ask("question").await?;
    assert_eq!(peer.refused(&ask, None).await?, json!({ "status": "rejected" }));
    let ask = peer.prompt_for_ask("question").await?;
    assert_eq!(peer.interrupted(&ask).await?["error"]["code"], -32800);
    peer.close().await
}

#[tokio::test]
async fn request_that_the_agent_cancels_is_withdrawn() -> Result<()> {
    let mut peer = Peer::start("race").await?;
    let (permission, question) = (peer.agent.asks().await?, peer.agent.asks().await?);
    assert_eq!(peer.answered(&question, &[&["a"]]).await?["status"], "answered");
    assert_eq!(peer.withdrawn(&permission).await?, "The agent withdrew it.");
    peer.close().await
}

#[tokio::test]
async fn reason_of_a_person_follows_a_refusal_as_a_message() -> Result<()> {
    let rule = "[[rules]]\ndo = \"deny\"\nrun = [\"rm *\"]\nmessage = \"use the trash\"\n";
    let mut peer = Peer::under(rule, "permission").await?;
    assert_eq!(peer.received().await?, selected("no"));
    let ask = peer.prompt_for_ask("question").await?;
    peer.refused(&ask, Some("ask me tomorrow")).await?;
    peer.agent
        .watch()
        .until("its answer to the words", |event| {
            event.event.data_json().contains(r#"{\"prompt\":\"I did not answer: ask me tomorrow\""#)
        })
        .await?;
    assert_eq!(peer.prompts().await?, ["permission", "question", "I did not answer: ask me tomorrow"]);
    peer.close().await
}
