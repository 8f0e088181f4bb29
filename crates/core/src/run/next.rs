//! What comes next in a run.

use std::collections::BTreeMap;

use super::{Run, RunStatus, StepRun, StepState};
use crate::ask::{Decision, Question};
use crate::id::{AskId, Entropy, SessionId};
use crate::limits;
use crate::time::Time;
use crate::workflow::{IfAgentDies, Kind, OnFailure, Step, Template, Values};

/// How often a step begins at most when its agent dies and it says that it shall begin again.
const ATTEMPTS: u32 = 3;
/// Bytes of a prompt with everything filled in.
const PROMPT: usize = 1024 * 1024;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The run was started.
    Begin,
    /// The agent of a step has finished its turn.
    Finished {
        /// Its session.
        session: SessionId,
        /// What it said last.
        output: String,
    },
    /// The session of a step ended before its turn did, or could not be started.
    Ended {
        /// The session.
        session: SessionId,
        /// Why.
        reason: String,
        /// Whether by a fault of the agent; then it may begin again.
        died: bool,
    },
    /// A checkpoint was decided.
    Decided {
        /// Its ask.
        ask: AskId,
        /// How.
        decision: Decision,
    },
    /// A person ends the run.
    Cancel {
        /// Who, or why.
        reason: String,
    },
}

/// What is to be done about it, in the transaction that stores the new state.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Start an agent.
    StartSession {
        /// For this step.
        step: String,
        /// Under this id.
        session: SessionId,
        /// With this prompt.
        prompt: String,
    },
    /// Ask a person.
    OpenCheckpoint {
        /// For this step.
        step: String,
        /// Under this id.
        ask: AskId,
        /// This.
        question: Question,
    },
    /// The outcome of a checkpoint has arrived where it was wanted.
    TakeOutcome {
        /// The ask.
        ask: AskId,
    },
    /// End a session.
    CloseSession {
        /// Which.
        session: SessionId,
    },
    /// Take a checkpoint back.
    Withdraw {
        /// The ask.
        ask: AskId,
        /// Why.
        reason: String,
    },
    /// Tell that the run began.
    RunBegan,
    /// Tell that a step began.
    StepBegan {
        /// Which.
        step: String,
    },
    /// Tell that a step is over.
    StepOver {
        /// Which.
        step: String,
    },
    /// Tell that the run is over.
    RunOver,
}

impl Run {
    /// Takes what happened; what is to be done about it. News of what is over already changes nothing.
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
                self.settle(index, StepState::Completed { output }, &mut then);
            }
            Event::Ended { session, reason, died } => {
                let Some(index) = self.running(session) else { return Vec::new() };
                // What it asked and nobody answered has nobody to go to any more.
                then.effects.push(Effect::CloseSession { session });
                let again = self.leaf(index).is_some_and(|step| step.if_agent_dies == Some(IfAgentDies::Retry));
                if died && again && self.steps.get(index).is_some_and(|step| step.attempts < ATTEMPTS) {
                    self.begin(index, &mut then);
                } else {
                    self.settle(index, StepState::Failed { reason }, &mut then);
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
                self.settle(index, state, &mut then);
            }
            Event::Cancel { reason } => {
                for index in 0..self.steps.len() {
                    self.stop(index, &reason, &mut then);
                }
                self.over(RunStatus::Cancelled { reason }, &mut then);
            }
        }
        self.go_on(&mut then);
        self.updated_at = now;
        then.effects
    }

    fn running(&self, session: SessionId) -> Option<usize> {
        self.steps.iter().position(|step| step.state == StepState::Running { session })
    }

    fn leaf(&self, index: usize) -> Option<&Step> {
        self.workflow.leaves().nth(index)
    }

    /// Begins whatever can begin, and ends the run when nothing can.
    fn go_on(&mut self, then: &mut Then<'_>) {
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
                    self.begin(index, then);
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

    /// Why this stage cannot be completed.
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

    /// Begins a step, or fails it when it cannot begin.
    fn begin(&mut self, index: usize, then: &mut Then<'_>) {
        let Some(step) = self.leaf(index) else { return };
        let id = step.id.clone();
        let begun = match step.kind() {
            Kind::Agent { prompt, .. } => self.filled(prompt).map(|prompt| {
                let session = SessionId::new(then.now, (then.entropy)());
                (StepState::Running { session }, Effect::StartSession { step: id.clone(), session, prompt })
            }),
            Kind::Checkpoint(checkpoint) => self.filled(&checkpoint.question).map(|text| {
                let ask = AskId::new(then.now, (then.entropy)());
                // What is filled in may be long; a question is short.
                let question = checkpoint.asked(limits::head(&text, limits::TEXT).to_owned());
                (StepState::Asking { ask }, Effect::OpenCheckpoint { step: id.clone(), ask, question })
            }),
            Kind::Parallel(_) | Kind::Unclear => Err("the step says nothing that can be done".to_owned()),
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
            Err(reason) => self.settle(index, StepState::Failed { reason }, then),
        }
    }

    /// A template with what the run was given and what earlier steps said.
    fn filled(&self, text: &str) -> Result<String, String> {
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
    fn settle(&mut self, index: usize, state: StepState, then: &mut Then<'_>) {
        let Some(step) = self.steps.get_mut(index) else { return };
        step.state = state;
        step.ended_at = Some(then.now);
        then.effects.push(Effect::StepOver { step: step.id.clone() });
    }

    /// Stops a step that is not over.
    fn stop(&mut self, index: usize, reason: &str, then: &mut Then<'_>) {
        let Some(step) = self.steps.get(index) else { return };
        match step.state {
            StepState::Completed { .. } | StepState::Failed { .. } | StepState::Cancelled { .. } => return,
            StepState::Pending => {}
            StepState::Running { session } => then.effects.push(Effect::CloseSession { session }),
            StepState::Asking { ask } => then.effects.push(Effect::Withdraw { ask, reason: reason.to_owned() }),
        }
        self.settle(index, StepState::Cancelled { reason: reason.to_owned() }, then);
    }

    fn over(&mut self, status: RunStatus, then: &mut Then<'_>) {
        self.status = status;
        then.effects.push(Effect::RunOver);
    }
}

/// What is gathered while a run goes on.
struct Then<'a> {
    effects: Vec<Effect>,
    now: Time,
    entropy: &'a mut dyn FnMut() -> Entropy,
}
