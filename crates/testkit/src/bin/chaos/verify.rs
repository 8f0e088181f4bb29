//! The final comparison of the journal, the server's state, the feed, and the agents' messages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use sayso_client::Client;
use serde_json::{Value, json};

use crate::http::{ChaosCall, ChaosServer};
use crate::journal::{ChaosJournal, ChaosRecords};
use crate::people::outcome_of;
use crate::reader::{FeedContents, FeedReader};

/// If an agent is silent for this long after all clients stopped, it waits for an outcome that was lost.
const STUCK: Duration = Duration::from_secs(10);

/// An agent that has been idle for this long has no work left.
const SETTLED: Duration = Duration::from_millis(500);

/// Timeout for reading the whole feed; a debug build reads a few thousand events per second.
const CATCH_UP: Duration = Duration::from_secs(300);

/// The result of the comparison.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) asks: u64,
    pub(crate) answers: u64,
    pub(crate) retried: u64,
    pub(crate) conflicts: u64,
    pub(crate) events: u64,
    /// Asks that were acknowledged or seen, and are now missing or different.
    pub(crate) lost: u64,
    /// Asks with two outcomes.
    pub(crate) doubled: u64,
    /// Outcomes that an agent received twice.
    pub(crate) given_twice: u64,
    /// Outcomes that a waiting agent never received.
    pub(crate) undelivered: u64,
    pub(crate) seq_gaps: u64,
    pub(crate) seq_doubled: u64,
    /// Feed positions whose event changed between two readings.
    pub(crate) seq_changed: u64,
    pub(crate) unexpected: u64,
}

impl Findings {
    pub(crate) const fn faults(&self) -> u64 {
        self.lost
            + self.doubled
            + self.given_twice
            + self.undelivered
            + self.seq_gaps
            + self.seq_doubled
            + self.seq_changed
            + self.unexpected
    }
}

pub(crate) async fn compare(
    server: &ChaosServer,
    client: Client,
    journal: &ChaosJournal,
    sessions: &[String],
    reader: tokio::task::JoinHandle<FeedReader>,
) -> Result<Findings> {
    let mut asked_by_agents = BTreeMap::new();
    let mut stuck = 0;
    for session in sessions {
        match tokio::time::timeout(STUCK, end_turn(server, session)).await {
            Ok(times) => {
                asked_by_agents.insert(session.clone(), times?);
            }
            Err(_) => {
                stuck += 1;
                journal
                    .write()
                    .problem(format!("{session} does not go on: an outcome never reached it, or its next ask is lost"));
            }
        }
    }
    let (asks, head) = all_asks(server).await?;
    let reading = reader.await?;
    reading.until.send_replace(head);
    let read = read_to_end(reading).await?;
    // Read the feed again in one pass, from the database.
    let again = crate::reader::read(client, Arc::new(ChaosJournal::default())).await;
    again.until.send_replace(head);
    let again = read_to_end(again).await?;
    let changed =
        read.said.iter().filter(|(seq, said)| again.said.get(seq) != Some(said)).map(|(seq, _)| *seq).collect::<Vec<_>>();

    let mut journal = journal.write();
    let mut found = Findings {
        asks: u64::try_from(asks.len()).unwrap_or(u64::MAX),
        answers: u64::try_from(journal.answered.len()).unwrap_or(u64::MAX),
        retried: journal.retried,
        conflicts: journal.conflicts,
        events: read.events,
        seq_gaps: read.gaps,
        seq_doubled: read.doubled,
        seq_changed: u64::try_from(changed.len()).unwrap_or(u64::MAX),
        undelivered: stuck,
        ..Findings::default()
    };
    if let Some(seq) = changed.first() {
        journal.problem(format!("place {seq} of the feed says something else now, and {} more", changed.len() - 1));
    }
    check_acknowledged(&asks, &mut journal, &mut found);
    check_feed(&asks, &read, &mut journal, &mut found);
    for (session, times) in asked_by_agents {
        let resolved = asks.values().filter(|ask| ask["sessionId"] == session.as_str() && ask["status"] != "pending").count();
        let resolved = u64::try_from(resolved).unwrap_or(u64::MAX);
        if times != resolved {
            journal.problem(format!("{session} got {times} outcomes, {resolved} of its asks have one"));
            found.given_twice += times.saturating_sub(resolved);
            found.undelivered += resolved.saturating_sub(times);
        }
    }
    found.unexpected = journal.unexpected;
    Ok(found)
}

/// Waits until a reader has reached the end of the feed, and returns its contents.
async fn read_to_end(reading: FeedReader) -> Result<FeedContents> {
    match tokio::time::timeout(CATCH_UP, reading.task).await {
        Ok(read) => read?,
        Err(_) => bail!("a reader does not come to the end of the feed"),
    }
}

/// Answers the remaining questions of an agent; it then reports how many answers it received.
async fn end_turn(server: &ChaosServer, session: &str) -> Result<u64> {
    let mut since = None;
    loop {
        let detail = server.call(&ChaosCall::get(format!("/v1/sessions/{session}"))).await?.body;
        if let Some(id) = detail["asks"][0]["id"].as_str() {
            let answer =
                ChaosCall::post(format!("/v1/asks/{id}/answer"), format!("last-{id}"), json!({ "answers": [["SQLite"]] }));
            server.call(&answer).await?;
        } else if detail["status"] == "idle" {
            // The last prompt may not have taken effect yet.
            if since.replace(detail["updatedAt"].clone()).as_ref() == Some(&detail["updatedAt"]) {
                break;
            }
            tokio::time::sleep(SETTLED).await;
            continue;
        } else if detail["status"] != "running" {
            bail!("{session} was harmed: {detail}");
        }
        tokio::task::yield_now().await;
    }
    let mut cursor = String::new();
    let mut received = 0;
    loop {
        let page = server.call(&ChaosCall::get(format!("/v1/sessions/{session}/transcript?limit=500{cursor}"))).await?.body;
        for block in page["data"].as_array().into_iter().flatten().filter(|block| block["role"] == "assistant") {
            let words = block["text"].as_str().unwrap_or_default();
            if let Some(times) = words.strip_prefix("Asked ").and_then(|rest| rest.split(' ').next()) {
                received += times.parse::<u64>().with_context(|| format!("{session} said: {words}"))?;
            }
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(received),
        }
    }
}

/// All asks, and the last position of the feed.
async fn all_asks(server: &ChaosServer) -> Result<(BTreeMap<String, Value>, i64)> {
    let mut asks = BTreeMap::new();
    let mut cursor = String::new();
    let mut head = None;
    loop {
        let page = server.call(&ChaosCall::get(format!("/v1/asks?limit=500{cursor}"))).await?.body;
        head = head.or(page["seq"].as_i64());
        for ask in page["data"].as_array().into_iter().flatten() {
            if let Some(id) = ask["id"].as_str() {
                asks.insert(id.to_owned(), ask.clone());
            }
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok((asks, head.context("a list without a place")?)),
        }
    }
}

/// Checks that everything acknowledged exists unchanged.
fn check_acknowledged(asks: &BTreeMap<String, Value>, journal: &mut ChaosRecords, found: &mut Findings) {
    let mut problems = Vec::new();
    for id in journal.opened.iter().chain(&journal.seen) {
        if !asks.contains_key(id) {
            found.lost += 1;
            problems.push(format!("{id} is gone"));
        }
    }
    for (id, words) in &journal.answered {
        if words.len() > 1 {
            found.doubled += 1;
            problems.push(format!("{id} was answered {} times: {words:?}", words.len()));
        }
        let current = asks.get(id).map(|ask| ask["outcome"]["answers"][0][0].clone());
        let acknowledged = words.first().map(|word| json!(word));
        if current != acknowledged {
            found.lost += 1;
            problems.push(format!("{id} was answered {words:?}, but now it is {current:?}"));
        }
    }
    for (id, winners) in &journal.winners {
        let current = asks.get(id).map(|ask| ask["outcome"]["at"].to_string());
        if winners.len() > 1 || winners.first() != current.as_ref() {
            found.doubled += 1;
            problems.push(format!("losers of {id} were told {winners:?}, but it is {current:?}"));
        }
    }
    for (id, received) in &journal.received {
        let current = asks.get(id).and_then(outcome_of);
        if current.as_ref() != Some(received) {
            found.doubled += 1;
            problems.push(format!("the caller of {id} got {received}, but it is {current:?}"));
        }
    }
    problems.into_iter().for_each(|problem| journal.problem(problem));
}

/// Checks that the feed reported each ask once, its outcome once, and its delivery at most once.
fn check_feed(asks: &BTreeMap<String, Value>, read: &FeedContents, journal: &mut ChaosRecords, found: &mut Findings) {
    for (id, ask) in asks {
        let told = read.asks.get(id).copied().unwrap_or_default();
        let resolved = u32::from(ask["status"] != "pending");
        if told.requested != 1 || told.resolved < resolved {
            found.lost += 1;
            journal
                .problem(format!("{id}: the feed announced it {} times and its outcome {} times", told.requested, told.resolved));
        }
        if told.resolved > 1 {
            found.doubled += 1;
            journal.problem(format!("{id}: the feed announced {} outcomes", told.resolved));
        }
        if told.delivered > 1 {
            found.given_twice += 1;
            journal.problem(format!("{id}: the feed announced {} deliveries", told.delivered));
        }
        // Agents wait for every outcome, callers only for those that they received.
        let waited_for = !ask["sessionId"].is_null() || journal.received.contains_key(id);
        if told.undeliverable > 0
            || (waited_for && resolved == 1 && !["delivered", "confirmed"].iter().any(|word| ask["delivery"] == *word))
        {
            found.undelivered += 1;
            journal.problem(format!("{id}: its agent waits, but the outcome is {}", ask["delivery"]));
        }
    }
    for id in read.asks.keys().filter(|id| !asks.contains_key(*id)) {
        found.lost += 1;
        journal.problem(format!("{id}: the feed announced it, but it is gone"));
    }
}
