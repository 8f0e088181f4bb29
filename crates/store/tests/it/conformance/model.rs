//! Applies random sequences of operations to the store and to a small model. Results, asks, events and the outbox have to
//! agree, for any batching and for reads and restarts at any point.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use sayso_core::ask::{Ask, AskState, Delivery, Outcome, Refused};
use sayso_core::id::{AskId, TokenId};
use sayso_core::scope::Scope;
use sayso_core::session::Session;
use sayso_core::time::Time;
use sayso_store::ops::{
    AdvanceConnection, AdvanceResult, CollectOutcome, ConnectionChange, LoadConnection, OpenAsk, OpenAskResult, ResolveAsk,
    ResolveError, SnoozeAsk,
};
use sayso_store::read::{ListAsks, StatusFilter};
use sayso_store::{EventPayload, OutboxId, OutboxPayload, Store, StoredEvent};

use super::World;
use crate::world::{MAIN, advance, answered, ask, ask_of, at, question, resolve, token};

const AGENTS: usize = 2;
const MAX_PENDING: usize = 3;

/// A step of a sequence. Numbers choose one of the existing agents, callers or asks.
#[derive(Debug, Clone)]
enum Step {
    CallerAsks {
        caller: usize,
        native: Option<u8>,
    },
    AgentAsks {
        agent: usize,
    },
    /// The agent repeats an input that was handled.
    AgentRepeats {
        agent: usize,
    },
    /// The agent confirms all messages.
    AgentTakes {
        agent: usize,
    },
    Answer {
        ask: usize,
        entry: &'static str,
    },
    Snooze {
        ask: usize,
    },
    Collect {
        ask: usize,
    },
}

#[derive(Debug, Clone)]
enum Round {
    /// Operations that the store gets together.
    Batch(Vec<Step>),
    Read,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let entry = prop_oneof![Just("A"), Just("B")];
    prop_oneof![
        3 => (0..2_usize, proptest::option::of(0..3_u8)).prop_map(|(caller, native)| Step::CallerAsks { caller, native }),
        3 => (0..AGENTS).prop_map(|agent| Step::AgentAsks { agent }),
        1 => (0..AGENTS).prop_map(|agent| Step::AgentRepeats { agent }),
        2 => (0..AGENTS).prop_map(|agent| Step::AgentTakes { agent }),
        4 => (0..100_usize, entry).prop_map(|(ask, entry)| Step::Answer { ask, entry }),
        1 => (0..100_usize).prop_map(|ask| Step::Snooze { ask }),
        2 => (0..100_usize).prop_map(|ask| Step::Collect { ask }),
    ]
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let round = prop_oneof![
        6 => vec(step(), 1..6).prop_map(Round::Batch),
        1 => Just(Round::Read),
        1 => Just(Round::Reopen),
    ];
    vec(round, 1..16)
}

/// An operation with a chosen target, the same for store and model.
enum Action {
    Open(Box<OpenAsk>),
    AdvanceConnection(Box<AdvanceConnection>),
    Answer(Box<ResolveAsk>),
    Snooze(SnoozeAsk),
    Collect(CollectOutcome),
}

#[derive(Debug, PartialEq)]
enum Reply {
    OpenAskResult(OpenAskResult),
    AdvanceResult(AdvanceResult),
    Resolved(Box<Result<Ask, ResolveError>>),
    Collected,
}

/// An event, reduced to the parts that the model predicts.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    Requested(AskId),
    Resolved(AskId),
    Snoozed(AskId),
    Delivered(AskId),
    Other,
}

fn reduce_event(event: &StoredEvent) -> (Said, Time) {
    let said = match &event.payload {
        EventPayload::AskRequested(ask) => Said::Requested(ask.id),
        EventPayload::AskResolved(ask) => Said::Resolved(ask.id),
        EventPayload::AskSnoozed { ask, .. } => Said::Snoozed(ask.id),
        EventPayload::AskDelivery { ask, .. } => Said::Delivered(ask.id),
        _ => Said::Other,
    };
    (said, event.at)
}

/// The rules of the store in a few lines, without batches, rows or a database.
struct Model {
    asks: Vec<Ask>,
    events: Vec<(Said, Time)>,
    /// The time of the current batch.
    now: Time,
    outbox: Vec<(OutboxId, AskId)>,
    last_outbox: i64,
    sessions: Vec<Session>,
    positions: Vec<i64>,
    callers: [TokenId; 2],
    /// The number of planned asks, for their request ids.
    planned: usize,
}

impl Model {
    /// Chooses targets among the rows that exist when the batch begins.
    fn plan(&mut self, step: &Step, moved: &mut [i64; AGENTS]) -> Option<Action> {
        let chosen = |ask: usize| (!self.asks.is_empty()).then(|| self.asks[ask % self.asks.len()].id);
        Some(match step {
            Step::CallerAsks { caller, native } => {
                let mut asked = ask(question());
                asked.origin.opened_by = Some(self.callers[*caller]);
                asked.origin.native_id = native.map(|native| native.to_string());
                Action::Open(Box::new(OpenAsk {
                    workspace: MAIN,
                    scope: Scope::All,
                    ask: Box::new(asked),
                    key: None,
                    max_pending: MAX_PENDING,
                }))
            }
            Step::AgentAsks { agent } => {
                self.planned += 1;
                let session = &self.sessions[*agent];
                let asked = ask_of(session, &self.planned.to_string(), question());
                let from = self.positions[*agent] + moved[*agent];
                moved[*agent] += 1;
                Action::AdvanceConnection(Box::new(advance(
                    session,
                    from,
                    vec![],
                    vec![ConnectionChange::OpenAsk(Box::new(asked))],
                )))
            }
            Step::AgentRepeats { agent } => {
                let asked = ask_of(&self.sessions[*agent], "repeated", question());
                let from = self.positions[*agent] - 1;
                Action::AdvanceConnection(Box::new(advance(
                    &self.sessions[*agent],
                    from,
                    vec![],
                    vec![ConnectionChange::OpenAsk(Box::new(asked))],
                )))
            }
            Step::AgentTakes { agent } => {
                let session = &self.sessions[*agent];
                let rows = self.outbox.iter().filter(|(_, ask)| self.ask(*ask).origin.session == Some(session.id));
                let rows = rows.map(|(row, _)| *row).collect();
                let from = self.positions[*agent] + moved[*agent];
                moved[*agent] += 1;
                Action::AdvanceConnection(Box::new(advance(session, from, rows, vec![])))
            }
            Step::Answer { ask, entry } => Action::Answer(Box::new(resolve(chosen(*ask)?, answered(entry)))),
            Step::Snooze { ask } => {
                Action::Snooze(SnoozeAsk { workspace: MAIN, ask: chosen(*ask)?, scope: Scope::All, until: Some(at(500)) })
            }
            Step::Collect { ask } => Action::Collect(CollectOutcome { workspace: MAIN, ask: chosen(*ask)? }),
        })
    }

    fn ask(&self, id: AskId) -> &Ask {
        self.asks.iter().find(|ask| ask.id == id).unwrap()
    }

    fn ask_mut(&mut self, id: AskId) -> &mut Ask {
        self.asks.iter_mut().find(|ask| ask.id == id).unwrap()
    }

    fn apply(&mut self, action: &Action) -> Reply {
        match action {
            Action::Open(open) => Reply::OpenAskResult(self.open(&open.ask)),
            Action::AdvanceConnection(advance) => Reply::AdvanceResult(self.advance(advance)),
            Action::Answer(answer) => Reply::Resolved(Box::new(self.answer(answer))),
            Action::Snooze(snooze) => Reply::Resolved(Box::new(self.snooze(snooze))),
            Action::Collect(collect) => {
                self.deliver(collect.ask);
                Reply::Collected
            }
        }
    }

    fn open(&mut self, ask: &Ask) -> OpenAskResult {
        let pending = || self.asks.iter().filter(|other| is_pending(other) && other.origin.opened_by == ask.origin.opened_by);
        let same = pending().find(|other| ask.origin.native_id.is_some() && other.origin.native_id == ask.origin.native_id);
        if let Some(earlier) = same {
            return OpenAskResult::Ask(Box::new(earlier.clone()));
        }
        if pending().count() >= MAX_PENDING {
            return OpenAskResult::TooMany;
        }
        self.insert(ask.clone());
        OpenAskResult::Ask(Box::new(ask.clone()))
    }

    fn say(&mut self, said: Said) {
        self.events.push((said, self.now));
    }

    fn insert(&mut self, ask: Ask) {
        self.say(Said::Requested(ask.id));
        self.asks.push(ask);
    }

    fn advance(&mut self, advance: &AdvanceConnection) -> AdvanceResult {
        let agent = self.sessions.iter().position(|session| session.connection == advance.connection).unwrap();
        if self.positions[agent] != advance.from.0 {
            return AdvanceResult::Stale;
        }
        self.positions[agent] += 1;
        for row in &advance.delivered {
            let place = self.outbox.iter().position(|(id, _)| id == row);
            if let Some(place) = place {
                let (_, ask) = self.outbox.remove(place);
                self.deliver(ask);
            }
        }
        for change in &advance.changes {
            let ConnectionChange::OpenAsk(ask) = change else { panic!("not planned") };
            self.insert(Ask::clone(ask));
        }
        AdvanceResult::Yes
    }

    fn answer(&mut self, answer: &ResolveAsk) -> Result<Ask, ResolveError> {
        refuse_resolved(self.ask(answer.ask))?;
        let outcome = Outcome { decision: answer.decision.clone(), by: answer.by.clone(), at: self.now, content: None };
        let ask = self.ask_mut(answer.ask);
        ask.state = AskState::Resolved { outcome, delivery: Delivery::Queued };
        let ask = ask.clone();
        self.say(Said::Resolved(ask.id));
        if ask.origin.connection.is_some() {
            self.last_outbox += 1;
            self.outbox.push((OutboxId(self.last_outbox), ask.id));
        }
        Ok(ask)
    }

    fn snooze(&mut self, snooze: &SnoozeAsk) -> Result<Ask, ResolveError> {
        refuse_resolved(self.ask(snooze.ask))?;
        self.say(Said::Snoozed(snooze.ask));
        let ask = self.ask_mut(snooze.ask);
        ask.snoozed_until = snooze.until;
        Ok(ask.clone())
    }

    fn deliver(&mut self, id: AskId) {
        if let AskState::Resolved { delivery: delivery @ Delivery::Queued, .. } = &mut self.ask_mut(id).state {
            *delivery = Delivery::Delivered;
            self.say(Said::Delivered(id));
        }
    }
}

fn is_pending(ask: &Ask) -> bool {
    matches!(ask.state, AskState::Pending(_))
}

fn refuse_resolved(ask: &Ask) -> Result<(), ResolveError> {
    match ask.outcome() {
        Some(outcome) => Err(Refused::AlreadyResolved(Box::new(outcome.clone())).into()),
        None => Ok(()),
    }
}

async fn write(store: Store, action: Action) -> Reply {
    match action {
        Action::Open(open) => Reply::OpenAskResult(store.write(*open).await.unwrap()),
        Action::AdvanceConnection(advance) => Reply::AdvanceResult(store.write(*advance).await.unwrap()),
        Action::Answer(answer) => Reply::Resolved(Box::new(store.write(*answer).await.unwrap().map(|ask| (*ask).clone()))),
        Action::Snooze(snooze) => Reply::Resolved(Box::new(store.write(snooze).await.unwrap().map(|ask| (*ask).clone()))),
        Action::Collect(collect) => {
            store.write(collect).await.unwrap();
            Reply::Collected
        }
    }
}

/// Compares all results of queries.
async fn compare(world: &World, model: &Model) {
    let any = ListAsks { status: StatusFilter::Any, ..ListAsks::pending(MAIN, Scope::All, 10_000) };
    let mut all = world.store.read(any).await.unwrap().rows;
    all.reverse();
    assert_eq!(all, model.asks);
    let pending = world.store.read(ListAsks::pending(MAIN, Scope::All, 10_000)).await.unwrap().rows;
    assert_eq!(pending, model.asks.iter().filter(|ask| is_pending(ask)).cloned().collect::<Vec<_>>());
    let past = world.events_after(0).await;
    assert_eq!(past.iter().map(reduce_event).collect::<Vec<_>>(), model.events);
    assert_eq!(past.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..).take(past.len()).collect::<Vec<_>>());
    for session in &model.sessions {
        let query = LoadConnection { workspace: MAIN, connection: session.connection };
        let loaded = world.store.write(query).await.unwrap().unwrap();
        let outcomes = loaded.outbox.into_iter().filter_map(|row| match row.payload {
            OutboxPayload::Outcome { ask, .. } => Some((row.id, ask.id)),
            OutboxPayload::Command(_) | OutboxPayload::Send { .. } => None,
        });
        let waiting = model.outbox.iter().filter(|(_, ask)| model.ask(*ask).origin.session == Some(session.id));
        assert_eq!(outcomes.collect::<Vec<_>>(), waiting.copied().collect::<Vec<_>>());
    }
}

async fn run(rounds: Vec<Round>) {
    let mut world = World::new().await;
    let mut model = Model {
        asks: Vec::new(),
        events: Vec::new(),
        now: world.clock.now(),
        outbox: Vec::new(),
        last_outbox: 0,
        sessions: Vec::new(),
        positions: vec![0; AGENTS],
        callers: [token(), token()],
        planned: 0,
    };
    for _ in 0..AGENTS {
        model.sessions.push(world.session().await);
    }
    model.events = world.events().iter().map(reduce_event).collect();
    model.last_outbox = world.outbox().last().unwrap().id.0;
    for round in rounds {
        match round {
            Round::Read => compare(&world, &model).await,
            Round::Reopen => world = world.reopen().await,
            Round::Batch(steps) => {
                model.now = model.now.plus(Duration::from_secs(1));
                world.clock.set(model.now);
                let mut moved = [0; AGENTS];
                let actions: Vec<_> = steps.iter().filter_map(|step| model.plan(step, &mut moved)).collect();
                let expected: Vec<_> = actions.iter().map(|action| model.apply(action)).collect();
                // In a runtime with one thread tasks start in order, so the store gets the operations in order.
                let calls: Vec<_> = actions.into_iter().map(|action| tokio::spawn(write(world.store.clone(), action))).collect();
                let mut replies = Vec::new();
                for call in calls {
                    replies.push(call.await.unwrap());
                }
                assert_eq!(replies, expected);
            }
        }
    }
    compare(&world, &model).await;
    compare(&world.reopen().await, &model).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn store_agrees_with_the_model(rounds in rounds()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(rounds));
    }
}
