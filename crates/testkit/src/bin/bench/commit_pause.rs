//! Measures the longest time between two commits while 100 callers write continuously, checkpoints run, and deleted secrets
//! make the store truncate its log.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, AskBody, AskContext, AskState, Decision, Input, Origin, PolicyNote, Question, Reach};
use sayso_core::id::{AskId, TokenId};
use sayso_core::scope::Scope;
use sayso_core::time::Time;
use sayso_store::ops::{CollectOutcome, OpenAsk, ResolveAsk};
use sayso_store::{Commit, Store, StoreOptions, WorkspaceId};

use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::{Size, directory, meter};

const CALLERS: u64 = 100;
const NOW: Time = Time::from_millis(1_700_000_000_000);

pub(crate) async fn measure(report: &mut Report, size: Size) -> Result<()> {
    let (mut worst, mut usual, mut commits) = (Vec::new(), Vec::new(), 0);
    for _ in 0..size.runs {
        let mut gaps = gaps(size.window * 2).await?;
        commits += gaps.len();
        usual.push(meter::percentile(&mut gaps, 0.5) / 1e3);
        worst.push(meter::percentile(&mut gaps, 1.0) / 1e3);
    }
    let line = Measurement::new("commit_pause").figure("commits", commits as f64).figure("usual_ms", meter::median(&usual));
    report.add(line.target("worst_ms", meter::median(&worst), AtMost(30.0)))
}

/// Returns the microseconds between commits.
async fn gaps(window: Duration) -> Result<Vec<u32>> {
    let dir = directory()?;
    let times = Arc::new(Mutex::new(Vec::new()));
    let sink = {
        let times = Arc::clone(&times);
        move |_: Commit| {
            if let Ok(mut times) = times.lock() {
                times.push(Instant::now());
            }
        }
    };
    let store = Store::open(&StoreOptions::new(dir.path().join("sayso.db")), || NOW, sink)?;
    let end = Instant::now() + window;
    let callers: Vec<_> = (0..CALLERS).map(|caller| tokio::spawn(call(store.clone(), caller, end))).collect();
    for caller in callers {
        caller.await??;
    }
    store.close().await;
    let times = times.lock().map_err(|_| anyhow::anyhow!("the writer panicked"))?;
    // After the end there are no writers, so later gaps are ignored.
    let busy = times.partition_point(|time| *time <= end);
    let gaps: Vec<_> = times[..busy].windows(2).map(|pair| meter::micros(pair[1] - pair[0])).collect();
    anyhow::ensure!(!gaps.is_empty(), "nothing was committed");
    Ok(gaps)
}

/// Opens and answers asks. Callers with secrets collect them, which deletes them.
async fn call(store: Store, caller: u64, end: Instant) -> Result<()> {
    let workspace = WorkspaceId::MAIN;
    let secret = caller < 5;
    for number in 0.. {
        if Instant::now() > end {
            break;
        }
        let ask = ask(caller, number, secret);
        let id = ask.id;
        let open = OpenAsk { workspace, scope: Scope::All, ask: Box::new(ask), key: None, max_pending: usize::MAX };
        store.write(open).await?;
        let resolve = ResolveAsk {
            workspace,
            ask: id,
            scope: Scope::All,
            session: None,
            decision: Decision::Answered { answers: vec![vec!["SQLite".to_owned()]], note: None },
            by: Actor::Agent,
            key: None,
            content: None,
            fits_schemas: false,
        };
        store.write(resolve).await?.ok().context("the answer was refused")?;
        if secret {
            store.write(CollectOutcome { workspace, ask: id }).await?;
            // Deletes only a few secrets per second, so that most commits use the change log.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

fn ask(caller: u64, number: u16, secret: bool) -> Ask {
    let mut entropy = [0; 10];
    entropy[..8].copy_from_slice(&caller.to_be_bytes());
    entropy[8..].copy_from_slice(&number.to_be_bytes());
    let question = Question {
        key: "0".to_owned(),
        header: None,
        text: "Which database should this feature use? ".repeat(10),
        input: Input::Text { secret },
        required: true,
        response_schema: None,
    };
    Ask {
        id: AskId::new(NOW, entropy),
        origin: Origin { session: None, connection: None, native_id: None, opened_by: Some(TokenId::new(NOW, entropy)) },
        body: AskBody::Question { questions: vec![question] }.into(),
        context: AskContext::default().into(),
        policy: PolicyNote::default(),
        opened_at: NOW,
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: None,
    }
}
