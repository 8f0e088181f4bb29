//! A scripted agent for tests of workflows: its answers, and its questions before them.
//!
//! ```
//! use std::time::Duration;
//! use sayso_client::question;
//! use sayso_testkit::{AgentScript, Answerer, TestServer};
//!
//! # async fn example() -> anyhow::Result<()> {
//! let agent = AgentScript::new()
//!     .on_question("plan", &question("Which database?", &["SQLite", "PostgreSQL"]), Duration::ZERO)?
//!     .on("plan", "1. Add a table.")?
//!     .on("/./", "Done.")?;
//! let server = TestServer::with(|setup| setup.agent("planner", &agent)).await?;
//! let person = Answerer::new().on("database", &["SQLite"])?.run(server.client());
//! // Start a run whose steps use the agent `planner`, then check its questions:
//! assert!(agent.asked().iter().all(|asked| asked.answers == Some(vec![vec!["SQLite".to_owned()]])));
//! # drop(person); Ok(()) }
//! ```

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use sayso_agents::translator::{AgentEvent, Command, Input, NewAsk, Output, Saved, Translator};
use sayso_api::ask::NewAsk as ApiAsk;
use sayso_core::ask::{AskBody, Decision, Question};
use sayso_core::id::SessionId;
use sayso_core::session::Labels;
use sayso_core::time::Time;
use sayso_core::transcript::Role;
use sayso_server::Embedded;
use serde::{Deserialize, Serialize};

use crate::answerer::Pattern;

/// Version of the saved state's format.
const VERSION: u32 = 1;

/// The reaction to a prompt that matches a pattern.
#[derive(Debug, Clone)]
enum ScriptRule {
    Say(Pattern, String),
    Ask(Pattern, Vec<Question>, Duration),
    Die(Pattern, String),
}

/// An ask of the agent and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedAsk {
    /// The prompt that caused the ask.
    pub prompt: String,
    /// The headers of the questions, or their texts.
    pub questions: Vec<String>,
    /// The answers; `None` if the ask was rejected.
    pub answers: Option<Vec<Vec<String>>>,
}

/// A scripted agent. Patterns are case-insensitive substrings of the prompt, or `/regular expressions/`; the first
/// matching rule counts. The response to a prompt without a matching rule is the received answers, or an echo of the
/// prompt.
#[derive(Debug, Clone, Default)]
pub struct AgentScript {
    lines: Vec<ScriptRule>,
    asked: Arc<Mutex<Vec<ScriptedAsk>>>,
}

impl AgentScript {
    /// Creates an agent that echoes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Responds to matching prompts with this text, after any questions.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn on(mut self, pattern: &str, response: &str) -> Result<Self> {
        self.lines.push(ScriptRule::Say(Pattern::new(pattern)?, response.to_owned()));
        Ok(self)
    }

    /// Asks these questions on matching prompts, after a delay of the server's clock. Create them with
    /// [`sayso_client::question`].
    ///
    /// # Errors
    /// If the pattern is invalid, or if there is no question.
    pub fn on_question(mut self, pattern: &str, questions: &ApiAsk, delay: Duration) -> Result<Self> {
        let asked = questions.questions.clone().unwrap_or_default();
        if asked.is_empty() {
            bail!("there is no question to ask");
        }
        let asked = asked.into_iter().enumerate().map(|(index, question)| question.into_core(index)).collect();
        self.lines.push(ScriptRule::Ask(Pattern::new(pattern)?, asked, delay));
        Ok(self)
    }

    /// Crashes on matching prompts, with this reason.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn dies_on(mut self, pattern: &str, reason: &str) -> Result<Self> {
        self.lines.push(ScriptRule::Die(Pattern::new(pattern)?, reason.to_owned()));
        Ok(self)
    }

    /// The asks so far, in the order of their outcomes.
    #[must_use]
    pub fn asked(&self) -> Vec<ScriptedAsk> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The agent under a name, for [`sayso_server::Options`].
    #[must_use]
    pub fn embedded(&self, name: &str) -> Embedded {
        let script = self.clone();
        let translator = move |saved: Option<&Saved>| -> Option<Box<dyn Translator>> {
            let state = match saved {
                None => ScriptState::default(),
                Some(saved) => saved.read(VERSION)?,
            };
            Some(Box::new(Scripted { script: script.clone(), state }))
        };
        Embedded { name: name.to_owned(), translator: Arc::new(translator) }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ScriptState {
    session: Option<SessionId>,
    prompt: Option<String>,
    /// The time at which to ask.
    ask_at: Option<i64>,
    /// The number of asks so far.
    asked: u32,
    waits: bool,
}

struct Scripted {
    script: AgentScript,
    state: ScriptState,
}

impl Scripted {
    fn event(&self, event: AgentEvent) -> Vec<Output> {
        self.state.session.map(|session| Output::Event { session, event }).into_iter().collect()
    }

    fn questions(&self) -> Option<(Vec<Question>, Duration)> {
        let prompt = self.state.prompt.as_deref()?;
        self.script.lines.iter().find_map(|line| match line {
            ScriptRule::Ask(pattern, questions, delay) if pattern.matches(prompt) => Some((questions.clone(), *delay)),
            ScriptRule::Ask(..) | ScriptRule::Say(..) | ScriptRule::Die(..) => None,
        })
    }

    fn begin(&mut self, now: Time, prompt: String) -> Vec<Output> {
        let death = self.script.lines.iter().find_map(|line| match line {
            ScriptRule::Die(pattern, reason) if pattern.matches(&prompt) => Some(reason.clone()),
            ScriptRule::Die(..) | ScriptRule::Ask(..) | ScriptRule::Say(..) => None,
        });
        self.state.prompt = Some(prompt);
        let mut out = self.event(AgentEvent::TurnStarted);
        if let Some(reason) = death {
            out.extend(self.event(AgentEvent::Ended { reason, failed: true, resumable: false }));
            return out;
        }
        match self.questions() {
            None => out.extend(self.finish(None)),
            Some((_, delay)) if delay.is_zero() => out.extend(self.ask()),
            Some((_, delay)) => self.state.ask_at = Some(now.plus(delay).as_millis()),
        }
        out
    }

    fn ask(&mut self) -> Vec<Output> {
        self.state.ask_at = None;
        let Some((questions, _)) = self.questions() else { return Vec::new() };
        self.state.asked += 1;
        self.state.waits = true;
        let native_id = format!("question-{}", self.state.asked);
        self.event(AgentEvent::AskOpened(Box::new(NewAsk {
            tool_call_id: Some(native_id.clone()),
            native_id,
            body: AskBody::Question { questions },
            subagent: None,
            blocking: true,
            context: None,
            labels: Labels::new(),
            raw: None,
        })))
    }

    fn finish(&mut self, received: Option<String>) -> Vec<Output> {
        let prompt = self.state.prompt.take().unwrap_or_default();
        let said = self.script.lines.iter().find_map(|line| match line {
            ScriptRule::Say(pattern, response) if pattern.matches(&prompt) => Some(response.clone()),
            ScriptRule::Say(..) | ScriptRule::Ask(..) | ScriptRule::Die(..) => None,
        });
        let text = said.or(received).unwrap_or(prompt);
        let message = AgentEvent::Message { message: "words".to_owned(), role: Role::Assistant, text, subagent: None };
        let mut out = self.event(message);
        out.extend(self.event(AgentEvent::TurnEnded));
        out
    }

    fn outcome(&mut self, decision: &Decision) -> Vec<Output> {
        if !std::mem::take(&mut self.state.waits) {
            return Vec::new();
        }
        let answers = match decision {
            Decision::Answered { answers, .. } => Some(answers.clone()),
            Decision::Rejected { .. } | Decision::Approved { .. } | Decision::Denied { .. } | Decision::Withdrawn { .. } => None,
        };
        let received = match (&answers, decision) {
            (Some(answers), _) => format!("You answered: {}.", answers.concat().join(", ")),
            (None, Decision::Rejected { message, .. } | Decision::Denied { message, .. }) => format!("Rejected: {message}"),
            (None, _) => "No one answered.".to_owned(),
        };
        let asked = ScriptedAsk {
            prompt: self.state.prompt.clone().unwrap_or_default(),
            questions: self.questions().map(|(all, _)| all.iter().map(|q| q.name().to_owned()).collect()).unwrap_or_default(),
            answers,
        };
        self.script.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        self.finish(Some(received))
    }
}

impl Translator for Scripted {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        match input {
            Input::Command(Command::Start { session, prompt, .. }) => {
                self.state.session = Some(session);
                match prompt {
                    Some(prompt) => self.begin(now, prompt),
                    None => self.event(AgentEvent::TurnEnded),
                }
            }
            Input::Command(Command::Prompt { text, .. }) => self.begin(now, text),
            Input::Command(Command::Outcome { decision, .. }) => self.outcome(&decision),
            Input::Command(Command::Interrupt { .. }) => {
                self.state = ScriptState { session: self.state.session, asked: self.state.asked, ..ScriptState::default() };
                self.event(AgentEvent::TurnEnded)
            }
            Input::Command(Command::Configure { permission_mode, model, .. }) => {
                self.event(AgentEvent::Configured { permission_mode, model })
            }
            Input::Command(Command::Close { .. }) => {
                self.event(AgentEvent::Ended { reason: "closed".to_owned(), failed: false, resumable: false })
            }
            Input::Tick if self.state.ask_at.is_some_and(|at| at <= now.as_millis()) => self.ask(),
            Input::Tick
            | Input::Line(_)
            | Input::HttpReply(_)
            | Input::StreamOpened
            | Input::StreamEvent(_)
            | Input::StreamClosed
            | Input::Exited(_) => Vec::new(),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.state.ask_at.map(Time::from_millis)
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.state)
    }
}
