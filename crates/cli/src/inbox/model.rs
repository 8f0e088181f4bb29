//! The state of the inbox: events in, effects out. Pure; what it is drawn as is in `view`.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crossterm::event::KeyCode;
use sayso_client::api::ask::{Ask, AskFiles, AskStatus, FileDiff};
use sayso_core::time::Time;

use super::asks::Asks;
use super::draft::Draft;
use super::event::{Away, Effect, Event};
use super::field::Field;
use super::list::{Group, List, Settle};
use super::rule::RuleForm;
use super::sending::{Phase, Sending};
use super::start::StartForm;
use super::tmux::Place;

/// How long a card that has just appeared takes no keys: the hand may be meant for the one before.
pub(super) const GRACE: Duration = Duration::from_millis(400);

/// What the person has set.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// How long a decision is held before it is sent.
    pub(crate) hold: Duration,
    /// Whether to ring when something new waits.
    pub(crate) bell: bool,
    /// Whether the title of the terminal says how much waits.
    pub(crate) title: bool,
    /// Everything, or only the first.
    pub(crate) mode: Mode,
    /// Where new sessions work, unless the person says otherwise.
    pub(crate) directory: String,
    /// Where this runs.
    pub(crate) place: Place,
    /// The time zone that times are shown in.
    pub(crate) zone: jiff::tz::TimeZone,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything that waits.
    All,
    /// The first ask; ends when it is decided.
    Once,
}

/// Whether the server is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connection {
    /// The list is on its way.
    Loading,
    Connected,
    /// Tried again at this time.
    Lost {
        again: Time,
    },
}

/// Where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    /// The card and the list.
    Card,
    /// The answer to the question under the hand.
    Answer,
    /// A note beside the answer.
    Note,
    /// The words that go with a no.
    Reason,
    /// The words that are looked for.
    Filter,
    /// The list of keys, scrolled this far.
    Help(usize),
    /// What was said and done in the session, this many lines from its end.
    Session(usize),
    /// The rule that is being made.
    Rule,
    /// The session that is about to be started.
    Start,
}

/// A key that decided something, or came too early to. Until it is released it decides no other card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeldKey {
    pub(super) code: KeyCode,
    /// When it came last.
    pub(super) seen: Time,
    /// The same key within this time is a repeat of it. Terminals that report releases need no such guess.
    pub(super) gap: Duration,
}

/// What the last drawing found out: how many lines of the card there are, and how many were seen at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Lines of the card.
    pub(crate) lines: usize,
    /// Lines that fit.
    pub(crate) rows: usize,
    /// The first line that was seen.
    pub(crate) at: usize,
}

/// The files that the command of a card executes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CardFiles {
    /// As they were when they were read last. `None` until then.
    pub(super) read: Option<AskFiles>,
    /// What changed since the person approved them.
    pub(super) changes: Vec<FileDiff>,
}

/// Tells one content of [`CardFiles`] from another: whether they were read, with which digest, and how much changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilesRevision(bool, Option<String>, usize);

impl CardFiles {
    pub(super) fn revision(&self) -> FilesRevision {
        let digest = self.read.as_ref().and_then(|read| read.digest.clone());
        FilesRevision(self.read.is_some(), digest, self.changes.iter().map(|change| change.diff.len()).sum())
    }
}

/// The inbox.
pub(crate) struct Model {
    pub(super) settings: Settings,
    pub(super) now: Time,
    pub(super) asks: Asks,
    pub(super) list: List,
    pub(super) filter: Field,
    pub(super) drafts: HashMap<String, Draft>,
    /// Of the cards that were shown.
    pub(super) files: HashMap<String, CardFiles>,
    /// Oldest first.
    pub(super) sending: Vec<Sending>,
    pub(super) selected: BTreeSet<String>,
    pub(super) connection: Connection,
    pub(super) focus: Focus,
    /// What was said and done in the session that is looked at.
    pub(super) session: String,
    pub(super) away: Away,
    pub(super) rule: Option<RuleForm>,
    pub(super) start: Option<StartForm>,
    /// Something to say, and since when.
    pub(super) notice: Option<(Time, String)>,
    /// When the card under the cursor appeared.
    pub(super) shown_at: Time,
    /// The card under the cursor.
    shown: Option<String>,
    /// Its content.
    shown_content: Option<u64>,
    /// Counts what keys decided.
    pub(super) actions: u64,
    /// The key that may still be held down.
    pub(super) held_key: Option<HeldKey>,
    /// Whether the terminal tells repeats and releases of keys from presses.
    pub(super) reports_kinds: bool,
    /// The ask that `Mode::Once` is about.
    only: Option<String>,
    pub(super) measured: Measured,
    /// Something changed that the rows do not show yet.
    pub(super) unsettled: Option<Settle>,
    /// When the rows were last put in order: snoozes and deadlines come by themselves.
    settled_at: Time,
    pub(super) loaded: bool,
    /// Whether the person has pressed a key.
    pub(super) touched: bool,
}

impl Model {
    /// An inbox that knows nothing yet.
    pub(crate) fn new(settings: Settings, now: Time) -> Self {
        Self {
            settings,
            now,
            asks: Asks::default(),
            list: List::default(),
            filter: Field::default(),
            drafts: HashMap::new(),
            files: HashMap::new(),
            sending: Vec::new(),
            selected: BTreeSet::new(),
            connection: Connection::Loading,
            focus: Focus::Card,
            session: String::new(),
            away: Away::Unknown,
            rule: None,
            start: None,
            notice: None,
            shown_at: now,
            shown: None,
            shown_content: None,
            actions: 0,
            held_key: None,
            reports_kinds: false,
            only: None,
            measured: Measured::default(),
            unsettled: None,
            settled_at: now,
            loaded: false,
            touched: false,
        }
    }

    /// Takes an event.
    pub(crate) fn update(&mut self, now: Time, event: Event) -> Vec<Effect> {
        self.now = now;
        self.expire();
        let mut effects = Vec::new();
        match event {
            Event::Key(key) => {
                self.touched = true;
                effects = self.settle();
                effects.extend(self.key(key));
            }
            Event::Paste(text) => {
                if let Some(field) = self.field() {
                    field.insert(&text);
                }
                self.typed();
            }
            Event::Tick => self.time_went_on(&mut effects),
            Event::First(asks) => self.load_first(asks),
            Event::Loaded { asks, sessions } => self.load(asks, &sessions, &mut effects),
            Event::Fetched(ask) => {
                let id = ask.id.clone();
                self.put(*ask);
                self.send_checked(&id, &mut effects);
            }
            Event::Files { id, files } => {
                if let Some(known) = self.files.get_mut(&id) {
                    known.read = files.map(|files| *files);
                    // Other content is a card that has just appeared.
                    self.shown_at = self.now;
                }
            }
            Event::NotFetched { id, offline: false } => self.send_checked(&id, &mut effects),
            Event::NotFetched { id, offline: true } => self.wait_again(&id),
            Event::Snoozed(ask) => {
                let under_cursor = self.list.cursor().is_some_and(|row| *row.id == *ask.id);
                self.put(*ask);
                // The row goes, also from under the cursor: the person sent it away.
                if under_cursor {
                    self.show_new();
                }
            }
            Event::Feed(event) => self.feed(*event, &mut effects),
            Event::Lost { after } => {
                self.connection = Connection::Lost { again: now.plus(after) };
                self.queue();
            }
            Event::Back => {
                self.connection = Connection::Connected;
                effects.extend(self.read_whole());
            }
            Event::Sent(ask) => {
                self.sending.retain(|sending| sending.id != ask.id);
                self.drafts.remove(&ask.id);
                let done = self.settings.mode == Mode::Once && self.only.as_deref() == Some(&ask.id);
                self.put(*ask);
                if done {
                    effects.push(Effect::Quit);
                }
            }
            Event::NotSent { id, why } => effects.extend(self.not_sent(&id, why)),
            Event::Edited { id, text } => self.edited(&id, text),
            Event::Session(text) => {
                self.session = text;
                // Whoever has begun to type something meanwhile goes on typing.
                if self.focus == Focus::Card {
                    self.notice = None;
                    self.focus = Focus::Session(0);
                }
            }
            Event::Told(text) => self.say(text),
            Event::Away(away) => self.away = away,
            Event::Tried(rule, trial) => self.rule_tried(rule, trial),
            Event::RuleSaved(saved) => effects = self.rule_saved(saved),
            Event::Agents(agents) => self.agents_known(agents),
            Event::Started(started) => self.started(started),
        }
        effects
    }

    /// Brings the rows up to date. Before a key is taken and before anything is drawn, so that many
    /// events in a row cost one sorting.
    pub(crate) fn settle(&mut self) -> Vec<Effect> {
        if let Some(how) = self.unsettled.take() {
            let filter = self.filter.text().to_owned();
            self.list.settle(&self.asks, &filter, self.now, how);
            self.settled_at = self.now;
            let (list, only, shown) = (&self.list, &self.only, &self.shown);
            self.asks.trim(|id| {
                list.rows.iter().any(|row| *row.id == *id) || only.as_deref() == Some(id) || shown.as_deref() == Some(id)
            });
            let asks = &self.asks;
            let pending = |id: &str| asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending);
            self.sending.retain(|sending| !matches!(sending.phase, Phase::Again(_)) || pending(&sending.id));
            self.selected.retain(|id| pending(id));
        }
        if self.settings.mode == Mode::Once && self.only.is_none() && self.loaded {
            self.only = self.list.rows.iter().find(|row| row.group != Group::Snoozed).map(|row| row.id.to_string());
        }
        let under_hand = match &self.only {
            Some(only) => Some(only.clone()),
            None => self.list.cursor().map(|row| row.id.to_string()),
        };
        let is_pending = |id: &str| self.asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending);
        let content = under_hand.as_deref().and_then(|id| self.asks.known(id)).map(|known| known.content);
        if std::mem::replace(&mut self.shown_content, content) != content {
            // Other content is a card that has just appeared.
            self.shown_at = self.now;
        }
        if under_hand == self.shown {
            let typing = matches!(self.focus, Focus::Answer | Focus::Note | Focus::Reason);
            if typing && !under_hand.as_deref().is_some_and(is_pending) {
                self.focus = Focus::Card;
                self.shown_at = self.now;
            }
            return self.read_files().into_iter().collect();
        }
        // What was typed for an ask that is over is kept only as long as it is looked at.
        self.drafts.retain(|id, _| is_pending(id));
        self.files.retain(|id, _| is_pending(id));
        self.shown = under_hand;
        self.shown_at = self.now;
        if matches!(self.focus, Focus::Answer | Focus::Note | Focus::Reason) {
            self.focus = Focus::Card;
        }
        self.read_whole().into_iter().chain(self.read_files()).collect()
    }

    /// Reads the files that the command under the cursor executes, once.
    fn read_files(&mut self) -> Option<Effect> {
        let readable = |ask: &&Ask| ask.executes.as_ref().is_some_and(|executes| executes.readable);
        let ask = self.ask().filter(|ask| ask.status == AskStatus::Pending).filter(readable)?;
        let id = ask.id.clone();
        if self.files.contains_key(&id) {
            return None;
        }
        self.files.insert(id.clone(), CardFiles::default());
        Some(Effect::ReadFiles(id))
    }

    /// The stream may leave out what is large; the card must not.
    fn read_whole(&self) -> Option<Effect> {
        self.ask().filter(|ask| ask.truncated).map(|ask| Effect::Fetch(ask.id.clone()))
    }

    /// When something has to happen by itself.
    pub(crate) fn wake(&self) -> Time {
        let second = Time::from_millis((self.now.as_millis() / 1_000 + 1) * 1_000);
        let held = self.sending.iter().filter_map(|sending| match sending.phase {
            // Without a connection nothing goes, whatever the time.
            Phase::Held(until) => Some(until).filter(|_| !self.is_lost()),
            Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => None,
        });
        let ready = self.shown_at.plus(GRACE);
        let tried = self.rule.as_ref().and_then(RuleForm::due);
        held.chain(tried).chain((ready > self.now).then_some(ready)).min().map_or(second, |soonest| soonest.min(second))
    }

    /// The ask under the cursor.
    pub(super) fn ask(&self) -> Option<&Ask> {
        self.asks.get(self.shown.as_deref()?)
    }

    /// What is not sent yet of the ask under the cursor.
    pub(super) fn draft(&self) -> Option<&Draft> {
        self.drafts.get(self.shown.as_deref()?)
    }

    /// The same, to change it.
    pub(super) fn draft_mut(&mut self) -> Option<(&Ask, &mut Draft)> {
        let ask = self.asks.get(self.shown.as_deref()?)?;
        let draft = self.drafts.entry(ask.id.clone()).or_insert_with(|| Draft::new(ask));
        Some((ask, draft))
    }

    /// Whether the card under the cursor can be decided: pending, nothing on its way, whole.
    pub(super) fn is_open(&self) -> bool {
        self.ask().is_some_and(|ask| ask.status == AskStatus::Pending && !self.is_busy(&ask.id))
    }

    /// Whether no server is there.
    pub(super) const fn is_lost(&self) -> bool {
        matches!(self.connection, Connection::Lost { .. })
    }

    /// Whether the card has been there long enough to take keys.
    pub(super) fn is_ready(&self) -> bool {
        self.now >= self.shown_at.plus(GRACE)
    }

    /// Whether there was ever anything.
    pub(super) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// How much waits, for the title of the terminal.
    pub(crate) fn waiting(&self) -> usize {
        self.list.waiting
    }

    /// Says something for a while.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.notice = Some((self.now, text.into()));
    }

    /// The rows have to be looked at again.
    pub(super) fn changed(&mut self) {
        self.unsettled.get_or_insert(Settle::InPlace);
    }

    /// The person wants to see the rows in their order.
    pub(super) fn show_new(&mut self) {
        self.unsettled = Some(Settle::Anew);
    }

    fn time_went_on(&mut self, effects: &mut Vec<Effect>) {
        if self.now.since(self.settled_at) >= Duration::from_secs(15) {
            self.changed();
        }
        self.try_rule(effects);
        self.go_due(effects);
    }
}
