//! Clients that open asks, and clients that answer them.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::http::{ChaosCall, ChaosReply, ChaosServer};
use crate::journal::ChaosJournal;
use crate::random::Random;

/// The prompt of an agent: it asks five questions, and then reports how many answers it received.
const PROMPT: &str = "question 5 times";

/// Starts a session whose agent asks one question after another.
pub(crate) async fn start_session(server: &ChaosServer, agent: &str, number: u32) -> Result<String> {
    let body = json!({ "agent": agent, "prompt": PROMPT });
    let reply = server.call(&ChaosCall::post("/v1/sessions", format!("session-{number}"), body)).await?;
    if reply.status != 201 {
        bail!("no session: {} {}", reply.status, reply.body);
    }
    reply.body["id"].as_str().map(str::to_owned).context("a session without an id")
}

/// Prompts an agent again whenever its turn has ended.
pub(crate) async fn keep_prompting(server: ChaosServer, session: String, stopping: watch::Receiver<bool>) -> Result<()> {
    let mut round = 0;
    // The session is still idle before the prompt takes effect. A second prompt would answer the first question.
    let mut told = Value::Null;
    while !*stopping.borrow() {
        let detail = server.call(&ChaosCall::get(format!("/v1/sessions/{session}"))).await?.body;
        if detail["status"] == "idle" && detail["updatedAt"] != told {
            told = detail["updatedAt"].clone();
            let more = ChaosCall::post(
                format!("/v1/sessions/{session}/messages"),
                format!("prompt-{session}-{round}"),
                json!({ "text": PROMPT }),
            );
            let reply = server.call(&more).await?;
            if reply.status != 202 {
                bail!("{session} takes no prompt: {} {}", reply.status, reply.body);
            }
            round += 1;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Opens one ask after another and waits for each outcome.
pub(crate) async fn call(
    server: ChaosServer,
    journal: Arc<ChaosJournal>,
    number: u32,
    stopping: watch::Receiver<bool>,
) -> Result<()> {
    let mut round = 0;
    while !*stopping.borrow() {
        round += 1;
        let question = json!({ "text": format!("May I, {number}, go on with step {round}?"), "options": [{ "label": "yes" }, { "label": "no" }] });
        let reply = server
            .call(&ChaosCall::post("/v1/asks", format!("open-{number}-{round}"), json!({ "questions": [question] })))
            .await?;
        let Some(id) = opened(&journal, &reply) else { continue };
        let wait = ChaosCall::get(format!("/v1/asks/{id}?wait=1s"));
        loop {
            let reply = server.call(&wait).await?;
            if reply.status == 200 && outcome_of(&reply.body).is_none() {
                if *stopping.borrow() {
                    break;
                }
                continue;
            }
            // Receive the outcome. However often this call is sent, it is one delivery.
            let taken = server
                .call(&ChaosCall::post(format!("/v1/asks/{id}/receipt"), format!("take-{number}-{round}"), json!({})))
                .await?;
            let mut journal = journal.write();
            journal.sent(reply.sent.max(taken.sent));
            match (outcome_of(&reply.body), outcome_of(&taken.body)) {
                (Some(seen), Some(got)) if seen == got => {
                    journal.received.insert(id.clone(), got);
                }
                _ => {
                    journal.record_failure(&id, &reply);
                    journal.record_failure(&id, &taken);
                }
            }
            break;
        }
    }
    Ok(())
}

fn opened(journal: &ChaosJournal, reply: &ChaosReply) -> Option<String> {
    let mut journal = journal.write();
    journal.sent(reply.sent);
    match (reply.status, reply.body["id"].as_str()) {
        (201, Some(id)) => {
            journal.opened.insert(id.to_owned());
            Some(id.to_owned())
        }
        _ => {
            journal.unexpected(format!("opening: {} {}", reply.status, reply.body));
            None
        }
    }
}

/// The outcome of an ask as comparable text.
pub(crate) fn outcome_of(ask: &Value) -> Option<String> {
    ask.get("outcome").filter(|outcome| !outcome.is_null()).map(Value::to_string)
}

/// Answers pending asks, each time with a unique text that identifies the winner.
pub(crate) async fn answer(
    server: ChaosServer,
    journal: Arc<ChaosJournal>,
    number: u32,
    mut random: Random,
    stopping: watch::Receiver<bool>,
) -> Result<()> {
    let mut round = 0;
    while !*stopping.borrow() {
        let list = server.call(&ChaosCall::get("/v1/asks?status=pending&limit=20")).await?;
        let pending: Vec<String> = list.body["data"]
            .as_array()
            .map(|asks| asks.iter().filter_map(|ask| ask["id"].as_str().map(str::to_owned)).collect())
            .unwrap_or_default();
        journal.write().seen.extend(pending.iter().cloned());
        let Some(ask) = random.of(&pending) else {
            // No asks are pending: let the other tasks run.
            tokio::task::yield_now().await;
            continue;
        };
        round += 1;
        let words = format!("answer {round} of {number}");
        let call = ChaosCall::post(
            format!("/v1/asks/{ask}/answer"),
            format!("answer-{number}-{round}"),
            json!({ "answers": [[words]] }),
        );
        // Some people click twice.
        if random.once_in(5) {
            let (one, two) = tokio::join!(server.call(&call), server.call(&call));
            let (one, two) = (one?, two?);
            if (one.status == 200) != (two.status == 200) {
                journal.write().unexpected(format!("the same call twice: {} and {} for {ask}", one.status, two.status));
            }
            note(&journal, ask, &words, &one);
            note(&journal, ask, &words, &two);
        } else {
            let reply = server.call(&call).await?;
            note(&journal, ask, &words, &reply);
        }
    }
    Ok(())
}

fn note(journal: &ChaosJournal, ask: &str, words: &str, reply: &ChaosReply) {
    let mut journal = journal.write();
    journal.sent(reply.sent);
    let answers = &reply.body["outcome"]["answers"];
    match reply.status {
        200 if *answers == json!([[words]]) => {
            journal.answered.entry(ask.to_owned()).or_default().insert(words.to_owned());
        }
        409 if reply.body["code"] == "ask_already_resolved" => {
            journal.conflicts += 1;
            let winner = &reply.body["outcome"];
            if winner["by"]["kind"] == "person" && winner["at"].is_string() {
                journal.winners.entry(ask.to_owned()).or_default().insert(winner["at"].to_string());
            } else {
                journal.unexpected(format!("a conflict about {ask} that names no winner: {}", reply.body));
            }
        }
        _ => journal.record_failure(ask, reply),
    }
}

impl crate::journal::ChaosRecords {
    /// Records a reply about an existing ask that is neither a success nor a conflict.
    fn record_failure(&mut self, ask: &str, reply: &ChaosReply) {
        self.unexpected(format!("{ask}: {} {}", reply.status, reply.body));
    }
}
