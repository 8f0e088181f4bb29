//! The acknowledgements of the store: one line each, in order.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use sayso_core::ask::{Ask, Decision};
use sayso_core::id::AskId;

use super::trace::ACKS;

/// The file to which the workload appends. The recorder orders each line among the recorded writes and syncs.
#[derive(Debug, Clone)]
pub(super) struct AckFile(Arc<Mutex<File>>);

impl AckFile {
    pub(super) fn create(dir: &Path) -> Self {
        Self(Arc::new(Mutex::new(File::create(dir.join(ACKS)).unwrap())))
    }

    /// Records that the sink published all events up to this one.
    pub(super) fn published(&self, seq: i64) {
        self.add(&format!("published {seq}\n"));
    }

    pub(super) fn opened(&self, ask: &Ask) {
        self.add(&opened_line(ask));
    }

    pub(super) fn resolved(&self, ask: &Ask) {
        self.add(&resolved_line(ask));
    }

    pub(super) fn delivered(&self, ask: AskId) {
        self.add(&format!("delivered {ask}\n"));
    }

    /// Records that a secret was deleted.
    pub(super) fn forgotten(&self, secret: &str) {
        self.add(&format!("forgotten {secret}\n"));
    }

    fn add(&self, line: &str) {
        self.0.lock().unwrap().write_all(line.as_bytes()).unwrap();
    }
}

/// Returns the lines of asks that an earlier version stored.
pub(super) fn lines_of_earlier(asks: &[Ask]) -> String {
    let mut lines = String::new();
    for ask in asks {
        writeln!(lines, "earlier {}", ask.id).unwrap();
        lines.push_str(&opened_line(ask));
        if ask.outcome().is_some() {
            lines.push_str(&resolved_line(ask));
        }
    }
    lines
}

fn opened_line(ask: &Ask) -> String {
    format!("opened {} {}\n", ask.id, asked_hash(ask))
}

fn resolved_line(ask: &Ask) -> String {
    format!("resolved {} {}\n", ask.id, decision_hash(&ask.outcome().unwrap().decision))
}

/// Hashes the parts of an ask that never change.
pub(super) fn asked_hash(ask: &Ask) -> u64 {
    hash(&(ask.id, &ask.origin, &ask.body, &ask.context, &ask.policy, ask.opened_at, &ask.raw))
}

pub(super) fn decision_hash(decision: &Decision) -> u64 {
    hash(decision)
}

fn hash(value: &impl std::fmt::Debug) -> u64 {
    let mut text = String::new();
    write!(text, "{value:?}").unwrap();
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// All acknowledgements up to a point in time.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    pub(super) opened: HashMap<AskId, u64>,
    pub(super) resolved: HashMap<AskId, u64>,
    pub(super) delivered: Vec<AskId>,
    pub(super) forgotten: Vec<String>,
    pub(super) published: i64,
    /// Asks of an earlier version. Their outbox rows in the fixture are not real.
    pub(super) earlier: HashSet<AskId>,
}

impl Acknowledged {
    pub(super) fn parse(lines: &str) -> Self {
        let mut acks = Self::default();
        for line in lines.lines() {
            let words: Vec<_> = line.split(' ').collect();
            match words[..] {
                ["published", seq] => acks.published = acks.published.max(seq.parse().unwrap()),
                ["earlier", ask] => drop(acks.earlier.insert(ask.parse().unwrap())),
                ["opened", ask, hash] => drop(acks.opened.insert(ask.parse().unwrap(), hash.parse().unwrap())),
                ["resolved", ask, hash] => drop(acks.resolved.insert(ask.parse().unwrap(), hash.parse().unwrap())),
                ["delivered", ask] => acks.delivered.push(ask.parse().unwrap()),
                ["forgotten", secret] => acks.forgotten.push(secret.to_owned()),
                _ => panic!("{line}"),
            }
        }
        acks
    }
}
