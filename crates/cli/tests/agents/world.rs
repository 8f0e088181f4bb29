//! A server with real agents, a mock model for them, and a person.

use anyhow::{Result, bail};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, ApproveRequest, Ask, Delivery, NoRequest};
use sayso_client::api::session::NewSession;
use sayso_testkit::agents::{Home, Installed, installed, require_isolation};
use sayso_testkit::models::{MockModel, ModelScript, PATIENCE};
use sayso_testkit::{ScriptedAgent, ServerProcess, reaches};
use tempfile::TempDir;
use tokio::time::{Duration, Instant, sleep};

/// The environment of one test.
pub(crate) struct World {
    pub(crate) server: ServerProcess,
    pub(crate) client: Client,
    pub(crate) model: MockModel,
    pub(crate) home: Home,
    _dir: TempDir,
}

impl World {
    /// Starts a server whose agents use a model with this script.
    pub(crate) async fn new(script: ModelScript) -> Result<Self> {
        Self::with_policy(script, "").await
    }

    /// Like `new`, with a policy.
    pub(crate) async fn with_policy(script: ModelScript, policy: &str) -> Result<Self> {
        Self::prepared(script, policy, |_, _| Ok(())).await
    }

    /// Like `with_policy`, with a modified `config.toml`.
    pub(crate) async fn prepared(
        script: ModelScript,
        policy: &str,
        change: impl FnOnce(&Home, &mut String) -> Result<()>,
    ) -> Result<Self> {
        require_isolation();
        let model = MockModel::start(script).await?;
        let home = Home::new()?;
        let dir = TempDir::with_prefix("sayso-agents-")?;
        let config = dir.path().join("config/sayso");
        std::fs::create_dir_all(&config)?;
        std::fs::write(config.join("policy.toml"), policy)?;
        let mut agents = agents(installed(), &home, model.url())?;
        change(&home, &mut agents)?;
        std::fs::write(config.join("config.toml"), agents)?;
        let server = ServerProcess::start(dir.path()).await?;
        let client = server.client()?;
        Ok(Self { server, client, model, home, _dir: dir })
    }

    /// Starts a session of this agent in the project.
    pub(crate) async fn start(&self, agent: &str, prompt: &str) -> Result<ScriptedAgent> {
        self.start_with(agent, prompt, |_| {}).await
    }

    /// Like `start`, with a modified request.
    pub(crate) async fn start_with(
        &self,
        agent: &str,
        prompt: &str,
        change: impl FnOnce(&mut NewSession),
    ) -> Result<ScriptedAgent> {
        let mut new = NewSession {
            agent: agent.to_owned(),
            prompt: Some(prompt.to_owned()),
            cwd: Some(self.home.project().display().to_string()),
            ..NewSession::default()
        };
        change(&mut new);
        ScriptedAgent::with(&self.client, &new).await
    }

    /// Waits for a pending ask and returns the first.
    pub(crate) async fn pending(&self) -> Result<Ask> {
        until("there", || async { Ok(self.client.pending_asks().await?.data.into_iter().next()) }).await
    }

    /// Waits until the condition holds for the ask.
    pub(crate) async fn becomes(&self, ask: &Ask, what: &str, holds: impl Fn(&Ask) -> bool) -> Result<Ask> {
        until(what, || async { Ok(Some(self.client.ask(&ask.id).await?).filter(|ask| holds(ask))) }).await
    }

    /// Waits until the outcome of the ask is delivered.
    pub(crate) async fn delivered(&self, ask: &Ask) -> Result<Ask> {
        reaches(&self.client, &ask.id, Delivery::Delivered).await
    }

    /// Answers as the person, with one list of entries per question.
    pub(crate) async fn answer(&self, ask: &Ask, answers: &[&[&str]]) -> Result<Ask> {
        let answers = answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
        Ok(self.client.answer(&ask.id, &AnswerRequest { answers, note: None }).await?)
    }

    /// Approves as the person.
    pub(crate) async fn approve(&self, ask: &Ask) -> Result<Ask> {
        Ok(self.client.approve(&ask.id, &ApproveRequest::default()).await?)
    }

    /// Denies or rejects as the person, with this reason.
    pub(crate) async fn deny(&self, ask: &Ask, message: &str, stop: bool) -> Result<Ask> {
        let no = NoRequest { message: Some(message.to_owned()), stop };
        Ok(match ask.questions.is_empty() {
            true => self.client.deny(&ask.id, &no).await?,
            false => self.client.reject(&ask.id, &no).await?,
        })
    }

    /// Stops the agents, so that none keeps running after the test.
    pub(crate) async fn close(self) -> Result<()> {
        self.client.stop_agents().await?;
        Ok(())
    }
}

/// Polls until there is a result.
pub(crate) async fn until<T, F: Future<Output = Result<Option<T>>>>(what: &str, look: impl Fn() -> F) -> Result<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if Instant::now() > end {
            bail!("waited {PATIENCE:?} for it to be {what}");
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Formats a `config.toml` with the real programs, each with the home directory of the test.
fn agents(installed: &Installed, home: &Home, model: &str) -> Result<String> {
    // If a test fails before it stops its agents, they end by themselves.
    let mut config = format!("lonely_after = \"20s\"\nroots = [{:?}]\n", home.path());
    let claude = [installed.claude.display().to_string()];
    let old = [installed.claude_old.display().to_string()];
    let gemini = [installed.gemini.clone(), vec!["--acp".to_owned()]].concat();
    let codex = [installed.codex.display().to_string(), "app-server".to_owned()];
    let opencode = [installed.opencode.display().to_string()];
    let entries = [
        ("claude", "claude", &claude[..], home.claude(model)),
        ("claude-old", "claude", &old, home.claude(model)),
        ("claude-acp", "acp", &installed.claude_acp, home.claude_acp(model)),
        ("gemini", "acp", &gemini, home.gemini(model)),
        ("codex", "codex", &codex, home.codex(model)?),
        ("opencode", "opencode", &opencode, home.opencode(model)?),
    ];
    for (name, protocol, command, env) in entries {
        let env: Vec<String> = env.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
        config.push_str(&format!(
            "[agents.{name}]\nprotocol = {protocol:?}\ncommand = {:?}\nargs = {:?}\nenv = {{ {} }}\n",
            command[0],
            &command[1..],
            env.join(", ")
        ));
    }
    Ok(config)
}
