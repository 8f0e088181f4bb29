//! The order of the inbox, and the shortest unique suffixes of ids.

use sayso_client::api::ask::{Ask, Reach};
use sayso_core::time::Time;

/// Minimum number of characters shown of an id.
const SHORTEST: usize = 4;

/// Sorts by deadline, then blocking asks before asks that do not block, parked asks last; within each group the oldest
/// first.
pub(crate) fn inbox(asks: &mut [Ask]) {
    asks.sort_by_key(|ask| {
        let deadline = ask.deadline_at.unwrap_or(Time::from_millis(i64::MAX));
        let parked = ask.reach == Some(Reach::Parked);
        (deadline, parked, !ask.blocking, ask.opened_at, ask.id.clone())
    });
}

/// Returns true while the ask is hidden from the inbox.
pub(crate) fn is_snoozed(ask: &Ask, now: Time) -> bool {
    ask.snoozed_until.is_some_and(|until| until > now)
}

/// Returns the last characters of an id.
pub(crate) fn ending(id: &str, length: usize) -> &str {
    let start = id.char_indices().rev().nth(length.saturating_sub(1)).map_or(0, |(index, _)| index);
    &id[start..]
}

/// Returns how long suffixes must be to distinguish these ids; at least four characters.
pub(crate) fn ending_length<'a>(ids: impl Iterator<Item = &'a str>) -> usize {
    let ids: Vec<&str> = ids.collect();
    let longest = ids.iter().map(|id| id.chars().count()).max().unwrap_or(SHORTEST);
    (SHORTEST..=longest)
        .find(|&length| {
            let mut endings: Vec<&str> = ids.iter().map(|id| ending(id, length)).collect();
            endings.sort_unstable();
            endings.windows(2).all(|pair| pair[0] != pair[1])
        })
        .unwrap_or(longest.max(SHORTEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::question_ask;

    fn ask(id: &str, opened: i64) -> Ask {
        Ask { id: id.into(), opened_at: Time::from_millis(opened), ..question_ask() }
    }

    #[test]
    fn inbox_sorts_by_deadline_then_blocking_then_age() {
        let mut asks = [
            Ask { reach: Some(Reach::Parked), ..ask("parked", 1) },
            Ask { blocking: false, ..ask("can-wait", 2) },
            ask("newer", 40),
            ask("older", 30),
            Ask { deadline_at: Some(Time::from_millis(900)), ..ask("late", 5) },
            Ask { deadline_at: Some(Time::from_millis(500)), blocking: false, ..ask("soon", 60) },
        ];
        inbox(&mut asks);
        let ids: Vec<&str> = asks.iter().map(|ask| ask.id.as_str()).collect();
        assert_eq!(ids, ["soon", "late", "older", "newer", "can-wait", "parked"]);
    }

    #[test]
    fn suffixes_are_as_short_as_uniqueness_allows() {
        assert_eq!(ending_length(["ask_0004f2a", "ask_0004f2b"].into_iter()), 4);
        assert_eq!(ending_length(["ask_1114f2a", "ask_2224f2a"].into_iter()), 5);
        assert_eq!(ending_length(["ask_9"].into_iter()), 4);
        assert_eq!((ending("ask_0004f2a", 4), ending("x", 4)), ("4f2a", "x"));
    }

    #[test]
    fn ask_is_snoozed_until_its_time() {
        let snoozed = Ask { snoozed_until: Some(Time::from_millis(100)), ..ask("a", 1) };
        assert!(is_snoozed(&snoozed, Time::from_millis(99)) && !is_snoozed(&snoozed, Time::from_millis(100)));
    }
}
