//! The hook of Codex. Codex waits for it before it shows its own prompt, so the hook returns decisions of rules and
//! leaves all other asks to that prompt. With `--hold`, people can answer in Sayso for that long first.

use std::time::Duration;

use sayso_agents::codex_hook::CodexAsk;
use sayso_client::api::ask::{ExternalSession, NewAsk};
use sayso_client::api::error::ErrorCode;
use sayso_core::time::Span;

use super::server::{answer_it_there, decision, new_ask};
use super::slots::{Slots, call_number};
use super::wait;
use super::{Hooked, print_decision, short_hash};
use crate::inbox::tmux::Place;

/// Name of the agent in its sessions.
const AGENT: &str = "codex";

/// Upper limit for delaying the person's own prompt.
const LONGEST_HOLD: Duration = Duration::from_secs(20);

/// Handles one call of the hook.
pub(super) async fn run(hooked: &Hooked, told: &str, hold: Option<Span>) -> Option<()> {
    let asked = CodexAsk::read(told)?;
    let client = hooked.client(AGENT)?;
    let hold = hold.map(|hold| hold.0.min(LONGEST_HOLD)).filter(|hold| !hold.is_zero());
    let call = short_hash(&asked.call);
    let slot = Slots::of(&hooked.paths, &asked.session).reserve(&hooked.paths, &call, &hooked.called);
    let number = call_number(slot.as_ref());
    let mut new = NewAsk {
        external: Some(ExternalSession {
            agent: AGENT.to_owned(),
            session_id: asked.session.clone(),
            cwd: asked.cwd.clone(),
            title: None,
            branch: None,
        }),
        labels: Place::of(&hooked.environment).labels(),
        dedupe_key: Some(format!("{}:{call}:{number}", short_hash(&asked.session))),
        keep: Some("5s".to_owned()),
        policy_only: Some(true),
        ..new_ask(&asked.body)
    };
    let ask = match (client.open_ask(&new).await, hold) {
        (Ok(decided), _) => decided,
        (Err(error), Some(hold)) if error.code() == Some(ErrorCode::NotDecided) => {
            new.policy_only = None;
            wait::decided(&client, &new, slot.as_ref(), hold, &answer_it_there(&hooked.environment)).await?
        }
        (Err(_), _) => return None,
    };
    print_decision(&asked.decision_output(&decision(&ask)?)?)?;
    wait::received(&client, &ask.id).await;
    Some(())
}
