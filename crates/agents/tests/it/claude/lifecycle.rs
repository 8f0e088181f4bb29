//! The lifecycle of a session: launch, prompts, outcomes, interrupt, close, exit, resumption.

use sayso_agents::claude::{CAPABILITIES, ClaudeTranslator};
use sayso_agents::translator::{AgentEvent, Capabilities, Command, DecidedBy, Exit, Input, Output, Translator};
use sayso_core::ask::{Decision, Delivery, TypedAnswers};
use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::texts;
use sayso_core::time::Time;
use serde_json::{Value, json};

use super::{ask_id, command, events, events_of_line, handle_ask, outcome, prompt, sent, session, start, tool_request};

const CONVERSATION: &str = "29acdebe-ba42-4810-bd75-2475241c67a6";

fn initialize(number: u64) -> Value {
    json!({"type":"control_request","request_id":format!("sayso_{number}"),"request":{"subtype":"initialize"}})
}

fn interrupt(number: u64) -> Value {
    json!({"type":"control_request","request_id":format!("sayso_{number}"),"request":{"subtype":"interrupt"}})
}

fn user(text: &str) -> Value {
    json!({"type":"user","message":{"role":"user","content":text},"parent_tool_use_id":null,"session_id":""})
}

fn event(event: AgentEvent) -> Output {
    Output::Event { session: session(), event }
}

fn exited(claude: &mut ClaudeTranslator, code: Option<i32>, signal: Option<i32>, message: &str) -> Vec<AgentEvent> {
    let exit = Exit { code, signal, message: message.to_owned() };
    events(claude.handle(Time::from_millis(0), Input::Exited(exit)))
}

fn bash(claude: &mut ClaudeTranslator, id: &str) -> sayso_agents::translator::NewAsk {
    handle_ask(claude, &tool_request(id, "Bash", &json!({"command":"ls"})))
}

fn approved() -> Decision {
    Decision::Approved { choice: None, input: None }
}

/// A session with a running turn.
fn running() -> ClaudeTranslator {
    let mut claude = ClaudeTranslator::new();
    command(&mut claude, start(Some("go")));
    events_of_line(&mut claude, &json!({"type":"system","subtype":"init","session_id":CONVERSATION}).to_string());
    claude
}

/// The last argument, which identifies the conversation, and the lines after the launch.
fn launched(outputs: &[Output]) -> (String, Vec<Value>) {
    let Output::Launch(launch) = &outputs[0] else { panic!("{outputs:?}") };
    assert_eq!(launch.directory, "/project");
    (launch.args.last().unwrap().clone(), sent(&outputs[1..]))
}

#[test]
fn start_launches_initializes_and_prompts() {
    let mut claude = ClaudeTranslator::new();
    let outputs = command(&mut claude, start(Some("go\n\"on\"")));
    assert_eq!(launched(&outputs).1, [initialize(1), user("go\n\"on\"")]);
    assert!(matches!(&outputs[1], Output::Lines(lines) if lines.len() == 2), "both are written together");
    assert_eq!(outputs[2..], [event(AgentEvent::TurnStarted)]);
    assert_eq!(events_of_line(&mut claude, r#"{"type":"system","subtype":"init"}"#), [], "the turn began already");
    assert_eq!(claude.deadline(), None);
}

#[test]
fn start_without_prompt_waits_for_one() {
    let mut claude = ClaudeTranslator::new();
    let outputs = command(&mut claude, start(None));
    assert_eq!(launched(&outputs).1, [initialize(1)]);
    assert_eq!(outputs[2..], [event(AgentEvent::TurnEnded)]);
    let outputs = command(&mut claude, prompt("go"));
    assert_eq!((sent(&outputs), &outputs[0]), (vec![user("go")], &event(AgentEvent::TurnStarted)));
    assert_eq!(sent(&command(&mut claude, prompt("more"))), [user("more")], "Claude queues it itself");
}

/// The answer to a parked question arrives as a start and a prompt.
#[test]
fn killed_session_is_resumed_with_its_answer() {
    let mut claude = running();
    bash(&mut claude, "a");
    let ended = exited(&mut claude, None, Some(9), "");
    let reason = "Claude Code was ended by signal 9 (killed)".to_owned();
    assert_eq!(ended, [AgentEvent::Ended { reason, failed: true, resumable: true }]);
    assert_eq!(exited(&mut claude, Some(0), None, ""), [], "it ends once");
    assert_eq!(events_of_line(&mut claude, &tool_request("b", "Bash", &json!({}))), [], "no session is open");

    let outputs = command(&mut claude, start(None));
    assert_eq!(launched(&outputs), (format!("--resume={CONVERSATION}"), vec![initialize(2)]));
    assert_eq!(sent(&command(&mut claude, prompt("here is the answer"))), [user("here is the answer")]);
}

#[test]
fn session_killed_before_any_output_starts_again() {
    let mut claude = ClaudeTranslator::new();
    let (ours, _) = launched(&command(&mut claude, start(Some("go"))));
    let id = ours.strip_prefix("--session-id=").unwrap().to_owned();
    assert!(matches!(exited(&mut claude, Some(1), None, "boom")[..], [AgentEvent::Ended { resumable: false, failed: true, .. }]));
    assert_eq!(launched(&command(&mut claude, start(Some("go")))).0, ours);
    // The conversation had started before the crash.
    let ended = exited(&mut claude, Some(1), None, &format!("Error: Session ID {id} is already in use."));
    assert!(matches!(ended[..], [AgentEvent::Ended { resumable: true, .. }]));
    assert_eq!(launched(&command(&mut claude, start(Some("go")))).0, format!("--resume={id}"));
    // Later, the conversation was deleted.
    events_of_line(&mut claude, r#"{"type":"result","is_error":true,"errors":["No conversation found with session ID: x"]}"#);
    let ended = exited(&mut claude, Some(1), None, "");
    assert!(
        matches!(&ended[..], [AgentEvent::Ended { resumable: false, reason, .. }] if reason.contains("no longer has")),
        "{ended:?}"
    );
    assert_eq!(launched(&command(&mut claude, start(Some("go")))).0, ours);
}

#[test]
fn interrupted_turn_is_not_an_error() {
    let mut claude = running();
    let ask = bash(&mut claude, "a");
    assert_eq!(sent(&command(&mut claude, Command::Interrupt { session: session() })), [interrupt(2)]);
    let reason = texts::WITHDRAWN_INTERRUPTED.to_owned();
    let cancel = r#"{"type":"control_cancel_request","request_id":"a"}"#;
    assert_eq!(events_of_line(&mut claude, cancel), [AgentEvent::AskWithdrawn { native_id: "a".into(), reason }]);
    assert_eq!(events_of_line(&mut claude, cancel), []);
    let late = command(&mut claude, outcome(&ask, approved()));
    assert!(matches!(&late[..], [Output::Undeliverable { .. }]), "{late:?}");
    assert_eq!(
        events_of_line(&mut claude, r#"{"type":"control_response","response":{"subtype":"success","request_id":"sayso_2"}}"#),
        []
    );
    let result = r#"{"type":"result","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic] x"]}"#;
    assert_eq!(events_of_line(&mut claude, result), [AgentEvent::TurnEnded]);
    let reason = "Claude Code ended".to_owned();
    assert_eq!(exited(&mut claude, Some(1), None, ""), [AgentEvent::Ended { reason, failed: false, resumable: true }]);
}

#[test]
fn failed_interrupt_is_reported() {
    let mut claude = running();
    command(&mut claude, Command::Interrupt { session: session() });
    let refused = r#"{"type":"control_response","response":{"subtype":"error","request_id":"sayso_2","error":"busy"}}"#;
    assert_eq!(
        events_of_line(&mut claude, refused),
        [AgentEvent::Error("Claude Code could not be interrupted: busy".to_owned())]
    );
    assert_eq!(events_of_line(&mut claude, refused), [], "it was answered");
}

#[test]
fn mode_and_model_change_when_claude_confirms() {
    let mut claude = running();
    let configure = |mode: Option<&str>, model: Option<&str>| Command::Configure {
        session: session(),
        permission_mode: mode.map(str::to_owned),
        model: model.map(str::to_owned),
    };
    let lines = sent(&command(&mut claude, configure(Some("plan"), Some("opus"))));
    assert_eq!(
        lines,
        [
            json!({"type":"control_request","request_id":"sayso_2","request":{"subtype":"set_permission_mode","mode":"plan"}}),
            json!({"type":"control_request","request_id":"sayso_3","request":{"subtype":"set_model","model":"opus"}}),
        ]
    );
    let taken =
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"sayso_2","response":{"mode":"plan"}}}"#;
    let plan = AgentEvent::Configured { permission_mode: Some("plan".to_owned()), model: None };
    assert_eq!(events_of_line(&mut claude, taken), [plan]);
    let taken = r#"{"type":"control_response","response":{"subtype":"success","request_id":"sayso_3"}}"#;
    let opus = AgentEvent::Configured { permission_mode: None, model: Some("opus".to_owned()) };
    assert_eq!(events_of_line(&mut claude, taken), [opus]);

    command(&mut claude, configure(Some("bypassPermissions"), None));
    let refused =
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"sayso_4","error":"bypass_not_launched"}}"#;
    let told = "Claude Code did not change its permission mode to `bypassPermissions`: bypass_not_launched".to_owned();
    assert_eq!(events_of_line(&mut claude, refused), [AgentEvent::Error(told)]);
}

#[test]
fn close_ends_the_session_once() {
    let mut claude = running();
    bash(&mut claude, "a");
    let outputs = command(&mut claude, Command::Close { session: session() });
    let withdrawn = AgentEvent::AskWithdrawn { native_id: "a".into(), reason: texts::WITHDRAWN_CLOSED.to_owned() };
    let ended = AgentEvent::Ended { reason: "closed".to_owned(), failed: false, resumable: false };
    assert_eq!(outputs[0], event(withdrawn));
    assert_eq!(sent(&outputs), [interrupt(2)], "Claude would go on alone if its request just failed");
    assert_eq!(outputs[2..], [Output::Stop, event(ended)]);

    assert_eq!(events_of_line(&mut claude, r#"{"type":"result","is_error":true,"terminal_reason":"aborted_tools"}"#), []);
    assert_eq!(events_of_line(&mut claude, "not json"), []);
    assert_eq!(command(&mut claude, Command::Close { session: session() }), []);
    assert!(matches!(&events(command(&mut claude, prompt("go")))[..], [AgentEvent::Error(_)]));
    assert_eq!(exited(&mut claude, Some(1), None, ""), []);
}

#[test]
fn outcome_is_sent_once_and_confirmed_by_its_effect() {
    let mut claude = running();
    let ask = bash(&mut claude, "a");
    let allow = json!({"behavior":"allow","updatedInput":{"command":"ls"}});
    let response = json!({"type":"control_response","response":{"subtype":"success","request_id":"a","response":allow}});
    assert_eq!(sent(&command(&mut claude, outcome(&ask, approved()))), [response]);
    assert!(matches!(&command(&mut claude, outcome(&ask, approved()))[..], [Output::Undeliverable { .. }]));
    let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_a","content":"x"}]}}"#;
    let confirmed = AgentEvent::AskDelivery { ask: ask_id(), delivery: Delivery::Confirmed };
    assert_eq!(events_of_line(&mut claude, result)[0], confirmed);
    assert!(!events_of_line(&mut claude, result).contains(&confirmed));
}

/// The outcome and the cancellation crossed: Claude ignores a response after its cancellation.
#[test]
fn outcome_that_crossed_a_cancellation_is_undeliverable() {
    let mut claude = running();
    let ask = bash(&mut claude, "a");
    command(&mut claude, outcome(&ask, approved()));
    let told = events_of_line(&mut claude, r#"{"type":"control_cancel_request","request_id":"a"}"#);
    assert!(matches!(&told[..], [AgentEvent::AskDelivery { delivery: Delivery::Undeliverable { .. }, .. }]), "{told:?}");
}

#[test]
fn outcome_without_open_request_is_undeliverable() {
    let mut claude = running();
    let ask = bash(&mut claude, "a");
    let Command::Outcome { native_id, decision, raw, .. } = outcome(&ask, approved()) else { panic!() };
    let other = SessionId::new(Time::from_millis(0), [9; 10]);
    let foreign = Command::Outcome { session: other, ask: ask_id(), native_id, decision, raw, by: DecidedBy::Person };
    assert!(matches!(&command(&mut claude, foreign)[..], [Output::Undeliverable { .. }]));
    assert_eq!(
        command(&mut claude, Command::Prompt { session: other, text: "x".into() }),
        [],
        "one translator carries one session"
    );
    exited(&mut claude, Some(0), None, "");
    let gone = Output::Undeliverable { ask: ask_id(), reason: texts::AGENT_GONE_NOTHING_SENT.to_owned() };
    assert_eq!(command(&mut claude, outcome(&ask, approved())), [gone]);
}

/// Without the request, an approval cannot be built. Claude receives an error instead of waiting indefinitely.
#[test]
fn approval_without_its_request_is_not_sent() {
    let mut claude = running();
    let mut ask = bash(&mut claude, "a");
    ask.raw = None;
    let outputs = command(&mut claude, outcome(&ask, approved()));
    assert_eq!(sent(&outputs)[0]["response"]["subtype"], "error");
    assert!(matches!(&outputs[1..], [Output::Undeliverable { .. }]));
    // A rejection does not need the request.
    let mut ask = bash(&mut claude, "b");
    ask.raw = None;
    let denied = Decision::Denied { message: "no".into(), stop: false };
    assert_eq!(
        sent(&command(&mut claude, outcome(&ask, denied)))[0]["response"]["response"],
        json!({"behavior":"deny","message":"no"})
    );
}

/// A process whose translator state was lost is initialized again and repeats its pending requests.
#[test]
fn process_with_lost_translator_repeats_its_requests() {
    let mut claude = ClaudeTranslator::attached(session());
    let outputs = command(&mut claude, start(None));
    assert_eq!(sent(&outputs), [initialize(1)]);
    assert!(!outputs.iter().any(|output| matches!(output, Output::Launch(_))));
    let (a, b) = (tool_request("a", "Bash", &json!({"command":"ls"})), tool_request("b", "Read", &json!({"file_path":"/x"})));
    bash(&mut claude, "a");
    let greeting = format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"sayso_1","response":{{}},"pending_permission_requests":[{a},{b}]}}}}"#
    );
    let told = events_of_line(&mut claude, &greeting);
    assert!(matches!(&told[..], [AgentEvent::AskOpened(ask)] if ask.native_id == "b"), "{told:?}");
    assert_eq!(events_of_line(&mut claude, &greeting), [], "a response to nothing that we asked");
    assert_eq!(sent(&command(&mut claude, start(Some("go")))), [user("go")], "it was greeted");
}

#[test]
fn unknown_state_version_is_not_restored() {
    let mut saved = running().save();
    assert_eq!(ClaudeTranslator::restore(&saved), Some(running()));
    saved.version += 1;
    assert!(ClaudeTranslator::restore(&saved).is_none());
    saved.version -= 1;
    saved.state = Raw::of(&"nonsense");
    assert!(ClaudeTranslator::restore(&saved).is_none());
}

#[test]
fn capabilities_match_the_measurements() {
    let Capabilities { questions, approvals, plans, elicitation, resume, survives_restart, configure, typed } = CAPABILITIES;
    assert!(
        questions && approvals && plans && elicitation && resume && survives_restart && configure && typed == TypedAnswers::Sets
    );
}
