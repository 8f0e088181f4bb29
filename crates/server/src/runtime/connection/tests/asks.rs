//! Asks and their outcomes.

use super::*;

#[test]
fn answer_is_translated_to_lines_in_a_row() {
    let reply = vec!["the answer".to_owned()];
    for secret in [false, true] {
        let mut setup = Setup::process(SessionStatus::Running, [vec![Output::Lines(reply.clone())]]);
        setup.state.pending = 1;
        let transition = setup.plan(answered(secret, false));
        let message = Raw::of(&Message::Lines(reply.clone()));
        let changes = vec![ConnectionChange::Send { session: SESSION, ask: Some(ASK), message, secret }];
        let committed = AdvanceConnection { delivered: vec![ROW], changes, ..advance(ProcessChange::Same) };
        assert_transition(transition, Some(committed), Vec::new());
        assert_eq!(setup.inputs(), [Input::Command(outcome_command())]);
        assert_eq!((setup.state.pending, setup.state.heard_at), (0, NOW));
    }
}

#[test]
fn answer_to_a_parked_question_resumes_the_session_as_a_message() {
    let texts = texts::follow_up(question(false).questions(), &[vec!["8080".to_owned()]], None);
    // The agent may also end after the answer was committed as an outcome.
    for (status, follow_up) in [(ended(true), true), (ended(true), false), (SessionStatus::Idle, true)] {
        let mut setup = Setup::new(ConnectionKind::InProcess, status.clone(), []);
        let transition = setup.plan(answered(false, follow_up));
        let block = block(&mut IdSource::new(SEED), BlockBody::Message { role: Role::User, text: texts.clone() });
        let changes = vec![ConnectionChange::Block { session: SESSION, block, event: EventKind::MessageCompleted }];
        let committed = AdvanceConnection { delivered: vec![ROW], changes, ..advance(ProcessChange::Same) };
        assert_transition(transition, Some(committed), Vec::new());
        let resume = status.is_ended().then(|| resume_command(&session(SESSION, status)));
        let prompt = Command::Prompt { session: SESSION, text: texts.clone() };
        let expected: Vec<Input> = resume.into_iter().chain([prompt]).map(Input::Command).collect();
        assert_eq!(setup.inputs(), expected);
        assert_eq!(setup.state.said, [ASK]);
    }
}

#[test]
fn secret_answer_never_becomes_a_message() {
    let mut setup = Setup::new(ConnectionKind::InProcess, ended(true), []);
    setup.plan(answered(true, false));
    assert_eq!(setup.inputs(), [Input::Command(outcome_command())]);
}

#[test]
fn answer_is_undeliverable_if_its_session_cannot_resume() {
    let ends = AgentEvent::Ended { reason: "no such conversation".to_owned(), failed: true, resumable: false };
    let mut setup = Setup::process(SessionStatus::Running, [vec![event(ends)]]);
    setup.state.said = vec![ASK];
    let transition = setup.plan(Work::NoProcess { exit: Exit::default(), row: None });
    let reason = "The session could not be resumed: no such conversation".to_owned();
    let status = SessionStatus::Ended { reason: "no such conversation".to_owned(), failed: true, resumable: false };
    let changes = vec![
        ConnectionChange::Delivery { ask: ASK, delivery: Delivery::Undeliverable { reason } },
        ConnectionChange::Status { session: SESSION, status },
    ];
    let committed = AdvanceConnection { changes, ..advance(ProcessChange::Gone) };
    assert_transition(transition, Some(committed), vec![Effect::ForgetProcess]);
}

#[test]
fn refused_input_makes_its_answer_undeliverable() {
    let mut setup = Setup::process(SessionStatus::Running, []);
    let refused = [(OutboxId(8), Some(ASK)), (OutboxId(9), None)];
    let refused = refused.map(|(id, ask)| Refused { id, ask, reason: "stdin is closed".to_owned() }).into();
    let transition = setup.plan(Work::Process(Heard { taken: vec![ROW], refused, ..Heard::default() }));
    let reason = "stdin is closed".to_owned();
    let changes = vec![ConnectionChange::Delivery { ask: ASK, delivery: Delivery::Undeliverable { reason } }];
    let committed = AdvanceConnection { delivered: vec![ROW, OutboxId(8), OutboxId(9)], changes, ..advance(ProcessChange::Same) };
    assert_transition(transition, Some(committed), Vec::new());
}

#[test]
fn policy_decides_an_ask_before_the_commit() {
    let policy = |text: &str| PolicySet::new(Arc::new(Policy::parse(text).unwrap()), Vec::new());
    let rejects = "[questions]\npolicy = \"reject\"";
    for (text, pending) in [("", 1), (rejects, 0)] {
        let mut setup =
            Setup::process(SessionStatus::Running, [vec![event(AgentEvent::AskOpened(new_ask(question(false)).into()))]]);
        setup.state.sessions.get_mut(&SESSION).unwrap().policy = policy(text);
        let transition = setup.plan(lines(&["ask"], 110));
        let advance = transition.advance.unwrap();
        let [ConnectionChange::OpenAsk(ask)] = advance.changes.as_slice() else { panic!("{:?}", advance.changes) };
        let id = AskId::new(NOW, IdSource::new(SEED).next_id());
        assert_eq!(**ask, opened(id, question(false), ask.state.clone(), ask.policy.clone()));
        match &ask.state {
            AskState::Pending(reach) => assert_eq!((*reach, pending), (Reach::Live, 1)),
            AskState::Resolved { outcome, delivery } => {
                let rejected = Decision::Rejected { message: texts::REJECTED_BY_POLICY.to_owned(), stop: false };
                assert_eq!((&outcome.decision, delivery, pending), (&rejected, &Delivery::Queued, 0));
            }
        }
        assert_eq!(setup.state.pending, pending);
    }
}

#[test]
fn ask_over_the_limit_is_refused_to_the_translator() {
    let ask = vec![event(AgentEvent::AskOpened(new_ask(question(false)).into()))];
    let mut setup = Setup::process(SessionStatus::Running, [ask, vec![Output::Lines(vec!["refused".to_owned()])]]);
    setup.state.pending = limits::PENDING;
    let transition = setup.plan(lines(&["ask"], 110));
    let changes = vec![send(&Message::Lines(vec!["refused".to_owned()]))];
    let committed = AdvanceConnection { changes, ..advance(ProcessChange::Read(WirePosition(110))) };
    assert_transition(transition, Some(committed), vec![Effect::TrimJournal(WirePosition(110))]);
    let inputs = setup.inputs();
    let [Input::Line(_), Input::Command(Command::Outcome { native_id, decision, by, .. })] = inputs.as_slice() else {
        panic!("{inputs:?}")
    };
    let Decision::Rejected { message, stop: false } = decision else { panic!("{decision:?}") };
    assert_eq!((native_id.as_str(), *by), ("native-1", DecidedBy::Automatic));
    let limit = "too much: the number of pending asks is 201, the limit is 200";
    assert_eq!(*message, format!("Sayso refused this request: {limit}."));
}

#[test]
fn session_that_asks_too_many_bytes_is_refused() {
    let large = |number: usize| NewAsk { raw: Some(Raw::of(&"x".repeat(4_000_000))), ..new_ask_named(number) };
    let outputs = (0..9).map(|number| vec![event(AgentEvent::AskOpened(large(number).into()))]);
    let mut setup = Setup::process(SessionStatus::Running, outputs.chain([Vec::new()]));
    for position in 0..9 {
        setup.plan(lines(&["ask"], 110 + position));
    }
    assert_eq!(setup.state.pending, 8);
    let Some(Input::Command(Command::Outcome { decision, .. })) = setup.inputs().pop() else { panic!("nothing was refused") };
    let message =
        "Sayso refused this request: this session has stored too much text in a short time; wait a few minutes.".to_owned();
    assert_eq!(decision, Decision::Rejected { message, stop: false });
}

fn new_ask_named(number: usize) -> NewAsk {
    NewAsk { native_id: format!("native-{number}"), ..new_ask(question(false)) }
}

#[test]
fn ask_with_nul_in_an_id_is_refused_to_the_translator_at_once() {
    let of = |native_id: &str, tool_call_id: Option<&str>| {
        let new = new_ask(question(false));
        NewAsk { native_id: native_id.to_owned(), tool_call_id: tool_call_id.map(str::to_owned), ..new }
    };
    for (new, what) in
        [(of("native\0", None), "the id of the request"), (of("native", Some("call\0")), "the id of the tool call")]
    {
        let native_id = new.native_id.clone();
        let asks = vec![event(AgentEvent::AskOpened(new.into()))];
        let withdraws = AgentEvent::AskWithdrawn { native_id: "native\0".to_owned(), reason: "late".to_owned() };
        let refused = vec![Output::Lines(vec!["refused".to_owned()]), event(withdraws)];
        let mut setup = Setup::process(SessionStatus::Running, [asks, refused]);
        let transition = setup.plan(lines(&["ask"], 110));
        let changes = vec![send(&Message::Lines(vec!["refused".to_owned()]))];
        let committed = AdvanceConnection { changes, ..advance(ProcessChange::Read(WirePosition(110))) };
        assert_transition(transition, Some(committed), vec![Effect::TrimJournal(WirePosition(110))]);
        let inputs = setup.inputs();
        let [Input::Line(_), Input::Command(Command::Outcome { native_id: answered, decision, .. })] = inputs.as_slice() else {
            panic!("{inputs:?}")
        };
        let message = format!("Sayso refused this request: {what} contains the character U+0000; remove that character.");
        assert_eq!((answered, decision), (&native_id, &Decision::Rejected { message, stop: false }));
        assert_eq!(setup.state.pending, 0);
    }
}

#[test]
fn grant_takes_effect_after_the_commit() {
    let run = vec!["cargo test*".to_owned()];
    let granted = AgentEvent::Granted { run: run.clone() };
    let mut setup = Setup::process(SessionStatus::Running, [vec![event(granted)]]);
    let transition = setup.plan(answered(false, false));
    let committed = AdvanceConnection { delivered: vec![ROW], ..advance(ProcessChange::Same) };
    assert_transition(transition, Some(committed), vec![Effect::Grant { session: SESSION, run }]);
}

#[test]
fn giving_up_ends_the_sessions_and_drops_the_rows() {
    let mut setup = Setup::process(SessionStatus::Idle, []);
    let ask = Arc::new(opened(ASK, question(false), AskState::Pending(Reach::Live), PolicyNote::default()));
    let row = |id, payload| OutboxRow { id: OutboxId(id), connection: CONNECTION, session: SESSION, payload };
    let rows = vec![
        row(8, OutboxPayload::Outcome { ask, decision: answer(), follow_up: false }),
        row(9, OutboxPayload::Command(Raw::of(&"a command"))),
    ];
    let transition = setup.plan(Work::GiveUp { accepted: Vec::new(), reason: "unknown state".to_owned(), rows });
    let undeliverable = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOTHING_SENT.to_owned() };
    let status = SessionStatus::Ended { reason: "unknown state".to_owned(), failed: true, resumable: false };
    let changes = vec![
        ConnectionChange::Delivery { ask: ASK, delivery: undeliverable },
        ConnectionChange::Status { session: SESSION, status },
    ];
    let committed = AdvanceConnection { delivered: vec![OutboxId(8), OutboxId(9)], changes, ..advance(ProcessChange::Gone) };
    assert_transition(transition, Some(committed), vec![Effect::ForgetProcess]);
}

#[test]
fn same_state_and_work_give_the_same_transition() {
    let planned = || {
        let outputs =
            vec![event(AgentEvent::AskOpened(new_ask(question(false)).into())), event(AgentEvent::Notice("note".to_owned()))];
        let transition = Setup::process(SessionStatus::Running, [outputs]).plan(lines(&["ask"], 110));
        (transition.advance, transition.effects)
    };
    assert_eq!(planned(), planned());
}
