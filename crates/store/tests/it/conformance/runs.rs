//! Runs: transitions are atomic, and only a writer with the current version can advance a run.

use std::collections::BTreeMap;

use sayso_core::id::RunId;
use sayso_core::run::{Event, NewRun, Run, StepState};
use sayso_core::scope::Scope;
use sayso_core::snapshot::RunSnapshot;
use sayso_core::workflow::Workflow;
use sayso_store::EventKind;
use sayso_store::ops::{AdvanceResult, AdvanceRun, CreateRun, IdempotentResult, RunEvent};
use sayso_store::read::{GetRun, ListOpenRuns, ListRuns};

use super::World;
use crate::world::{MAIN, at, entropy, token};

fn run() -> Run {
    let text = "name = \"w\"\n[[steps]]\nid = \"a\"\n[steps.checkpoint]\nquestion = \"Go on?\"\n[[steps]]\nid = \"b\"\n[steps.checkpoint]\nquestion = \"And?\"\n";
    let (workflow, _) = Workflow::parse_toml(text).unwrap();
    let new = NewRun {
        id: RunId::new(at(0), entropy()),
        workflow,
        input: BTreeMap::new(),
        directory: "/p".to_owned(),
        labels: BTreeMap::from([("team".to_owned(), "shop".to_owned())]),
        opened_by: token(),
    };
    Run::new(new, at(0))
}

fn moved(run: &Run, version: i64) -> AdvanceRun {
    AdvanceRun {
        workspace: MAIN,
        run: Box::new(run.clone()),
        version,
        changed: (0..run.steps.len()).collect(),
        sessions: Vec::new(),
        asks: Vec::new(),
        taken: Vec::new(),
        closed: Vec::new(),
        withdrawn: Vec::new(),
        events: vec![RunEvent::Run(RunSnapshot::from(run))],
    }
}

fn read(run: &Run, scope: Scope) -> GetRun {
    GetRun { workspace: MAIN, run: run.id, scope }
}

#[tokio::test]
async fn run_is_stored_with_its_steps_and_advanced_by_one_writer() {
    let world = World::new().await;
    let mut run = run();
    run.next(Event::Begin, at(0), &mut entropy);
    let created = world.store.write(CreateRun { first: moved(&run, 0), key: None }).await.unwrap();
    assert_eq!(created, IdempotentResult::Done(Box::new(run.clone())));
    let world = world.reopen().await;
    assert_eq!(world.store.read(ListOpenRuns { workspace: MAIN }).await.unwrap(), [run.id]);
    let found = world.store.read(read(&run, Scope::All)).await.unwrap().unwrap();
    assert_eq!((&found.run, found.version), (&run, 1));

    let before = world.store.read(read(&run, Scope::All)).await.unwrap().unwrap();
    run.next(Event::Cancel { reason: "ada".to_owned() }, at(1), &mut entropy);
    let stale = world.store.write(moved(&run, 0)).await.unwrap();
    assert_eq!((stale, world.kinds()), (AdvanceResult::Stale, vec![]), "a writer with an old version changes nothing");
    assert_eq!(world.store.read(read(&run, Scope::All)).await.unwrap().unwrap().run, before.run);
    assert_eq!(world.store.write(moved(&run, 1)).await.unwrap(), AdvanceResult::Yes);
    assert_eq!(world.kinds(), [EventKind::RunCancelled]);
    let after = world.store.read(read(&run, Scope::All)).await.unwrap().unwrap();
    assert!(after.run.steps.iter().all(|step| matches!(step.state, StepState::Cancelled { .. })), "{after:?}");
    assert_eq!(world.store.read(ListOpenRuns { workspace: MAIN }).await.unwrap(), []);
}

#[tokio::test]
async fn runs_are_visible_by_label_and_listed_newest_first() {
    let world = World::new().await;
    let (one, two) = (run(), run());
    for run in [&one, &two] {
        world.store.write(CreateRun { first: moved(run, 0), key: None }).await.unwrap();
    }
    let labels = |team: &str| Scope::Labels { labels: BTreeMap::from([("team".to_owned(), team.to_owned())]) };
    assert!(world.store.read(read(&one, labels("shop"))).await.unwrap().is_some());
    assert!(world.store.read(read(&one, labels("other"))).await.unwrap().is_none());
    let list =
        |limit, after| ListRuns { workspace: MAIN, scope: labels("shop"), open_only: true, id_ends_with: None, limit, after };
    let page = world.store.read(list(1, None)).await.unwrap();
    assert_eq!(page.rows.iter().map(|(run, _)| run.id).collect::<Vec<_>>(), [two.id]);
    let rest = world.store.read(list(5, page.next)).await.unwrap();
    assert_eq!(rest.rows.iter().map(|(run, _)| run.id).collect::<Vec<_>>(), [one.id]);
}
