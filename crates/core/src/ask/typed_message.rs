//! When a message that a person types to a session answers an ask of it.

use serde::{Deserialize, Serialize};

use crate::ask::{Answers, Ask, AskBody, AskState, Reach};
use crate::id::AskId;

/// What a message must know about one pending ask of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAsk {
    /// Its id.
    pub id: AskId,
    /// What a typed text would mean for it; nothing when text does not answer it.
    pub as_answer: Option<TextShape>,
    /// Whether the main thread of the agent waits for it.
    pub in_root: bool,
}

/// Which questions of an agent a typed message answers, if one of them is the only open ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TypedAnswers {
    /// One that takes text.
    #[default]
    OwnText,
    /// And a set of them, which the agent takes one free reply for.
    Sets,
    /// Any single one: the agent is talked to in messages anyway.
    Any,
}

/// How a typed text becomes the answers of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextShape {
    /// It is the answer to the only question.
    Only,
    /// The agent takes one free reply for the whole set; it stands in for every question.
    WholeSet,
}

/// What becomes of a typed message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageTarget {
    /// Nothing is pending: it is a prompt.
    Prompt,
    /// It answers this ask; no other message is inserted.
    Answers(AskId, TextShape),
    /// Something is pending that a message does not answer.
    Pending(Vec<AskId>),
}

impl PendingAsk {
    /// Looks at a pending ask of an agent that takes typed messages like this.
    #[must_use]
    pub fn of(ask: &Ask, typed: TypedAnswers) -> Self {
        let live = ask.state == AskState::Pending(Reach::Live);
        let as_answer = match &*ask.body {
            AskBody::Question { questions } if live && !ask.body.is_secret() => match questions.as_slice() {
                [only] if only.takes_text() || typed == TypedAnswers::Any => Some(TextShape::Only),
                [_] | [] => None,
                _ if typed == TypedAnswers::Sets => Some(TextShape::WholeSet),
                _ => None,
            },
            AskBody::Question { .. } | AskBody::Approval(_) | AskBody::Link(_) => None,
        };
        Self { id: ask.id, as_answer, in_root: ask.context.subagent.is_none() }
    }
}

/// Decides what a typed message does: it answers an ask only if exactly one is pending in the root
/// thread, that one is a question, not secret, and takes text. Approvals are never answered by text.
#[must_use]
pub fn target_of(pending: &[PendingAsk]) -> MessageTarget {
    let mut root = pending.iter().filter(|ask| ask.in_root);
    match (root.next(), root.next()) {
        (None, _) if pending.is_empty() => MessageTarget::Prompt,
        (Some(PendingAsk { id, as_answer: Some(shape), .. }), None) => MessageTarget::Answers(*id, *shape),
        _ => MessageTarget::Pending(pending.iter().map(|ask| ask.id).collect()),
    }
}

impl TextShape {
    /// The answers that a typed text stands for.
    #[must_use]
    pub fn answers(self, text: &str, questions: usize) -> Answers {
        match self {
            Self::Only => vec![vec![text.to_owned()]],
            Self::WholeSet => vec![vec![text.to_owned()]; questions],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    fn pending(n: u8, as_answer: Option<TextShape>, in_root: bool) -> PendingAsk {
        PendingAsk { id: AskId::new(Time::from_millis(0), [n; 10]), as_answer, in_root }
    }

    #[test]
    fn a_message_answers_only_the_one_open_question() {
        let question = pending(1, Some(TextShape::Only), true);
        let approval = pending(2, None, true);
        let of_helper = pending(3, Some(TextShape::Only), false);
        assert_eq!(target_of(&[]), MessageTarget::Prompt);
        assert_eq!(target_of(std::slice::from_ref(&question)), MessageTarget::Answers(question.id, TextShape::Only));
        assert_eq!(target_of(&[question.clone(), of_helper.clone()]), MessageTarget::Answers(question.id, TextShape::Only));
        assert_eq!(target_of(&[question.clone(), approval.clone()]), MessageTarget::Pending(vec![question.id, approval.id]));
        assert_eq!(target_of(std::slice::from_ref(&approval)), MessageTarget::Pending(vec![approval.id]));
        assert_eq!(target_of(std::slice::from_ref(&of_helper)), MessageTarget::Pending(vec![of_helper.id]));
    }
}
