//! The implementations of queries. They run on a [`Snapshot`](crate::snapshot::Snapshot), the same way on every backend.

pub(crate) mod asks;
mod events;
mod groups;
mod page;
mod rule_hits;
pub(crate) mod runs;
pub(crate) mod sessions;
mod tokens_and_notifications;

/// Returns the hexadecimal end of an id, without the prefix of its kind.
fn id_suffix(suffix: Option<&str>, prefix: &str) -> Option<String> {
    suffix.map(|suffix| suffix.trim_start_matches(prefix).to_ascii_lowercase())
}
