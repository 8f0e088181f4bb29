//! Calls to an agent that is a server, its events, and its existing conversations.

use super::*;

#[test]
fn events_of_a_server_restart_the_stale_timer_only_if_people_see_a_change() {
    let notice = vec![event(AgentEvent::Notice("compacting".to_owned()))];
    let mut setup = Setup::new(ConnectionKind::Supervised, SessionStatus::Stalled, [Vec::new(), notice]);
    let says = |data: &str| Work::Server { inputs: vec![Input::StreamEvent(data.to_owned())], replied: Vec::new() };
    assert_transition(setup.plan(says("heartbeat")), None, Vec::new());
    assert_eq!((setup.state.heard_at, setup.status()), (BEFORE, &SessionStatus::Stalled));

    let block = block(&mut IdSource::new(SEED), BlockBody::Notice { text: "compacting".to_owned() });
    let changes = vec![
        ConnectionChange::Block { session: SESSION, block, event: EventKind::Notice },
        ConnectionChange::Status { session: SESSION, status: SessionStatus::Running },
    ];
    assert_transition(
        setup.plan(says("compacted")),
        Some(AdvanceConnection { changes, ..advance(ProcessChange::Same) }),
        Vec::new(),
    );
    assert_eq!((setup.state.heard_at, setup.status()), (NOW, &SessionStatus::Running));
}

#[test]
fn changing_call_is_a_row_and_reading_call_is_an_effect() {
    let call = |method| HttpCall { id: 5, method, path: "/question".to_owned(), body: None, guard: None, streamed: false };
    let outputs = vec![Output::HttpCall(call(Method::Get)), Output::HttpCall(call(Method::Post))];
    let mut setup = Setup::new(ConnectionKind::Attached, SessionStatus::Running, [outputs]);
    let transition = setup.plan(Work::Server { inputs: vec![Input::StreamOpened], replied: Vec::new() });
    let committed = AdvanceConnection { changes: vec![send(&Message::Call(call(Method::Post)))], ..advance(ProcessChange::Same) };
    assert_transition(transition, Some(committed), vec![Effect::Read(call(Method::Get))]);
}

#[test]
fn call_is_marked_before_sending_and_reported_if_it_is_lost() {
    let mut setup = Setup::new(ConnectionKind::Attached, SessionStatus::Running, []);
    let marked = AdvanceConnection { trying: vec![ROW], ..advance(ProcessChange::Same) };
    assert_transition(setup.plan(Work::Calling(ROW)), Some(marked), Vec::new());
    let reply = HttpReply { id: 5, status: None, body: "the server is gone".to_owned() };
    let lost = AdvanceConnection { delivered: vec![ROW], ..advance(ProcessChange::Same) };
    assert_transition(setup.plan(Work::CallLost { row: ROW, reply: reply.clone() }), Some(lost), Vec::new());
    assert_eq!(setup.inputs(), [Input::HttpReply(reply)]);
}

#[test]
fn conversation_that_is_found_twice_is_adopted_once() {
    let found = FoundSession { native_id: "thread".to_owned(), project: "/project".to_owned(), title: String::new() };
    let twice = vec![Output::Found(found.clone()), Output::Found(found.clone())];
    let other = SessionId::from_bytes([5; 16]);
    let opens = Output::Event { session: other, event: AgentEvent::TurnStarted };
    let mut setup = Setup::new(ConnectionKind::Attached, SessionStatus::Idle, [twice, vec![opens]]);
    let event = Input::StreamEvent("asked".to_owned());
    let transition = setup.plan(Work::Server { inputs: vec![event], replied: Vec::new() });
    assert_transition(transition, None, vec![Effect::Adopt(found.clone())]);

    let session = session(other, SessionStatus::Idle);
    let carried = Box::new(CarriedSession::new(session.clone(), PolicySet::default(), 1));
    let transition = setup.plan(Work::Adopt { found, session: carried });
    let changes = vec![
        ConnectionChange::NewSession { session: Box::new(session) },
        ConnectionChange::Status { session: other, status: SessionStatus::Running },
    ];
    assert_transition(transition, Some(AdvanceConnection { changes, ..advance(ProcessChange::Same) }), Vec::new());
}
