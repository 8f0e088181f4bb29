//! The agents that can be started: the built-in ones, changed and extended by the configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sayso_agents::acp::{self, AcpTranslator, Profile};
use sayso_agents::chat::{self, ChatTranslator, Endpoint};
use sayso_agents::claude::{self, ClaudeTranslator};
use sayso_agents::codex::{self, AttachedCodex, CodexTranslator};
use sayso_agents::mock::{self, MockTranslator};
use sayso_agents::opencode::{self, AttachedOpenCode, OpenCodeTranslator};
use sayso_agents::translator::{Capabilities, Saved, Translator};
use sayso_core::connection::ConnectionKind;
use sayso_core::environment;
use sayso_core::plain_text;
use sayso_core::raw::Raw;
use sayso_core::time::Span;
use serde::Deserialize;

/// How long an agent may be silent during a turn before it counts as stalled.
const STALE_AFTER: Duration = Duration::from_secs(600);

/// A section `[agents.NAME]` of `config.toml`. Missing keys have the value of the built-in agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentConfig {
    /// The protocol: `acp`, `claude`, `codex`, `opencode`, or `openai` for a model without an agent.
    protocol: Option<AgentProtocol>,
    /// The program, which is looked up in the person's `PATH`.
    command: Option<String>,
    /// The arguments of the program.
    args: Option<Vec<String>>,
    /// The URL of the model's API, without `/chat/completions`.
    base_url: Option<String>,
    /// The name of the model.
    model: Option<String>,
    /// The environment variable that holds the API key.
    api_key_env: Option<String>,
    system: Option<String>,
    /// Environment variables in addition to the person's own.
    env: BTreeMap<String, String>,
    /// How long the agent may be silent during a turn.
    stale_after: Option<Span>,
    /// What happens to a stalled agent.
    on_stale: Option<OnStale>,
}

/// The protocol of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AgentProtocol {
    /// No protocol: the agent is a function inside the server.
    #[serde(skip)]
    Mock,
    /// Claude Code's stream of JSON lines.
    Claude,
    /// The protocol of `codex app-server`.
    Codex,
    /// The Agent Client Protocol.
    Acp,
    /// Chat completions, as offered by OpenAI and compatible services.
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "opencode")]
    OpenCode,
}

impl AgentProtocol {
    /// Returns the name of the protocol in the configuration.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Mock => "mock",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Acp => "acp",
            Self::OpenAi => "openai",
            Self::OpenCode => "opencode",
        }
    }
}

/// What happens to an agent that is silent for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnStale {
    /// People are notified.
    Tell,
    /// People are notified, and the turn is interrupted.
    Interrupt,
}

/// How an agent's process is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentProgram {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    /// How to install the program, if known.
    pub(crate) install: Option<&'static str>,
}

/// Creates a translator from a saved state, or a new one.
pub type MakeTranslator = dyn Fn(Option<&Saved>) -> Option<Box<dyn Translator>> + Send + Sync;

/// An agent inside the server, supplied by a program that embeds the server. `translator` returns `None` for a saved state that
/// it does not know.
#[derive(Clone)]
pub struct Embedded {
    /// The name of the agent.
    pub name: String,
    /// Creates the translator of the agent.
    pub translator: Arc<MakeTranslator>,
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An agent that can be started.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) protocol: AgentProtocol,
    pub(crate) capabilities: Capabilities,
    /// The program. `None` for agents inside the server and for endpoints.
    pub(crate) program: Option<AgentProgram>,
    /// The endpoint of a model without an agent.
    pub(crate) endpoint: Option<Endpoint>,
    /// Environment variables in addition to the person's own.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stale_after: Duration,
    pub(crate) on_stale: OnStale,
    /// Set if the agent was supplied by an embedding program.
    embedded: Option<Embedded>,
}

/// All agents by name.
#[derive(Debug)]
pub(crate) struct Agents {
    agents: Vec<Agent>,
}

/// An agent that is part of Sayso.
struct BuiltIn {
    name: &'static str,
    protocol: AgentProtocol,
    profile: Profile,
    command: &'static str,
    args: &'static [&'static str],
    install: &'static str,
}

const BUILT_IN: [BuiltIn; 7] = [
    BuiltIn {
        name: "claude",
        protocol: AgentProtocol::Claude,
        profile: Profile::Generic,
        command: "claude",
        args: &[],
        install: "npm install -g @anthropic-ai/claude-code",
    },
    BuiltIn {
        name: "codex",
        protocol: AgentProtocol::Codex,
        profile: Profile::Generic,
        command: "codex",
        args: &["app-server"],
        install: "npm install -g @openai/codex",
    },
    BuiltIn {
        name: "claude-acp",
        protocol: AgentProtocol::Acp,
        profile: Profile::Claude,
        command: "claude-agent-acp",
        args: &[],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
    },
    BuiltIn {
        name: "gemini",
        protocol: AgentProtocol::Acp,
        profile: Profile::Gemini,
        command: "gemini",
        args: &["--acp"],
        install: "npm install -g @google/gemini-cli",
    },
    BuiltIn {
        name: "qwen",
        protocol: AgentProtocol::Acp,
        profile: Profile::Qwen,
        command: "qwen",
        args: &["--acp"],
        install: "npm install -g @qwen-code/qwen-code",
    },
    BuiltIn {
        name: "amp",
        protocol: AgentProtocol::Acp,
        profile: Profile::Amp,
        command: "amp-acp",
        args: &[],
        install: "npm install -g amp-acp",
    },
    BuiltIn {
        name: "opencode",
        protocol: AgentProtocol::OpenCode,
        profile: Profile::Generic,
        command: "opencode",
        args: &[],
        install: "npm install -g opencode-ai",
    },
];

impl Agents {
    /// Combines the built-in agents with the configured ones.
    ///
    /// # Errors
    /// A sentence about the first invalid entry.
    pub(crate) fn new(configured: &BTreeMap<String, AgentConfig>) -> Result<Self, String> {
        let mut agents = vec![Agent::inside("mock")];
        let absent = AgentConfig::default();
        for built_in in BUILT_IN {
            let config = configured.get(built_in.name).unwrap_or(&absent);
            agents.push(config.applied(built_in.name, Some(&built_in))?);
        }
        for (name, config) in configured {
            if agents.iter().all(|agent| agent.name != *name) {
                agents.push(config.applied(name, None)?);
            } else if name == "mock" {
                return Err("[agents.mock] is built in and cannot be changed; choose another name".to_owned());
            }
        }
        Ok(Self { agents })
    }

    /// Adds agents of an embedding program. They replace other agents with the same name.
    pub(crate) fn embed(&mut self, embedded: Vec<Embedded>) {
        for agent in embedded {
            self.agents.retain(|other| other.name != agent.name);
            self.agents.push(Agent { embedded: Some(agent.clone()), ..Agent::inside(&agent.name) });
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    pub(crate) fn all(&self) -> &[Agent] {
        &self.agents
    }
}

impl AgentConfig {
    fn applied(&self, name: &str, built_in: Option<&BuiltIn>) -> Result<Agent, String> {
        plain_text::check("the name of an agent", name).map_err(|error| error.to_string())?;
        let protocol = self.protocol.or(built_in.map(|built_in| built_in.protocol)).unwrap_or(AgentProtocol::Acp);
        if self.env.keys().any(|key| key.is_empty() || key.contains(['=', '\0']) || key.starts_with("SAYSO_")) {
            return Err(format!("[agents.{name}] env: a name is empty, contains `=`, or is reserved by Sayso"));
        }
        let (program, endpoint) = match protocol {
            AgentProtocol::OpenAi => (None, Some(self.endpoint(name)?)),
            AgentProtocol::Mock | AgentProtocol::Claude | AgentProtocol::Codex | AgentProtocol::Acp | AgentProtocol::OpenCode => {
                (Some(self.program(name, built_in)?), None)
            }
        };
        Ok(Agent {
            name: name.to_owned(),
            protocol,
            capabilities: match protocol {
                AgentProtocol::Mock => mock::CAPABILITIES,
                AgentProtocol::Claude => claude::CAPABILITIES,
                AgentProtocol::Codex => codex::CAPABILITIES,
                AgentProtocol::OpenAi => chat::CAPABILITIES,
                AgentProtocol::OpenCode => opencode::CAPABILITIES,
                AgentProtocol::Acp => acp::capabilities(built_in.map_or(Profile::Generic, |built_in| built_in.profile)),
            },
            program,
            endpoint,
            env: self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            stale_after: self.stale_after.map_or(STALE_AFTER, |span| span.0),
            on_stale: self.on_stale.unwrap_or(OnStale::Tell),
            embedded: None,
        })
    }

    /// Returns the program of an agent that has one.
    fn program(&self, name: &str, built_in: Option<&BuiltIn>) -> Result<AgentProgram, String> {
        for (key, given) in
            [("base_url", &self.base_url), ("api_key_env", &self.api_key_env), ("system", &self.system), ("model", &self.model)]
        {
            if given.is_some() {
                return Err(format!("[agents.{name}] {key} is for `protocol = \"openai\"`"));
            }
        }
        let Some(command) = self.command.clone().or(built_in.map(|built_in| built_in.command.to_owned())) else {
            return Err(format!("[agents.{name}] needs a command"));
        };
        let args = match (&self.args, built_in) {
            (Some(args), _) => args.clone(),
            // A different program does not get the built-in arguments.
            (None, Some(built_in)) if self.command.is_none() => built_in.args.iter().map(|arg| (*arg).to_owned()).collect(),
            (None, _) => Vec::new(),
        };
        let install = built_in.filter(|_| self.command.is_none()).map(|built_in| built_in.install);
        Ok(AgentProgram { command, args, install })
    }

    /// Returns the endpoint of a model without an agent.
    fn endpoint(&self, name: &str) -> Result<Endpoint, String> {
        if self.command.is_some() || self.args.is_some() {
            return Err(format!("[agents.{name}] is an endpoint and cannot have command or args"));
        }
        let (Some(base_url), Some(model)) = (self.base_url.clone(), self.model.clone()) else {
            return Err(format!("[agents.{name}] needs base_url and model"));
        };
        let url = reqwest::Url::parse(&base_url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if url.is_none_or(|url| url.query().is_some() || url.fragment().is_some()) {
            return Err(format!("[agents.{name}] base_url must look like http://127.0.0.1:11434/v1"));
        }
        if let Some(variable) =
            self.api_key_env.as_ref().filter(|name| !environment::passes(name) && !self.env.contains_key(*name))
        {
            return Err(format!(
                "[agents.{name}] api_key_env: `{variable}` does not look like the name of a key; use a name such as MODEL_API_KEY"
            ));
        }
        Ok(Endpoint { base_url, model, api_key_env: self.api_key_env.clone(), system: self.system.clone() })
    }
}

impl Agent {
    /// Returns how Sayso reaches the agent.
    pub(crate) const fn kind(&self) -> ConnectionKind {
        match self.program {
            None => ConnectionKind::InProcess,
            Some(_) => ConnectionKind::Supervised,
        }
    }

    /// Creates the translator from a saved state. `None` if the state has an unknown version.
    pub(crate) fn translator(&self, state: Option<&Raw>) -> Option<Box<dyn Translator>> {
        let Some(state) = state else { return Some(self.fresh()) };
        let saved: Saved = serde_json::from_str(state.as_str()).ok()?;
        if let Some(embedded) = &self.embedded {
            return (embedded.translator)(Some(&saved));
        }
        match self.protocol {
            AgentProtocol::Mock => MockTranslator::restore(&saved).map(boxed),
            AgentProtocol::Claude => ClaudeTranslator::restore(&saved).map(boxed),
            AgentProtocol::Codex => CodexTranslator::restore(&saved).map(boxed),
            AgentProtocol::Acp => AcpTranslator::restore(&saved).map(boxed),
            AgentProtocol::OpenAi => ChatTranslator::restore(self.endpoint.clone().unwrap_or_default(), &saved).map(boxed),
            AgentProtocol::OpenCode => OpenCodeTranslator::restore(&saved).map(boxed),
        }
    }

    /// Creates the translator for an attached server from a saved state. `None` if the state has an unknown version, or if
    /// attaching is not supported.
    pub(crate) fn attached(&self, state: Option<&Raw>) -> Option<Box<dyn Translator>> {
        let saved: Saved = serde_json::from_str(state?.as_str()).ok()?;
        match self.protocol {
            AgentProtocol::OpenCode => AttachedOpenCode::restore(&saved).map(boxed),
            AgentProtocol::Codex => AttachedCodex::restore(&saved).map(boxed),
            AgentProtocol::Mock | AgentProtocol::Claude | AgentProtocol::Acp | AgentProtocol::OpenAi => None,
        }
    }

    /// Creates a translator for the server at `place`. `login` is set if the server requires a password; it may contain a user
    /// name other than the default.
    ///
    /// # Errors
    /// A sentence about an invalid place.
    pub(crate) fn attach(&self, place: &str, login: Option<Option<String>>) -> Result<Box<dyn Translator>, String> {
        match self.protocol {
            AgentProtocol::OpenCode => {
                let user = login.map(|user| user.unwrap_or_else(|| AttachedOpenCode::USER.to_owned()));
                Ok(boxed(AttachedOpenCode::new(address(place)?, user)))
            }
            AgentProtocol::Codex if !Path::new(place).is_absolute() => Err(format!(
                "{place} is not a socket; the socket of Codex is app-server-control/app-server-control.sock in its home directory"
            )),
            AgentProtocol::Codex => Ok(boxed(AttachedCodex::new(place.to_owned()))),
            AgentProtocol::Mock | AgentProtocol::Claude | AgentProtocol::Acp | AgentProtocol::OpenAi => {
                Err(format!("`{}` has no server to attach to; use codex or opencode", self.name))
            }
        }
    }

    /// Returns what the agent supports when Sayso is attached to its server.
    pub(crate) const fn attached_capabilities(&self) -> Capabilities {
        match self.protocol {
            AgentProtocol::OpenCode => opencode::ATTACHED,
            AgentProtocol::Codex => codex::ATTACHED,
            AgentProtocol::Mock | AgentProtocol::Claude | AgentProtocol::Acp | AgentProtocol::OpenAi => self.capabilities,
        }
    }

    /// Creates an agent without a program: the mock, or an agent that is no longer configured.
    pub(crate) fn inside(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            protocol: AgentProtocol::Mock,
            capabilities: mock::CAPABILITIES,
            program: None,
            endpoint: None,
            env: Vec::new(),
            stale_after: STALE_AFTER,
            on_stale: OnStale::Tell,
            embedded: None,
        }
    }

    /// Creates a translator without saved state.
    pub(crate) fn fresh(&self) -> Box<dyn Translator> {
        if let Some(translator) = self.embedded.as_ref().and_then(|embedded| (embedded.translator)(None)) {
            return translator;
        }
        match self.protocol {
            AgentProtocol::Mock => boxed(MockTranslator::new()),
            AgentProtocol::Claude => boxed(ClaudeTranslator::new()),
            AgentProtocol::Codex => boxed(CodexTranslator::new()),
            AgentProtocol::Acp => boxed(AcpTranslator::new()),
            AgentProtocol::OpenAi => boxed(ChatTranslator::new(self.endpoint.clone().unwrap_or_default())),
            AgentProtocol::OpenCode => boxed(OpenCodeTranslator::new()),
        }
    }
}

fn boxed(translator: impl Translator + 'static) -> Box<dyn Translator> {
    Box::new(translator)
}

impl AgentProgram {
    /// Looks the program up in this `PATH`.
    pub(crate) fn find(&self, path: Option<&str>) -> Option<PathBuf> {
        let command = Path::new(&self.command);
        if command.components().count() > 1 {
            return is_program(command).then(|| command.to_owned());
        }
        std::env::split_paths(path.unwrap_or("/usr/local/bin:/usr/bin:/bin"))
            .map(|dir| dir.join(command))
            .find(|candidate| candidate.is_absolute() && is_program(candidate))
    }

    /// Returns the command as a person would type it.
    pub(crate) fn line(&self) -> String {
        std::iter::once(self.command.as_str()).chain(self.args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the message for a missing program.
    pub(crate) fn missing(&self, agent: &str) -> String {
        let tried = self.line();
        let get = match self.install {
            Some(install) => format!("Install it with: {install}"),
            None => format!("Correct the command of [agents.{agent}] in config.toml"),
        };
        format!("the agent `{agent}` is not installed: the program of `{tried}` was not found. {get}")
    }
}

/// Normalizes the URL of a server.
fn address(place: &str) -> Result<String, String> {
    const LIKE: &str = "the address must look like http://127.0.0.1:4096";
    let url = reqwest::Url::parse(place).map_err(|error| format!("{place} is not an address ({error}); {LIKE}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{place} is not the address of a server; {LIKE}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address must not contain a password; pass it with --password-env".to_owned());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
