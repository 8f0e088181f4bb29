//! The rows of the inbox. They never move under the cursor. Pure.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use sayso_client::api::ask::{Ask, Reach};
use sayso_core::time::Time;

use super::asks::Asks;
use crate::order;

/// The groups, in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Soon,
    Waiting,
    CanWait,
    Parked,
    /// Decided, but the outcome did not reach the agent.
    Undelivered,
    Snoozed,
}

impl Group {
    pub(super) fn of(ask: &Ask, now: Time) -> Self {
        if order::is_snoozed(ask, now) {
            Self::Snoozed
        } else if ask.deadline_at.is_some() {
            Self::Soon
        } else if ask.reach == Some(Reach::Parked) {
            Self::Parked
        } else if ask.blocking {
            Self::Waiting
        } else {
            Self::CanWait
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Soon => "Expiring soon",
            Self::Waiting => "Agents are waiting",
            Self::CanWait => "Can wait",
            Self::Parked => "Parked",
            Self::Undelivered => "Not delivered",
            Self::Snoozed => "Snoozed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: Rc<str>,
    pub(super) group: Group,
}

/// The rows and the cursor.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) rows: Vec<Row>,
    /// Index of the row under the cursor. Valid whenever there are rows.
    pub(super) at: usize,
    /// Number of new asks that are not shown, because they would move the row under the cursor.
    pub(super) hidden: usize,
    /// Number of rows per group.
    pub(super) groups: HashMap<&'static str, usize>,
    /// True if snoozed asks have rows.
    pub(super) unfolded: bool,
    /// Number of snoozed asks without rows.
    pub(super) folded: usize,
    /// Number of pending asks that are not snoozed, regardless of the filter.
    pub(super) waiting: usize,
}

impl List {
    pub(super) fn cursor(&self) -> Option<&Row> {
        self.rows.get(self.at)
    }

    /// Returns all rows in their sorted order: by group, then earliest deadline, then oldest.
    fn sorted_rows(asks: &Asks, filter: &str, now: Time) -> Vec<Row> {
        let pending = asks.pending().map(|ask| (Group::of(ask, now), ask));
        let undelivered = asks.undelivered().map(|ask| (Group::Undelivered, ask));
        let mut found: Vec<(Group, &Ask)> = pending.chain(undelivered).filter(|(_, ask)| matches(ask, filter)).collect();
        found.sort_by(|(group, a), (other, b)| {
            let due = |ask: &Ask| ask.deadline_at.unwrap_or(Time::from_millis(i64::MAX));
            group.cmp(other).then(due(a).cmp(&due(b))).then(a.opened_at.cmp(&b.opened_at)).then_with(|| a.id.cmp(&b.id))
        });
        found.into_iter().map(|(group, ask)| Row { id: ask.id.as_str().into(), group }).collect()
    }

    /// Applies changes of asks. Visible rows keep their place, and the row under the cursor stays even after its ask
    /// is decided. New rows are inserted only below the cursor, where they move nothing that is in use.
    pub(super) fn settle(&mut self, asks: &Asks, filter: &str, now: Time, how: Settle) {
        self.waiting = asks.pending().filter(|ask| !order::is_snoozed(ask, now)).count();
        let mut wanted = Self::sorted_rows(asks, filter, now);
        self.folded = 0;
        if !self.unfolded && filter.trim().is_empty() {
            let all = wanted.len();
            wanted.retain(|row| row.group != Group::Snoozed);
            self.folded = all - wanted.len();
        }
        let cursor = self.cursor().map(|row| Rc::clone(&row.id));
        self.rows.retain(|row| asks.get(&row.id).is_some());
        (self.rows, self.hidden) = match how {
            Settle::Anew => (wanted, 0),
            Settle::InPlace => place(&self.rows, wanted, cursor.as_deref()),
        };
        let found = cursor.and_then(|id| self.rows.iter().position(|row| row.id == id));
        self.at = found.unwrap_or(self.at).min(self.rows.len().saturating_sub(1));
        self.groups.clear();
        for row in &self.rows {
            *self.groups.entry(row.group.title()).or_default() += 1;
        }
    }

    /// Moves the cursor to an ask, if it has a row.
    pub(super) fn go_to(&mut self, id: &str) {
        if let Some(at) = self.rows.iter().position(|row| *row.id == *id) {
            self.at = at;
        }
    }

    /// Finds the next row that satisfies the predicate, downwards and then from the top.
    pub(super) fn next(&self, holds: impl Fn(&Row) -> bool) -> Option<usize> {
        let below = self.rows.iter().enumerate().skip(self.at + 1);
        below.chain(self.rows.iter().enumerate().take(self.at)).find(|(_, row)| holds(row)).map(|(at, _)| at)
    }
}

/// How rows are updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settle {
    /// Sort all rows. For updates that the person requested.
    Anew,
    /// Keep visible rows in place. For all other updates.
    InPlace,
}

fn place(before: &[Row], wanted: Vec<Row>, cursor: Option<&str>) -> (Vec<Row>, usize) {
    let groups: HashMap<&str, Group> = wanted.iter().map(|row| (&*row.id, row.group)).collect();
    // The person snoozed this ask and expects its row to disappear.
    let snoozed = before
        .iter()
        .any(|row| row.group != Group::Snoozed && groups.get(&*row.id) == Some(&Group::Snoozed) && Some(&*row.id) != cursor);
    let is_wanted = |row: &&Row| groups.contains_key(&*row.id);
    if snoozed || !before.iter().any(|row| is_wanted(&row) || Some(&*row.id) == cursor) {
        return (wanted, 0);
    }
    let kept: Vec<Row> = before.iter().filter(|row| is_wanted(row) || Some(&*row.id) == cursor).cloned().collect();
    let kept_ids: HashSet<&str> = kept.iter().map(|row| &*row.id).collect();
    let fresh = wanted.iter().filter(|row| !kept_ids.contains(&*row.id)).count();
    if fresh == 0 {
        return (kept, 0);
    }
    let cursor_at = kept.iter().position(|row| Some(&*row.id) == cursor);
    let above_count = cursor_at.map_or(0, |at| at + 1);
    let above: HashSet<&str> = kept.iter().take(above_count).map(|row| &*row.id).collect();
    let last_above = wanted.iter().rposition(|row| above.contains(&*row.id));
    let first_fresh = wanted.iter().position(|row| !kept_ids.contains(&*row.id));
    if last_above.is_some_and(|last| first_fresh.is_some_and(|first| first < last)) {
        return (kept, fresh);
    }
    let tail: Vec<Row> = wanted.iter().filter(|row| !above.contains(&*row.id)).cloned().collect();
    (kept.into_iter().take(above_count).chain(tail).collect(), 0)
}

/// Returns true if the ask contains the filter text.
fn matches(ask: &Ask, filter: &str) -> bool {
    let wanted = filter.trim().to_lowercase();
    if wanted.is_empty() {
        return true;
    }
    let holds = |text: &str| text.to_lowercase().contains(&wanted);
    let approval = ask.approval.iter().flat_map(|approval| {
        [Some(&approval.title), approval.command.as_ref(), Some(&approval.tool)].into_iter().flatten().chain(&approval.paths)
    });
    let link = ask.link.iter().flat_map(|link| [Some(&link.url), link.message.as_ref()].into_iter().flatten());
    let questions = ask.questions.iter().flat_map(|question| question.header.iter().chain([&question.text]));
    let about = [Some(&ask.agent), Some(&ask.title), ask.project.as_ref(), ask.branch.as_ref()].into_iter().flatten();
    about.chain(approval).chain(link).chain(questions).any(|text| holds(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, question_ask};
    use sayso_client::api::ask::AskStatus;

    const NOW: Time = Time::from_millis(1_000);

    fn ask(id: &str, opened: i64) -> Ask {
        Ask { id: id.into(), opened_at: Time::from_millis(opened), ..question_ask() }
    }

    fn soon(id: &str, due: i64) -> Ask {
        Ask { deadline_at: Some(Time::from_millis(due)), ..ask(id, 900) }
    }

    fn store(all: &[Ask]) -> Asks {
        let mut asks = Asks::default();
        for ask in all {
            asks.put(ask.clone());
        }
        asks
    }

    fn ids(list: &List) -> Vec<&str> {
        list.rows.iter().map(|row| &*row.id).collect()
    }

    fn listed(all: &[Ask]) -> (Asks, List) {
        let asks = store(all);
        let mut list = List { unfolded: true, ..List::default() };
        list.settle(&asks, "", NOW, Settle::InPlace);
        (asks, list)
    }

    #[test]
    fn rows_sort_by_group_then_deadline_then_age() {
        let (_, list) = listed(&[
            Ask { snoozed_until: Some(Time::from_millis(2_000)), ..soon("snoozed", 1_001) },
            Ask { reach: Some(Reach::Parked), ..ask("parked", 1) },
            Ask { blocking: false, ..ask("can-wait", 2) },
            ask("newer", 40),
            ask("older", 30),
            soon("late", 9_000),
            soon("soon", 5_000),
        ]);
        assert_eq!(ids(&list), ["soon", "late", "older", "newer", "can-wait", "parked", "snoozed"]);
        assert_eq!((list.waiting, list.groups["Expiring soon"]), (6, 2));
    }

    #[test]
    fn rows_never_move_under_the_cursor() {
        let (mut asks, mut list) = listed(&[ask("a", 1), ask("b", 2), ask("c", 3)]);
        list.go_to("b");
        // A new row is inserted below the cursor.
        asks.put(ask("d", 4));
        list.settle(&asks, "", NOW, Settle::InPlace);
        assert_eq!((ids(&list), list.at, list.hidden), (vec!["a", "b", "c", "d"], 1, 0));
        // A row above the cursor is hidden until the person asks for it.
        asks.put(soon("urgent", 2_000));
        list.settle(&asks, "", NOW, Settle::InPlace);
        assert_eq!((ids(&list), list.at, list.hidden), (vec!["a", "b", "c", "d"], 1, 1));
        list.settle(&asks, "", NOW, Settle::Anew);
        assert_eq!((ids(&list), list.at, list.hidden), (vec!["urgent", "a", "b", "c", "d"], 2, 0));
        // The row under the cursor stays after a decision; other rows disappear.
        for id in ["a", "b"] {
            asks.put(Ask { status: AskStatus::Answered, ..ask(id, 1) });
        }
        list.settle(&asks, "", NOW, Settle::InPlace);
        assert_eq!((ids(&list), list.at), (vec!["urgent", "b", "c", "d"], 1));
        list.at = 2;
        list.settle(&asks, "", NOW, Settle::InPlace);
        assert_eq!((ids(&list), list.at), (vec!["urgent", "c", "d"], 1));
    }

    #[test]
    fn first_row_gets_the_cursor() {
        let (mut asks, mut list) = listed(&[]);
        assert!(list.cursor().is_none());
        asks.put(ask("a", 1));
        list.settle(&asks, "", NOW, Settle::InPlace);
        assert_eq!(list.cursor().map(|row| &*row.id), Some("a"));
    }

    #[test]
    fn filter_matches_visible_text() {
        let asks = store(&[ask("q", 1), Ask { id: "a".into(), ..approval_ask() }]);
        let mut list = List::default();
        for (filter, found) in [("DATABASE", vec!["q"]), ("cargo test", vec!["a"]), ("shop", vec!["a", "q"]), ("nothing", vec![])]
        {
            list.settle(&asks, filter, NOW, Settle::Anew);
            let mut shown = ids(&list);
            shown.sort_unstable();
            assert_eq!((shown, list.waiting), (found, 2), "{filter}");
        }
    }
}
