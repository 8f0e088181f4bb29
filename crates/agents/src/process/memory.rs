//! Limits for what a translator remembers. An agent can send anything, and the state is saved with every commit, so every
//! list and every text in it is bounded.

use sayso_core::limits;
use serde::{Deserialize, Serialize};

use crate::translator::AgentEvent;

/// Bytes of an id or a name that is remembered. Ids of agents have 30 to 40.
pub(crate) const ID: usize = 128;
/// Requests of the agent that may be open at once. The server refuses earlier; this bounds the state by itself.
pub(crate) const OPEN: usize = limits::PENDING + 56;
/// Messages of the person that may wait until the agent accepts them. One more is refused with [`queue_is_full`].
pub(crate) const QUEUE: usize = 16;
/// Entries of a list of recent things.
pub(crate) const RECENT: usize = 64;

/// Adds an item to a list of recent things; the oldest makes room.
pub(crate) fn remember<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= RECENT {
        list.remove(0);
    }
    list.push(item);
}

/// What the person is told when [`QUEUE`] messages wait.
pub(crate) fn queue_is_full() -> AgentEvent {
    AgentEvent::Error(format!("{QUEUE} messages wait already; this one was not taken."))
}

/// Names by id, for example of sub-agents. The oldest makes room, and ids that are too long are not remembered.
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
    /// Gives an id a name, or another name.
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
    fn the_oldest_name_makes_room() {
        let mut names = Names::default();
        (0..=RECENT).for_each(|n| names.set(&n.to_string(), "name"));
        assert_eq!((names.0.len(), names.get("0"), names.get("1")), (RECENT, None, Some("name")));
        names.set("1", &"n".repeat(ID + 1));
        names.set(&"i".repeat(ID + 1), "name");
        assert_eq!((names.0.len(), names.take("1"), names.get("1")), (RECENT, Some("n".repeat(ID)), None));
    }
}
