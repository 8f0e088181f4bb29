//! What an agent says that makes no sense: a person is told of some of it, never of all.

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
