//! The hooks of Claude Code.

use std::time::{Duration, Instant};

use sayso_agents::claude::{Happening, Hook, HookAsk};
use sayso_client::Client;
use sayso_client::api::ask::{ExternalEvent, ExternalNews, ExternalSession, NewAsk};
use sayso_client::api::error::ErrorCode;
use sayso_core::ask::Decision;
use sayso_core::limits;

use super::server::{answer_it_there, decision, new_ask};
use super::slots::{Slots, call_number};
use super::wait;
use super::{Hooked, print_decision, short_hash, transcript};
use crate::inbox::tmux::Place;

/// Name of the agent in its sessions.
const AGENT: &str = "claude";

/// Slightly less than the timeout of the hook that `sayso connect` writes.
const LONGEST: Duration = Duration::from_secs(86_400 - 60);

/// Time limit for Claude Code to write its transcript, and interval between reads. It usually takes 0.1 to 0.2 s, and
/// longer on a busy machine.
const WRITTEN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// How long the server keeps an ask after its hook ended without withdrawing it.
const KEEP: &str = "5s";

/// Handles one call of the hook.
pub(super) async fn run(hooked: &Hooked, told: &str) -> Option<()> {
    match Hook::read(told)? {
        Hook::Asks(ask) => handle_ask(hooked, &ask).await,
        Hook::Happened { session, what } => happened(hooked, &session, what).await,
    }
}

/// Prefix of the dedupe keys of all asks about this call, whatever their number.
fn key(session: &str, call: &str) -> String {
    format!("{}:{call}:", short_hash(session))
}

async fn handle_ask(hooked: &Hooked, asked: &HookAsk) -> Option<()> {
    let client = hooked.client(AGENT)?;
    let slots = Slots::of(&hooked.paths, &asked.session);
    let call = short_hash(asked.tool.as_str());
    let slot = slots.reserve(&hooked.paths, &call, &hooked.called);
    let number = call_number(slot.as_ref());
    let mut new = build_ask(hooked, asked, format!("{}{number}", key(&asked.session, &call)));
    // If a rule decides, no context for a person is needed, and reading it would only delay the agent.
    new.policy_only = Some(true);
    let ask = match client.open_ask(&new).await {
        Ok(decided) => decided,
        Err(error) if error.code() == Some(ErrorCode::NotDecided) => {
            new.policy_only = None;
            add_words(&mut new, asked).await;
            wait::decided(&client, &new, slot.as_ref(), LONGEST, &answer_it_there(&hooked.environment)).await?
        }
        Err(_) => return None,
    };
    let decision = decision(&ask)?;
    let said = asked.decision_output(&decision)?;
    if let (Some(slot), Decision::Answered { .. } | Decision::Approved { .. }) = (&slot, &decision) {
        slots.decided(&call, slot);
    }
    print_decision(&said)?;
    wait::received(&client, &ask.id).await;
    Some(())
}

/// Adds the conversation so far. Claude Code writes its transcript shortly after it calls the hook.
async fn add_words(new: &mut NewAsk, asked: &HookAsk) {
    let Some(path) = asked.transcript.as_deref() else { return };
    let until = Instant::now() + WRITTEN;
    let mut known = transcript::read(path);
    while !known.as_ref().is_some_and(|known| known.is_whole) && Instant::now() < until {
        tokio::time::sleep(LOOK).await;
        known = transcript::read(path);
    }
    let Some(known) = known else { return };
    new.context = known.last_words;
    if let Some(session) = &mut new.external {
        session.title = known.first_prompt;
    }
}

fn build_ask(hooked: &Hooked, asked: &HookAsk, dedupe_key: String) -> NewAsk {
    NewAsk {
        external: Some(ExternalSession {
            agent: AGENT.to_owned(),
            session_id: asked.session.clone(),
            cwd: asked.cwd.clone(),
            title: None,
            branch: None,
        }),
        subagent: asked.subagent.as_deref().map(|name| limits::head(name, limits::NAME).to_owned()),
        labels: Place::of(&hooked.environment).labels(),
        dedupe_key: Some(dedupe_key),
        keep: Some(KEEP.to_owned()),
        ..new_ask(asked.body())
    }
}

async fn happened(hooked: &Hooked, session: &str, what: Happening) -> Option<()> {
    let slots = Slots::of(&hooked.paths, session);
    let (event, dedupe_key) = match what {
        Happening::ToolDone(call) => {
            // This hook runs after every tool call. Usually no ask is pending, and then the server need not be
            // called.
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
    let client: Client = hooked.client(AGENT)?;
    let news = ExternalNews { agent: AGENT.to_owned(), session_id: session.to_owned(), event, dedupe_key };
    client.report_external_event(&news).await.ok()?;
    Some(())
}
