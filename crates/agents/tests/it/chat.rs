//! A conversation with a model: each rule of its `question` tool and each way a turn can end. The state is saved and
//! restored after every input, as the server does.

use std::time::Duration;

use sayso_agents::chat::{ChatTranslator, Endpoint};
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, HttpCall, HttpReply, Input, Login, NewAsk, Output, Translator};
use sayso_core::ask::{Decision, Delivery};
use sayso_core::id::AskId;
use sayso_core::time::Time;
use sayso_core::transcript::{Role, ToolStatus};
use serde_json::{Value, json};

use crate::mock::{outcome, prompt, session, start};

struct Talk {
    chat: ChatTranslator,
    now: Time,
    events: Vec<AgentEvent>,
    calls: Vec<HttpCall>,
    undeliverable: Vec<AskId>,
}

fn endpoint() -> Endpoint {
    Endpoint {
        base_url: "http://127.0.0.1:9/v1/".to_owned(),
        model: "small".to_owned(),
        api_key_env: Some("MODEL_KEY".to_owned()),
        system: Some("Be brief.".to_owned()),
    }
}

fn question_arguments(change: impl FnOnce(&mut Value)) -> Value {
    let mut arguments =
        json!({ "header": "Database", "question": "Which?", "options": [{ "label": "SQLite" }, { "label": "Postgres" }] });
    change(&mut arguments);
    arguments
}

fn called(name: &str, arguments: &Value) -> Value {
    json!({ "id": "c1", "type": "function", "function": { "name": name, "arguments": arguments.to_string() } })
}

impl Talk {
    fn begin(text: &str) -> Self {
        let (chat, now) = (ChatTranslator::new(endpoint()), Time::from_millis(0));
        let mut talk = Self { chat, now, events: Vec::new(), calls: Vec::new(), undeliverable: Vec::new() };
        talk.tell(start(Some(text), "default", true));
        talk
    }

    fn put(&mut self, input: Input) {
        for output in self.chat.handle(self.now, input) {
            match output {
                Output::Event { event, session: of } if of == session() => self.events.push(event),
                Output::HttpCall(call) => self.calls.push(call),
                Output::Undeliverable { ask, .. } => self.undeliverable.push(ask),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Sends a command, then saves and restores the state.
    fn tell(&mut self, command: Command) {
        self.put(Input::Command(command));
        self.restart();
    }

    fn restart(&mut self) {
        self.chat = ChatTranslator::restore(endpoint(), &self.chat.save()).unwrap();
    }

    fn call(&self) -> &HttpCall {
        self.calls.last().unwrap()
    }

    /// The messages of the latest request to the model.
    fn request_messages(&self) -> Vec<Value> {
        let body: Value = serde_json::from_str(self.call().body.as_ref().unwrap().as_str()).unwrap();
        body["messages"].as_array().unwrap().clone()
    }

    fn stream(&mut self, delta: &Value) {
        self.put(Input::StreamEvent(json!({ "choices": [{ "delta": delta }] }).to_string()));
    }

    fn reply(&mut self, status: Option<u16>, body: &str) {
        let id = self.call().id;
        self.put(Input::HttpReply(HttpReply { id, status, body: body.to_owned() }));
        self.restart();
    }

    /// Streams a complete turn of the model.
    fn says(&mut self, words: &str, calls: &[Value]) {
        if !words.is_empty() {
            self.stream(&json!({ "content": words }));
        }
        for (index, call) in calls.iter().enumerate() {
            let mut call = call.clone();
            call["index"] = json!(index);
            self.stream(&json!({ "tool_calls": [call] }));
        }
        self.put(Input::StreamEvent("[DONE]".to_owned()));
        self.reply(Some(200), "");
    }

    fn asks(&mut self, change: impl FnOnce(&mut Value)) -> Box<NewAsk> {
        self.says("Let me ask.", &[called("question", &question_arguments(change))]);
        match self.events.pop() {
            Some(AgentEvent::AskOpened(ask)) => ask,
            other => panic!("{other:?}"),
        }
    }

    fn decide(&mut self, ask: &NewAsk, decision: Decision, by: DecidedBy) {
        let Command::Outcome { session, ask: id, native_id, decision, .. } = outcome(&ask.native_id, decision) else { panic!() };
        self.tell(Command::Outcome { session, ask: id, native_id, decision, raw: ask.raw.clone(), by });
    }

    fn last_words(&self) -> (Role, &str) {
        let words = self.events.iter().rev().find_map(|event| match event {
            AgentEvent::Message { role, text, .. } => Some((*role, text.as_str())),
            _ => None,
        });
        words.unwrap()
    }

    fn ended(&self) -> bool {
        matches!(self.events.last(), Some(AgentEvent::TurnEnded))
    }
}

fn answered(entries: &[&str]) -> Decision {
    Decision::Answered { answers: vec![entries.iter().map(|&entry| entry.to_owned()).collect()], note: None }
}

fn rejected() -> Decision {
    Decision::Rejected { message: "no".to_owned(), stop: false }
}

#[test]
fn system_prompt_is_sent_and_the_reply_streams() {
    let mut talk = Talk::begin("Hello");
    let body: Value = serde_json::from_str(talk.call().body.as_ref().unwrap().as_str()).unwrap();
    assert_eq!((&body["model"], &body["stream"]), (&json!("small"), &json!(true)));
    assert_eq!(body["tools"][0]["function"]["name"], "question");
    assert_eq!(
        talk.request_messages(),
        [json!({"role": "system", "content": "Be brief."}), json!({"role": "user", "content": "Hello"})]
    );
    let server = talk.chat.server().unwrap();
    assert_eq!((server.url.as_str(), server.login), ("http://127.0.0.1:9/v1", Login::Bearer("MODEL_KEY".to_owned())));
    talk.stream(&json!({ "content": "Hi" }));
    assert!(matches!(talk.events.last(), Some(AgentEvent::MessageDelta { text, .. }) if text == "Hi"));
    talk.stream(&json!({ "content": " there" }));
    talk.put(Input::StreamEvent("[DONE]".to_owned()));
    talk.reply(Some(200), "");
    assert_eq!(talk.last_words(), (Role::Assistant, "Hi there"));
    assert!(talk.ended() && talk.chat.server().is_none(), "nothing is open between turns");
    talk.tell(prompt("And now?"));
    assert_eq!(
        talk.request_messages()[2..],
        [json!({"role": "assistant", "content": "Hi there"}), json!({"role": "user", "content": "And now?"})]
    );
}

/// The question pauses the conversation. The chosen label becomes the person's message, after the result of the tool
/// call.
#[test]
fn answer_becomes_a_message_after_a_question() {
    let mut talk = Talk::begin("Set it up");
    let ask = talk.asks(|_| {});
    assert_eq!((ask.tool_call_id.as_deref(), ask.blocking), (Some("c1"), true));
    assert_eq!(talk.last_words(), (Role::Assistant, "Let me ask."));
    assert!(talk.chat.server().is_none() && talk.chat.deadline().is_none(), "it waits at no cost");
    let calls = talk.calls.len();
    talk.decide(&ask, answered(&["Postgres"]), DecidedBy::Person);
    assert_eq!(talk.last_words(), (Role::User, "Postgres"));
    assert!(talk.events.iter().any(|event| matches!(event, AgentEvent::AskDelivery { delivery: Delivery::Delivered, .. })));
    assert_eq!(talk.calls.len(), calls + 1);
    let told = talk.request_messages();
    assert_eq!(told[2]["tool_calls"][0]["id"], "c1");
    assert_eq!((&told[3]["role"], &told[3]["tool_call_id"]), (&json!("tool"), &json!("c1")));
    assert_eq!(told[4], json!({"role": "user", "content": "Postgres"}));
    assert_eq!(told.len(), 5, "nothing hidden goes to the model");
}

#[test]
fn multiple_choices_are_lines_before_free_text() {
    let mut talk = Talk::begin("Set it up");
    let ask = talk.asks(|it| it["multiple"] = json!(true));
    talk.decide(&ask, answered(&["both, really", "SQLite", "Postgres"]), DecidedBy::Person);
    assert_eq!(talk.last_words(), (Role::User, "SQLite\nPostgres\nboth, really"));
    let mut talk = Talk::begin("Set it up");
    let ask = talk.asks(|_| {});
    talk.decide(&ask, answered(&["neither"]), DecidedBy::Person);
    assert_eq!(talk.last_words(), (Role::User, "neither"));
}

/// The typed message is already in the conversation, so no second message is inserted.
#[test]
fn typed_message_answers_without_another_message() {
    let mut talk = Talk::begin("Set it up");
    let ask = talk.asks(|_| {});
    talk.decide(&ask, answered(&["Postgres, please"]), DecidedBy::Typed);
    assert_eq!(talk.last_words().0, Role::Assistant);
    assert_eq!(talk.request_messages().last().unwrap(), &json!({"role": "user", "content": "Postgres, please"}));
}

/// After a rejection the model generates nothing until the person sends a message.
#[test]
fn rejection_inserts_no_message_and_waits() {
    let mut talk = Talk::begin("Set it up");
    let ask = talk.asks(|_| {});
    let calls = talk.calls.len();
    talk.decide(&ask, rejected(), DecidedBy::Person);
    assert!(talk.ended() && talk.calls.len() == calls);
    assert_eq!(talk.last_words().0, Role::Assistant);
    talk.tell(prompt("Use what you like"));
    let told = talk.request_messages();
    assert_eq!((&told[3]["role"], &told[3]["content"]), (&json!("tool"), &json!("no")));
    assert_eq!(told[4]["content"], "Use what you like");
}

#[test]
fn policy_decision_is_not_sent_as_the_person() {
    let mut talk = Talk::begin("Set it up");
    let ask = talk.asks(|_| {});
    talk.decide(&ask, answered(&["SQLite"]), DecidedBy::Automatic);
    let told = talk.request_messages();
    assert_eq!(told.last().unwrap()["role"], "tool");
    assert!(told.last().unwrap()["content"].as_str().unwrap().contains("policy:\nSQLite"));
    let mut talk = Talk::begin("Set it up");
    let ask = talk.asks(|_| {});
    let calls = talk.calls.len();
    talk.decide(&ask, rejected(), DecidedBy::Automatic);
    assert_eq!(talk.calls.len(), calls + 1, "no one is available, so the model continues");
}

/// The turn is refused with an error block, every call gets an error result, and no ask is opened.
#[test]
fn question_that_is_not_alone_or_not_last_is_refused() {
    let ask = called("question", &question_arguments(|_| {}));
    let other = json!({ "id": "c2", "type": "function", "function": { "name": "rm", "arguments": "{}" } });
    for (calls, part) in [
        (vec![ask.clone(), other.clone()], "only tool call"),
        (vec![ask.clone(), ask.clone()], "only tool call"),
        (vec![other], "no tool `rm`"),
    ] {
        let mut talk = Talk::begin("Go");
        talk.says("", &calls);
        assert!(matches!(talk.events.last(), Some(AgentEvent::Error(text)) if text.contains(part)), "{:?}", talk.events.last());
        let told = talk.request_messages();
        let results: Vec<&Value> = told.iter().filter(|said| said["role"] == "tool").collect();
        assert_eq!(results.len(), calls.len());
        assert!(results.iter().all(|result| result["content"].as_str().unwrap().starts_with("Error: ")));
        let ids: Vec<&Value> = results.iter().map(|result| &result["tool_call_id"]).collect();
        let called: Vec<&Value> = told[2]["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
        assert_eq!(ids, called, "each call has its own result");
    }
    let mut talk = Talk::begin("Go");
    let mut call = ask;
    call["index"] = json!(0);
    talk.stream(&json!({ "tool_calls": [call] }));
    talk.says("and that is that", &[]);
    assert!(matches!(talk.events.last(), Some(AgentEvent::Error(text)) if text.contains("last thing")));
}

/// An invalid call is shown and returned to the model, and the number of retries is limited.
#[test]
fn invalid_call_is_returned_to_the_model() {
    let mut talk = Talk::begin("Go");
    let bad = [called("question", &json!({ "question": "Which?", "options": [] }))];
    for _ in 0..3 {
        talk.says("", &bad);
        let Some(AgentEvent::Tool { status: ToolStatus::Error, output: Some(output), .. }) = talk.events.last() else { panic!() };
        assert!(output.contains("`options` has 0 entries"), "{output}");
        assert_eq!(talk.request_messages().last().unwrap()["content"], json!(output));
    }
    let calls = talk.calls.len();
    talk.says("", &bad);
    assert!(talk.ended() && talk.calls.len() == calls, "four times in a row are enough");
    talk.tell(prompt("Again"));
    let ask = talk.asks(|_| {});
    assert_ne!(ask.tool_call_id.as_deref(), Some("c1"), "an id that was used before is replaced");
    talk.decide(&ask, answered(&["SQLite"]), DecidedBy::Person);
    assert!(talk.undeliverable.is_empty());
}

#[test]
fn session_without_questions_has_no_tool() {
    let mut talk = Talk::begin("x");
    talk.chat = ChatTranslator::new(endpoint());
    talk.tell(start(Some("Go"), "default", false));
    let body: Value = serde_json::from_str(talk.call().body.as_ref().unwrap().as_str()).unwrap();
    assert_eq!(body.get("tools"), None);
    talk.says("", &[called("question", &question_arguments(|_| {}))]);
    assert!(matches!(talk.events.last(), Some(AgentEvent::Error(text)) if text.contains("no tool `question`")));
}

#[test]
fn transient_endpoint_failure_is_retried_then_reported() {
    let mut talk = Talk::begin("Hello");
    talk.stream(&json!({ "content": "Hal" }));
    for (tries, (status, body)) in
        [(Some(503), "busy"), (None, "refused"), (Some(429), r#"{"error":{"message":"slow down"}}"#), (Some(200), "")]
            .into_iter()
            .enumerate()
    {
        let calls = talk.calls.len();
        talk.reply(status, body);
        assert!(matches!(talk.events.last(), Some(AgentEvent::Notice(text)) if text.contains("Trying again")));
        let at = talk.chat.deadline().unwrap();
        assert_eq!(at, talk.now.plus(Duration::from_secs(1 << tries)));
        talk.put(Input::Tick);
        assert_eq!(talk.calls.len(), calls, "not before its time");
        talk.now = at;
        talk.put(Input::Tick);
        talk.restart();
        assert_eq!((talk.calls.len(), talk.request_messages().len()), (calls + 1, 2), "truncated output is not kept");
    }
    talk.reply(Some(500), "down");
    let [.., AgentEvent::Error(text), AgentEvent::TurnEnded] = talk.events.as_slice() else { panic!("{:?}", talk.events) };
    assert!(text.contains("returned 500: down") && text.contains("kept"), "{text}");
    talk.tell(prompt("Still there?"));
    assert_eq!(
        talk.request_messages()[1..],
        [json!({"role": "user", "content": "Hello"}), json!({"role": "user", "content": "Still there?"})]
    );
    talk.reply(Some(401), r#"{"error":{"message":"bad key"}}"#);
    let [.., AgentEvent::Error(text), AgentEvent::TurnEnded] = talk.events.as_slice() else { panic!("{:?}", talk.events) };
    assert!(text.contains("401: bad key"), "what will not pass is not tried again: {text}");
}

#[test]
fn interrupt_keeps_the_streamed_text() {
    let mut talk = Talk::begin("Hello");
    talk.stream(&json!({ "content": "Half a" }));
    talk.tell(Command::Interrupt { session: session() });
    assert!(talk.ended() && talk.chat.server().is_none(), "the stream is let go");
    assert_eq!(talk.last_words(), (Role::Assistant, "Half a"));
    let late = talk.call().id;
    talk.put(Input::HttpReply(HttpReply { id: late, status: Some(200), body: String::new() }));
    assert!(talk.ended());
    talk.tell(prompt("Go on"));
    let ask = talk.asks(|_| {});
    talk.tell(Command::Interrupt { session: session() });
    assert!(talk.events.iter().any(|event| matches!(event, AgentEvent::AskWithdrawn { .. })) && talk.ended());
    talk.decide(&ask, answered(&["SQLite"]), DecidedBy::Person);
    assert_eq!(talk.undeliverable.len(), 1, "nothing waits for it any more");
    talk.tell(prompt("Anyway"));
    assert_eq!(talk.request_messages().iter().filter(|said| said["role"] == "tool").count(), 1);
}

#[test]
fn closed_conversation_is_resumed() {
    let mut talk = Talk::begin("Hello");
    talk.says("Hi", &[]);
    talk.tell(Command::Close { session: session() });
    assert!(matches!(talk.events.last(), Some(AgentEvent::Ended { resumable: true, failed: false, .. })));
    talk.tell(prompt("?"));
    assert!(matches!(talk.events.last(), Some(AgentEvent::Error(text)) if text.contains("closed")));
    talk.tell(start(None, "default", true));
    assert!(talk.ended());
    talk.tell(prompt("Still know me?"));
    assert_eq!(talk.request_messages()[1]["content"], "Hello");
}

#[test]
fn messages_are_queued_during_a_turn() {
    let mut talk = Talk::begin("One");
    talk.tell(prompt("Two"));
    let calls = talk.calls.len();
    talk.says("First", &[]);
    assert_eq!(talk.calls.len(), calls + 1);
    assert_eq!(talk.request_messages()[3]["content"], "Two");
    talk.tell(prompt(&"x".repeat(5 << 20)));
    assert!(matches!(talk.events.last(), Some(AgentEvent::Error(text)) if text.contains("not sent")));
}
