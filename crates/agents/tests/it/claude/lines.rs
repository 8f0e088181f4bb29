//! Single lines and their events, including invalid lines.

use sayso_agents::claude::ClaudeTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Input, Output, Translator};
use sayso_core::ask::{AskBody, Decision};
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::{Role, ToolStatus};
use serde_json::{Value, json};

use super::{ask_id, command, events_of_line, handle_ask, outcome, sent, session, tool_request};

fn claude() -> ClaudeTranslator {
    ClaudeTranslator::attached(session())
}

fn handle_line(claude: &mut ClaudeTranslator, line: &str) -> Vec<Output> {
    claude.handle(Time::from_millis(0), Input::Line(line.to_owned()))
}

/// The single response among outputs, and its notice.
fn refused(outputs: &[Output]) -> (Value, String) {
    let responses = sent(outputs);
    assert_eq!(responses.len(), 1, "{outputs:?}");
    let notice = outputs.iter().find_map(|output| match output {
        Output::Event { event: AgentEvent::Notice(text), .. } => Some(text.clone()),
        _ => None,
    });
    assert!(!outputs.iter().any(|output| matches!(output, Output::Event { event: AgentEvent::AskOpened(_), .. })));
    (responses[0]["response"].clone(), notice.unwrap())
}

fn request(id: &str, request: &Value) -> String {
    json!({"type":"control_request","request_id":id,"request":request}).to_string()
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn invalid_lines_are_reported_a_few_times_per_turn() {
    let mut claude = claude();
    events_of_line(&mut claude, r#"{"type":"system","subtype":"init"}"#);
    let long = format!("Segmentation fault \u{1b}[31m{}", "ü".repeat(10_000));
    let told: Vec<AgentEvent> = (0..20).flat_map(|_| events_of_line(&mut claude, &long)).collect();
    assert_eq!(told.len(), 5);
    assert!(matches!(&told[0], AgentEvent::Error(text) if text.contains("Segmentation fault \u{1b}[31mü") && text.len() < 1_200));
    events_of_line(&mut claude, r#"{"type":"result","subtype":"success"}"#);
    assert_eq!(events_of_line(&mut claude, "again").len(), 1, "the next turn may tell again");
    for quiet in ["", "  ", r#"{"type":"something_new","x":[1]}"#, r#"{"type":"system","subtype":"compact_boundary"}"#] {
        assert_eq!(events_of_line(&mut claude, quiet), [], "{quiet}");
    }
}

#[test]
fn oversized_line_is_reported() {
    let mut claude = claude();
    let line = format!(r#"{{"type":"assistant","message":"{}"}}"#, "x".repeat(sayso_core::limits::LINE));
    assert!(matches!(&events_of_line(&mut claude, &line)[..], [AgentEvent::Error(text)] if text.len() < 1_200));
}

/// A request that cannot become an ask is answered immediately, because Claude would wait indefinitely.
#[test]
fn unsupported_request_is_refused_with_the_reason() {
    let deep = format!(
        r#"{{"type":"control_request","request_id":"a","request":{{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}}}"#,
        nested(10_000)
    );
    let long = request(&"x".repeat(1_000), &json!({"subtype":"can_use_tool","tool_name":"Bash"}));
    let refusals = [
        (deep, "it is nested too deeply"),
        (long, "its id is too long"),
        (request("a", &json!({"subtype":"hook_callback"})), "Sayso does not support requests of the kind `hook_callback`"),
        (request("a", &json!({"subtype":"can_use_tool"})), "it names no tool"),
        (request("a", &json!({})), "it does not say what it is"),
        (request("a", &json!("can_use_tool")), "it cannot be read"),
        (r#"{"type":"control_request","request_id":"a"}"#.to_owned(), "it cannot be read"),
        (request("a", &json!({"subtype":"elicitation","mode":"url"})), "there is no address to open"),
    ];
    for (line, why) in refusals {
        let (response, notice) = refused(&handle_line(&mut claude(), &line));
        assert_eq!(
            (response["subtype"].as_str(), response["error"].as_str()),
            (Some("error"), Some(&*format!("Sayso refused this request: {why}.")))
        );
        assert_eq!(notice, format!("A request of Claude Code was refused: {why}."));
    }
    // Claude discards error responses to this request.
    let outputs = handle_line(&mut claude(), &request("a", &json!({"subtype":"request_user_dialog"})));
    assert!(matches!(&outputs[..], [Output::Event { event: AgentEvent::Notice(_), .. }]));
}

#[test]
fn invalid_question_is_denied_with_the_reason() {
    let outputs = handle_line(&mut claude(), &tool_request("a", "AskUserQuestion", &json!({"questions":[{"header":"x"}]})));
    let (response, notice) = refused(&outputs);
    assert_eq!(
        response["response"],
        json!({"behavior":"deny","message":"This question could not be shown: question 1 has no text."})
    );
    assert_eq!(notice, "A question of Claude Code could not be shown: question 1 has no text.");
}

#[test]
fn repeated_request_opens_one_ask() {
    let mut claude = claude();
    let line = tool_request("a", "Bash", &json!({"command":"ls"}));
    handle_ask(&mut claude, &line);
    assert_eq!(events_of_line(&mut claude, &line), []);
}

/// The server refuses requests over a limit with an immediate outcome.
#[test]
fn refusal_of_the_server_reaches_claude() {
    let mut claude = claude();
    let many: Vec<Value> = (0..20).map(|n| json!({"question":format!("Q{n}?")})).collect();
    let ask = handle_ask(&mut claude, &tool_request("a", "AskUserQuestion", &json!({"questions":many})));
    let limit = ask.body.check_limits().unwrap_err();
    let refusal = Decision::Rejected { message: format!("Sayso refused this request: {limit}."), stop: false };
    let response = sent(&command(&mut claude, outcome(&ask, refusal)));
    assert_eq!(
        response[0]["response"]["response"]["message"],
        "Sayso refused this request: too much: the number of questions is 20, the limit is 16."
    );
}

/// A decision of the wrong kind never allows or accepts anything.
#[test]
fn mismatched_decision_is_sent_as_denial() {
    let form =
        json!({"subtype":"elicitation","mode":"form","message":"m","requested_schema":{"properties":{"a":{"type":"string"}}}});
    let link = json!({"subtype":"elicitation","mode":"url","message":"m","url":"https://a.b"});
    let lines = [
        (tool_request("a", "AskUserQuestion", &json!({"questions":[{"question":"Q?"}]})), "answered"),
        (tool_request("a", "Bash", &json!({"command":"ls"})), "approved"),
        (tool_request("a", "ExitPlanMode", &json!({"plan":"p"})), "approved"),
        (request("a", &form), "answered"),
        (request("a", &link), "approved"),
    ];
    let choice = Some("suggestion-9".to_owned());
    let decisions = [
        ("answered", Decision::Answered { answers: vec![vec!["x".into()]], note: None }),
        ("approved", Decision::Approved { choice: None, input: None }),
        ("rejected", Decision::Rejected { message: "no".into(), stop: false }),
        ("rejected", Decision::Rejected { message: String::new(), stop: true }),
        ("denied", Decision::Denied { message: "no".into(), stop: true }),
        ("withdrawn", Decision::Withdrawn { reason: "gone".into() }),
        ("unknown choice", Decision::Approved { choice, input: None }),
    ];
    for (line, yes) in &lines {
        for (word, decision) in &decisions {
            let mut claude = claude();
            let ask = handle_ask(&mut claude, line);
            let lines = sent(&command(&mut claude, outcome(&ask, decision.clone())));
            let payload = &lines[0]["response"]["response"];
            let allowed = payload["behavior"] == "allow" || payload["action"] == "accept";
            // A link has no choices; the core refuses such a decision earlier.
            let link_with_choice = line.contains("https://a.b") && *word == "unknown choice";
            assert_eq!(allowed, word == yes || link_with_choice, "{line} {word}");
            assert!(payload["behavior"] != "deny" || payload["message"].as_str().is_some_and(|words| !words.is_empty()));
        }
    }
}

#[test]
fn stop_at_a_form_cancels_it_and_interrupts() {
    let mut claude = claude();
    events_of_line(&mut claude, r#"{"type":"system","subtype":"init"}"#);
    let ask = handle_ask(&mut claude, &request("a", &json!({"subtype":"elicitation","message":"m","requested_schema":{}})));
    let stop = Decision::Rejected { message: "no".into(), stop: true };
    let lines = sent(&command(&mut claude, outcome(&ask, stop)));
    assert_eq!(lines[0]["response"]["response"], json!({"action":"cancel"}));
    assert_eq!(lines[1]["request"], json!({"subtype":"interrupt"}));
}

/// A form has no field for a free-text reply; the text is sent as a message.
#[test]
fn message_typed_to_a_form_declines_it_and_is_forwarded() {
    let mut claude = claude();
    let schema = json!({"properties":{"a":{"type":"string"},"b":{"type":"string"}}});
    let ask = handle_ask(&mut claude, &request("a", &json!({"subtype":"elicitation","message":"m","requested_schema":schema})));
    let decision = Decision::Answered { answers: vec![vec!["why?".into()]; 2], note: None };
    let typed = Command::Outcome {
        session: session(),
        ask: ask_id(),
        native_id: "a".into(),
        decision,
        raw: ask.raw,
        by: DecidedBy::Typed,
    };
    let lines = sent(&command(&mut claude, typed));
    assert_eq!(lines[0]["response"]["response"], json!({"action":"decline"}));
    assert_eq!(lines[1]["message"]["content"], "why?");
}

/// A form also has no field for a note, or for the reason of a rejection.
#[test]
fn words_with_a_form_or_link_are_forwarded_for_people_only() {
    let form = json!({"subtype":"elicitation","message":"m","requested_schema":{"properties":{"a":{"type":"string"}}}});
    let link = json!({"subtype":"elicitation","mode":"url","message":"m","url":"https://a.b"});
    let answered = |note: &str| Decision::Answered { answers: vec![vec!["x".into()]], note: Some(note.into()) };
    let rejected = |message: &str| Decision::Rejected { message: message.into(), stop: false };
    let denied = |message: &str| Decision::Denied { message: message.into(), stop: false };
    for (asking, decision, by, words) in [
        (&form, answered("soon"), DecidedBy::Person, Some("soon")),
        (&form, rejected("later"), DecidedBy::Person, Some("I did not answer: later")),
        (&form, rejected("later"), DecidedBy::Automatic, None),
        (&form, rejected(texts::REJECTED), DecidedBy::Person, None),
        (&link, denied("not there"), DecidedBy::Person, Some("I did not allow it: not there")),
        (&link, denied("not there"), DecidedBy::Automatic, None),
        (&link, denied(texts::LINK_DENIED), DecidedBy::Person, None),
    ] {
        let mut claude = claude();
        let ask = handle_ask(&mut claude, &request("a", asking));
        let decided = Command::Outcome { session: session(), ask: ask_id(), native_id: "a".into(), decision, raw: ask.raw, by };
        let outputs = command(&mut claude, decided);
        let lines = sent(&outputs);
        assert_eq!(lines.get(1).map(|line| line["message"]["content"].as_str().unwrap()), words);
        let told = outputs.iter().find_map(|output| match output {
            Output::Event { event: AgentEvent::Message { role: Role::User, text, .. }, .. } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(told, words, "the transcript has them too");
    }
}

#[test]
fn secret_is_sent_but_not_saved() {
    let mut claude = claude();
    let schema = json!({"properties":{"token":{"type":"string","format":"password"}}});
    let ask = handle_ask(&mut claude, &request("a", &json!({"subtype":"elicitation","message":"m","requested_schema":schema})));
    assert!(ask.body.is_secret());
    let decision = Decision::Answered { answers: vec![vec!["s3cr3t-7f1c".into()]], note: None };
    let lines = sent(&command(&mut claude, outcome(&ask, decision)));
    assert_eq!(lines[0]["response"]["response"]["content"], json!({"token":"s3cr3t-7f1c"}));
    assert!(!format!("{claude:?}{:?}", claude.save()).contains("s3cr3t"));
}

/// Background sub-agents continue after the turn, and so do their asks.
#[test]
fn turn_end_withdraws_its_open_asks() {
    let mut claude = claude();
    handle_ask(&mut claude, &tool_request("root", "Bash", &json!({"command":"ls"})));
    let of_helper =
        json!({"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"toolu_h","agent_id":"a1"});
    let ask = handle_ask(&mut claude, &request("helper", &of_helper));
    assert_eq!(ask.subagent.as_deref(), Some("sub-agent"));
    let told = events_of_line(&mut claude, r#"{"type":"result","subtype":"success","is_error":false}"#);
    assert!(
        matches!(&told[..], [AgentEvent::AskWithdrawn { native_id, .. }, AgentEvent::TurnEnded] if native_id == "root"),
        "{told:?}"
    );
    let approved = Decision::Approved { choice: None, input: None };
    assert_eq!(sent(&command(&mut claude, outcome(&ask, approved.clone()))).len(), 1);
    // The result of a tool call withdraws its ask, even for a sub-agent.
    handle_ask(&mut claude, &request("again", &of_helper));
    let result =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_h","content":"x","is_error":true}]}}"#;
    let told = events_of_line(&mut claude, result);
    assert!(matches!(&told[0], AgentEvent::AskWithdrawn { native_id, .. } if native_id == "again"), "{told:?}");
}

#[test]
fn late_idle_event_does_not_end_the_next_turn() {
    let idle = r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#;
    let running = r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#;
    let mut claude = claude();
    assert_eq!(events_of_line(&mut claude, running), [AgentEvent::TurnStarted]);
    assert_eq!(events_of_line(&mut claude, r#"{"type":"result","subtype":"success"}"#), [AgentEvent::TurnEnded]);
    command(&mut claude, super::prompt("next"));
    assert_eq!(events_of_line(&mut claude, idle), [], "this was said before it read the prompt");
    assert_eq!(events_of_line(&mut claude, running), []);
    assert_eq!(events_of_line(&mut claude, idle), [AgentEvent::TurnEnded], "there was no result");
}

#[test]
fn failed_turn_reports_its_error() {
    let told = |result: Value| {
        let mut claude = claude();
        events_of_line(&mut claude, r#"{"type":"system","subtype":"init"}"#);
        let mut events = events_of_line(&mut claude, &result.to_string());
        assert_eq!(events.pop(), Some(AgentEvent::TurnEnded));
        events
    };
    let error = |words: &str| vec![AgentEvent::Error(words.to_owned())];
    assert_eq!(
        told(json!({"type":"result","is_error":true,"subtype":"success","result":"Credit balance is too low"})),
        error("Claude Code: Credit balance is too low")
    );
    assert_eq!(
        told(json!({"type":"result","is_error":true,"errors":["[ede_diagnostic] a","b","c"]})),
        error("Claude Code: b\nc")
    );
    assert_eq!(
        told(json!({"type":"result","is_error":true,"subtype":"error_max_turns"})),
        error("Claude Code: the turn was ended because it took too many steps")
    );
    assert_eq!(told(json!({"type":"result","is_error":true})), error("Claude Code: the turn failed"));
    let stopped = vec![AgentEvent::Notice("Claude Code stopped the turn.".to_owned())];
    assert_eq!(told(json!({"type":"result","is_error":true,"terminal_reason":"aborted_streaming"})), stopped);
    assert_eq!(told(json!({"type":"result","is_error":false,"result":"fine"})), []);
}

#[test]
fn tool_output_is_truncated() {
    let mut claude = claude();
    let deep = format!(
        r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"thinking","thinking":"x"}},{{"type":"tool_use","id":"t","name":"Bash","input":{}}}]}}}}"#,
        nested(10_000)
    );
    let told = events_of_line(&mut claude, &deep);
    assert!(
        matches!(&told[..], [AgentEvent::TurnStarted, AgentEvent::Tool { input: None, status: ToolStatus::Running, .. }]),
        "{told:?}"
    );
    let content = json!([{"type":"text","text":"x".repeat(1_000_000)},{"type":"image","source":{}}]);
    let result = json!({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":content}]}});
    let told = events_of_line(&mut claude, &result.to_string());
    let [AgentEvent::Tool { name, output: Some(output), status: ToolStatus::Complete, .. }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(name, "Bash");
    assert!(output.len() < 300_000 && output.ends_with("bytes more)"));
}

/// The state stays bounded regardless of the requests: requests over the limit are refused.
#[test]
fn saved_state_stays_bounded() {
    let mut claude = claude();
    let id = |n: usize| format!("{n:0>128}");
    let mut opened = 0;
    for n in 0..2_000 {
        let outputs = handle_line(&mut claude, &tool_request(&id(n), "Bash", &json!({"command":"x".repeat(5_000)})));
        opened += outputs.iter().filter(|output| matches!(output, Output::Event { event: AgentEvent::AskOpened(_), .. })).count();
        assert_eq!(sent(&outputs).len(), usize::from(n >= 256), "requests without an ask are refused");
        let call = json!({"type":"assistant","agent_id":id(n),"subagent_type":id(n),"message":{"id":id(n),"content":[{"type":"tool_use","id":id(n),"name":id(n),"input":{}}]}});
        handle_line(&mut claude, &call.to_string());
        command(&mut claude, Command::Interrupt { session: session() });
    }
    assert_eq!(opened, 256);
    assert!(claude.save().state.as_str().len() < 160 * 1024, "{}", claude.save().state.as_str().len());
    assert!(claude.save().state.as_str().len() > 64 * 1024, "the test fills it");
}

#[test]
fn decision_without_words_uses_the_default_text() {
    let mut claude = claude();
    let ask = handle_ask(&mut claude, &tool_request("a", "Bash", &json!({"command":"ls"})));
    assert!(matches!(&ask.body, AskBody::Approval(_)));
    let lines = sent(&command(&mut claude, outcome(&ask, Decision::Denied { message: " ".into(), stop: false })));
    assert_eq!(lines[0]["response"]["response"]["message"], texts::DENIED);
}
