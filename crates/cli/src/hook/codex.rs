//! Codex's hook. It runs before the person is asked and holds that up, so it takes what a rule decides and
//! leaves everything else to the person's own prompt; with `--hold`, somebody has that long to be faster.

use std::time::Duration;

use sayso_agents::codex_hook::CodexAsk;
use sayso_client::api::ask::{ExternalSession, NewAsk};
use sayso_client::api::error::ErrorCode;
use sayso_core::time::Span;

use super::server::{answer_it_there, decision, new_ask};
use super::slots::{Slots, call_number};
use super::wait;
use super::{Hooked, say, short_hash};
use crate::inbox::tmux::Place;

/// The name that the sessions have.
const AGENT: &str = "codex";

/// The longest that a person's own prompt may be held up.
const LONGEST_HOLD: Duration = Duration::from_secs(20);

/// Takes what the hook was told, to its end.
pub(super) async fn run(hooked: &Hooked, told: &str, hold: Option<Span>) -> Option<()> {
    let asked = CodexAsk::read(told)?;
    let client = hooked.client(AGENT)?;
    let hold = hold.map(|hold| hold.0.min(LONGEST_HOLD)).filter(|hold| !hold.is_zero());
    let call = short_hash(&asked.call);
    let slot = Slots::of(&hooked.paths, &asked.session).take(&hooked.paths, &call, &hooked.called);
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
    say(&asked.said(&decision(&ask)?)?)?;
    wait::received(&client, &ask.id).await;
    Some(())
}
