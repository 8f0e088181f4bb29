//! Decides whether a pending ask is parked or withdrawn when its agent is gone.

use super::{Ask, AskState, Decision};

/// The change to an ask whose agent is gone.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentGoneEffect {
    /// The ask stays pending without an agent. Its answer resumes the session.
    Park(AskState),
    /// The ask is withdrawn with this decision.
    Withdraw(Decision),
    /// The ask does not change, because it is parked or resolved already.
    Keep,
}

/// Returns the change to an ask whose agent is gone. `resumable` says whether the session can be resumed, and `reason` why the
/// agent is gone.
#[must_use]
pub fn agent_gone_effect(ask: &Ask, resumable: bool, reason: &str) -> AgentGoneEffect {
    if resumable && ask.can_be_parked() {
        return ask.state.park().map_or(AgentGoneEffect::Keep, AgentGoneEffect::Park);
    }
    AgentGoneEffect::Withdraw(Decision::Withdrawn { reason: reason.to_owned() })
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
        let question = Question {
            key: "0".to_owned(),
            header: None,
            text,
            input: Input::Text { secret },
            required: true,
            response_schema: None,
        };
        AskBody::Question { questions: vec![question] }
    }

    #[test]
    fn only_a_question_without_a_secret_is_parked() {
        let withdrawn = AgentGoneEffect::Withdraw(Decision::Withdrawn { reason: "gone".to_owned() });
        let parked = AgentGoneEffect::Park(AskState::Pending(Reach::Parked));
        let link = AskBody::Link(Link { url: "https://example.com".to_owned(), message: None });
        assert_eq!(agent_gone_effect(&pending(question(false), Reach::Live), true, "gone"), parked);
        assert_eq!(agent_gone_effect(&pending(question(false), Reach::Parked), true, "gone"), AgentGoneEffect::Keep);
        assert_eq!(agent_gone_effect(&pending(question(false), Reach::Live), false, "gone"), withdrawn);
        assert_eq!(agent_gone_effect(&pending(question(true), Reach::Live), true, "gone"), withdrawn);
        assert_eq!(agent_gone_effect(&pending(link, Reach::Live), true, "gone"), withdrawn);
    }
}
