//! Decides whether a message that a person types into a session answers an ask.

use serde::{Deserialize, Serialize};

use crate::ask::{Answers, Ask, AskBody, AskState, Reach};
use crate::id::AskId;

/// The properties of a pending ask that decide whether a message answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAsk {
    pub id: AskId,
    /// How text becomes answers to it. `None` if text does not answer it.
    pub as_answer: Option<TextShape>,
    /// Whether the agent's main thread waits for it.
    pub in_root: bool,
}

/// The questions of an agent that a message can answer, if one of them is the only pending ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TypedAnswers {
    /// A single question that accepts text.
    #[default]
    OwnText,
    /// Also multi-question asks: the agent accepts one free-text reply for all of them.
    Sets,
    /// Any single question, for agents that only exchange messages.
    Any,
}

/// How text becomes the answers of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextShape {
    /// The text answers the only question.
    Only,
    /// The text is the one reply for all questions and is repeated for each of them.
    WholeSet,
}

/// The effect of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageTarget {
    /// Nothing is pending, so the message is a prompt.
    Prompt,
    /// The message answers this ask and is not passed on as a prompt.
    Answers(AskId, TextShape),
    /// Asks are pending that the message does not answer.
    Pending(Vec<AskId>),
}

impl PendingAsk {
    /// Derives the properties of a pending ask, for an agent that accepts `typed` messages.
    #[must_use]
    pub fn of(ask: &Ask, typed: TypedAnswers) -> Self {
        let live = ask.state == AskState::Pending(Reach::Live);
        let as_answer = match &*ask.body {
            AskBody::Question { questions } if live && !ask.body.is_secret() => match questions.as_slice() {
                // Messages are not validated against a schema.
                _ if questions.iter().any(|question| question.response_schema.is_some()) => None,
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

/// Decides the effect of a message. It answers an ask only if this is the only pending ask of the main thread and a question
/// that accepts text and is not secret. A message never answers an approval.
#[must_use]
pub fn find_message_target(pending: &[PendingAsk]) -> MessageTarget {
    let mut root = pending.iter().filter(|ask| ask.in_root);
    match (root.next(), root.next()) {
        (None, _) if pending.is_empty() => MessageTarget::Prompt,
        (Some(PendingAsk { id, as_answer: Some(shape), .. }), None) => MessageTarget::Answers(*id, *shape),
        _ => MessageTarget::Pending(pending.iter().map(|ask| ask.id).collect()),
    }
}

impl TextShape {
    /// Returns the answers that a text means.
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
    fn message_answers_only_a_single_open_question() {
        let question = pending(1, Some(TextShape::Only), true);
        let approval = pending(2, None, true);
        let of_helper = pending(3, Some(TextShape::Only), false);
        assert_eq!(find_message_target(&[]), MessageTarget::Prompt);
        assert_eq!(find_message_target(std::slice::from_ref(&question)), MessageTarget::Answers(question.id, TextShape::Only));
        assert_eq!(
            find_message_target(&[question.clone(), of_helper.clone()]),
            MessageTarget::Answers(question.id, TextShape::Only)
        );
        assert_eq!(
            find_message_target(&[question.clone(), approval.clone()]),
            MessageTarget::Pending(vec![question.id, approval.id])
        );
        assert_eq!(find_message_target(std::slice::from_ref(&approval)), MessageTarget::Pending(vec![approval.id]));
        assert_eq!(find_message_target(std::slice::from_ref(&of_helper)), MessageTarget::Pending(vec![of_helper.id]));
    }
}
