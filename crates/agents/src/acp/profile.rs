//! What is known about an agent before it was asked.

use crate::translator::Capabilities;
use sayso_core::ask::TypedAnswers;

/// Agents whose abilities differ from what the protocol promises. How they are spoken to follows from
/// what they send, not from this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// Any agent.
    #[default]
    Generic,
    /// `claude-agent-acp`.
    Claude,
    /// `gemini --acp`: it never asks questions over this protocol.
    Gemini,
    /// `qwen --acp`: it asks by permissions that carry questions.
    Qwen,
    /// `amp-acp`: it sends neither questions nor permission requests.
    Amp,
}

/// What an agent of this protocol can do unless more is known.
pub const CAPABILITIES: Capabilities = Capabilities {
    questions: true,
    approvals: true,
    plans: true,
    elicitation: true,
    resume: true,
    survives_restart: true,
    configure: true,
    typed: TypedAnswers::OwnText,
};

/// What this agent can do.
#[must_use]
pub const fn capabilities(profile: Profile) -> Capabilities {
    match profile {
        Profile::Generic | Profile::Claude => CAPABILITIES,
        Profile::Gemini => Capabilities { questions: false, plans: false, elicitation: false, ..CAPABILITIES },
        Profile::Qwen => Capabilities { elicitation: false, ..CAPABILITIES },
        Profile::Amp => Capabilities { questions: false, approvals: false, plans: false, elicitation: false, ..CAPABILITIES },
    }
}
