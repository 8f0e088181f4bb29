//! A model behind an endpoint that speaks like OpenAI's chat completions, talked to directly. It has one
//! tool, `question`, and no other: what it asks becomes an ask, and nothing is under way until somebody
//! answers.
//!
//! `conversation` is what was said, as the endpoint is told; `reply` reads what it streams; `question` is
//! the tool; `state` is how it goes on.

mod conversation;
mod question;
mod reply;
mod state;

use sayso_core::ask::TypedAnswers;
use sayso_core::time::Time;

use crate::translator::{Capabilities, HttpServer, Input, Login, Output, Saved, Translator};
use state::ChatState;

/// What a model can do here.
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

/// The version of the saved state's shape.
const VERSION: u32 = 1;

/// The endpoint, as the configuration has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Where it is, up to and without `/chat/completions`.
    pub base_url: String,
    /// The model that is asked for unless a session wants another.
    pub model: String,
    /// The variable that holds its key, if it wants one.
    pub api_key_env: Option<String>,
    /// What the model is told first.
    pub system: Option<String>,
}

/// One conversation.
#[derive(Debug)]
pub struct ChatTranslator {
    endpoint: Endpoint,
    state: ChatState,
}

impl ChatTranslator {
    /// A conversation that has not begun.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, state: ChatState::default() }
    }

    /// The conversation as it was saved; nothing if the state is of another version.
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

    /// Only while something is asked of it: a conversation that waits for a person costs nothing.
    fn server(&self) -> Option<HttpServer> {
        self.state.is_calling().then(|| HttpServer {
            url: self.endpoint.base_url.trim_end_matches('/').to_owned(),
            login: self.endpoint.api_key_env.clone().map_or(Login::Open, Login::Bearer),
            events: None,
        })
    }
}
