//! Output and lifetime of a process, and the stale timer.

use super::*;

#[test]
fn streamed_text_is_published_and_not_committed() {
    let delta = |text: &str| event(AgentEvent::MessageDelta { message: "m".to_owned(), text: text.to_owned() });
    let message =
        AgentEvent::Message { message: "m".to_owned(), role: Role::Assistant, text: "Hello".to_owned(), subagent: None };
    let mut setup = Setup::process(SessionStatus::Running, [vec![delta("Hel")], vec![event(message)]]);
    let streamed = setup.plan(lines(&["one"], 110));
    assert_eq!((streamed.live.len(), streamed.advance, streamed.effects), (1, None, Vec::new()));
    assert_eq!(setup.state.heard_to, Some(WirePosition(110)));

    // The next significant line is committed together with the position of both.
    let body = BlockBody::Message { role: Role::Assistant, text: "Hello".to_owned() };
    let block = block(&mut IdSource::new(SEED), body);
    let changes = vec![ConnectionChange::Block { session: SESSION, block, event: EventKind::MessageCompleted }];
    let committed = AdvanceConnection { changes, ..advance(ProcessChange::Read(WirePosition(120))) };
    assert_transition(setup.plan(lines(&["two"], 120)), Some(committed), vec![Effect::TrimJournal(WirePosition(120))]);
}

#[test]
fn output_without_consequences_is_committed_every_256_kib() {
    let mut setup = Setup::process(SessionStatus::Running, []);
    let limit = 100 + 256 * 1024;
    assert_transition(setup.plan(lines(&["…"], limit - 1)), None, Vec::new());
    let committed = advance(ProcessChange::Read(WirePosition(limit)));
    assert_transition(setup.plan(lines(&["…"], limit)), Some(committed), vec![Effect::TrimJournal(WirePosition(limit))]);
}

#[test]
fn deadline_is_committed_only_if_nothing_else_wakes_the_connection() {
    for (kind, commits) in
        [(ConnectionKind::InProcess, true), (ConnectionKind::Supervised, false), (ConnectionKind::Attached, false)]
    {
        let mut setup = Setup::new(kind, SessionStatus::Running, []);
        setup.state.translator = Box::new(Script { deadline: Some(NOW), ..Script::default() });
        let committed = AdvanceConnection { wake_at: Some(NOW), ..advance(ProcessChange::Same) };
        assert_transition(setup.plan(Work::Tick { stalled: false }), commits.then_some(committed), Vec::new());
    }
}

#[test]
fn process_exit_ends_the_session_and_removes_the_process() {
    let ends = AgentEvent::Ended { reason: "it ended".to_owned(), failed: false, resumable: true };
    for (halted, reason) in [(false, "it ended"), (true, "stopped with all agents")] {
        let mut setup = Setup::process(SessionStatus::Running, [vec![event(ends.clone())]]);
        setup.state.halted = halted;
        setup.state.pending = 2;
        let transition = setup.plan(Work::NoProcess { exit: Exit::default(), row: Some(ROW) });
        let status = SessionStatus::Ended { reason: reason.to_owned(), failed: false, resumable: true };
        let changes = vec![ConnectionChange::Status { session: SESSION, status: status.clone() }];
        let committed = AdvanceConnection { delivered: vec![ROW], changes, ..advance(ProcessChange::Gone) };
        assert_transition(transition, Some(committed), vec![Effect::ForgetProcess]);
        assert_eq!((setup.status(), setup.state.pending), (&status, 0));
    }
}

#[test]
fn launch_begins_the_next_epoch() {
    let launch = Launch { directory: "/project".to_owned(), ..Launch::default() };
    let outputs = vec![Output::Launch(launch.clone()), Output::Lines(vec!["hello".to_owned()]), Output::Stop];
    let mut setup = Setup::process(ended(true), [outputs]);
    let command = resume_command(&session(SESSION, ended(true)));
    let transition = setup.plan(Work::Command { row: ROW, command });
    let changes = vec![send(&Message::Launch(launch)), send(&Message::Lines(vec!["hello".to_owned()])), send(&Message::Stop)];
    let committed = AdvanceConnection { delivered: vec![ROW], changes, ..advance(ProcessChange::Launched) };
    assert_transition(transition, Some(committed), vec![Effect::DetachProcess]);

    setup.state.committed(Position(2), ProcessChange::Launched, None);
    let connection = &setup.state.connection;
    assert_eq!((connection.position, connection.epoch, connection.process), (Position(2), Epoch(4), Some(WirePosition(0))));
}

#[test]
fn silent_agent_stalls_until_its_next_line() {
    for on_stale in [OnStale::Tell, OnStale::Interrupt] {
        let mut setup = Setup::process(SessionStatus::Running, []);
        setup.state.on_stale = on_stale;
        assert_eq!(setup.state.stale_at(), Some(BEFORE.plus(Duration::from_secs(600))));
        let transition = setup.plan(Work::Tick { stalled: true });
        let mut changes = vec![ConnectionChange::Status { session: SESSION, status: SessionStatus::Stalled }];
        let mut inputs = vec![Input::Tick];
        if on_stale == OnStale::Interrupt {
            let body = BlockBody::Notice { text: texts::WITHDRAWN_INTERRUPTED.to_owned() };
            let block = block(&mut IdSource::new(SEED), body);
            changes.push(ConnectionChange::Block { session: SESSION, block, event: EventKind::Notice });
            inputs.push(Input::Command(Command::Interrupt { session: SESSION }));
        }
        assert_transition(transition, Some(AdvanceConnection { changes, ..advance(ProcessChange::Same) }), Vec::new());
        assert_eq!((setup.inputs(), setup.state.stale_at()), (inputs, None));

        let read = WirePosition(110);
        let changes = vec![ConnectionChange::Status { session: SESSION, status: SessionStatus::Running }];
        let committed = AdvanceConnection { changes, ..advance(ProcessChange::Read(read)) };
        assert_transition(setup.plan(lines(&["hello"], 110)), Some(committed), vec![Effect::TrimJournal(read)]);
        assert_eq!(setup.state.stale_at(), Some(NOW.plus(Duration::from_secs(600))));
    }
}

#[test]
fn stale_timer_stops_while_an_ask_of_a_person_is_pending() {
    let mut setup = Setup::process(SessionStatus::Running, []);
    setup.state.pending = 1;
    assert_eq!(setup.state.stale_at(), None);
}
