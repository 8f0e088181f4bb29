//! Limits for a translator's saved state. An agent can send anything, and the state is saved with every commit, so
//! every list and every text in it is bounded.

use sayso_core::limits;
use serde::{Deserialize, Serialize};

use crate::translator::AgentEvent;

/// Maximum length of a stored id or name in bytes. Ids of agents have 30 to 40.
pub(crate) const ID: usize = 128;
/// Maximum number of open requests of an agent. The server refuses requests earlier; this limit bounds the state
/// independently.
pub(crate) const OPEN: usize = limits::PENDING + 56;
/// Maximum number of queued messages. Further messages are refused with [`queue_is_full`].
pub(crate) const QUEUE: usize = 16;
/// Maximum length of a list of recent entries.
pub(crate) const RECENT: usize = 64;

/// Appends an item to a list of recent entries and drops the oldest if the list is full.
pub(crate) fn remember<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= RECENT {
        list.remove(0);
    }
    list.push(item);
}

/// The error for a message when [`QUEUE`] messages are already queued.
pub(crate) fn queue_is_full() -> AgentEvent {
    AgentEvent::Error(format!("{QUEUE} messages are already queued; this one was not sent."))
}

/// Names by id, for example of sub-agents. The oldest entry is dropped if the list is full; overlong ids are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Names(Vec<Named>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    id: String,
    name: String,
}

impl Names {
    /// Sets or replaces the name of an id.
    pub(crate) fn set(&mut self, id: &str, name: &str) {
        let name = limits::head(name, ID).to_owned();
        match self.0.iter_mut().find(|named| named.id == id) {
            Some(named) => named.name = name,
            None if id.len() <= ID => remember(&mut self.0, Named { id: id.to_owned(), name }),
            None => {}
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|named| named.id == id).map(|named| named.name.as_str())
    }

    /// Removes an id and returns its name.
    pub(crate) fn take(&mut self, id: &str) -> Option<String> {
        let at = self.0.iter().position(|named| named.id == id)?;
        Some(self.0.remove(at).name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_name_is_dropped_when_full() {
        let mut names = Names::default();
        (0..=RECENT).for_each(|n| names.set(&n.to_string(), "name"));
        assert_eq!((names.0.len(), names.get("0"), names.get("1")), (RECENT, None, Some("name")));
        names.set("1", &"n".repeat(ID + 1));
        names.set(&"i".repeat(ID + 1), "name");
        assert_eq!((names.0.len(), names.take("1"), names.get("1")), (RECENT, Some("n".repeat(ID)), None));
    }
}
