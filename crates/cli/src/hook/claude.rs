//! Claude Code's hooks.

use std::time::Duration;

use sayso_agents::claude::{Happening, Hook, HookAsk};
use sayso_client::Client;
use sayso_client::api::ask::{Ask, AskStatus, ExternalEvent, ExternalNews, ExternalSession, NewAsk};
use sayso_core::ask::Decision;
use sayso_core::{limits, texts};

use super::server::{answer_it_there, decision, new_ask, place};
use super::slots::Slots;
use super::wait::{self, End};
use super::{Hooked, say, short_hash, transcript};

/// The name that the sessions have.
const AGENT: &str = "claude";

/// A little less than the time that `sayso connect` gives to the hook.
const LONGEST: Duration = Duration::from_secs(86_400 - 60);

/// How long the ask outlives a hook that ended without a word.
const KEEP: &str = "5s";

/// Takes what the hook was told, to its end.
pub(super) async fn run(hooked: &Hooked, told: &str) -> Option<()> {
    match Hook::read(told)? {
        Hook::Asks(ask) => asks(hooked, &ask).await,
        Hook::Happened { session, what } => happened(hooked, &session, what).await,
    }
}

/// How asks about this call are known: by session and call, whatever the number.
fn key(session: &str, call: &str) -> String {
    format!("{}:{call}:", short_hash(session))
}

async fn asks(hooked: &Hooked, asked: &HookAsk) -> Option<()> {
    let client = hooked.client()?;
    let slots = Slots::of(&hooked.paths, &asked.session);
    let call = short_hash(asked.tool.as_str());
    // Without a place of its own a hook waits all the same; only equal calls share an ask then.
    let slot = slots.take(&hooked.paths, &call, &hooked.called);
    let number = slot.as_ref().map_or(0, |slot| slot.number);
    let new = wanted(hooked, asked, format!("{}{number}", key(&asked.session, &call)));
    let ask = loop {
        let opened = client.open_ask(&new).await.ok()?;
        let ask = if opened.status == AskStatus::Pending {
            match wait::wait(&client, &opened.id, slot.as_ref(), LONGEST).await {
                End::Outcome(ask) => *ask,
                End::NotNeeded => {
                    wait::goodbye(&client, &opened.id, &answer_it_there(&hooked.environment)).await;
                    return None;
                }
                End::Refused => return None,
            }
        } else {
            opened
        };
        // The server came back and did not find this hook in time; but here it is.
        if !is_lost(&ask) {
            break ask;
        }
    };
    let decision = decision(&ask)?;
    let said = asked.said(&decision)?;
    if let (Some(slot), Decision::Answered { .. } | Decision::Approved { .. }) = (&slot, &decision) {
        slots.decided(&call, slot);
    }
    say(&said)?;
    wait::received(&client, &ask.id).await;
    Some(())
}

fn is_lost(ask: &Ask) -> bool {
    let why = ask.outcome.as_ref().and_then(|outcome| outcome.message.as_deref());
    ask.status == AskStatus::Withdrawn && why == Some(texts::WITHDRAWN_CALLER_GONE)
}

fn wanted(hooked: &Hooked, asked: &HookAsk, dedupe_key: String) -> NewAsk {
    let transcript = asked.transcript.as_deref();
    NewAsk {
        external: Some(ExternalSession {
            agent: AGENT.to_owned(),
            session_id: asked.session.clone(),
            cwd: asked.cwd.clone(),
            title: transcript.and_then(transcript::first_prompt),
            branch: None,
        }),
        subagent: asked.subagent.as_deref().map(|name| limits::head(name, limits::NAME).to_owned()),
        context: transcript.and_then(transcript::last_words),
        labels: place(&hooked.environment),
        dedupe_key: Some(dedupe_key),
        keep: Some(KEEP.to_owned()),
        ..new_ask(asked.body())
    }
}

async fn happened(hooked: &Hooked, session: &str, what: Happening) -> Option<()> {
    let slots = Slots::of(&hooked.paths, session);
    let (event, dedupe_key) = match what {
        Happening::ToolDone(call) => {
            // This runs after every tool; mostly nothing waits, and then nobody has to be told.
            let call = short_hash(call.as_str());
            if !slots.any() || !slots.done(&call) {
                return None;
            }
            (ExternalEvent::ToolDone, Some(key(session, &call)))
        }
        Happening::Prompted => (ExternalEvent::Prompted, None),
        Happening::TurnEnded => (ExternalEvent::TurnEnded, None),
        Happening::Ended => (ExternalEvent::Ended, None),
    };
    if dedupe_key.is_none() {
        slots.all_done();
    }
    let client: Client = hooked.client()?;
    let news = ExternalNews { agent: AGENT.to_owned(), session_id: session.to_owned(), event, dedupe_key };
    client.tell_external(&news).await.ok()?;
    Some(())
}
