//! The effective defaults: the settings of all scopes, combined.

use super::model::{ApprovalPolicy, ApprovalSettings, OnTimeout, QuestionPolicy, QuestionSettings};
use super::scopes::PolicySet;
use crate::ask::Deadline;
use crate::time::{Span, Time};

/// The defaults for an ask that no rule decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) questions: QuestionPolicy,
    question_wait: Option<(Span, OnTimeout)>,
    pub(super) question_message: Option<String>,
    pub(super) approvals: ApprovalPolicy,
    approval_wait: Option<Span>,
    pub(super) approval_message: Option<String>,
}

impl Settings {
    pub(super) fn of(set: &PolicySet, step: bool, now: Time) -> Self {
        let mut settings = Self {
            questions: QuestionPolicy::Forward,
            question_wait: None,
            question_message: None,
            approvals: ApprovalPolicy::Ask,
            approval_wait: None,
            approval_message: None,
        };
        settings.apply_layer(&set.user.questions, &set.user.approvals);
        if let Some(active) = set.profile.as_ref().filter(|active| active.is_on(now)) {
            settings.apply_layer(&active.profile.questions, &active.profile.approvals);
        }
        if let Some(project) = &set.project {
            if project.trusted {
                settings.apply_layer(&project.policy.questions, &project.policy.approvals);
            } else {
                settings.tighten(&project.policy.questions, &project.policy.approvals);
            }
        }
        // Workflows run unattended, so a step forwards an ask to a person only if its own policy says so.
        if step {
            settings.questions = QuestionPolicy::Reject;
            settings.question_wait = None;
        }
        settings.apply_layer(&set.session.questions, &set.session.approvals);
        if let (true, Some(timeout), None) = (step, set.session.questions.timeout, set.session.questions.on_timeout) {
            settings.question_wait = Some((timeout, OnTimeout::AcceptFirst));
        }
        settings
    }

    fn apply_layer(&mut self, questions: &QuestionSettings, approvals: &ApprovalSettings) {
        if let Some(policy) = questions.policy {
            self.questions = policy;
            self.question_wait = None;
        }
        if let Some(timeout) = questions.timeout {
            // The parser requires `on_timeout`. Without it, silence must not be consent.
            self.question_wait = Some((timeout, questions.on_timeout.unwrap_or(OnTimeout::Reject)));
        }
        if let Some(policy) = approvals.policy {
            self.approvals = policy;
            self.approval_wait = None;
        }
        self.approval_wait = approvals.timeout.or(self.approval_wait);
        self.question_message = questions.message.clone().or(self.question_message.take());
        self.approval_message = approvals.message.clone().or(self.approval_message.take());
    }

    /// Applies only settings that are stricter.
    fn tighten(&mut self, questions: &QuestionSettings, approvals: &ApprovalSettings) {
        if let Some(policy) = questions.policy.filter(|policy| strictness(*policy) > strictness(self.questions)) {
            self.questions = policy;
            self.question_wait = None;
            self.question_message = questions.message.clone().or(self.question_message.take());
        }
        if let Some((timeout, OnTimeout::Reject)) = questions.timeout.zip(questions.on_timeout)
            && self.question_wait.is_none_or(|(now, then)| timeout < now || then == OnTimeout::AcceptFirst)
        {
            self.question_wait = Some((timeout, OnTimeout::Reject));
        }
        if let Some(policy) = approvals.policy.filter(|policy| *policy > self.approvals) {
            self.approvals = policy;
            self.approval_message = approvals.message.clone().or(self.approval_message.take());
        }
        if let Some(timeout) = approvals.timeout {
            self.approval_wait = Some(self.approval_wait.map_or(timeout, |now| now.min(timeout)));
        }
    }

    /// Returns the deadline of a question that is left to a person.
    pub(super) fn question_deadline(&self, now: Time) -> Option<Deadline> {
        let (after, then) = self.question_wait.filter(|_| self.questions == QuestionPolicy::Forward)?;
        Some(Deadline { at: now.plus(after.0), after, then })
    }

    /// Returns the time at which an undecided approval is denied.
    pub(super) fn approval_deadline(&self, now: Time) -> Option<Deadline> {
        self.approval_wait.map(|after| Deadline { at: now.plus(after.0), after, then: OnTimeout::Deny })
    }
}

const fn strictness(policy: QuestionPolicy) -> u8 {
    match policy {
        QuestionPolicy::AcceptFirst => 0,
        QuestionPolicy::Auto => 1,
        QuestionPolicy::Forward => 2,
        QuestionPolicy::Reject => 3,
    }
}
