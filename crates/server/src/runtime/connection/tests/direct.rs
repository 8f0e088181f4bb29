//! Tests of inputs that are sent before they are committed.

use proptest::prelude::*;
use sayso_store::ops::SentInput;

use super::super::direct::AcceptedRows;
use super::*;
use crate::runtime::link::AcceptedInput;

fn say(text: &str) -> Output {
    Output::Lines(vec![text.to_owned()])
}

/// A connection whose process records accepted inputs.
fn direct(replies: impl IntoIterator<Item = Vec<Output>>) -> Setup {
    let mut setup = Setup::process(SessionStatus::Running, replies);
    setup.state.takes_direct_input = true;
    setup
}

fn received(rows: &[i64]) -> Work {
    Work::Process(Heard { taken: rows.iter().copied().map(OutboxId).collect(), ..Heard::default() })
}

fn sent(lines: &[&str]) -> SentInput {
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    SentInput { row: ROW, ask: Some(ASK), message: Raw::of(&Message::Lines(lines)) }
}

#[test]
fn answer_is_sent_before_the_commit_that_records_its_delivery() {
    let mut setup = direct([vec![say("one"), say("two")]]);
    assert_transition(setup.plan(answered(false, false)), None, vec![Effect::SendDirect(ROW)]);
    let input = setup.state.uncommitted.input(ROW).unwrap();
    assert_eq!((input.ask, input.lines.as_slice()), (Some(ASK), &["one".to_owned(), "two".to_owned()][..]));
    // The process has the input. That alone is not committed …
    assert_transition(setup.plan(received(&[ROW.0])), None, Vec::new());
    // … but it is committed with the next change.
    let committed = AdvanceConnection { delivered: vec![ROW], ..advance(ProcessChange::Same) };
    assert_transition(setup.plan(Work::CommitDirect), Some(committed), Vec::new());
    assert!(setup.state.uncommitted.is_empty());
}

#[test]
fn answer_that_the_process_may_not_have_is_committed_as_its_lines() {
    let mut setup = direct([vec![say("one")], vec![event(AgentEvent::TurnEnded)]]);
    setup.plan(answered(false, false));
    let changes = vec![ConnectionChange::Status { session: SESSION, status: SessionStatus::Idle }];
    let committed = AdvanceConnection { sent: vec![sent(&["one"])], changes, ..advance(ProcessChange::Read(WirePosition(120))) };
    assert_transition(setup.plan(lines(&["done"], 120)), Some(committed), vec![Effect::TrimJournal(WirePosition(120))]);
    setup.state.committed(Position(2), ProcessChange::Read(WirePosition(120)), None);
    // It is now an ordinary message, whose delivery is committed when the process accepts it.
    let delivered =
        AdvanceConnection { from: Position(2), to: Position(3), delivered: vec![ROW], ..advance(ProcessChange::Same) };
    assert_transition(setup.plan(received(&[ROW.0])), Some(delivered), Vec::new());
}

#[test]
fn changes_of_a_direct_input_are_committed_before_later_ones() {
    let mut setup = direct([vec![event(AgentEvent::TurnStarted), say("go")], vec![event(AgentEvent::TurnEnded)]]);
    let command = Command::Prompt { session: SESSION, text: "go".to_owned() };
    assert_transition(setup.plan(Work::Command { row: ROW, command }), None, vec![Effect::SendDirect(ROW)]);
    setup.plan(received(&[ROW.0]));
    let status = |status| ConnectionChange::Status { session: SESSION, status };
    let changes = vec![status(SessionStatus::Running), status(SessionStatus::Idle)];
    let committed = AdvanceConnection { delivered: vec![ROW], changes, ..advance(ProcessChange::Read(WirePosition(120))) };
    assert_transition(setup.plan(lines(&["done"], 120)), Some(committed), vec![Effect::TrimJournal(WirePosition(120))]);
}

#[test]
fn secrets_launches_stops_and_ends_of_asks_are_committed_first() {
    let lines_row = |secret| ConnectionChange::Send {
        session: SESSION,
        ask: Some(ASK),
        message: Raw::of(&Message::Lines(vec!["one".to_owned()])),
        secret,
    };
    let mut setup = direct([vec![say("one")]]);
    let committed = AdvanceConnection { delivered: vec![ROW], changes: vec![lines_row(true)], ..advance(ProcessChange::Same) };
    assert_transition(setup.plan(answered(true, false)), Some(committed), Vec::new());

    let withdrawn = AgentEvent::AskWithdrawn { native_id: "other".to_owned(), reason: "over".to_owned() };
    for last in [Output::Stop, event(withdrawn), Output::Undeliverable { ask: ASK, reason: "gone".to_owned() }] {
        let mut setup = direct([vec![say("one"), last]]);
        let transition = setup.plan(answered(false, false));
        let changes = transition.advance.unwrap().changes;
        assert_eq!((&changes[0], changes.len(), transition.effects), (&lines_row(false), 2, Vec::new()));
    }
}

#[test]
fn refused_direct_input_is_undeliverable() {
    let mut setup = direct([vec![say("one")]]);
    setup.plan(answered(false, false));
    let reason = "the agent closed its input".to_owned();
    let refused = vec![Refused { id: ROW, ask: Some(ASK), reason: reason.clone() }];
    let changes = vec![ConnectionChange::Delivery { ask: ASK, delivery: Delivery::Undeliverable { reason } }];
    let committed = AdvanceConnection { delivered: vec![ROW], changes, ..advance(ProcessChange::Same) };
    assert_transition(setup.plan(Work::Process(Heard { refused, ..Heard::default() })), Some(committed), Vec::new());
}

#[test]
fn approval_of_a_stopped_session_is_cancelled() {
    let mut setup = direct([]);
    let reason = texts::INTERRUPTED_BEFORE_APPROVAL.to_owned();
    let changes = vec![ConnectionChange::Delivery { ask: ASK, delivery: Delivery::Undeliverable { reason } }];
    let committed = AdvanceConnection { delivered: vec![ROW], changes, ..advance(ProcessChange::Same) };
    assert_transition(setup.plan(Work::Cancelled { row: ROW, ask: ASK }), Some(committed), Vec::new());
    assert!(setup.inputs().is_empty());
}

// A random history of one connection. The translator's lines depend on everything that it has got, in order, so an input
// that is repeated at another place gives other lines.

/// Answers every prompt with the digest of its whole history. Some lines of the agent are visible and therefore committed.
#[derive(Debug, Clone, Default)]
struct Historian {
    history: Vec<String>,
    /// Whether this is another version, which writes different lines.
    is_changed: bool,
}

impl Translator for Historian {
    fn handle(&mut self, _now: Time, input: Input) -> Vec<Output> {
        match input {
            Input::Command(Command::Prompt { text, .. }) => {
                self.history.push(format!("prompt {text}"));
                let mark = if self.is_changed { "!" } else { "" };
                vec![say(&format!("{}{mark}", self.history.join(",")))]
            }
            Input::Line(line) => {
                self.history.push(line.clone());
                if line.ends_with('0') { vec![event(AgentEvent::Notice(line))] } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    fn save(&self) -> Saved {
        Saved::of(1, &self.history)
    }
}

#[derive(Debug, Clone)]
enum Row {
    Prompt,
    Lines(Vec<String>),
}

#[derive(Debug, Clone)]
enum Record {
    Line(String),
    Accepted(AcceptedInput),
}

/// The database, the supervisor with the process, and the actor.
struct History {
    // The database.
    saved: Vec<String>,
    read: u64,
    outbox: std::collections::BTreeMap<i64, Row>,
    delivered: Vec<i64>,
    // The supervisor: the journal, and what the process received.
    journal: Vec<Record>,
    process: Vec<(i64, Vec<String>)>,
    // Messages in flight between actor and supervisor.
    to_process: VecDeque<(AcceptedInput, Vec<String>)>,
    to_actor: VecDeque<i64>,
    // The actor.
    setup: Setup,
    taken: i64,
    position: u64,
    is_changed: bool,
    next_row: i64,
}

impl History {
    fn new() -> Self {
        let mut history = Self {
            saved: Vec::new(),
            read: 0,
            outbox: std::collections::BTreeMap::new(),
            delivered: Vec::new(),
            journal: Vec::new(),
            process: Vec::new(),
            to_process: VecDeque::new(),
            to_actor: VecDeque::new(),
            setup: direct([]),
            taken: 0,
            position: 0,
            is_changed: false,
            next_row: 1,
        };
        history.load();
        history
    }

    fn load(&mut self) {
        self.setup = direct([]);
        self.setup.state.translator = Box::new(Historian { history: self.saved.clone(), is_changed: self.is_changed });
        self.setup.state.connection.process = Some(WirePosition(self.read));
        self.position = self.read;
        self.taken = 0;
    }

    fn do_work(&mut self, work: Work) -> Vec<Effect> {
        let Transition { advance, effects, .. } = self.setup.plan(work);
        if let Some(advance) = advance {
            let saved: Saved = serde_json::from_str(advance.state.as_str()).unwrap();
            self.saved = saved.read(1).unwrap();
            for SentInput { row, message, .. } in advance.sent {
                let Message::Lines(lines) = serde_json::from_str(message.as_str()).unwrap() else { panic!() };
                self.outbox.insert(row.0, Row::Lines(lines));
            }
            for row in advance.delivered {
                assert!(self.outbox.remove(&row.0).is_some());
                self.delivered.push(row.0);
            }
            if let ProcessChange::Read(position) = advance.process {
                self.read = position.0;
            }
            self.setup.state.committed(advance.to, advance.process, advance.wake_at);
        }
        effects
    }

    /// Passes a prompt to the translator and sends its lines, or compares them with `expected` if it is set.
    fn translate(&mut self, row: i64, expected: Option<AcceptedInput>) -> Result<(), &'static str> {
        self.taken = row;
        let command = Command::Prompt { session: SESSION, text: row.to_string() };
        let effects = self.do_work(Work::Command { row: OutboxId(row), command });
        assert_eq!(effects, [Effect::SendDirect(OutboxId(row))]);
        let lines = self.setup.state.uncommitted.input(OutboxId(row)).unwrap().lines.clone();
        let input = AcceptedInput { row: OutboxId(row), after: self.setup.state.read_position().0, digest: digest(&lines) };
        if expected.is_some_and(|expected| expected.digest != input.digest) {
            return Err("diverged");
        }
        self.to_process.push_back((input, lines));
        Ok(())
    }

    fn read_line(&mut self) -> bool {
        while let Some(record) = self.journal.get(usize::try_from(self.position).unwrap()) {
            self.position += 1;
            if let Record::Line(line) = record {
                let work = lines(&[line.as_str()], self.position);
                self.do_work(work);
                return true;
            }
        }
        false
    }

    /// Kills the server and starts another one.
    fn restart(&mut self) -> Result<(), &'static str> {
        self.to_process.clear();
        self.to_actor.clear();
        self.load();
        let start = usize::try_from(self.read).unwrap();
        let accepted: Vec<AcceptedInput> = self.journal[start..]
            .iter()
            .filter_map(|record| match record {
                Record::Accepted(input) => Some(*input),
                Record::Line(_) => None,
            })
            .collect();
        let rows: Vec<OutboxRow> =
            self.outbox.iter().filter(|(_, row)| matches!(row, Row::Prompt)).map(|(id, _)| outbox_row(*id)).collect();
        let rows: Vec<&OutboxRow> = rows.iter().collect();
        let mut accepted = AcceptedRows::new(&accepted, &rows);
        // Stored messages are sent unchanged, in their order among the repeated inputs.
        let mut stored: VecDeque<(i64, Vec<String>)> = self
            .outbox
            .iter()
            .filter_map(|(id, row)| match row {
                Row::Lines(lines) => Some((*id, lines.clone())),
                Row::Prompt => None,
            })
            .collect();
        loop {
            while let Some((input, row)) = accepted.next_at(self.setup.state.read_position()) {
                while stored.front().is_some_and(|(id, _)| *id < row.id.0) {
                    if let Some((id, lines)) = stored.pop_front() {
                        self.send_stored(id, lines);
                    }
                }
                self.translate(row.id.0, Some(input))?;
            }
            if !self.read_line() {
                break;
            }
        }
        assert!(accepted.is_empty());
        for (id, lines) in stored {
            self.send_stored(id, lines);
        }
        Ok(())
    }

    fn send_stored(&mut self, row: i64, lines: Vec<String>) {
        self.to_process.push_back((AcceptedInput { row: OutboxId(row), after: 0, digest: [0; 16] }, lines));
    }

    /// Lets the supervisor accept the next input once.
    fn accept(&mut self) {
        let Some((input, lines)) = self.to_process.pop_front() else { return };
        if self.process.iter().all(|(row, _)| *row != input.row.0) {
            self.journal.push(Record::Accepted(input));
            self.process.push((input.row.0, lines));
        }
        self.to_actor.push_back(input.row.0);
    }

    fn step(&mut self, action: Action) -> Result<(), &'static str> {
        match action {
            Action::AgentWrites(number) => self.journal.push(Record::Line(format!("line {number}"))),
            Action::PersonWrites => {
                self.outbox.insert(self.next_row, Row::Prompt);
                self.next_row += 1;
            }
            Action::ActorReads => {
                self.read_line();
            }
            Action::ActorTakes => {
                let next = self.outbox.iter().find(|(id, row)| **id > self.taken && matches!(row, Row::Prompt));
                if let Some(row) = next.map(|(id, _)| *id) {
                    self.translate(row, None)?;
                }
            }
            Action::SupervisorAccepts => self.accept(),
            Action::ActorIsTold => {
                if let Some(row) = self.to_actor.pop_front() {
                    self.do_work(received(&[row]));
                }
            }
            Action::ActorCommits => {
                self.do_work(Work::CommitDirect);
            }
            Action::ServerIsKilled => self.restart()?,
        }
        Ok(())
    }
}

fn digest(lines: &[String]) -> [u8; 16] {
    let digest = <sha2::Sha256 as sha2::Digest>::digest(lines.join("\n"));
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    short
}

fn outbox_row(id: i64) -> OutboxRow {
    let payload = OutboxPayload::Command(Raw::of(&Command::Prompt { session: SESSION, text: id.to_string() }));
    OutboxRow { id: OutboxId(id), connection: CONNECTION, session: SESSION, payload }
}

#[derive(Debug, Clone, Copy)]
enum Action {
    AgentWrites(u8),
    PersonWrites,
    ActorReads,
    ActorTakes,
    SupervisorAccepts,
    ActorIsTold,
    ActorCommits,
    ServerIsKilled,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        3 => any::<u8>().prop_map(Action::AgentWrites),
        2 => Just(Action::PersonWrites),
        4 => Just(Action::ActorReads),
        3 => Just(Action::ActorTakes),
        3 => Just(Action::SupervisorAccepts),
        2 => Just(Action::ActorIsTold),
        1 => Just(Action::ActorCommits),
        1 => Just(Action::ServerIsKilled),
    ]
}

/// Checks that the translator's history when it produced the last accepted lines is a prefix of the history that happened.
fn is_prefix_of_what_happened(history: &History) -> bool {
    let written: Vec<&String> = history
        .journal
        .iter()
        .filter_map(|record| match record {
            Record::Line(line) => Some(line),
            Record::Accepted(..) => None,
        })
        .collect();
    history.process.iter().all(|(_, lines)| {
        let seen: Vec<&str> = lines[0].split(',').filter(|entry| entry.starts_with("line")).collect();
        seen.iter().zip(&written).all(|(seen, written)| seen == written) && seen.len() <= written.len()
    })
}

proptest! {
    #[test]
    fn every_input_reaches_the_process_once_across_any_crashes(actions in prop::collection::vec(action(), 0..120)) {
        let mut history = History::new();
        for action in actions {
            history.step(action).unwrap();
        }
        // Let all messages arrive.
        history.restart().unwrap();
        let last = history.next_row - 1;
        for _ in 0..3 {
            while history.read_line() {}
            while history.outbox.iter().any(|(id, row)| *id > history.taken && matches!(row, Row::Prompt)) {
                history.step(Action::ActorTakes).unwrap();
            }
            while !history.to_process.is_empty() {
                history.accept();
            }
            while !history.to_actor.is_empty() {
                history.step(Action::ActorIsTold).unwrap();
            }
            history.step(Action::ActorCommits).unwrap();
        }
        let rows: Vec<i64> = history.process.iter().map(|(row, _)| *row).collect();
        prop_assert_eq!(&rows, &(1..=last).collect::<Vec<_>>());
        history.delivered.sort_unstable();
        prop_assert_eq!(&history.delivered, &rows);
        prop_assert!(history.outbox.is_empty());
        prop_assert!(is_prefix_of_what_happened(&history));
        // The committed history contains every line and every prompt once.
        let prompts = history.saved.iter().filter(|entry| entry.starts_with("prompt")).count();
        prop_assert_eq!(prompts, rows.len());
        // The last lines were produced from the history as it is committed.
        if let Some((_, lines)) = history.process.last() {
            prop_assert!(history.saved.join(",").starts_with(lines[0].as_str()));
        }
    }

    #[test]
    fn changed_translator_is_noticed_if_an_input_was_on_its_way(actions in prop::collection::vec(action(), 0..120)) {
        let mut history = History::new();
        for action in actions {
            history.step(action).unwrap();
        }
        let start = usize::try_from(history.read).unwrap();
        let on_its_way = history.journal[start..].iter().any(|record| match record {
            Record::Accepted(input) => matches!(history.outbox.get(&input.row.0), Some(Row::Prompt)),
            Record::Line(_) => false,
        });
        history.is_changed = true;
        prop_assert_eq!(history.restart().is_err(), on_its_way);
    }
}
