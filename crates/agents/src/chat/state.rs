//! The state machine of a chat conversation.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use sayso_core::ask::{AskBody, Decision, Delivery, Question};
use sayso_core::id::{AskId, SessionId};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::session::Labels;
use sayso_core::texts;
use sayso_core::time::{Time, in_words};
use sayso_core::transcript::{Role, ToolStatus};
use serde::{Deserialize, Serialize};

use super::Endpoint;
use super::conversation::{self, ChatMessage, ToolCall};
use super::question;
use super::reply::{self, Reply};
use crate::out::Out;
use crate::process::memory::QUEUE;
use crate::translator::{AgentEvent, Command, DecidedBy, HttpCall, HttpReply, Input, Method, NewAsk, Outcome, Output};

/// Maximum size of a conversation in bytes. The whole conversation is sent with every turn.
const LONGEST: usize = limits::RAW;
/// Maximum number of attempts of a request that fails transiently, and the pause after the first failure. The pause
/// doubles each time.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// How many invalid tool calls in a row are accepted.
const FAULTS: u32 = 4;

const ANSWERED: &str = "The user answered; the next message is the answer.";
const NOT_ASKED: &str = "The question was withdrawn.";
const NOT_WAITING: &str = "The agent no longer waits for it.";
const NOT_ALONE: &str = "`question` must be the only tool call of its turn. Nothing was asked and nothing was run.";
const NOT_LAST: &str = "`question` must be the last thing in its turn; text came after it. Nothing was asked.";

/// A conversation and its current activity.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ChatState {
    session: Option<SessionId>,
    /// The model that this session chose.
    model: Option<String>,
    /// Whether the model has the question tool.
    questions: bool,
    closed: bool,
    said: Vec<ChatMessage>,
    doing: Activity,
    /// The number of the last request.
    calls: u64,
    /// Consecutive turns with invalid tool calls.
    faults: u32,
    queue: VecDeque<String>,
    #[serde(skip)]
    reply: Reply,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Activity {
    /// Waiting for a message of the person.
    #[default]
    Nothing,
    /// A request to the model is in flight.
    Calling { call: u64, tries: u32 },
    /// Waiting to retry after a transient failure.
    Resting { until: Time, tries: u32 },
    /// Waiting for the answer to a question of the model.
    Asking { native_id: String, tool_call_id: String },
}

impl ChatState {
    pub(super) const fn is_calling(&self) -> bool {
        matches!(self.doing, Activity::Calling { .. })
    }

    pub(super) const fn deadline(&self) -> Option<Time> {
        match self.doing {
            Activity::Resting { until, .. } => Some(until),
            Activity::Nothing | Activity::Calling { .. } | Activity::Asking { .. } => None,
        }
    }

    pub(super) fn handle(&mut self, endpoint: &Endpoint, now: Time, input: Input) -> Vec<Output> {
        let Some(session) = self.session.or(match &input {
            Input::Command(command) => Some(command.session()),
            _ => None,
        }) else {
            return Vec::new();
        };
        let mut going = InputStep { state: self, endpoint, now, out: Out::new(session) };
        match input {
            Input::Command(command) => going.command(command),
            Input::StreamEvent(data) => going.streamed(&data),
            Input::HttpReply(reply) => going.replied(&reply),
            Input::Tick => going.tick(),
            Input::Line(_) | Input::StreamOpened | Input::StreamClosed | Input::Exited(_) => {}
        }
        going.out.into_outputs()
    }

    fn size(&self) -> usize {
        self.said.iter().map(ChatMessage::size).chain(self.queue.iter().map(String::len)).sum()
    }

    /// Whether an earlier call already used this id.
    fn is_used_call_id(&self, id: &str) -> bool {
        self.said.iter().any(|said| match said {
            ChatMessage::Assistant { tool_calls, .. } => tool_calls.iter().any(|call| call.id == id),
            ChatMessage::User { .. } | ChatMessage::Tool { .. } => false,
        })
    }
}

/// The state together with the outputs of the current input.
struct InputStep<'a> {
    state: &'a mut ChatState,
    endpoint: &'a Endpoint,
    now: Time,
    out: Out,
}

impl InputStep<'_> {
    fn command(&mut self, command: Command) {
        let session = command.session();
        let ours = *self.state.session.get_or_insert(session) == session;
        match command {
            Command::Outcome { ask, native_id, decision, raw, by, .. } => {
                let given = Outcome { ask, native_id: &native_id, decision: &decision, raw: raw.as_ref(), by };
                if !(ours && self.outcome(&given)) {
                    self.out.undeliverable(ask, NOT_WAITING);
                }
            }
            Command::Start { .. }
            | Command::Prompt { .. }
            | Command::Interrupt { .. }
            | Command::Close { .. }
            | Command::Configure { .. }
                if !ours => {}
            Command::Start { prompt, model, questions, .. } => {
                self.state.model = model;
                self.state.questions = questions;
                self.state.closed = false;
                match prompt {
                    Some(prompt) => self.prompt(prompt),
                    None if self.state.doing == Activity::Nothing => self.out.event(AgentEvent::TurnEnded),
                    None => {}
                }
            }
            Command::Prompt { text, .. } => self.prompt(text),
            Command::Interrupt { .. } => {
                if self.cut_short(texts::WITHDRAWN_INTERRUPTED) {
                    self.end_turn();
                }
            }
            Command::Configure { .. } => self.out.event(AgentEvent::Error(texts::SETTINGS_FIXED.to_owned())),
            Command::Close { .. } if self.state.closed => {}
            Command::Close { .. } => {
                self.cut_short(texts::WITHDRAWN_CLOSED);
                self.keep_queue();
                self.state.closed = true;
                self.out.event(AgentEvent::Ended { reason: "closed".to_owned(), failed: false, resumable: true });
            }
        }
    }

    fn prompt(&mut self, text: String) {
        let refused = if self.state.closed {
            "The session is closed; the message was not sent.".to_owned()
        } else if self.state.queue.len() >= QUEUE {
            format!("{QUEUE} messages are already queued; this one was not sent.")
        } else if self.state.size() + text.len() > LONGEST {
            format!("This conversation has reached {} MiB; the message was not sent. Start another session.", LONGEST >> 20)
        } else {
            self.state.queue.push_back(text);
            return self.start_next_turn();
        };
        self.out.event(AgentEvent::Error(refused));
    }

    /// Sends the next message to the model if the conversation is idle.
    fn start_next_turn(&mut self) {
        if self.state.doing != Activity::Nothing {
            return;
        }
        let Some(content) = self.state.queue.pop_front() else { return };
        self.state.said.push(ChatMessage::User { content });
        self.state.faults = 0;
        self.out.event(AgentEvent::TurnStarted);
        self.call(0);
    }

    /// Ends the turn, and starts the next one if messages are queued.
    fn end_turn(&mut self) {
        self.state.doing = Activity::Nothing;
        self.out.event(AgentEvent::TurnEnded);
        self.start_next_turn();
    }

    /// Moves queued messages into the conversation without requesting a reply.
    fn keep_queue(&mut self) {
        let waiting = self.state.queue.drain(..).map(|content| ChatMessage::User { content });
        self.state.said.extend(waiting);
    }

    /// Requests the model's next turn.
    fn call(&mut self, tries: u32) {
        self.state.calls += 1;
        self.state.reply = Reply::default();
        let call = self.state.calls;
        self.state.doing = Activity::Calling { call, tries };
        let ChatState { model, said, questions, .. } = &*self.state;
        let body = Raw::of(&conversation::request(self.endpoint, model.as_deref(), said, *questions));
        self.out.call(HttpCall {
            id: call,
            method: Method::Post,
            path: "/chat/completions".to_owned(),
            body: Some(body),
            guard: None,
            streamed: true,
        });
    }

    fn tick(&mut self) {
        if let Activity::Resting { until, tries } = self.state.doing
            && until <= self.now
        {
            self.call(tries);
        }
    }

    fn streamed(&mut self, data: &str) {
        let Activity::Calling { call, .. } = self.state.doing else { return };
        if let Some(text) = self.state.reply.add_event(data) {
            self.out.event(AgentEvent::MessageDelta { message: message_name(call), text });
        }
    }

    fn replied(&mut self, reply: &HttpReply) {
        let Activity::Calling { call, tries } = self.state.doing else { return };
        if reply.id != call {
            return;
        }
        let mut turn = mem::take(&mut self.state.reply);
        let url = &self.endpoint.base_url;
        let fault = match reply.status {
            Some(200..=299) => {
                if turn.is_empty() {
                    turn.add_whole_reply(&reply.body);
                }
                let said = turn.fault.take().map(|said| (format!("The response of {url} failed: {said}."), true));
                said.or_else(|| {
                    (!turn.finished).then(|| (format!("The endpoint {url} closed the connection in the middle of a turn."), true))
                })
            }
            Some(status) => {
                let passing = matches!(status, 408 | 425 | 429 | 500..);
                Some((format!("The endpoint {url} returned {status}: {}", reply::body_words(&reply.body)), passing))
            }
            None => Some((format!("The endpoint {url} did not answer: {}", limits::head(&reply.body, 500)), true)),
        };
        match fault {
            None => self.turn(call, turn),
            Some((why, passing)) => self.failed(&why, passing, tries),
        }
    }

    fn failed(&mut self, why: &str, passing: bool, tries: u32) {
        if passing && tries + 1 < TRIES {
            let pause = PAUSE * 2_u32.pow(tries);
            self.out.event(AgentEvent::Notice(format!("{why}\nTrying again in {}.", in_words(pause))));
            self.state.doing = Activity::Resting { until: self.now.plus(pause), tries: tries + 1 };
            return;
        }
        self.out.event(AgentEvent::Error(format!("{why}\nThe conversation is kept; send a message to try again.")));
        self.keep_queue();
        self.end_turn();
    }

    /// Handles a complete turn of the model.
    fn turn(&mut self, number: u64, turn: Reply) {
        let words_after_call = turn.words_after_call;
        let (words, calls) = turn.into_parts(number, |id| self.state.is_used_call_id(id));
        if let Some(text) = words.clone() {
            let (message, role) = (message_name(number), Role::Assistant);
            self.out.event(AgentEvent::Message { message, role, text, subagent: None });
        }
        if words.is_none() && calls.is_empty() {
            self.out.event(AgentEvent::Notice("The model said nothing.".to_owned()));
            return self.end_turn();
        }
        self.state.said.push(ChatMessage::Assistant { content: words, tool_calls: calls.clone() });
        match calls.as_slice() {
            [] => self.end_turn(),
            [call] if call.function.name == question::NAME && self.state.questions => {
                if words_after_call {
                    return self.reject_turn(&calls, NOT_LAST);
                }
                match question::read(&call.function.arguments) {
                    Ok(question) => self.ask(number, call, question),
                    Err(why) => self.report_invalid_call(call, &why),
                }
            }
            calls => {
                let unknown = calls.iter().find(|call| call.function.name != question::NAME || !self.state.questions);
                match unknown {
                    Some(call) if calls.len() == 1 => {
                        let name = limits::head(&call.function.name, 100);
                        self.reject_turn(calls, &format!("There is no tool `{name}`. Nothing was run."));
                    }
                    _ => self.reject_turn(calls, NOT_ALONE),
                }
            }
        }
    }

    fn ask(&mut self, number: u64, call: &ToolCall, question: Question) {
        self.state.faults = 0;
        let native_id = format!("question-{number}");
        self.state.doing = Activity::Asking { native_id: native_id.clone(), tool_call_id: call.id.clone() };
        self.out.event(AgentEvent::AskOpened(Box::new(NewAsk {
            native_id,
            body: AskBody::Question { questions: vec![question] },
            tool_call_id: Some(call.id.clone()),
            subagent: None,
            blocking: true,
            context: None,
            labels: Labels::new(),
            raw: Raw::parse(call.function.arguments.clone()).ok(),
        })));
    }

    /// Reports invalid arguments to the model, which can try again.
    fn report_invalid_call(&mut self, call: &ToolCall, why: &str) {
        let output = format!("Error: {why}. Nothing was asked; call the tool again correctly.");
        self.out.event(AgentEvent::Tool {
            tool_call_id: call.id.clone(),
            name: question::NAME.to_owned(),
            input: Some(Raw::parse(call.function.arguments.clone()).unwrap_or_else(|_| Raw::of(&call.function.arguments))),
            output: Some(output.clone()),
            status: ToolStatus::Error,
            subagent: None,
        });
        self.add_tool_result(&call.id, output);
        self.retry_or_stop();
    }

    /// Rejects a turn that breaks a rule: none of its calls runs.
    fn reject_turn(&mut self, calls: &[ToolCall], why: &str) {
        self.out.event(AgentEvent::Error(format!("The model's turn was refused: {why}")));
        for call in calls {
            self.add_tool_result(&call.id, format!("Error: {why}"));
        }
        self.retry_or_stop();
    }

    /// Requests another attempt unless the model has failed too often.
    fn retry_or_stop(&mut self) {
        self.state.faults += 1;
        if self.state.faults < FAULTS {
            return self.call(0);
        }
        self.out.event(AgentEvent::Error(format!(
            "The model called its tool incorrectly {FAULTS} times in a row. Send a message to continue."
        )));
        self.end_turn();
    }

    /// Adds the result of a tool call.
    fn add_tool_result(&mut self, call: &str, content: String) {
        self.state.said.push(ChatMessage::Tool { tool_call_id: call.to_owned(), content });
    }

    /// Handles an outcome; returns false if no ask waits for it.
    fn outcome(&mut self, given: &Outcome<'_>) -> bool {
        let call = match &self.state.doing {
            Activity::Asking { native_id, tool_call_id } if native_id == given.native_id => tool_call_id.clone(),
            _ => return false,
        };
        let goes_on = match given.decision {
            Decision::Answered { answers, note } => {
                let entries = answers.first().map_or(&[][..], Vec::as_slice);
                let text = question::message(given.raw.map(Raw::as_str), entries, note.as_deref());
                if given.by == DecidedBy::Automatic {
                    self.add_tool_result(&call, format!("Nobody was asked; chosen by the user's policy:\n{text}"));
                } else {
                    self.add_tool_result(&call, ANSWERED.to_owned());
                    self.state.said.push(ChatMessage::User { content: text.clone() });
                }
                // A typed message is already part of the conversation.
                if given.by == DecidedBy::Person {
                    let (message, role) = (format!("answer-{}", given.native_id), Role::User);
                    self.out.event(AgentEvent::Message { message, role, text, subagent: None });
                }
                true
            }
            Decision::Rejected { message, .. } => {
                self.add_tool_result(&call, message.clone());
                // If a person rejects, the next message is theirs. If no one was available, the model continues on its
                // own.
                !given.by.is_person()
            }
            Decision::Withdrawn { reason } => {
                self.add_tool_result(&call, reason.clone());
                false
            }
            Decision::Approved { .. } | Decision::Denied { .. } => return false,
        };
        self.delivered(given.ask);
        if goes_on {
            self.call(0)
        } else {
            self.end_turn()
        }
        true
    }

    /// Reports delivery: the answer is now part of the conversation, even if the endpoint fails.
    fn delivered(&mut self, ask: AskId) {
        self.out.event(AgentEvent::AskDelivery { ask, delivery: Delivery::Delivered });
    }

    /// Stops the current activity and keeps the text so far. Returns false if the conversation is idle.
    fn cut_short(&mut self, reason: &str) -> bool {
        match mem::take(&mut self.state.doing) {
            Activity::Nothing => return false,
            Activity::Resting { .. } => {}
            Activity::Calling { call, .. } => {
                let words = mem::take(&mut self.state.reply).words;
                if !words.trim().is_empty() {
                    self.state.said.push(ChatMessage::Assistant { content: Some(words.clone()), tool_calls: Vec::new() });
                    let (message, role) = (message_name(call), Role::Assistant);
                    self.out.event(AgentEvent::Message { message, role, text: words, subagent: None });
                }
            }
            Activity::Asking { native_id, tool_call_id } => {
                self.add_tool_result(&tool_call_id, NOT_ASKED.to_owned());
                self.out.event(AgentEvent::AskWithdrawn { native_id, reason: reason.to_owned() });
            }
        }
        true
    }
}

fn message_name(call: u64) -> String {
    format!("message-{call}")
}
