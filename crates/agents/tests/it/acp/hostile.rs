//! Input from broken or malicious agents.

use sayso_agents::mock::{AcpAgent, AcpInput};
use sayso_core::limits;

use super::*;

#[test]
fn invalid_line_is_reported_and_ignored() {
    let mut host = Host::working();
    host.line("").line("   ").line("\u{feff}");
    host.log.clear();
    for line in [
        "npm warn deprecated",
        "\0\0",
        "[]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}]",
        "{\"jsonrpc\":\"2.0\"}",
        "7",
        "\u{1b}[31mred",
    ] {
        host.line(line);
    }
    insta::assert_snapshot!(host.log);
    for n in 0..100 {
        host.line(&format!("log {n}"));
    }
    assert_eq!(host.log.matches("error: ").count(), 8 - 1, "{}", host.log);
    host.request(json!(1), "_sandboxagent/session/request_question", json!({ "prompt": "Still there?" }));
    assert_eq!(host.asks.len(), 1, "what makes sense is still heard");
}

#[test]
fn request_without_method_is_refused_by_id() {
    let mut host = Host::working();
    host.line(r#"{"jsonrpc":"2.0","id":"a"}"#);
    assert_eq!(
        host.sent.pop().unwrap(),
        json!({ "jsonrpc": "2.0", "id": "a", "error": { "code": -32600, "message": "Invalid request: there is no method" } })
    );
    for params in ["", r#","params":null"#, r#","params":[1,2]"#, r#","params":"x""#, r#","params":{"options":{}}"#] {
        host.line(&format!(r#"{{"jsonrpc":"2.0","id":4,"method":"session/request_permission"{params}}}"#));
        assert_eq!(host.result()["code"], -32602, "{params}");
    }
    host.sent.clear();
    for id in ["{}", "[0]", "true", "1e400x"] {
        host.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission","params":{{}}}}"#));
    }
    assert!(host.sent.is_empty(), "there is no id to answer to");
}

#[test]
fn duplicate_open_id_is_not_answered_twice() {
    let mut host = Host::working();
    for prompt in ["one", "two"] {
        host.request(json!(1), "_sandboxagent/session/request_question", json!({ "prompt": prompt }));
    }
    assert_eq!((host.asks.len(), host.sent.len()), (1, 0));
    assert!(host.log.ends_with("error: The agent used the id of an open request again; the second one was ignored.\n"));
    host.request(json!("1"), "_sandboxagent/session/request_question", json!({ "prompt": "three" }));
    assert_eq!(host.asks.len(), 2, "a text is not a number");
}

#[test]
fn deep_and_large_messages_do_no_harm() {
    let mut host = Host::working();
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    host.line(&deep).line(&"[".repeat(200_000)).line(&format!(r#"{{"a":{deep}}}"#));
    host.line(&format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{deep}}}}}"#));
    let call = format!(r#"{{"toolCallId":"t","title":"x","rawInput":{deep}}}"#);
    host.line(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{{"sessionId":"s1","toolCall":{call},"options":[{{"optionId":"y","kind":"allow_once"}}]}}}}"#));
    assert_eq!(host.asks.len(), 1);
    assert_eq!(host.asks[0].raw.as_ref().unwrap().as_str().matches('[').count(), 200_001);
    host.decide(approved());
    assert_eq!(host.result()["outcome"]["optionId"], "y");
    let mut host = Host::working();
    host.line(&format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{}"}}"#, "x".repeat(limits::LINE)));
    assert!(host.log.starts_with("error: The agent wrote a line of 16777"), "{}", host.log);
}

#[test]
fn invalid_text_is_shown_with_replacements() {
    let mut host = Host::working();
    host.line(r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"half \ud83d pair \u0000 nul"}}}}"#);
    assert!(host.log.contains("half ") && host.log.contains(" pair \\0 nul"), "{}", host.log);
    host.line(r#"{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","params":{"prompt":"\ud83d?","options":[["\udc00","x"]]}}"#);
    assert_eq!(host.asks.len(), 1);
}

/// A small deterministic random generator, so that the cases are the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// Fragments that are meaningful to a parser of these messages.
const PIECES: [&str; 24] = [
    "null",
    "true",
    "-1",
    "1e999",
    "\"\"",
    "{}",
    "[]",
    "[[[[",
    "\"\\ud800\"",
    "\\u0000",
    "\"id\":0",
    "\"id\":\"0\"",
    "\"options\"",
    "\"questions\"",
    "\"method\":\"session/request_permission\"",
    "\"method\":\"elicitation/create\"",
    "\"method\":\"cursor/ask_question\"",
    "\"result\"",
    "\"error\":{}",
    "\"toolCallId\"",
    "\"stopReason\":\"cancelled\"",
    "\"_custom\"",
    "é",
    "\u{202e}",
];

fn mutate(line: &str, dice: &mut Dice) -> String {
    let mut bytes: Vec<u8> = line.bytes().collect();
    for _ in 0..=dice.roll(3) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.roll(bytes.len());
        let end = (at + 1 + dice.roll(24)).min(bytes.len());
        match dice.roll(6) {
            0 => bytes[at] = u8::try_from(dice.roll(128)).unwrap(),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, PIECES[dice.roll(PIECES.len())].bytes())),
            3 => drop(bytes.splice(at..end, PIECES[dice.roll(PIECES.len())].bytes())),
            4 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            _ => bytes.truncate(end),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs 50,000 mutated lines; `SAYSO_MUTATIONS` sets another number.
#[test]
fn mutated_lines_never_break_the_translator() {
    let cases: usize = std::env::var("SAYSO_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let mut lines: Vec<String> = super::replay::lines_of_agents();
    for (method, params) in [
        ("cursor/ask_question", json!({ "questions": [{ "id": "a", "prompt": "?", "options": [{ "id": "x", "label": "X" }] }] })),
        ("cursor/create_plan", json!({ "plan": "p" })),
        (
            "_x.ai/ask_user_question",
            json!({ "params": { "questions": [{ "question": "?", "options": [{ "label": "X" }], "multiSelect": true }] } }),
        ),
        ("_x.ai/exit_plan_mode", json!({ "planContent": "p" })),
        (
            "session/elicitation",
            json!({ "mode": "form", "message": "m", "requestedSchema": { "properties": { "a": { "type": ["null", "number"], "default": 1 }, "b": { "anyOf": [{ "const": 1 }, { "enum": [2] }] } } } }),
        ),
        ("elicitation/create", json!({ "mode": "url", "url": "https://example.com", "elicitationId": "e" })),
        (
            "session/request_permission",
            json!({ "options": [{ "optionId": "q0_opt_0", "name": "A", "kind": "allow_once" }], "toolCall": { "toolCallId": "k" } }),
        ),
    ] {
        lines.push(json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params }).to_string());
    }
    let mut dice = Dice(0x5eed);
    let mut host = AcpTranslator::attached(session());
    let mut largest = 0;
    for case in 0..cases {
        let line = mutate(&lines[dice.roll(lines.len())], &mut dice);
        let mut asks = Vec::new();
        for output in host.handle(NOW, Input::Line(line.clone())) {
            match output {
                Output::Event { event: AgentEvent::AskOpened(ask), .. } => {
                    assert_eq!(ask.body.check_limits(), Ok(()), "{line}");
                    asks.push(*ask);
                }
                Output::Event { event: AgentEvent::Error(text) | AgentEvent::Notice(text), .. } => {
                    assert!(text.len() < 16 * 1024, "{line}")
                }
                Output::Lines(sent) => {
                    for sent in sent {
                        let sent: Value = serde_json::from_str(&sent).unwrap();
                        assert_ne!(
                            sent["result"]["outcome"]["outcome"], "selected",
                            "nothing is allowed without a person: {line}"
                        );
                        assert_ne!(sent["result"]["action"], "accept", "{line}");
                    }
                }
                _ => {}
            }
        }
        for ask in asks {
            let decision = decision(&ask, &mut dice);
            let outputs = host.handle(NOW, Input::Command(outcome(&ask.native_id, decision, ask.raw)));
            assert!(
                outputs
                    .iter()
                    .any(|output| matches!(output, Output::Lines(lines) if serde_json::from_str::<Value>(&lines[0]).is_ok())),
                "{line}"
            );
        }
        if case % 64 == 0 {
            let saved = host.save();
            largest = largest.max(saved.state.as_str().len());
            host = AcpTranslator::restore(&saved).unwrap();
        }
        let more: &[Input] = match case {
            _ if case % 89 == 0 => &[Input::Command(prompt("go on"))],
            _ if case % 97 == 0 => &[Input::Command(interrupt())],
            _ if case % 211 == 0 => &[Input::Exited(Exit::default()), Input::Command(start(Some("again")))],
            _ => &[],
        };
        for input in more {
            host.handle(NOW, input.clone());
        }
        if case % 512 == 0 {
            host = AcpTranslator::attached(session());
        }
    }
    assert!(largest < 256 * 1024, "{largest}");
}

fn decision(ask: &NewAsk, dice: &mut Dice) -> Decision {
    let message = || "no".to_owned();
    let stop = dice.roll(8) == 0;
    match (&ask.body, dice.roll(3)) {
        (sayso_core::ask::AskBody::Question { questions }, 0 | 1) => {
            let answers = questions
                .iter()
                .map(|question| question.options().first().map_or(vec!["7".to_owned()], |option| vec![option.value.clone()]));
            Decision::Answered { answers: answers.collect(), note: (dice.roll(2) == 0).then(message) }
        }
        (sayso_core::ask::AskBody::Question { .. }, _) => Decision::Rejected { message: message(), stop },
        (_, 0) => Decision::Denied { message: message(), stop },
        (_, 1) => Decision::Withdrawn { reason: message() },
        (sayso_core::ask::AskBody::Approval(approval), _) => {
            Decision::Approved { choice: approval.choices.first().map(|choice| choice.id.clone()), input: None }
        }
        (sayso_core::ask::AskBody::Link(_), _) => approved(),
    }
}

/// The mock's side of the protocol, against broken clients.
#[test]
fn mutated_lines_never_break_the_mock() {
    let session = "s";
    let words = ["questions", "parallel", "approve", "link", "form", "slow", "withdraw"];
    let mut lines: Vec<String> = words
        .iter()
        .map(|word| json!({ "id": 9, "method": "session/prompt", "params": { "sessionId": session, "prompt": [{ "type": "text", "text": word }] } }))
        .chain([
            json!({ "id": 1, "method": "session/load", "params": { "sessionId": session } }),
            json!({ "id": 2, "method": "session/close", "params": { "sessionId": session } }),
            json!({ "id": 3, "method": "session/set_mode", "params": { "sessionId": session, "modeId": "plan" } }),
            json!({ "method": "session/cancel", "params": { "sessionId": session } }),
            json!({ "method": "$/cancel_request", "params": { "requestId": 9 } }),
            json!({ "id": 0, "result": { "action": "accept", "content": { "0": "SQLite", "1": ["Auth"], "2": "x", "0_custom": "y" } } }),
            json!({ "id": 1, "result": { "outcome": { "outcome": "selected", "optionId": "allow" } } }),
            json!({ "id": 2, "error": { "code": 1, "message": "no" } }),
        ])
        .map(|message| message.to_string())
        .collect();
    lines.push(json!({ "id": 0, "method": "initialize", "params": { "clientCapabilities": { "elicitation": { "form": {}, "url": {} } } } }).to_string());
    let mut dice = Dice(7);
    let mut agent = AcpAgent::new();
    for case in 0..5_000_u64 {
        let now = NOW.plus(std::time::Duration::from_millis(case * 100));
        let line = lines[dice.roll(lines.len())].clone();
        let line = if dice.roll(2) == 0 { mutate(&line, &mut dice) } else { line };
        for line in agent.handle(now, AcpInput::Line(line)).into_iter().chain(agent.handle(now, AcpInput::Tick)) {
            serde_json::from_str::<Value>(&line).unwrap();
        }
    }
}
