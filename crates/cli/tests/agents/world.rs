//! A server with real agents, a mock model behind them, and a person.

use anyhow::{Result, bail};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, ApproveRequest, Ask, Delivery, NoRequest};
use sayso_client::api::session::NewSession;
use sayso_testkit::agents::{Home, Installed, installed, require_isolation};
use sayso_testkit::models::{MockModel, ModelScript, PATIENCE};
use sayso_testkit::{ScriptedAgent, ServerProcess, reaches};
use tempfile::TempDir;
use tokio::time::{Duration, Instant, sleep};

/// Everything that one test needs.
pub(crate) struct World {
    pub(crate) server: ServerProcess,
    pub(crate) client: Client,
    pub(crate) model: MockModel,
    pub(crate) home: Home,
    _dir: TempDir,
}

impl World {
    /// A server whose agents speak to a model with this script.
    pub(crate) async fn new(script: ModelScript) -> Result<Self> {
        Self::with_policy(script, "").await
    }

    /// The same under this policy.
    pub(crate) async fn with_policy(script: ModelScript, policy: &str) -> Result<Self> {
        Self::prepared(script, policy, |_, _| Ok(())).await
    }

    /// The same with a changed `config.toml`.
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

    /// A session with this agent in the project.
    pub(crate) async fn start(&self, agent: &str, prompt: &str) -> Result<ScriptedAgent> {
        self.start_with(agent, prompt, |_| {}).await
    }

    /// The same, changed.
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

    /// The first ask that waits.
    pub(crate) async fn pending(&self) -> Result<Ask> {
        until("there", || async { Ok(self.client.pending_asks().await?.data.into_iter().next()) }).await
    }

    /// The ask, when it is so.
    pub(crate) async fn becomes(&self, ask: &Ask, what: &str, holds: impl Fn(&Ask) -> bool) -> Result<Ask> {
        until(what, || async { Ok(Some(self.client.ask(&ask.id).await?).filter(|ask| holds(ask))) }).await
    }

    /// The ask, when its outcome has been taken there.
    pub(crate) async fn delivered(&self, ask: &Ask) -> Result<Ask> {
        reaches(&self.client, &ask.id, Delivery::Delivered).await
    }

    /// The person answers: one list of entries per question.
    pub(crate) async fn answer(&self, ask: &Ask, answers: &[&[&str]]) -> Result<Ask> {
        let answers = answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
        Ok(self.client.answer(&ask.id, &AnswerRequest { answers, note: None }).await?)
    }

    /// The person says yes.
    pub(crate) async fn approve(&self, ask: &Ask) -> Result<Ask> {
        Ok(self.client.approve(&ask.id, &ApproveRequest::default()).await?)
    }

    /// The person says no, in these words.
    pub(crate) async fn deny(&self, ask: &Ask, message: &str, stop: bool) -> Result<Ask> {
        let no = NoRequest { message: Some(message.to_owned()), stop };
        Ok(match ask.questions.is_empty() {
            true => self.client.deny(&ask.id, &no).await?,
            false => self.client.reject(&ask.id, &no).await?,
        })
    }

    /// Ends the agents, so that none is left when the test is.
    pub(crate) async fn close(self) -> Result<()> {
        self.client.stop_agents().await?;
        Ok(())
    }
}

/// Looks until something is there.
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

/// `config.toml` with the real programs, each in the home directory of the test.
fn agents(installed: &Installed, home: &Home, model: &str) -> Result<String> {
    // Should a test fail before it ends its agents, they end by themselves.
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
