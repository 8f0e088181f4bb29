//! Each keyword of the mock, and its reply to each outcome.

use std::fmt::Write as _;
use std::time::Duration;

use sayso_agents::mock::MockTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Input, Output, Translator};
use sayso_core::ask::{AskBody, Decision};
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::texts;
use sayso_core::time::Time;

/// A mock with a clock; its outputs are logged one per line.
struct Stage {
    mock: MockTranslator,
    now: Time,
    log: String,
}

pub(crate) fn session() -> SessionId {
    SessionId::new(Time::from_millis(0), [1; 10])
}

fn ask_id() -> AskId {
    AskId::new(Time::from_millis(0), [2; 10])
}

pub(crate) fn start(prompt: Option<&str>, mode: &str, questions: bool) -> Command {
    Command::Start {
        session: session(),
        project: "/project".to_owned(),
        prompt: prompt.map(str::to_owned),
        permission_mode: mode.to_owned(),
        model: None,
        questions,
    }
}

pub(crate) fn prompt(text: &str) -> Command {
    Command::Prompt { session: session(), text: text.to_owned() }
}

pub(crate) fn outcome(native_id: &str, decision: Decision) -> Command {
    Command::Outcome {
        session: session(),
        ask: ask_id(),
        native_id: native_id.to_owned(),
        decision,
        raw: None,
        by: DecidedBy::Person,
    }
}

fn answered(answers: &[&[&str]]) -> Decision {
    let answers = answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
    Decision::Answered { answers, note: None }
}

fn approved() -> Decision {
    Decision::Approved { choice: None, input: None }
}

impl Stage {
    fn new() -> Self {
        Self { mock: MockTranslator::new(), now: Time::from_millis(1_700_000_000_000), log: String::new() }
    }

    fn started(text: &str) -> Self {
        Self::new().then(start(Some(text), "default", true))
    }

    fn then(mut self, command: Command) -> Self {
        let outputs = self.mock.handle(self.now, Input::Command(command));
        self.note("", outputs);
        self
    }

    fn wait(mut self, millis: u64) -> Self {
        self.now = self.now.plus(Duration::from_millis(millis));
        let outputs = self.mock.handle(self.now, Input::Tick);
        self.note(&format!("+{millis}ms\n"), outputs);
        self
    }

    fn note(&mut self, before: &str, outputs: Vec<Output>) {
        if !self.log.is_empty() {
            self.log.push_str("--\n");
        }
        self.log.push_str(before);
        for output in outputs {
            let Output::Event { session: of, event } = output else {
                writeln!(self.log, "{output:?}").unwrap();
                continue;
            };
            assert_eq!(of, session());
            writeln!(self.log, "{}", line(&event)).unwrap();
        }
    }

    /// The mock's last message.
    fn last_message(&self) -> &str {
        let line = self.log.lines().rev().find(|line| line.starts_with("message ")).unwrap();
        line.split_once(": ").unwrap().1
    }
}

fn line(event: &AgentEvent) -> String {
    match event {
        AgentEvent::TurnStarted => "turn started".to_owned(),
        AgentEvent::TurnEnded => "turn ended".to_owned(),
        AgentEvent::AskOpened(ask) => {
            assert_eq!(ask.body.check_limits(), Ok(()));
            assert!(ask.blocking && ask.subagent.is_none() && ask.raw.is_none() && ask.labels.is_empty());
            let body = serde_json::to_string_pretty(&ask.body).unwrap();
            let call = ask.tool_call_id.as_deref().unwrap();
            format!("ask {} {call} after {:?}\n{body}", ask.native_id, ask.context.as_deref().unwrap())
        }
        AgentEvent::AskWithdrawn { native_id, reason } => format!("withdrawn {native_id}: {reason}"),
        AgentEvent::MessageDelta { message, text } => format!("delta {message} {text:?}"),
        AgentEvent::Message { message, role, text, subagent: None } => format!("message {message} {role:?}: {text}"),
        AgentEvent::Tool { tool_call_id, name, input, output, status, subagent: None } => {
            let input = input.as_ref().map_or("", Raw::as_str);
            format!("tool {tool_call_id} {name} {status:?} {input} {}", output.as_deref().unwrap_or("-"))
        }
        AgentEvent::Ended { reason, failed, resumable } => format!("ended: {reason} failed={failed} resumable={resumable}"),
        other @ (AgentEvent::Message { .. }
        | AgentEvent::Tool { .. }
        | AgentEvent::AskDelivery { .. }
        | AgentEvent::Granted { .. }
        | AgentEvent::Configured { .. }
        | AgentEvent::Notice(_)
        | AgentEvent::Error(_)) => {
            format!("{other:?}")
        }
    }
}

#[test]
fn question_is_answered_with_one_option() {
    let stage = Stage::started("Ask me a question").then(outcome("req-1", answered(&[&["SQLite"]])));
    assert_eq!(stage.last_message(), "You answered: SQLite.");
    insta::assert_snapshot!(stage.log);
}

#[test]
fn question_set_is_answered_in_one_ask() {
    let stage = Stage::started("questions, not one question");
    let stage = stage.then(outcome("req-1", answered(&[&["SQLite"], &["Auth", "Billing"], &["none"]])));
    assert_eq!(stage.last_message(), "You answered: [Database] SQLite; [Areas] Auth, Billing; [Notes] none.");
    insta::assert_snapshot!(stage.log);
}

#[test]
fn approval_runs_or_denies_the_command() {
    let stage = Stage::started("approve").then(outcome("req-1", approved()));
    assert_eq!(stage.last_message(), "Approved: cargo test --workspace");
    insta::assert_snapshot!(stage.log);
}

#[test]
fn plan_is_approved() {
    insta::assert_snapshot!(Stage::started("make a plan").then(outcome("req-1", approved())).log);
}

#[test]
fn form_is_filled_in() {
    let answers = answered(&[&["shop"], &["8080"], &["true"], &[]]);
    let stage = Stage::started("fill in the form").then(outcome("req-1", answers));
    assert_eq!(stage.last_message(), "You answered: [Name] shop; [Port] 8080; [Public] true; [Region] nothing.");
    insta::assert_snapshot!(stage.log);
}

#[test]
fn secret_is_reported_by_length_only() {
    let stage = Stage::started("secret").then(outcome("req-1", answered(&[&["hunter2hunte"]])));
    assert_eq!(stage.last_message(), "I received a secret of 12 characters.");
    assert!(!stage.mock.save().state.as_str().contains("hunter2"));
    insta::assert_snapshot!(stage.log);
}

#[test]
fn link_is_opened() {
    insta::assert_snapshot!(Stage::started("open the link").then(outcome("req-1", approved())).log);
}

#[test]
fn parallel_asks_all_wait_for_answers() {
    let stage = Stage::started("parallel")
        .then(outcome("req-3", answered(&[&["nextest"]])))
        .then(outcome("req-1", answered(&[&["SQLite"]])))
        .then(outcome("req-2", Decision::Denied { message: "not now".to_owned(), stop: false }));
    insta::assert_snapshot!(stage.log);
}

#[test]
fn withdraw_withdraws_its_question_after_a_second() {
    let stage = Stage::started("withdraw").wait(999).wait(1).then(outcome("req-1", answered(&[&["SQLite"]])));
    insta::assert_snapshot!(stage.log);
    let stage = Stage::started("withdraw").then(outcome("req-1", answered(&[&["SQLite"]])));
    assert_eq!((stage.last_message(), stage.mock.deadline()), ("You answered: SQLite.", None));
}

#[test]
fn crash_leaves_its_ask_open_and_session_resumes() {
    let stage = Stage::started("crash")
        .then(outcome("req-1", answered(&[&["SQLite"]])))
        .then(start(None, "default", true))
        .then(prompt("question"));
    insta::assert_snapshot!(stage.log);
    assert!(Stage::started("crash").then(prompt("hello")).log.ends_with("message msg-2 Assistant: hello\nturn ended\n"));
}

#[test]
fn slow_streams_and_echo_sends_one_message() {
    let mut stage = Stage::started("slow").wait(49);
    for _ in 0..15 {
        assert!(stage.mock.deadline().is_some());
        stage = stage.wait(50);
    }
    assert_eq!(stage.mock.deadline(), None);
    insta::assert_snapshot!(stage.then(prompt("fix the tests please")).then(prompt(" ")).log);
}

#[test]
fn repeated_rounds_send_no_messages_in_between() {
    let mut stage = Stage::started("question 1000 times");
    let size = stage.mock.save().state.as_str().len();
    for round in 1..1000 {
        let command = outcome(&format!("req-{round}"), answered(&[&["SQLite"]]));
        let outputs = stage.mock.handle(stage.now, Input::Command(command));
        let [Output::Event { event: AgentEvent::AskOpened(ask), .. }] = outputs.as_slice() else { panic!("{outputs:?}") };
        assert_eq!(ask.native_id, format!("req-{}", round + 1));
        assert!(stage.mock.save().state.as_str().len() < size + 40, "the state does not grow");
    }
    let stage = stage.then(outcome("req-1000", answered(&[&["SQLite"]])));
    assert_eq!(stage.last_message(), "Asked 1000 times. The last time: You answered: SQLite.");
}

#[test]
fn each_outcome_has_its_own_reply() {
    let said = |word: &str, decision| Stage::started(word).then(outcome("req-1", decision)).last_message().to_owned();
    let other = |input: &str| Decision::Approved { choice: None, input: Some(Raw::parse(input.to_owned()).unwrap()) };
    let no = |message: &str| (message.to_owned(), false);
    let (message, stop) = no("ask me tomorrow");
    assert_eq!(said("question", Decision::Rejected { message, stop }), "Rejected: ask me tomorrow");
    let (message, stop) = no(texts::DENIED);
    assert_eq!(said("approve", Decision::Denied { message, stop }), "Denied: User denied tool execution");
    let always = Decision::Approved { choice: Some("always".to_owned()), input: None };
    assert_eq!(said("approve", always), "Approved (always): cargo test --workspace");
    assert_eq!(said("approve", other(r#"{"command":"cargo test -p core"}"#)), "Approved with another input: cargo test -p core");
    assert_eq!(said("plan", other(r#"{"plan":"Less."}"#)), "Approved with another input: Less.");
    assert_eq!(said("plan", other("[1]")), "Approved with another input: [1]");
    let noted = Decision::Answered { answers: vec![vec!["SQLite".to_owned()]], note: Some("keep it small".to_owned()) };
    assert_eq!(said("question", noted), "You answered: SQLite. Note: keep it small");
    assert_eq!(said("question", Decision::Withdrawn { reason: "gone".to_owned() }), "Withdrawn: gone");
}

#[test]
fn stop_ends_the_turn() {
    let no = || Decision::Rejected { message: "stop".to_owned(), stop: true };
    insta::assert_snapshot!(Stage::started("parallel").then(outcome("req-1", no())).log.split_once("--\n").unwrap().1);
    let stage = Stage::started("question 5 times").then(outcome("req-1", no()));
    assert!(stage.log.ends_with("message msg-2 Assistant: Rejected: stop\nturn ended\n"), "{}", stage.log);
}

#[test]
fn permission_mode_decides_whether_the_mock_asks() {
    let asks =
        |word: &str, mode: &str, questions| Stage::new().then(start(Some(word), mode, questions)).log.contains("\nask req-1 ");
    for mode in ["default", "plan"] {
        assert!(asks("approve", mode, true) && asks("plan", mode, true) && asks("question", mode, true));
    }
    for mode in ["acceptEdits", "bypassPermissions", "dontAsk"] {
        assert!(!asks("approve", mode, true) && !asks("plan", mode, true), "{mode}");
        assert_eq!(asks("question", mode, true), mode != "dontAsk");
        assert_eq!(asks("link", mode, true), mode != "dontAsk");
    }
    assert!(!asks("question", "default", false) && asks("approve", "default", false));
    let stage = Stage::new().then(start(Some("approve 9 times"), "bypassPermissions", true));
    insta::assert_snapshot!(stage.then(prompt("withdraw")).then(start(Some("questions"), "dontAsk", true)).log);
}

#[test]
fn always_choice_lasts_for_the_session() {
    let always = Decision::Approved { choice: Some("always".to_owned()), input: None };
    let stage = Stage::started("approve").then(outcome("req-1", always)).then(prompt("approve"));
    assert_eq!(stage.last_message(), "Ran without asking (always allowed): cargo test --workspace");
}

#[test]
fn prompts_are_queued_during_a_turn() {
    let stage = Stage::started("question").then(prompt("hello")).then(prompt("question"));
    insta::assert_snapshot!(stage.then(outcome("req-1", answered(&[&["SQLite"]]))).log);
    let mut stage = Stage::started("question");
    for _ in 0..17 {
        stage = stage.then(prompt("more"));
    }
    assert!(stage.log.ends_with("Error(\"16 messages are already queued; this one was not sent.\")\n"));
}

#[test]
fn interrupt_and_close_withdraw_open_asks() {
    let interrupt = || Command::Interrupt { session: session() };
    let close = || Command::Close { session: session() };
    let stage = Stage::started("parallel").then(interrupt()).then(interrupt()).then(prompt("slow")).wait(50).then(interrupt());
    let stage = stage.then(prompt("approve")).then(close()).then(close()).then(prompt("hello"));
    insta::assert_snapshot!(stage.log.split_once("--\n").unwrap().1);
}

#[test]
fn outcome_without_open_ask_is_undeliverable() {
    let stage = Stage::new().then(outcome("req-1", approved()));
    assert!(stage.log.starts_with("Undeliverable"), "{}", stage.log);
    let twice = Stage::started("parallel").then(outcome("req-2", approved())).then(outcome("req-2", approved()));
    assert!(twice.log.rsplit("--\n").next().unwrap().starts_with("Undeliverable"), "{}", twice.log);
    let other = SessionId::new(Time::from_millis(0), [9; 10]);
    let foreign = Command::Prompt { session: other, text: "question".to_owned() };
    assert!(Stage::started("hello").then(foreign).log.ends_with("--\n"), "one translator carries one session");
}

#[test]
fn unknown_state_version_is_not_restored() {
    let mut saved = Stage::started("question").mock.save();
    assert!(MockTranslator::restore(&saved).is_some());
    saved.version += 1;
    assert!(MockTranslator::restore(&saved).is_none());
    saved.version -= 1;
    saved.state = Raw::of(&"nonsense");
    assert!(MockTranslator::restore(&saved).is_none());
}

#[test]
fn every_mock_ask_accepts_an_answer() {
    for word in ["question", "questions", "form", "secret"] {
        let mut mock = MockTranslator::new();
        let outputs = mock.handle(Time::from_millis(0), Input::Command(start(Some(word), "default", true)));
        let bodies: Vec<AskBody> = outputs
            .into_iter()
            .filter_map(|output| match output {
                Output::Event { event: AgentEvent::AskOpened(ask), .. } => Some(ask.body),
                _ => None,
            })
            .collect();
        assert_eq!(bodies.len(), 1);
        let keys: std::collections::BTreeSet<&str> = bodies[0].questions().iter().map(|question| question.key.as_str()).collect();
        assert_eq!(keys.len(), bodies[0].questions().len(), "keys are unique");
    }
}
