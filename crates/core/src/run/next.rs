//! Computes the next state of a run and the effects of an event.

use std::collections::BTreeMap;

use super::{Run, RunStatus, StepRun, StepState};
use crate::ask::{Decision, Question};
use crate::id::{AskId, Entropy, SessionId};
use crate::limits;
use crate::time::Time;
use crate::workflow::{IfAgentDies, Kind, OnFailure, Step, Template, Values};

/// How often a step is started at most, if it retries when its agent dies.
const ATTEMPTS: u32 = 3;
/// Maximum bytes of a prompt after variables are filled in.
const PROMPT: usize = 1024 * 1024;

/// An event that advances a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Begin,
    /// The agent of a step finished its turn.
    Finished {
        /// The session of the step.
        session: SessionId,
        /// The last message of the agent.
        output: String,
    },
    /// The session of a step ended before its turn did, or could not be started.
    Ended {
        /// The session of the step.
        session: SessionId,
        reason: String,
        /// Whether the agent failed. Only then the step can be started again.
        died: bool,
    },
    /// A checkpoint was decided.
    Decided {
        /// The ask of the checkpoint.
        ask: AskId,
        decision: Decision,
    },
    /// A person cancelled the run.
    Cancel {
        /// Who cancelled the run, or why.
        reason: String,
    },
}

/// A consequence of an event. The store carries it out in the transaction that saves the new state.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Start a session with an agent.
    StartSession {
        /// The id of the step.
        step: String,
        /// The id that the new session gets.
        session: SessionId,
        /// The complete prompt.
        prompt: String,
    },
    /// Open an ask for a checkpoint.
    OpenCheckpoint {
        /// The id of the step.
        step: String,
        /// The id that the new ask gets.
        ask: AskId,
        /// The question with all variables filled in.
        question: Question,
    },
    /// Mark the outcome of a checkpoint as delivered, because the run has used it.
    TakeOutcome {
        /// The ask of the checkpoint.
        ask: AskId,
    },
    CloseSession {
        /// The session to close.
        session: SessionId,
    },
    /// Withdraw the ask of a checkpoint.
    Withdraw {
        /// The ask of the checkpoint.
        ask: AskId,
        reason: String,
    },
    /// Publish `run.started`.
    RunBegan,
    /// Publish `step.started`.
    StepBegan {
        /// The id of the step.
        step: String,
    },
    /// Publish that a step completed, failed or was cancelled.
    StepOver {
        /// The id of the step.
        step: String,
    },
    /// Publish that the run completed, failed or was cancelled.
    RunOver,
}

impl Run {
    /// Applies an event and returns its effects. Events about steps that are already over change nothing.
    pub fn next(&mut self, event: Event, now: Time, entropy: &mut dyn FnMut() -> Entropy) -> Vec<Effect> {
        if self.status.is_over() {
            return Vec::new();
        }
        let mut then = Then { effects: Vec::new(), now, entropy };
        match event {
            Event::Begin => then.effects.push(Effect::RunBegan),
            Event::Finished { session, output } => {
                let Some(index) = self.running(session) else { return Vec::new() };
                then.effects.push(Effect::CloseSession { session });
                let output = limits::tail(&output, limits::OUTPUT).to_owned();
                self.end_step(index, StepState::Completed { output }, &mut then);
            }
            Event::Ended { session, reason, died } => {
                let Some(index) = self.running(session) else { return Vec::new() };
                // Closing the session also withdraws its pending asks.
                then.effects.push(Effect::CloseSession { session });
                let again = self.leaf(index).is_some_and(|step| step.if_agent_dies == Some(IfAgentDies::Retry));
                if died && again && self.steps.get(index).is_some_and(|step| step.attempts < ATTEMPTS) {
                    self.start_step(index, &mut then);
                } else {
                    self.end_step(index, StepState::Failed { reason }, &mut then);
                }
            }
            Event::Decided { ask, decision } => {
                let asking = |step: &StepRun| step.state == StepState::Asking { ask };
                let Some(index) = self.steps.iter().position(asking) else { return Vec::new() };
                let state = match decision {
                    Decision::Answered { answers, .. } => StepState::Completed { output: answers.concat().join(", ") },
                    Decision::Rejected { message, .. } | Decision::Denied { message, .. } => {
                        StepState::Failed { reason: format!("the checkpoint was rejected: {message}") }
                    }
                    Decision::Withdrawn { reason } => StepState::Failed { reason },
                    Decision::Approved { .. } => StepState::Completed { output: String::new() },
                };
                then.effects.push(Effect::TakeOutcome { ask });
                self.end_step(index, state, &mut then);
            }
            Event::Cancel { reason } => {
                for index in 0..self.steps.len() {
                    self.stop(index, &reason, &mut then);
                }
                self.over(RunStatus::Cancelled { reason }, &mut then);
            }
        }
        self.start_ready_steps(&mut then);
        self.updated_at = now;
        then.effects
    }

    fn running(&self, session: SessionId) -> Option<usize> {
        self.steps.iter().position(|step| step.state == StepState::Running { session })
    }

    fn leaf(&self, index: usize) -> Option<&Step> {
        self.workflow.leaves().nth(index)
    }

    /// Starts every step that can start, and ends the run if no step can.
    fn start_ready_steps(&mut self, then: &mut Then<'_>) {
        let mut first = 0;
        let stages: Vec<(usize, OnFailure)> = self
            .workflow
            .steps
            .iter()
            .map(|step| (step.parallel.as_ref().map_or(1, Vec::len), step.on_failure.unwrap_or_default()))
            .collect();
        for (count, on_failure) in stages {
            let indices = first..first + count;
            first += count;
            if self.status.is_over() {
                return;
            }
            for index in indices.clone() {
                if self.steps.get(index).is_some_and(|step| step.state == StepState::Pending && self.failure(&indices).is_none())
                {
                    self.start_step(index, then);
                }
            }
            if let Some(reason) = self.failure(&indices) {
                for index in indices.clone() {
                    let stops = match self.steps.get(index).map(|step| &step.state) {
                        Some(StepState::Pending) => true,
                        Some(state) => state.is_active() && on_failure == OnFailure::Cancel,
                        None => false,
                    };
                    if stops {
                        self.stop(index, "another step of the group failed", then);
                    }
                }
                if !self.steps.iter().any(|step| step.state.is_active()) {
                    for index in 0..self.steps.len() {
                        self.stop(index, "the run failed before", then);
                    }
                    self.over(RunStatus::Failed { reason }, then);
                }
                return;
            }
            let done = |index: usize| self.steps.get(index).is_some_and(|step| matches!(step.state, StepState::Completed { .. }));
            if !indices.clone().all(done) {
                return;
            }
        }
        self.over(RunStatus::Completed, then);
    }

    /// Returns why the steps in this range cannot be completed, if one of them failed.
    fn failure(&self, indices: &std::ops::Range<usize>) -> Option<String> {
        self.steps.get(indices.clone())?.iter().find_map(|step| match &step.state {
            StepState::Failed { reason } => Some(format!("{}: {reason}", step.id)),
            StepState::Pending
            | StepState::Running { .. }
            | StepState::Asking { .. }
            | StepState::Completed { .. }
            | StepState::Cancelled { .. } => None,
        })
    }

    /// Starts a step, or fails the step if it cannot start.
    fn start_step(&mut self, index: usize, then: &mut Then<'_>) {
        let Some(step) = self.leaf(index) else { return };
        let id = step.id.clone();
        let begun = match step.kind() {
            Kind::Agent { prompt, .. } => self.fill_template(prompt).map(|prompt| {
                let session = SessionId::new(then.now, (then.entropy)());
                (StepState::Running { session }, Effect::StartSession { step: id.clone(), session, prompt })
            }),
            Kind::Checkpoint(checkpoint) => self.fill_template(&checkpoint.question).map(|text| {
                let ask = AskId::new(then.now, (then.entropy)());
                // Values that are filled in can be long, but the text of a question is limited.
                let question = checkpoint.to_question(limits::head(&text, limits::TEXT).to_owned());
                (StepState::Asking { ask }, Effect::OpenCheckpoint { step: id.clone(), ask, question })
            }),
            Kind::Parallel(_) | Kind::Unclear => Err("the step has no action".to_owned()),
        };
        let Some(step) = self.steps.get_mut(index) else { return };
        step.started_at = step.started_at.or(Some(then.now));
        step.attempts += 1;
        match begun {
            Ok((state, effect)) => {
                if let StepState::Running { session } = state {
                    step.last_session = Some(session);
                }
                step.state = state;
                then.effects.extend([effect, Effect::StepBegan { step: id }]);
            }
            Err(reason) => self.end_step(index, StepState::Failed { reason }, then),
        }
    }

    /// Fills in a template with the inputs of the run and the outputs of earlier steps.
    fn fill_template(&self, text: &str) -> Result<String, String> {
        let outputs: BTreeMap<&str, &str> = self
            .steps
            .iter()
            .filter_map(|step| match &step.state {
                StepState::Completed { output } => Some((step.id.as_str(), output.as_str())),
                _ => None,
            })
            .collect();
        let inputs = self.input.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let filled = Template::parse(text)?.fill(&Values { inputs, outputs });
        let filled = filled.map_err(|variable| format!("{variable} has no value"))?;
        if filled.len() > PROMPT {
            return Err(format!("the prompt has {} bytes with everything filled in, the limit is {PROMPT}", filled.len()));
        }
        Ok(filled)
    }

    /// Ends a step in this state.
    fn end_step(&mut self, index: usize, state: StepState, then: &mut Then<'_>) {
        let Some(step) = self.steps.get_mut(index) else { return };
        step.state = state;
        step.ended_at = Some(then.now);
        then.effects.push(Effect::StepOver { step: step.id.clone() });
    }

    /// Cancels a step that is not over.
    fn stop(&mut self, index: usize, reason: &str, then: &mut Then<'_>) {
        let Some(step) = self.steps.get(index) else { return };
        match step.state {
            StepState::Completed { .. } | StepState::Failed { .. } | StepState::Cancelled { .. } => return,
            StepState::Pending => {}
            StepState::Running { session } => then.effects.push(Effect::CloseSession { session }),
            StepState::Asking { ask } => then.effects.push(Effect::Withdraw { ask, reason: reason.to_owned() }),
        }
        self.end_step(index, StepState::Cancelled { reason: reason.to_owned() }, then);
    }

    fn over(&mut self, status: RunStatus, then: &mut Then<'_>) {
        self.status = status;
        then.effects.push(Effect::RunOver);
    }
}

/// The effects collected while one event is processed, with the sources of time and ids.
struct Then<'a> {
    effects: Vec<Effect>,
    now: Time,
    entropy: &'a mut dyn FnMut() -> Entropy,
}
