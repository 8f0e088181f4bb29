//! What becomes of a pending ask when its agent is gone.

use super::{Ask, AskState, Decision};

/// What becomes of the ask.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentGone {
    /// It stays pending without an agent; its answer resumes the session.
    Park(AskState),
    /// It is withdrawn.
    Withdraw(Decision),
    /// It stays as it is: it is parked or resolved already.
    Keep,
}

/// Decides what becomes of an ask. `resumable` says whether the session of the ask can be resumed, and `reason` why the
/// agent is gone.
#[must_use]
pub fn agent_gone(ask: &Ask, resumable: bool, reason: &str) -> AgentGone {
    if resumable && ask.can_be_parked() {
        return ask.state.parked().map_or(AgentGone::Keep, AgentGone::Park);
    }
    AgentGone::Withdraw(Decision::Withdrawn { reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{AskBody, AskContext, Input, Link, Origin, PolicyNote, Question, Reach};
    use crate::id::AskId;
    use crate::time::Time;

    fn pending(body: AskBody, reach: Reach) -> Ask {
        Ask {
            id: AskId::from_bytes([1; 16]),
            origin: Origin { session: None, connection: None, native_id: None, opened_by: None },
            body: body.into(),
            context: AskContext::default().into(),
            policy: PolicyNote::default(),
            opened_at: Time::from_millis(0),
            snoozed_until: None,
            state: AskState::Pending(reach),
            raw: None,
        }
    }

    fn question(secret: bool) -> AskBody {
        let text = "Which port?".to_owned();
        let question = Question { key: "0".to_owned(), header: None, text, input: Input::Text { secret }, required: true };
        AskBody::Question { questions: vec![question] }
    }

    #[test]
    fn only_a_question_without_a_secret_is_parked() {
        let withdrawn = AgentGone::Withdraw(Decision::Withdrawn { reason: "gone".to_owned() });
        let parked = AgentGone::Park(AskState::Pending(Reach::Parked));
        let link = AskBody::Link(Link { url: "https://example.com".to_owned(), message: None });
        assert_eq!(agent_gone(&pending(question(false), Reach::Live), true, "gone"), parked);
        assert_eq!(agent_gone(&pending(question(false), Reach::Parked), true, "gone"), AgentGone::Keep);
        assert_eq!(agent_gone(&pending(question(false), Reach::Live), false, "gone"), withdrawn);
        assert_eq!(agent_gone(&pending(question(true), Reach::Live), true, "gone"), withdrawn);
        assert_eq!(agent_gone(&pending(link, Reach::Live), true, "gone"), withdrawn);
    }
}
