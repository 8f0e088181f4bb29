//! Interprets the client's response to an ask of the mock.

use sayso_core::ask::{AskBody, Decision, validate_answers};
use sayso_core::id::SessionId;
use sayso_core::texts;

use crate::form::{answers, content_of};
use crate::json::Object;

/// The id of the approving option.
pub(super) const ALLOW: &str = "allow";
/// The id of the rejecting option.
pub(super) const REJECT: &str = "reject";
const CANCELLED: &str = "The client cancelled it.";

/// A request that the client has not answered.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) id: u64,
    pub(super) session: SessionId,
    pub(super) native: String,
    pub(super) body: AskBody,
    pub(super) by: By,
}

/// The method of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Permission,
    Elicitation,
    Question,
}

impl Waiting {
    /// The decision in the client's result.
    pub(super) fn decision(&self, result: &Object<'_>) -> Decision {
        let withdrawn = || Decision::Withdrawn { reason: CANCELLED.to_owned() };
        match self.by {
            By::Permission => {
                let outcome = result.object("outcome").unwrap_or_default();
                match (outcome.text("outcome").as_deref(), outcome.text("optionId")) {
                    (Some("selected"), Some(id)) if id == ALLOW => Decision::Approved { choice: None, input: None },
                    (Some("selected"), Some(id)) if id != REJECT => Decision::Approved { choice: Some(id), input: None },
                    (Some("selected"), _) => self.reject(String::new()),
                    _ => withdrawn(),
                }
            }
            By::Elicitation => match (result.text("action").as_deref(), &self.body) {
                (Some("accept"), AskBody::Question { questions }) => {
                    self.checked_answer(content_of(questions, &result.object("content").unwrap_or_default()))
                }
                (Some("accept"), AskBody::Approval(_) | AskBody::Link(_)) => Decision::Approved { choice: None, input: None },
                (Some("decline"), _) => self.reject(String::new()),
                _ => withdrawn(),
            },
            By::Question => match result.text("status").as_deref() {
                Some("answered") => self.checked_answer(answers(result)),
                Some("rejected") => self.reject(String::new()),
                _ => withdrawn(),
            },
        }
    }

    /// An answer if the entries fit the questions, otherwise a rejection.
    fn checked_answer(&self, answers: Vec<Vec<String>>) -> Decision {
        match validate_answers(self.body.questions(), &answers) {
            Ok(answers) => Decision::Answered { answers, note: None },
            Err(error) => rejected(&format!("the answer does not fit: {error}")),
        }
    }

    /// A rejection with these words, or the default words.
    pub(super) fn reject(&self, words: String) -> Decision {
        let or = |default: &str| if words.is_empty() { default.to_owned() } else { words.clone() };
        match &self.body {
            AskBody::Question { .. } => rejected(&or(texts::REJECTED)),
            AskBody::Approval(_) => Decision::Denied { message: or(texts::DENIED), stop: false },
            AskBody::Link(_) => Decision::Denied { message: or(texts::LINK_DENIED), stop: false },
        }
    }
}

pub(super) fn rejected(message: &str) -> Decision {
    Decision::Rejected { message: message.to_owned(), stop: false }
}
