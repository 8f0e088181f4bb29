//! A button that somebody pressed in a channel: the same compare-and-set as any other decision.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{AskState, Refused};
use sayso_core::id::{AskId, TokenId};
use sayso_core::scope::Scope;
use sayso_store::WorkspaceId;
use sayso_store::read::GetAsk;
use sayso_store::write::{ResolveAsk, ResolveError};
use sha2::{Digest, Sha256};

use super::notes::{self, Note, Press};
use crate::app::App;
use crate::runtime::notify::{Entry, People};

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// It is decided.
    Done,
    /// Somebody or something was faster: how.
    Over(String),
    /// Who pressed it may not.
    Stranger,
    /// The button is none of ours, or was never offered.
    Nonsense,
    /// It could not be stored.
    Failed,
}

impl Pressed {
    /// Why nothing was decided, as a word; nothing if it was, or had been.
    const fn refused(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::Over(_) => None,
            Self::Stranger => Some("stranger"),
            Self::Nonsense => Some("not_understood"),
            Self::Failed => Some("internal"),
        }
    }

    /// What the person reads.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Done => "Done".to_owned(),
            Self::Over(words) => words.clone(),
            Self::Stranger => "You are not one of the people who may answer here".to_owned(),
            Self::Nonsense => "This button is not understood; open Sayso to answer".to_owned(),
            Self::Failed => "That did not work; open Sayso to answer".to_owned(),
        }
    }
}

impl Press {
    /// What a button of this ask carries.
    pub(crate) fn carried(self, ask: AskId) -> String {
        format!("{}|{ask}", self.written())
    }
}

/// Decides what a button carries, for whoever pressed it in this channel. What is refused is logged, without what it said.
pub(crate) async fn press(app: &Arc<App>, index: usize, people: &People, user: &str, carried: &str) -> Pressed {
    let Some(entry) = app.notifier.entry(index) else { return Pressed::Nonsense };
    let read = carried.split_once('|').and_then(|(press, ask)| Some((Press::read(press)?, ask.parse().ok()?)));
    let pressed = match (people.get(user), read) {
        (None, _) => Pressed::Stranger,
        (Some(_), None) => Pressed::Nonsense,
        (Some(person), Some((press, ask))) => decide(app, entry, person, ask, press).await,
    };
    if let Some(code) = pressed.refused() {
        tracing::warn!(channel = entry.name, code, "a button was refused");
    }
    pressed
}

async fn decide(app: &App, entry: &Entry, person: &str, id: AskId, press: Press) -> Pressed {
    let found = app.store.read(GetAsk { workspace: WorkspaceId::MAIN, ask: id, scope: Scope::All }).await;
    let Ok(found) = found else { return Pressed::Failed };
    let Some(ask) = found else { return Pressed::Nonsense };
    if !matches!(ask.state, AskState::Pending(_)) {
        return Pressed::Over(notes::over(&ask));
    }
    // Only what the note offered: who saw half of a command does not approve it.
    let offered = Note::about(&ask, &entry.name, entry.says).buttons.iter().any(|button| button.press == press);
    let Some(decision) = press.decision(&ask).filter(|_| offered) else { return Pressed::Nonsense };
    let resolve = ResolveAsk {
        workspace: WorkspaceId::MAIN,
        ask: id,
        scope: Scope::All,
        session: None,
        decision,
        by: actor(entry, person),
        now: app.clock.now(),
        key: None,
    };
    match app.store.write(resolve).await {
        Ok(Ok(_)) => Pressed::Done,
        Ok(Err(ResolveError::Refused(Refused::AlreadyResolved(outcome)))) => {
            let mut ask = ask;
            ask.state = AskState::Resolved { outcome: *outcome, delivery: sayso_core::ask::Delivery::Queued };
            Pressed::Over(notes::over(&ask))
        }
        Ok(Err(_)) => Pressed::Nonsense,
        Err(error) => {
            tracing::warn!(%error, channel = entry.name, "a button could not be stored");
            Pressed::Failed
        }
    }
}

/// A person behind a channel. There is no token; its place takes what the channel and the name make, so that the same
/// person there is the same one tomorrow.
pub(crate) fn actor(entry: &Entry, person: &str) -> Actor {
    let digest: [u8; 32] = Sha256::digest(format!("{}\n{person}", entry.name)).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Actor::Person { name: person.to_owned(), via: entry.kind.as_str().to_owned(), token: TokenId::from_bytes(bytes) }
}
