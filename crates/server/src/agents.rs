//! The agents that can be started: configuration, not an enum.

use sayso_agents::mock::{CAPABILITIES, MockTranslator};
use sayso_agents::translator::{Capabilities, Saved, Translator};
use sayso_core::connection::ConnectionKind;
use sayso_core::raw::Raw;

/// One agent.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) protocol: &'static str,
    pub(crate) kind: ConnectionKind,
    pub(crate) capabilities: Capabilities,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Agents {
    agents: Vec<Agent>,
}

impl Agents {
    /// What is built in.
    pub(crate) fn new() -> Self {
        let mock =
            Agent { name: "mock".to_owned(), protocol: "mock", kind: ConnectionKind::InProcess, capabilities: CAPABILITIES };
        Self { agents: vec![mock] }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    pub(crate) fn all(&self) -> &[Agent] {
        &self.agents
    }
}

impl Agent {
    /// The translator, as it was when this state was saved. Nothing if the state is of an unknown version.
    pub(crate) fn translator(&self, state: Option<&Raw>) -> Option<Box<dyn Translator>> {
        let Some(state) = state else { return Some(Box::new(MockTranslator::new())) };
        let saved: Saved = serde_json::from_str(state.as_str()).ok()?;
        MockTranslator::restore(&saved).map(|translator| Box::new(translator) as Box<dyn Translator>)
    }
}
