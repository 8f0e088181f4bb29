//! Reports to a person that an agent sent something invalid, but not every time.

use std::cmp::Ordering;

use sayso_core::limits;
use serde::{Deserialize, Serialize};

use crate::out::Out;
use crate::translator::AgentEvent;

/// Complaints that are told. What is wrong once is wrong all the time.
const TOLD: u32 = 8;
/// Unknown methods that are remembered, so that each is told of once.
const UNKNOWN: usize = 16;

/// What was complained about so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Complaints {
    count: u32,
    unknown: Vec<String>,
}

impl Complaints {
    /// Tells of a line that makes no sense, unless there were many.
    pub(crate) fn tell(&mut self, what: &str, out: &mut Out) {
        self.count = self.count.saturating_add(1);
        match self.count.cmp(&TOLD) {
            Ordering::Less => out.event(AgentEvent::Error(what.to_owned())),
            Ordering::Equal => out.event(AgentEvent::Error(format!("{what} More of this kind will not be reported."))),
            Ordering::Greater => {}
        }
    }

    /// Whether an unknown method is to be told of: each once, and not too many.
    pub(crate) fn is_news(&mut self, method: &str) -> bool {
        let method = limits::head(method, limits::NAME);
        let news = self.unknown.len() < UNKNOWN && !self.unknown.iter().any(|known| known == method);
        if news {
            self.unknown.push(method.to_owned());
        }
        news
    }
}

/// Reports of one turn. Saved as a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TurnComplaints(u8);

impl TurnComplaints {
    /// Reports that are sent in one turn. An agent that does something wrong once does it all the time.
    const MOST: u8 = 5;

    /// Sends a report, unless there were enough in this turn.
    pub(crate) fn tell(&mut self, event: AgentEvent, out: &mut Out) {
        if self.0 < Self::MOST {
            self.0 += 1;
            out.event(event);
        }
    }
}
