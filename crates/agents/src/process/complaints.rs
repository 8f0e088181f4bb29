//! Rate-limited reports about invalid output of an agent.

use std::cmp::Ordering;

use sayso_core::limits;
use serde::{Deserialize, Serialize};

use crate::out::Out;
use crate::translator::AgentEvent;

/// Maximum number of reports. Invalid output usually repeats.
const MAX_REPORTS: u32 = 8;
/// How many unknown methods are stored, so that each is reported once.
const UNKNOWN: usize = 16;

/// Reports of one agent process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Complaints {
    count: u32,
    unknown: Vec<String>,
}

impl Complaints {
    /// Reports an invalid line unless too many were reported.
    pub(crate) fn report(&mut self, what: &str, out: &mut Out) {
        self.count = self.count.saturating_add(1);
        match self.count.cmp(&MAX_REPORTS) {
            Ordering::Less => out.event(AgentEvent::Error(what.to_owned())),
            Ordering::Equal => out.event(AgentEvent::Error(format!("{what} More of this kind will not be reported."))),
            Ordering::Greater => {}
        }
    }

    /// Whether an unknown method should be reported: each method once, up to a limit.
    pub(crate) fn should_report_method(&mut self, method: &str) -> bool {
        let method = limits::head(method, limits::NAME);
        let news = self.unknown.len() < UNKNOWN && !self.unknown.iter().any(|known| known == method);
        if news {
            self.unknown.push(method.to_owned());
        }
        news
    }
}

/// Reports of one turn. Serialized as a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TurnComplaints(u8);

impl TurnComplaints {
    /// Maximum number of reports per turn. Invalid output usually repeats.
    const MAX_REPORTS: u8 = 5;

    /// Sends a report unless the turn had too many.
    pub(crate) fn report(&mut self, event: AgentEvent, out: &mut Out) {
        if self.0 < Self::MAX_REPORTS {
            self.0 += 1;
            out.event(event);
        }
    }
}
