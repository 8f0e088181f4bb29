//! Direct chat with a model behind an endpoint that is compatible with OpenAI's chat completions API. The model has
//! exactly one tool, `question`. A call of it becomes an ask, and no request is in flight until the ask is answered.
//!
//! `conversation` has the messages as the endpoint receives them, `reply` parses the stream, `question` defines the
//! tool, and `state` is the state machine.

mod conversation;
mod question;
mod reply;
mod state;

use sayso_core::ask::TypedAnswers;
use sayso_core::time::Time;

use crate::translator::{Capabilities, HttpServer, Input, Login, Output, Saved, Translator};
use state::ChatState;

pub const CAPABILITIES: Capabilities = Capabilities {
    questions: true,
    approvals: false,
    plans: false,
    elicitation: false,
    resume: true,
    survives_restart: true,
    configure: false,
    typed: TypedAnswers::Any,
};

/// Version of the saved state's format.
const VERSION: u32 = 1;

/// The endpoint from the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL up to, but not including, `/chat/completions`.
    pub base_url: String,
    /// The model for sessions that do not choose another one.
    pub model: String,
    /// The environment variable that holds the API key, if the endpoint needs one.
    pub api_key_env: Option<String>,
    /// The system prompt.
    pub system: Option<String>,
}

/// Translator for one chat session.
#[derive(Debug)]
pub struct ChatTranslator {
    endpoint: Endpoint,
    state: ChatState,
}

impl ChatTranslator {
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, state: ChatState::default() }
    }

    /// Restores a saved conversation; `None` if the state has another format version.
    #[must_use]
    pub fn restore(endpoint: Endpoint, saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|state| Self { endpoint, state })
    }
}

impl Translator for ChatTranslator {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        self.state.handle(&self.endpoint, now, input)
    }

    fn deadline(&self) -> Option<Time> {
        self.state.deadline()
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }

    /// A connection exists only while a request is in flight: a conversation that waits for a person uses no resources.
    fn server(&self) -> Option<HttpServer> {
        self.state.is_calling().then(|| HttpServer {
            url: self.endpoint.base_url.trim_end_matches('/').to_owned(),
            login: self.endpoint.api_key_env.clone().map_or(Login::Open, Login::Bearer),
            events: None,
        })
    }
}
