//! The recorded workload: agents and callers write concurrently, while the store flushes, checkpoints and truncates.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use sayso_core::ask::Ask;
use sayso_core::id::AskId;
use sayso_core::scope::Scope;
use sayso_core::session::Labels;
use sayso_store::ops::{AdvanceResult, CollectOutcome, ConnectionChange, IdempotentResult, OpenAsk, OpenAskResult};
use sayso_store::read::GetAsk;
use sayso_store::{Commit, OutboxId, OutboxPayload, Store, StoreOptions};

use super::acks::AckFile;
use crate::world::{
    MAIN, advance, answered, approval, approved, ask, ask_of, at, entropy, new_session, question, resolve, secret,
};

/// The size of a workload.
#[derive(Debug, Clone, Copy)]
struct Size {
    agents: usize,
    rounds: usize,
    callers: usize,
}

/// Runs the workload with this name on the store in this directory.
pub(super) fn run(name: &str, dir: &Path) {
    let traffic = Size { agents: 6, rounds: 40, callers: 6 };
    let brief = Size { agents: 2, rounds: 12, callers: 2 };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let acks = AckFile::create(dir);
    let path = dir.join("sayso.db");
    runtime.block_on(async {
        match name {
            "traffic" => {
                Workload::open(&path, &acks).run(traffic, 1).await;
                Workload::open(&path, &acks).run(Size { rounds: 10, ..traffic }, 2).await;
            }
            "brief" => {
                Workload::open(&path, &acks).run(brief, 1).await;
                Workload::open(&path, &acks).run(brief, 2).await;
            }
            // Opening replays the log that a power loss left, or upgrades the database. Ids must differ from those of other
            // runs.
            "restart" => Workload::open(&path, &acks).run(Size { agents: 0, ..brief }, 3).await,
            other => panic!("no workload {other}"),
        }
    });
}

#[derive(Debug, Clone)]
struct Workload {
    store: Store,
    acks: AckFile,
    /// The outbox rows of outcomes that the sink received.
    outbox: Arc<Mutex<HashMap<AskId, OutboxId>>>,
}

impl Workload {
    fn open(path: &Path, acks: &AckFile) -> Self {
        let outbox = Arc::new(Mutex::new(HashMap::new()));
        let sink = {
            let (outbox, acks) = (Arc::clone(&outbox), acks.clone());
            move |commit: Commit| {
                for row in commit.outbox {
                    if let OutboxPayload::Outcome { ask, .. } = row.payload {
                        outbox.lock().unwrap().insert(ask.id, row.id);
                    }
                }
                if let Some(last) = commit.events.last() {
                    acks.published(last.seq);
                }
            }
        };
        let store = Store::open(&StoreOptions::new(path), || at(60), sink).unwrap();
        Self { store, acks: acks.clone(), outbox }
    }

    /// `life` counts how often the store was opened, and is part of ids.
    async fn run(self, size: Size, life: i64) {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..size.agents {
            tasks.spawn(self.clone().agent(number, size.rounds, life));
        }
        for number in 0..size.callers {
            tasks.spawn(self.clone().caller(number, size.rounds, life));
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        self.store.close().await;
    }

    /// Runs an agent that asks and gets answers. Every tenth ask is secret.
    async fn agent(self, number: usize, rounds: usize, life: i64) {
        let IdempotentResult::Done(session) = self.store.write(new_session(Labels::new(), None, None)).await.unwrap() else {
            panic!("no new session")
        };
        let mut position = 0;
        for round in 0..rounds {
            let value = format!("secret-{life}-{number}-{round}-4711");
            let (body, decision) = match round % 10 {
                3 => (secret(), answered(&value)),
                0 | 5 => (question(), answered("A")),
                _ => (approval(), approved()),
            };
            let asked = padded(ask_of(&session, &format!("{round}"), body.clone()), round);
            let id = asked.id;
            let opened = advance(&session, position, vec![], vec![ConnectionChange::OpenAsk(Box::new(asked.clone()))]);
            assert_eq!(self.store.write(opened).await.unwrap(), AdvanceResult::Yes);
            self.acks.opened(&asked);
            let resolved = self.store.write(resolve(id, decision)).await.unwrap().unwrap();
            self.acks.resolved(&resolved);
            // The last outcomes stay in the outbox.
            if round + 2 < rounds {
                let row = self.outbox.lock().unwrap()[&id];
                let delivered = advance(&session, position + 1, vec![row], vec![]);
                assert_eq!(self.store.write(delivered).await.unwrap(), AdvanceResult::Yes);
                self.acks.delivered(id);
                if body.is_secret() {
                    self.acks.forgotten(&value);
                }
                position += 2;
            } else {
                position += 1;
            }
            self.sometimes_read(id, round).await;
        }
    }

    /// Runs a program that asks and collects every third answer itself.
    async fn caller(self, number: usize, rounds: usize, life: i64) {
        for round in 0..rounds {
            let mut asked = padded(ask(question()), round + number);
            asked.id = AskId::new(at(life), entropy());
            let id = asked.id;
            let open =
                OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(asked.clone()), key: None, max_pending: 1_000_000 };
            assert!(matches!(self.store.write(open).await.unwrap(), OpenAskResult::Ask(_)));
            self.acks.opened(&asked);
            if round % 4 == 3 {
                continue;
            }
            let resolved = self.store.write(resolve(id, answered("B"))).await.unwrap().unwrap();
            self.acks.resolved(&resolved);
            if round % 3 == 0 {
                self.store.write(CollectOutcome { workspace: MAIN, ask: id }).await.unwrap();
                self.acks.delivered(id);
            }
            self.sometimes_read(id, round).await;
        }
    }

    /// Runs a query from time to time, which first flushes rows to their tables.
    async fn sometimes_read(&self, id: AskId, round: usize) {
        if round % 16 == 7 {
            let found = self.store.read(GetAsk { workspace: MAIN, ask: id, scope: Scope::All }).await.unwrap();
            assert!(found.is_some());
        }
    }
}

/// Adds up to a few kilobytes to an ask.
fn padded(mut ask: Ask, round: usize) -> Ask {
    Arc::make_mut(&mut ask.context).context = Some(format!("round {round} ").repeat(1 + round * 37 % 400));
    ask
}
