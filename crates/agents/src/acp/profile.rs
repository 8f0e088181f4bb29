//! Knowledge about an agent before its handshake.

use crate::translator::Capabilities;
use sayso_core::ask::TypedAnswers;

/// Agents whose capabilities differ from those that the protocol promises. The profile only selects capabilities; the
/// translator adapts to the messages that the agent sends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    #[default]
    Generic,
    /// `claude-agent-acp`, which needs no special treatment.
    Claude,
    /// `gemini --acp`: never asks questions over this protocol.
    Gemini,
    /// `qwen --acp`: asks questions inside permission requests.
    Qwen,
    /// `amp-acp`: sends neither questions nor permission requests.
    Amp,
}

/// Capabilities of an ACP agent without a more specific profile.
pub const CAPABILITIES: Capabilities = Capabilities { typed: TypedAnswers::OwnText, ..Capabilities::FULL };

#[must_use]
pub const fn capabilities(profile: Profile) -> Capabilities {
    match profile {
        Profile::Generic | Profile::Claude => CAPABILITIES,
        Profile::Gemini => Capabilities { questions: false, plans: false, elicitation: false, ..CAPABILITIES },
        Profile::Qwen => Capabilities { elicitation: false, ..CAPABILITIES },
        Profile::Amp => Capabilities { questions: false, approvals: false, plans: false, elicitation: false, ..CAPABILITIES },
    }
}
