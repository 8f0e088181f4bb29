//! Applies input from outside: the list, events of the feed, and text from the editor.

use std::collections::BTreeSet;

use sayso_client::api::ask::Ask;
use sayso_client::api::event::FeedEvent;

use super::asks::Taken;
use super::draft::{self, Draft};
use super::event::Effect;
use super::list::List;
use super::model::{Connection, Mode, Model};
use crate::follow;

impl Model {
    /// Adds or updates an ask, and cancels approvals that were meant for other content.
    pub(super) fn put(&mut self, ask: Ask) {
        let id = ask.id.clone();
        self.asks.put(ask);
        self.changed();
        self.check_content(&id);
    }

    /// Shows asks while the others are loaded. Which ask comes first is known only after that.
    pub(super) fn load_first(&mut self, asks: Vec<Ask>) {
        if self.loaded || self.settings.mode == Mode::Once {
            return;
        }
        for ask in asks {
            self.asks.put(ask);
        }
        self.connection = Connection::Connected;
        self.changed();
    }

    pub(super) fn load(&mut self, asks: Vec<Ask>, sessions: &[sayso_client::api::session::Session], effects: &mut Vec<Effect>) {
        let listed: BTreeSet<&str> = asks.iter().map(|ask| ask.id.as_str()).collect();
        // These were decided while the connection was lost.
        let gone = self.asks.pending().filter(|ask| !listed.contains(ask.id.as_str())).map(|ask| Effect::Fetch(ask.id.clone()));
        effects.extend(gone);
        drop(listed);
        for ask in asks {
            self.put(ask);
        }
        self.asks.put_sessions(sessions);
        self.connection = Connection::Connected;
        if !self.loaded && !self.touched {
            // The person has not pressed a key yet, so the cursor moves to the first ask.
            self.list = List::default();
        }
        self.loaded = true;
        self.changed();
    }

    pub(super) fn feed(&mut self, event: FeedEvent, effects: &mut Vec<Effect>) {
        // An event arrived, so the stream works.
        if self.loaded {
            self.connection = Connection::Connected;
        }
        let asked = follow::opened_ask_id(&event).is_some();
        match self.asks.put_event(event) {
            Taken::New if asked && self.settings.bell => effects.push(Effect::Bell),
            Taken::New | Taken::Changed => {}
            Taken::Ignored => return,
        }
        self.changed();
        let queued: Vec<String> = self.sending.iter().map(|sending| sending.id.clone()).collect();
        queued.iter().for_each(|id| self.check_content(id));
    }

    pub(super) fn edited(&mut self, id: &str, text: Result<String, String>) {
        let Some(ask) = self.asks.get(id) else { return };
        let edited = text.and_then(|text| draft::edited(ask, &text));
        let draft = self.drafts.entry(id.to_owned()).or_insert_with(|| Draft::new(ask));
        draft.problem = None;
        draft.scroll = 0;
        match edited {
            Ok(edited) => {
                draft.edited = edited;
                if draft.edited.is_none() {
                    self.show_message("The input is unchanged.");
                }
            }
            Err(problem) => draft.problem = Some(problem),
        }
        // Keys that were meant for the editor must not act on the card.
        self.shown_at = self.now;
    }
}
