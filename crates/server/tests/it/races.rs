//! The first answer wins, on every surface.

use std::collections::BTreeMap;

use sayso_testkit::ScriptedAgent;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::world::{Http, World, approval, id, question};

/// Races in all, shared by the sessions.
const RACES: u32 = 10_000;
/// The number of sessions that race at the same time, so that commits are shared as in production.
const SESSIONS: u32 = 20;
/// The number of answerers in each round: mostly few, sometimes all.
const ANSWERERS: [usize; 16] = [2, 2, 3, 2, 4, 2, 3, 5, 2, 6, 2, 3, 7, 2, 8, 2];

/// The HTTP dialects that accept an answer.
#[derive(Debug, Clone, Copy)]
enum AnswerSurface {
    Native,
    QuestionRest,
    Gateway,
}

const SURFACES: [AnswerSurface; 3] = [AnswerSurface::Native, AnswerSurface::QuestionRest, AnswerSurface::Gateway];

async fn answer(http: Http, surface: AnswerSurface, session: String, ask: String, call: String, words: String) -> (u16, Value) {
    let reply = match surface {
        AnswerSurface::Native => http.answer(&ask, json!([[words]])).await,
        AnswerSurface::QuestionRest => {
            http.post(&format!("/v1/sessions/{session}/questions/{ask}/reply"), json!({ "answers": [[words]] })).await
        }
        AnswerSurface::Gateway => {
            http.post(&format!("/v1/sessions/{session}/submit-answers"), json!({ "toolCallId": call, "answers": { "0": words } }))
                .await
        }
    };
    let body = if reply.text.is_empty() { Value::Null } else { reply.json() };
    (reply.status, body)
}

/// Runs the races of one session in sequence. Returns how often each surface won.
async fn race(people: Vec<(String, Http)>, client: sayso_client::Client, session: u32, races: u32) -> BTreeMap<String, u32> {
    let mut agent = ScriptedAgent::start(&client, &format!("question {races} times")).await.unwrap();
    let mut wins = BTreeMap::new();
    for round in 0..races {
        let ask = agent.asks().await.unwrap();
        let answerers = ANSWERERS[usize::try_from(round + session).unwrap() % ANSWERERS.len()];
        let mut running = JoinSet::new();
        for (number, (name, http)) in people.iter().take(answerers).enumerate() {
            let surface = SURFACES[(number + usize::try_from(round).unwrap()) % SURFACES.len()];
            let call = answer(
                http.clone(),
                surface,
                agent.session().to_owned(),
                ask.id.clone(),
                ask.tool_call_id.clone(),
                format!("words of {name}"),
            );
            let name = name.clone();
            running.spawn(async move { (name, surface, call.await) });
        }
        let results = running.join_all().await;
        let winners: Vec<_> = results.iter().filter(|(_, _, (status, _))| *status < 300).collect();
        assert_eq!(winners.len(), 1, "{results:?}");
        let (winner, surface, _) = winners[0];
        *wins.entry(format!("{surface:?}")).or_default() += 1;
        for (name, _, (status, body)) in results.iter().filter(|(name, ..)| name != winner) {
            assert_eq!((*status, body["code"].as_str()), (409, Some("ask_already_resolved")), "{name}: {body}");
            assert_eq!(body["outcome"]["by"]["name"], json!(winner), "{name}: {body}");
            assert_eq!((&body["outcome"]["status"], &body["own"]), (&json!("answered"), &json!(false)));
        }
    }
    agent.finished().await.unwrap();
    wins
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_answers_wins_and_the_others_learn_the_winner() {
    let world = World::start().await;
    let mut people = Vec::new();
    for name in ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"] {
        people.push((name.to_owned(), world.token(json!({ "role": "answerer", "actor": name })).await));
    }
    let mut sessions = JoinSet::new();
    for session in 0..SESSIONS {
        sessions.spawn(race(people.clone(), world.server.client(), session, RACES / SESSIONS));
    }
    let mut wins: BTreeMap<String, u32> = BTreeMap::new();
    for of_session in sessions.join_all().await {
        for (surface, count) in of_session {
            *wins.entry(surface).or_default() += count;
        }
    }
    assert_eq!(wins.values().sum::<u32>(), RACES);
    assert_eq!(wins.len(), SURFACES.len(), "every surface wins sometimes: {wins:?}");
    // The feed contains each outcome once.
    let metrics = world.admin.get("/metrics").await.text;
    let line = format!("sayso_outcomes_total{{by=\"person\",status=\"answered\"}} {RACES}");
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
}

/// An answer races with the deadline: one of them wins, and every response names the committed outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_outcome_wins_between_answer_and_timeout() {
    let (world, clock) = World::timeless("").await;
    let mut ended = BTreeMap::new();
    for round in 0..300_u64 {
        let wanted = if round % 2 == 0 { question() } else { approval() };
        let mut wanted = wanted;
        wanted["timeout"] = json!("1m");
        let ask = id(&world.open_ask(wanted).await);
        let verb = if round % 2 == 0 { "answer" } else { "approve" };
        let body = if round % 2 == 0 { json!({ "answers": [["SQLite"]] }) } else { json!({}) };
        let path = format!("/v1/asks/{ask}/{verb}");
        let tick = async {
            // Shift the moment a little from round to round.
            for _ in 0..round % 60 {
                tokio::task::yield_now().await;
            }
            clock.advance(std::time::Duration::from_secs(60));
        };
        let (reply, ()) = tokio::join!(world.admin.post(&path, body), tick);
        let stored = world.outcome(&ask).await;
        let by = stored["outcome"]["by"]["kind"].as_str().unwrap().to_owned();
        match reply.status {
            200 => assert_eq!((by.as_str(), &reply.json()["outcome"]), ("person", &stored["outcome"])),
            _ => {
                let late = reply.problem(409, "ask_already_resolved");
                assert_eq!((by.as_str(), &late["outcome"]["by"]), ("timeout", &stored["outcome"]["by"]));
            }
        }
        *ended.entry(by).or_insert(0) += 1;
    }
    assert_eq!(ended.values().sum::<u32>(), 300);
    assert_eq!(ended.len(), 2, "both sides win sometimes: {ended:?}");
}

/// An answer races with a withdrawal by the caller, and with an interrupt of the agent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_outcome_wins_between_answer_and_withdrawal() {
    let world = World::start().await;
    let mut ended: BTreeMap<(bool, String), u32> = BTreeMap::new();
    for round in 0..200 {
        let interrupts = round % 2 == 0;
        let (agent, ask) = if interrupts {
            let (agent, ask) = world.start_ask("question").await;
            (Some(agent), id(&ask))
        } else {
            (None, id(&world.open_ask(question()).await))
        };
        let withdraw = async {
            if round % 4 < 2 {
                tokio::task::yield_now().await;
            }
            match &agent {
                Some(agent) => world.admin.poke(&format!("/v1/sessions/{}/interrupt", agent.session())).await,
                None => world.admin.delete(&format!("/v1/asks/{ask}")).await,
            }
        };
        let answering = world.admin.answer(&ask, json!([["SQLite"]]));
        let (withdrawn, answered) = if round % 3 == 0 {
            let (answered, withdrawn) = tokio::join!(answering, withdraw);
            (withdrawn, answered)
        } else {
            tokio::join!(withdraw, answering)
        };
        let stored = world.outcome(&ask).await;
        let status = stored["status"].as_str().unwrap().to_owned();
        match answered.status {
            200 => assert_eq!((status.as_str(), &answered.json()["outcome"]), ("answered", &stored["outcome"])),
            _ => {
                let late = answered.problem(409, "ask_already_resolved");
                assert_eq!((status.as_str(), &late["outcome"]["status"]), ("withdrawn", &json!("withdrawn")));
            }
        }
        if !interrupts {
            assert_eq!(withdrawn.status, if status == "withdrawn" { 200 } else { 409 }, "{}", withdrawn.text);
        }
        *ended.entry((interrupts, status)).or_default() += 1;
    }
    assert!(
        ended.keys().any(|(_, status)| status == "answered") && ended.keys().any(|(_, status)| status == "withdrawn"),
        "{ended:?}"
    );
}
