//! The agent behind an MCP client: its name, its directory, and how long it waits for a tool.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sayso_api::ask::{ExternalSession, NewAsk};
use sayso_core::limits;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The limit for unknown clients that do not receive progress. Most time out after 60 seconds.
const UNKNOWN: Duration = Duration::from_secs(50);
/// Codex times out after 300 seconds unless it is configured otherwise.
const CODEX: Duration = Duration::from_secs(280);
/// Gemini CLI times out after 600 seconds, even if it receives progress.
const GEMINI: Duration = Duration::from_secs(570);

/// The origin of a call, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct CallOrigin {
    /// The session, as named by the client or its environment.
    pub session: Option<String>,
    /// The working directory of the agent.
    pub directory: Option<String>,
    /// How long the client waits for a tool, if configured.
    pub patience: Option<Duration>,
}

/// The caller of a tool.
#[derive(Debug)]
pub(super) struct ToolCaller {
    place: CallOrigin,
    agent: Option<String>,
    /// Whether the client receives progress notifications.
    hears: bool,
}

impl ToolCaller {
    pub(super) fn new(place: CallOrigin, context: &RequestContext<RoleServer>) -> Self {
        // Clients that do not name themselves have the name of the library.
        let named = context.client_info().map(|info| info.name).filter(|name| name != "rmcp");
        let agent = named.as_deref().map(agent_name).filter(|name| !name.is_empty());
        Self { place, agent, hears: context.meta.get_progress_token().is_some() }
    }

    /// Returns how long the client can wait. `None` means without a limit.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.place.patience.or(match self.agent.as_deref() {
            Some("codex") => Some(CODEX),
            Some("gemini") => Some(GEMINI),
            _ if self.hears => None,
            _ => Some(UNKNOWN),
        })
    }

    /// Builds an ask of this caller. Equal content joins the same ask until its outcome was collected.
    pub(super) fn sign(&self, mut ask: NewAsk, content: &impl Serialize, keep: &str) -> NewAsk {
        let (agent, session) = (self.agent.as_deref(), self.place.session.as_deref());
        let content = serde_json::to_vec(&(agent, session, &self.place.directory, content)).unwrap_or_default();
        let hash: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        ask.dedupe_key = Some(format!("mcp:{hash}"));
        ask.keep = Some(keep.to_owned());
        ask.external = self.session();
        ask.agent.clone_from(&self.agent);
        ask.project.clone_from(&self.place.directory);
        ask
    }

    /// Returns the name of the agent.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Returns the session, if enough is known about it.
    pub(super) fn session(&self) -> Option<ExternalSession> {
        Some(ExternalSession {
            agent: self.agent.clone()?,
            session_id: self.place.session.clone()?,
            cwd: self.place.directory.clone()?,
            title: None,
            branch: None,
        })
    }
}

/// Maps the name of an MCP client to the agent name that people and policies use.
fn agent_name(client: &str) -> String {
    let name: String = client.chars().filter(|c| !c.is_control()).collect();
    let name = limits::head(name.trim(), limits::NAME);
    let known = [("claude-code", "claude"), ("codex-mcp-client", "codex"), ("gemini-cli", "gemini"), ("opencode", "opencode")];
    known.iter().find(|(prefix, _)| name.starts_with(prefix)).map_or(name, |(_, known)| known).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(client: &str, hears: bool, patience: Option<u64>) -> ToolCaller {
        let place = CallOrigin { patience: patience.map(Duration::from_secs), ..CallOrigin::default() };
        ToolCaller { place, agent: Some(agent_name(client)), hears }
    }

    #[test]
    fn clients_are_known_by_the_names_of_their_agents() {
        for (client, agent) in [
            ("claude-code", "claude"),
            ("codex-mcp-client", "codex"),
            ("gemini-cli-mcp-client-sayso", "gemini"),
            (" Cur\u{7}sor ", "Cursor"),
            ("\u{1b}[31m", "[31m"),
        ] {
            assert_eq!(agent_name(client), agent);
        }
    }

    #[test]
    fn wait_is_limited_by_the_client_timeout() {
        assert_eq!(caller("claude-code", true, None).patience(), None);
        assert_eq!(caller("claude-code", false, None).patience(), Some(UNKNOWN));
        assert_eq!(caller("codex-mcp-client", true, None).patience(), Some(CODEX));
        assert_eq!(caller("gemini-cli-mcp-client", true, None).patience(), Some(GEMINI));
        assert_eq!(caller("codex-mcp-client", true, Some(86_000)).patience(), Some(Duration::from_secs(86_000)));
    }

    #[test]
    fn key_depends_on_caller_and_content() {
        let key = |client: &str, session: &str, content: &str| {
            let mut caller = caller(client, true, None);
            caller.place.session = Some(session.to_owned());
            caller.sign(NewAsk::default(), &content, "10m").dedupe_key.unwrap()
        };
        assert_eq!(key("a", "s", "x"), key("a", "s", "x"));
        assert!(key("a", "s", "x") != key("b", "s", "x") && key("a", "s", "x") != key("a", "t", "x"));
        assert_ne!(key("a", "s", "x"), key("a", "s", "y"));
        assert!(key("a", "s", "x").len() <= limits::NAME);
    }
}
