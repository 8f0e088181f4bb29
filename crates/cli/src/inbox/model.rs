//! The state of the inbox: events in, effects out. Pure; `view` draws it.

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

/// How long a new card ignores deciding keys, because they may be meant for the previous card.
pub(super) const GRACE: Duration = Duration::from_millis(400);

/// Settings of the inbox.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// How long a decision is held before it is sent.
    pub(crate) hold: Duration,
    /// Ring the bell for new asks.
    pub(crate) bell: bool,
    /// Show the number of pending asks in the terminal title.
    pub(crate) title: bool,
    pub(crate) mode: Mode,
    /// Default directory for new sessions.
    pub(crate) directory: String,
    /// The tmux location of this terminal.
    pub(crate) place: Place,
    /// Time zone for displayed times.
    pub(crate) zone: jiff::tz::TimeZone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Show all pending asks.
    All,
    /// Show the first ask, and quit after its decision.
    Once,
}

/// State of the connection to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connection {
    /// The list is being loaded.
    Loading,
    Connected,
    /// The next attempt starts at this time.
    Lost {
        again: Time,
    },
}

/// The part of the screen that receives keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    /// The card and the list.
    Card,
    /// The text field of the active question.
    Answer,
    /// The text field for a note to the answer.
    Note,
    /// The text field for the reason of a refusal.
    Reason,
    /// The filter field.
    Filter,
    /// The list of keys, with its scroll position.
    Help(usize),
    /// The transcript of the session, scrolled up by this many lines from its end.
    Session(usize),
    /// The form for a rule.
    Rule,
    /// The form for a new session.
    Start,
}

/// A key that decided something, or was pressed too early. Until it is released, it cannot decide another card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeldKey {
    pub(super) code: KeyCode,
    /// Time of the latest press or repeat.
    pub(super) seen: Time,
    /// The same key within this time counts as a repeat. Not used for terminals that report releases.
    pub(super) gap: Duration,
}

/// Measurements of the last drawing, in lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Lines of the card.
    pub(crate) lines: usize,
    /// Lines that fit on the screen.
    pub(crate) rows: usize,
    /// Index of the first visible line.
    pub(crate) at: usize,
}

/// The files that the command of a card executes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CardFiles {
    /// The most recent contents; `None` until they are loaded.
    pub(super) read: Option<AskFiles>,
    /// Changes since the person approved them.
    pub(super) changes: Vec<FileDiff>,
}

/// Identifies a version of [`CardFiles`] for caching: whether contents are loaded, their digest, and the size of the
/// changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilesRevision(bool, Option<String>, usize);

impl CardFiles {
    pub(super) fn revision(&self) -> FilesRevision {
        let digest = self.read.as_ref().and_then(|read| read.digest.clone());
        FilesRevision(self.read.is_some(), digest, self.changes.iter().map(|change| change.diff.len()).sum())
    }
}

/// The state of the inbox.
pub(crate) struct Model {
    pub(super) settings: Settings,
    pub(super) now: Time,
    pub(super) asks: Asks,
    pub(super) list: List,
    pub(super) filter: Field,
    pub(super) drafts: HashMap<String, Draft>,
    /// Files of the cards that were shown.
    pub(super) files: HashMap<String, CardFiles>,
    /// Decisions that are not confirmed yet, oldest first.
    pub(super) sending: Vec<Sending>,
    pub(super) selected: BTreeSet<String>,
    pub(super) connection: Connection,
    pub(super) focus: Focus,
    /// Transcript of the session that is shown.
    pub(super) session: String,
    pub(super) away: Away,
    pub(super) rule: Option<RuleForm>,
    pub(super) start: Option<StartForm>,
    /// Message on the last line, and when it appeared.
    pub(super) notice: Option<(Time, String)>,
    /// Time when the card under the cursor appeared.
    pub(super) shown_at: Time,
    /// Id of the card under the cursor.
    shown: Option<String>,
    /// Content hash of the card under the cursor.
    shown_content: Option<u64>,
    /// Number of key presses that decided something.
    pub(super) actions: u64,
    /// A key that may still be held down.
    pub(super) held_key: Option<HeldKey>,
    /// True if the terminal distinguishes presses, repeats and releases.
    pub(super) reports_kinds: bool,
    /// The ask of `Mode::Once`.
    only: Option<String>,
    pub(super) measured: Measured,
    /// Set if the rows must be updated.
    pub(super) unsettled: Option<Settle>,
    /// Time of the last update of the rows. Snoozes and deadlines change rows without an event.
    settled_at: Time,
    pub(super) loaded: bool,
    /// True after the person pressed a key.
    pub(super) touched: bool,
}

impl Model {
    /// Creates an empty inbox.
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

    /// Handles an event.
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
                    // New content counts as a new card.
                    self.shown_at = self.now;
                }
            }
            Event::NotFetched { id, offline: false } => self.send_checked(&id, &mut effects),
            Event::NotFetched { id, offline: true } => self.wait_again(&id),
            Event::Snoozed(ask) => {
                let under_cursor = self.list.cursor().is_some_and(|row| *row.id == *ask.id);
                self.put(*ask);
                // The person snoozed this ask, so its row disappears even under the cursor.
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
                // Don't interrupt a person who has started to type.
                if self.focus == Focus::Card {
                    self.notice = None;
                    self.focus = Focus::Session(0);
                }
            }
            Event::Told(text) => self.show_message(text),
            Event::Away(away) => self.away = away,
            Event::Tried(rule, trial) => self.rule_tried(rule, trial),
            Event::RuleSaved(saved) => effects = self.rule_saved(saved),
            Event::Agents(agents) => self.agents_known(agents),
            Event::Started(started) => self.started(started),
        }
        effects
    }

    /// Updates the rows. Called before each key and each drawing, so that many events cause only one sort.
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
            // New content counts as a new card.
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
        // Drafts of decided asks are kept only while they are on the screen.
        self.drafts.retain(|id, _| is_pending(id));
        self.files.retain(|id, _| is_pending(id));
        self.shown = under_hand;
        self.shown_at = self.now;
        if matches!(self.focus, Focus::Answer | Focus::Note | Focus::Reason) {
            self.focus = Focus::Card;
        }
        self.read_whole().into_iter().chain(self.read_files()).collect()
    }

    /// Loads the files that the command under the cursor executes, once.
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

    /// Events may omit large fields. The card needs all of them.
    fn read_whole(&self) -> Option<Effect> {
        self.ask().filter(|ask| ask.truncated).map(|ask| Effect::Fetch(ask.id.clone()))
    }

    /// Returns when `Event::Tick` is due next.
    pub(crate) fn wake(&self) -> Time {
        let second = Time::from_millis((self.now.as_millis() / 1_000 + 1) * 1_000);
        let held = self.sending.iter().filter_map(|sending| match sending.phase {
            // Without a connection, held decisions are not sent.
            Phase::Held(until) => Some(until).filter(|_| !self.is_lost()),
            Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => None,
        });
        let ready = self.shown_at.plus(GRACE);
        let tried = self.rule.as_ref().and_then(RuleForm::due);
        held.chain(tried).chain((ready > self.now).then_some(ready)).min().map_or(second, |soonest| soonest.min(second))
    }

    /// Returns the ask under the cursor.
    pub(super) fn ask(&self) -> Option<&Ask> {
        self.asks.get(self.shown.as_deref()?)
    }

    /// Returns the draft of the ask under the cursor.
    pub(super) fn draft(&self) -> Option<&Draft> {
        self.drafts.get(self.shown.as_deref()?)
    }

    /// Returns the ask under the cursor with its draft, which is created if necessary.
    pub(super) fn draft_mut(&mut self) -> Option<(&Ask, &mut Draft)> {
        let ask = self.asks.get(self.shown.as_deref()?)?;
        let draft = self.drafts.entry(ask.id.clone()).or_insert_with(|| Draft::new(ask));
        Some((ask, draft))
    }

    /// Returns true if the ask under the cursor can be decided: it is pending and has no decision in progress.
    pub(super) fn is_open(&self) -> bool {
        self.ask().is_some_and(|ask| ask.status == AskStatus::Pending && !self.is_busy(&ask.id))
    }

    /// Returns true while the connection is lost.
    pub(super) const fn is_lost(&self) -> bool {
        matches!(self.connection, Connection::Lost { .. })
    }

    /// Returns true if the card has been visible long enough to accept deciding keys.
    pub(super) fn is_ready(&self) -> bool {
        self.now >= self.shown_at.plus(GRACE)
    }

    /// Returns true after the list was loaded once.
    pub(super) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// Returns the number of pending asks, for the terminal title.
    pub(crate) fn waiting(&self) -> usize {
        self.list.waiting
    }

    /// Shows a message for some seconds.
    pub(super) fn show_message(&mut self, text: impl Into<String>) {
        self.notice = Some((self.now, text.into()));
    }

    /// Marks the rows for an update that keeps visible rows in place.
    pub(super) fn changed(&mut self) {
        self.unsettled.get_or_insert(Settle::InPlace);
    }

    /// Marks the rows for an update that sorts all rows.
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
