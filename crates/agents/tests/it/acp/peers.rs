//! The mock agent connected to the ACP translator, without processes.

use std::time::Duration;

use sayso_agents::mock::{AcpAgent, AcpInput};
use sayso_core::ask::{Answers, AskBody};
use sayso_core::texts;

use super::*;

/// Both sides, and the translator's events.
struct Pair {
    host: AcpTranslator,
    agent: AcpAgent,
    now: Time,
    asks: Vec<NewAsk>,
    events: Vec<AgentEvent>,
}

impl Pair {
    fn started(word: &str) -> Self {
        Self::with(start(Some(word)))
    }

    fn with(command: Command) -> Self {
        let mut pair =
            Self { host: AcpTranslator::new(), agent: AcpAgent::new(), now: NOW, asks: Vec::new(), events: Vec::new() };
        pair.command(command);
        pair
    }

    fn command(&mut self, command: Command) -> &mut Self {
        self.feed(Input::Command(command));
        self
    }

    /// Gives an input to the translator and forwards lines until both sides are idle.
    fn feed(&mut self, input: Input) {
        let mut inputs = vec![input];
        while !inputs.is_empty() {
            let mut lines = Vec::new();
            for input in inputs {
                let saved = AcpTranslator::restore(&self.host.save()).unwrap();
                assert_eq!(saved, self.host);
                for output in self.host.handle(self.now, input) {
                    match output {
                        Output::Event { event: AgentEvent::AskOpened(ask), .. } => self.asks.push(*ask),
                        Output::Event { event, .. } => self.events.push(event),
                        Output::Launch(_) => self.agent = AcpAgent::new(),
                        Output::Lines(batch) => lines.extend(batch),
                        Output::Stop => {}
                        other @ (Output::HttpCall(_) | Output::Found(_) | Output::Undeliverable { .. }) => panic!("{other:?}"),
                    }
                }
            }
            inputs = Vec::new();
            for line in lines {
                inputs.extend(self.agent.handle(self.now, AcpInput::Line(line)).into_iter().map(Input::Line));
            }
            if let Some(code) = self.agent.exit_code() {
                self.agent = AcpAgent::new();
                inputs.push(Input::Exited(Exit { code: Some(code), signal: None, message: String::new() }));
            }
        }
    }

    fn decide(&mut self, at: usize, decision: Decision) -> &mut Self {
        let ask = self.asks[at].clone();
        self.command(outcome(&ask.native_id, decision, ask.raw))
    }

    /// Advances the agent's clock until it only waits for people.
    fn wait(&mut self) -> &mut Self {
        while let Some(deadline) = self.agent.deadline() {
            self.now = deadline.plus(Duration::from_millis(1));
            for line in self.agent.handle(self.now, AcpInput::Tick) {
                self.feed(Input::Line(line));
            }
        }
        self
    }

    /// The agent's last message.
    fn last_message(&self) -> &str {
        let said = self.events.iter().rev().find_map(|event| match event {
            AgentEvent::Message { text, .. } => Some(text.as_str()),
            _ => None,
        });
        said.unwrap()
    }

    fn idle(&self) -> bool {
        self.events.last() == Some(&AgentEvent::TurnEnded)
    }

    fn trouble(&self) -> bool {
        self.events.iter().any(|event| matches!(event, AgentEvent::Error(_) | AgentEvent::Notice(_)))
    }
}

fn answer_decision(answers: &[&[&str]]) -> Decision {
    answered(answers)
}

#[test]
fn every_question_kind_makes_a_round_trip() {
    for (word, answers, said) in [
        ("question", vec![vec!["SQLite"]], "You answered: SQLite."),
        ("question", vec![vec!["DuckDB"]], "You answered: DuckDB."),
        (
            "questions",
            vec![vec!["PostgreSQL"], vec!["Auth", "Search", "mine"], vec!["be quick"]],
            "You answered: [Database] PostgreSQL; [Areas] Auth, Search, mine; [Notes] be quick.",
        ),
        (
            "form",
            vec![vec!["shop"], vec!["8080"], vec!["false"], vec![]],
            "You answered: [Name] shop; [Port] 8080; [Public] false; [Region] nothing.",
        ),
        (
            "form",
            vec![vec!["7"], vec!["1"], vec!["true"], vec!["eu-central"]],
            "You answered: [Name] 7; [Port] 1; [Public] true; [Region] eu-central.",
        ),
        ("secret", vec![vec!["hunter2"]], "I received a secret of 7 characters."),
    ] {
        let mut pair = Pair::started(word);
        let answers: Answers = answers.into_iter().map(|entries| entries.into_iter().map(str::to_owned).collect()).collect();
        let good = sayso_core::ask::validate_answers(pair.asks[0].body.questions(), &answers).unwrap();
        pair.decide(0, Decision::Answered { answers: good, note: None });
        assert_eq!(pair.last_message(), said);
        assert!(pair.idle() && !pair.trouble(), "{:?}", pair.events);
        assert!(!pair.host.save().state.as_str().contains("hunter2"));
    }
}

#[test]
fn questions_survive_the_protocol_unchanged() {
    use sayso_agents::mock::MockTranslator;
    for word in ["question", "questions", "form", "secret", "approve", "plan", "link"] {
        let pair = Pair::started(word);
        let outputs = MockTranslator::new().handle(NOW, Input::Command(start(Some(word))));
        let wanted = outputs.into_iter().find_map(|output| match output {
            Output::Event { event: AgentEvent::AskOpened(ask), .. } => Some(ask.body),
            _ => None,
        });
        match (&pair.asks[0].body, wanted.unwrap()) {
            (AskBody::Question { questions: got }, AskBody::Question { questions: mut want }) => {
                // A field with a free-text twin cannot be required.
                for question in &mut want {
                    question.required &= !matches!(question.input, sayso_core::ask::Input::Choice { custom: true, .. });
                }
                assert_eq!(*got, want);
            }
            (AskBody::Approval(got), AskBody::Approval(want)) => {
                assert_eq!(
                    (&got.tool, &got.action, &got.title, &got.choices),
                    (&want.tool, &want.action, &want.title, &want.choices)
                );
                assert_eq!((got.input.as_str(), &got.preview), (want.input.as_str(), &want.preview));
            }
            (got, want) => assert_eq!(*got, want),
        }
        assert_eq!(pair.asks[0].tool_call_id.as_deref(), (word != "link").then_some("call-1-1700000000000"));
    }
}

#[test]
fn rejection_reaches_the_mock_as_rejection() {
    for (word, decision, said) in [
        ("question", rejected(texts::REJECTED), format!("Rejected: {}", texts::REJECTED)),
        ("approve", denied(texts::DENIED), format!("Denied: {}", texts::DENIED)),
        ("plan", denied(texts::DENIED), format!("Denied: {}", texts::DENIED)),
        ("link", denied(texts::LINK_DENIED), format!("Denied: {}", texts::LINK_DENIED)),
        ("question", Decision::Withdrawn { reason: "gone".to_owned() }, "Withdrawn: The client cancelled it.".to_owned()),
    ] {
        let mut pair = Pair::started(word);
        pair.decide(0, decision);
        assert_eq!(pair.last_message(), said);
        assert!(pair.idle());
    }
}

#[test]
fn approvals_and_links_make_a_round_trip() {
    let mut pair = Pair::started("approve");
    pair.decide(0, approved());
    assert_eq!(pair.last_message(), "Approved: cargo test --workspace");
    let confirmed = |event: &AgentEvent| matches!(event, AgentEvent::AskDelivery { .. });
    assert!(pair.events.iter().any(confirmed), "{:?}", pair.events);
    pair.command(prompt("approve")).decide(1, Decision::Approved { choice: Some("always".to_owned()), input: None });
    assert_eq!(pair.last_message(), "Approved (always): cargo test --workspace");
    pair.command(prompt("approve"));
    assert_eq!(pair.last_message(), "Ran without asking (always allowed): cargo test --workspace");
    pair.command(prompt("plan")).decide(2, approved());
    assert_eq!(pair.last_message(), "Approved: the plan");
    pair.command(prompt("link")).decide(3, approved());
    assert_eq!(pair.last_message(), "Opened: https://example.com/device?code=MOCK-1234");
    assert!(pair.idle() && !pair.trouble());
}

#[test]
fn rejection_reason_follows_as_a_message() {
    let mut pair = Pair::started("approve");
    pair.decide(0, denied("not on a Friday"));
    assert_eq!(
        pair.last_message(),
        "I did not allow `cargo test --workspace`: not on a Friday",
        "the mock repeats what it does not know"
    );
    assert!(pair.idle());
    let mut pair = Pair::started("question");
    pair.decide(0, rejected("ask me tomorrow"));
    assert_eq!(pair.last_message(), "I did not answer: ask me tomorrow");
    assert!(pair.idle());
}

#[test]
fn parallel_asks_are_answered_in_any_order() {
    let mut pair = Pair::started("parallel");
    assert_eq!(pair.asks.len(), 3);
    pair.decide(2, answer_decision(&[&["nextest"]])).decide(0, answer_decision(&[&["SQLite"]])).decide(1, denied(texts::DENIED));
    assert_eq!(pair.last_message(), format!("You answered: SQLite.\nDenied: {}\nYou answered: nextest.", texts::DENIED));
    assert!(pair.idle());
}

#[test]
fn question_cancelled_by_the_mock_is_withdrawn() {
    let mut pair = Pair::started("withdraw");
    pair.wait();
    assert!(
        pair.events
            .iter()
            .any(|event| matches!(event, AgentEvent::AskWithdrawn { reason, .. } if reason == "The agent withdrew it."))
    );
    assert_eq!(pair.last_message(), "Withdrawn: The agent no longer needs an answer.");
    assert!(pair.idle() && !pair.trouble());
}

#[test]
fn streamed_chunks_join_to_the_message() {
    let mut pair = Pair::started("slow");
    pair.wait().command(prompt("hello there"));
    let said: Vec<&str> = pair
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Message { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        said,
        ["This message streams slowly, one word every fifty milliseconds, so that you can watch it arrive.", "hello there"]
    );
}

#[test]
fn session_is_resumed_after_a_crash() {
    let mut pair = Pair::started("crash");
    assert_eq!(pair.asks.len(), 1);
    let ended = AgentEvent::Ended { reason: "the agent ended with exit code 3".to_owned(), failed: true, resumable: true };
    assert_eq!(pair.events.last(), Some(&ended));
    pair.command(start(None)).command(prompt("question")).decide(1, answer_decision(&[&["SQLite"]]));
    assert_eq!(pair.last_message(), "You answered: SQLite.");
    assert!(pair.idle() && !pair.trouble(), "{:?}", pair.events);
}

#[test]
fn next_turn_runs_after_an_interrupt() {
    for word in ["parallel", "slow", "approve", "question 9 times"] {
        let mut pair = Pair::started(word);
        pair.command(prompt("and now this")).command(interrupt());
        assert_eq!(pair.last_message(), "and now this", "{word}");
        assert!(pair.idle() && !pair.trouble(), "{word} {:?}", pair.events);
        let withdrawn = pair.events.iter().filter(|event| matches!(event, AgentEvent::AskWithdrawn { .. })).count();
        assert_eq!(withdrawn, pair.asks.len(), "{word}");
    }
}

#[test]
fn stop_ends_the_turn_and_close_ends_the_session() {
    let mut pair = Pair::started("parallel");
    pair.decide(0, Decision::Rejected { message: "stop".to_owned(), stop: true });
    assert!(pair.idle(), "{:?}", pair.events);
    pair.command(prompt("question 3 times")).command(close());
    assert!(matches!(pair.events.last(), Some(AgentEvent::Ended { failed: false, resumable: false, .. })));
}

#[test]
fn many_questions_are_asked_in_sequence() {
    let mut pair = Pair::started("question 200 times");
    for at in 0..200 {
        pair.decide(at, answer_decision(&[&["SQLite"]]));
    }
    assert_eq!(pair.last_message(), "Asked 200 times. The last time: You answered: SQLite.");
}

#[test]
fn permission_mode_reaches_the_mock() {
    let pair = Pair::with(start_in(Some("approve"), "bypassPermissions", None, true));
    assert_eq!(pair.last_message(), "Ran without asking (bypassPermissions): cargo test --workspace");
    let pair = Pair::with(start_in(Some("question"), "dontAsk", None, true));
    assert_eq!(pair.last_message(), "I did not ask for a question: the permission mode is dontAsk.");
    // The agent is told that the client cannot show questions.
    let pair = Pair::with(start_in(Some("question"), "default", None, false));
    assert_eq!(pair.last_message(), "Rejected: The client cannot show this question.");
}

/// A client that is not Sayso's translator.
fn client(capabilities: Value, word: &str) -> (AcpAgent, Vec<Value>) {
    let mut agent = AcpAgent::new();
    let mut lines = Vec::new();
    let session = "any id of an earlier process";
    for message in [
        json!({ "id": "i", "method": "initialize", "params": { "protocolVersion": 1, "clientCapabilities": capabilities } }),
        json!({ "id": "l", "method": "session/load", "params": { "sessionId": session, "cwd": "/", "mcpServers": [] } }),
        json!({ "id": "p", "method": "session/prompt", "params": { "sessionId": session, "prompt": [{ "type": "text", "text": word }] } }),
    ] {
        lines.extend(agent.handle(NOW, AcpInput::Line(message.to_string())));
    }
    let lines = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (agent, lines)
}

/// The agent's messages in these lines.
fn words(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line["params"]["update"]["content"]["text"].as_str().map(str::to_owned)).collect()
}

#[test]
fn sandbox_client_is_asked_through_the_extension() {
    for place in [
        json!({ "_meta": { "sandboxagent": { "sessionRequestQuestion": true } } }),
        json!({ "extensions": { "sessionRequestQuestion": true } }),
    ] {
        let (mut agent, lines) = client(place, "question");
        let asked = lines.last().unwrap();
        assert_eq!(asked["method"], "_sandboxagent/session/request_question");
        assert_eq!(asked["params"]["options"], json!([["SQLite", "SQLite"], ["PostgreSQL", "PostgreSQL"]]));
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "status": "answered", "answers": [["SQLite"]] } });
        let lines = agent.handle(NOW, AcpInput::Line(answer.to_string()));
        assert_eq!(words(&lines), "You answered: SQLite.");
        assert!(lines.last().unwrap().contains(r#""stopReason":"end_turn""#));
    }
    let (_, lines) = client(json!({ "_meta": { "sandboxagent": { "sessionRequestQuestion": true } } }), "questions");
    assert!(lines.last().unwrap()["result"]["stopReason"] == "end_turn", "three questions do not fit: {lines:?}");
    let (mut agent, lines) = client(json!({ "elicitation": { "form": {} } }), "question");
    assert_eq!(lines.last().unwrap()["method"], "elicitation/create");
    let wrong = json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "accept", "content": {} } });
    let lines = agent.handle(NOW, AcpInput::Line(wrong.to_string()));
    assert_eq!(words(&lines), "Rejected: the answer does not fit: question 1: an answer is required");
    let (_, lines) = client(json!({ "elicitation": { "form": {} } }), "link");
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    assert!(words(&lines).ends_with("Denied: The client cannot show a link."), "{lines:?}");
}

#[test]
fn mock_enforces_its_protocol() {
    let mut agent = AcpAgent::new();
    let mut send = |line: &str| agent.handle(NOW, AcpInput::Line(line.to_owned()));
    assert_eq!(send(" "), Vec::<String>::new());
    assert!(send("nonsense")[0].contains(r#""id":null,"error":{"code":-32700"#));
    assert!(send(r#"{"id":1}"#)[0].contains("-32600"));
    assert!(send(r#"{"id":1,"method":"session/list"}"#)[0].contains("-32601"));
    assert!(send(r#"{"id":1,"method":"session/prompt","params":{"sessionId":"nobody"}}"#)[0].contains("-32002"));
    assert!(send(r#"{"id":1,"method":"session/load","params":{}}"#)[0].contains("-32602"));
    assert!(send(r#"{"id":7,"result":{}}"#).is_empty(), "no request has this id");
    for n in 0..65 {
        let lines = send(&format!(r#"{{"id":{n},"method":"session/new","params":{{"cwd":"/","mcpServers":[]}}}}"#));
        assert_eq!(lines[0].contains("too many sessions"), n == 64);
    }
}
