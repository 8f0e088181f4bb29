//! Describes in words how each step of a workflow handles questions and timeouts.

use serde::Serialize;

use super::model::{IfAgentDies, Kind, OnFailure, Step, Workflow};
use crate::policy::{Effect, OnTimeout, QuestionPolicy};
use crate::time::in_words;

/// The description of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepExplained {
    /// The id of the step.
    pub id: String,
    /// What the step is, for example the name of its agent.
    pub what: String,
    /// What happens to a question.
    pub on_question: String,
    /// What happens if no one answers in time.
    pub on_timeout: String,
}

impl Workflow {
    /// Describes all steps, in order.
    #[must_use]
    pub fn explain(&self) -> Vec<StepExplained> {
        let mut all = Vec::new();
        for step in &self.steps {
            all.push(step.explain());
            all.extend(step.parallel.iter().flatten().map(Step::explain));
        }
        all
    }
}

impl Step {
    /// Describes what happens to a question of the step's agent, as a sentence. `None` for a step without an agent.
    #[must_use]
    pub fn question_policy(&self) -> Option<String> {
        let asked = self.agent.as_ref().map(|_| self.on_question())?;
        let waits = matches!(self.questions, Some(QuestionPolicy::Forward)) && self.question_timeout.is_some();
        Some(if waits { format!("{asked}; {}", self.when_silent()) } else { asked })
    }

    fn explain(&self) -> StepExplained {
        let (what, on_question, on_timeout) = match self.kind() {
            Kind::Agent { agent, .. } => {
                let dies = match self.if_agent_dies.unwrap_or_default() {
                    IfAgentDies::Fail => "",
                    IfAgentDies::Retry => "; if it dies, the step starts again",
                };
                (format!("agent {agent}{dies}"), self.on_question(), self.when_silent())
            }
            Kind::Parallel(steps) => {
                let then = match self.on_failure.unwrap_or_default() {
                    OnFailure::Cancel => "if one fails, the others are cancelled",
                    OnFailure::Finish => "if one fails, the others finish",
                };
                (format!("{} steps at once; {then}", steps.len()), "as its steps say".to_owned(), "as its steps say".to_owned())
            }
            Kind::Checkpoint(_) => {
                let asks = "the run pauses until a person answers; if the person rejects, the run fails".to_owned();
                ("checkpoint".to_owned(), asks, "waits forever".to_owned())
            }
            Kind::Unclear => (String::new(), String::new(), String::new()),
        };
        StepExplained { id: self.id.clone(), what, on_question, on_timeout }
    }

    fn on_question(&self) -> String {
        let answering = self.rules.iter().filter(|rule| matches!(rule.effect, Effect::Answer | Effect::Reject | Effect::Ask));
        let rules = match answering.count() {
            0 => String::new(),
            1 => "one rule of the step is tried first, then: ".to_owned(),
            several => format!("{several} rules of the step are tried first, then: "),
        };
        let rest = match self.questions {
            None if self.rules.is_empty() => "rejected (the default); the question tool of the agent is disabled",
            None => "rejected (the default)",
            Some(QuestionPolicy::Reject) if self.rules.is_empty() => "rejected; the question tool of the agent is disabled",
            Some(QuestionPolicy::Reject) => "rejected",
            Some(QuestionPolicy::AcceptFirst) => "the first option of every question is taken",
            Some(QuestionPolicy::Forward) => "a person answers",
            Some(QuestionPolicy::Auto) => "rules answer; if no rule matches, the first option is chosen",
        };
        format!("{rules}{rest}")
    }

    fn when_silent(&self) -> String {
        match (self.questions, self.question_timeout) {
            (Some(QuestionPolicy::Forward), Some(span)) => {
                let then = match self.on_timeout {
                    None => "the first option of every question is taken (the default)",
                    Some(OnTimeout::AcceptFirst) => "the first option of every question is taken",
                    Some(OnTimeout::Reject | OnTimeout::Deny) => "the question is rejected",
                };
                format!("after {} {then}", in_words(span.0))
            }
            (Some(QuestionPolicy::Forward), None) => "waits forever".to_owned(),
            (Some(QuestionPolicy::Reject | QuestionPolicy::AcceptFirst | QuestionPolicy::Auto) | None, _) => {
                "the agent does not wait".to_owned()
            }
        }
    }
}
