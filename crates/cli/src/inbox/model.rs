//! The state of the inbox: events in, effects out. Pure; what it is drawn as is in `view`.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crossterm::event::KeyCode;
use sayso_client::api::ask::{Ask, AskKind, AskStatus, NoRequest, ShownAnswer};
use sayso_client::api::event::FeedEvent;
use sayso_core::time::Time;

use super::asks::{Asks, Taken, is_undelivered};
use super::draft::{self, Draft};
use super::event::{Away, Decision, Effect, Event, NotSent};
use super::field::Field;
use super::list::{Group, List, Settle};
use super::rule::RuleForm;
use super::start::StartForm;
use super::tmux::Place;
use crate::follow;
use crate::sanitize;
use crate::words;

/// How long a card that has just appeared takes no keys: the hand may be meant for the one before.
pub(super) const GRACE: Duration = Duration::from_millis(400);

/// How long an ask is snoozed.
const SNOOZE: Duration = Duration::from_secs(30 * 60);

/// How long after a decision could not be sent it is tried again, while the stream seems to work.
const AGAIN: Duration = Duration::from_secs(2);

/// How long something that was said stays on the screen.
const NOTICE: Duration = Duration::from_secs(6);

/// How long an approval may wait for the connection. After that it needs a new press.
const QUEUED: Duration = Duration::from_secs(60);

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

/// A decision on its way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sending {
    pub(super) id: String,
    pub(super) decision: Decision,
    /// What it says, for the person.
    pub(super) label: String,
    pub(super) phase: Phase,
    /// When it was to be sent. It stays the same while it waits for the connection.
    due: Time,
    /// Whether it had to wait for the connection.
    queued: bool,
    /// The content that was decided.
    content: Option<u64>,
    /// Decisions of one key press have the same number, and are taken back together.
    action: u64,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Until then it can be taken back.
    Held(Time),
    /// It waited for the connection. The ask is read again before the decision goes out.
    Checking,
    /// On its way.
    Going,
    /// Somebody was first.
    TooLate,
    /// Not sent. It needs a new press.
    Again(Why),
}

/// Why a decision needs a new press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It waited too long for the connection.
    Waited,
    /// The ask has changed since.
    Changed,
}

impl Phase {
    /// Whether the decision still stands.
    pub(super) const fn is_under_way(self) -> bool {
        match self {
            Self::Held(_) | Self::Checking | Self::Going => true,
            Self::TooLate | Self::Again(_) => false,
        }
    }
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

/// The inbox.
pub(crate) struct Model {
    pub(super) settings: Settings,
    pub(super) now: Time,
    pub(super) asks: Asks,
    pub(super) list: List,
    pub(super) filter: Field,
    pub(super) drafts: HashMap<String, Draft>,
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
    unsettled: Option<Settle>,
    /// When the rows were last put in order: snoozes and deadlines come by themselves.
    settled_at: Time,
    loaded: bool,
    /// Whether the person has pressed a key.
    touched: bool,
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
            Event::NotSent { id, why } => self.not_sent(&id, why),
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
            return Vec::new();
        }
        // What was typed for an ask that is over is kept only as long as it is looked at.
        self.drafts.retain(|id, _| is_pending(id));
        self.shown = under_hand;
        self.shown_at = self.now;
        if matches!(self.focus, Focus::Answer | Focus::Note | Focus::Reason) {
            self.focus = Focus::Card;
        }
        self.read_whole().into_iter().collect()
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

    /// What is on its way for an ask.
    pub(super) fn sending(&self, id: &str) -> Option<&Sending> {
        self.sending.iter().find(|sending| sending.id == id)
    }

    /// The newest decision that can be taken back, and until when.
    pub(super) fn held(&self) -> Option<(&Sending, Time)> {
        self.sending.iter().rev().find_map(|sending| match sending.phase {
            Phase::Held(until) => Some((sending, until)),
            Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => None,
        })
    }

    /// How many decisions one press made with the newest one that can be taken back.
    pub(super) fn held_together(&self) -> usize {
        let action = self.held().map(|(sending, _)| sending.action);
        let same = |sending: &&Sending| matches!(sending.phase, Phase::Held(_)) && Some(sending.action) == action;
        self.sending.iter().filter(same).count()
    }

    /// How many decisions wait for the connection, and how many need a new press.
    pub(super) fn queued(&self) -> (usize, usize) {
        let count = |holds: &dyn Fn(Phase) -> bool| self.sending.iter().filter(|sending| holds(sending.phase)).count();
        let queued = if self.is_lost() { count(&|phase| matches!(phase, Phase::Held(_) | Phase::Checking)) } else { 0 };
        (queued, count(&|phase| matches!(phase, Phase::Again(_))))
    }

    /// Whether the card under the cursor can be decided: pending, nothing on its way, whole.
    pub(super) fn is_open(&self) -> bool {
        self.ask().is_some_and(|ask| ask.status == AskStatus::Pending && !self.is_busy(&ask.id))
    }

    /// Whether a decision on this ask is under way.
    pub(super) fn is_busy(&self, id: &str) -> bool {
        self.sending(id).is_some_and(|sending| sending.phase.is_under_way())
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

    /// The field that is being typed into.
    pub(super) fn field(&mut self) -> Option<&mut Field> {
        match self.focus {
            Focus::Filter => Some(&mut self.filter),
            Focus::Answer => self.draft_mut().and_then(|(_, draft)| {
                let active = draft.active;
                draft.questions.get_mut(active).map(|question| &mut question.field)
            }),
            Focus::Note => self.draft_mut().map(|(_, draft)| &mut draft.note),
            Focus::Reason => self.draft_mut().map(|(_, draft)| &mut draft.reason),
            Focus::Rule => self.rule.as_mut().filter(|form| form.at == 0).map(|form| &mut form.pattern),
            Focus::Start => self.start.as_mut().and_then(|form| match form.at {
                0 => Some(&mut form.prompt),
                1 => None,
                _ => Some(&mut form.directory),
            }),
            Focus::Card | Focus::Help(_) | Focus::Session(_) => None,
        }
    }

    /// Lets the person type into a field of the card.
    pub(super) fn type_into(&mut self, focus: Focus) {
        // The field is part of the draft, which may not be there yet.
        if self.draft_mut().is_some() {
            self.focus = focus;
        }
    }

    /// Something was typed into the field.
    pub(super) fn typed(&mut self) {
        if self.focus == Focus::Filter {
            self.unsettled = Some(Settle::Anew);
        } else if let (Focus::Rule, Some(form)) = (self.focus, &mut self.rule) {
            form.changed(self.now);
        } else if let Some((_, draft)) = self.draft_mut() {
            draft.problem = None;
        }
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

    /// Takes an ask, and takes back a yes that was meant for other content.
    fn put(&mut self, ask: Ask) {
        let id = ask.id.clone();
        self.asks.put(ask);
        self.changed();
        self.check_content(&id);
    }

    fn check_content(&mut self, id: &str) {
        let Some(known) = self.asks.known(id).filter(|known| known.ask.status == AskStatus::Pending) else { return };
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id) {
            let yes = matches!(sending.decision, Decision::Approve(_) | Decision::Answer { .. });
            let waits = matches!(sending.phase, Phase::Held(_) | Phase::Checking);
            if yes && waits && sending.content.is_some_and(|content| content != known.content) {
                sending.phase = Phase::Again(Why::Changed);
            }
        }
    }

    /// Ends what has lasted long enough: a message on the screen, an approval that waits for the connection.
    fn expire(&mut self) {
        let now = self.now;
        self.notice.take_if(|(since, _)| now.since(*since) >= NOTICE);
        for sending in &mut self.sending {
            let yes = matches!(sending.decision, Decision::Approve(_));
            if yes && sending.queued && matches!(sending.phase, Phase::Held(_)) && now.since(sending.due) > QUEUED {
                sending.phase = Phase::Again(Why::Waited);
            }
        }
    }

    /// The connection is lost: what was not sent waits for it.
    fn queue(&mut self) {
        for sending in &mut self.sending {
            match sending.phase {
                Phase::Held(_) => sending.queued = true,
                Phase::Checking => sending.phase = Phase::Held(sending.due),
                Phase::Going | Phase::TooLate | Phase::Again(_) => {}
            }
        }
    }

    /// Sends a decision that waited for the connection: its ask was read again, and is the same.
    fn send_checked(&mut self, id: &str, effects: &mut Vec<Effect>) {
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id && sending.phase == Phase::Checking) {
            sending.phase = Phase::Going;
            effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
        }
    }

    /// The ask could not be read again: the decision waits on.
    fn wait_again(&mut self, id: &str) {
        let until = self.now.plus(AGAIN);
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id && sending.phase == Phase::Checking) {
            sending.phase = Phase::Held(until);
        }
    }

    fn time_went_on(&mut self, effects: &mut Vec<Effect>) {
        if self.now.since(self.settled_at) >= Duration::from_secs(15) {
            self.changed();
        }
        self.try_rule(effects);
        self.go_due(effects);
    }

    /// Sends what was held long enough. While no server is there, everything waits.
    fn go_due(&mut self, effects: &mut Vec<Effect>) {
        if self.is_lost() {
            return;
        }
        let now = self.now;
        for sending in &mut self.sending {
            match sending.phase {
                Phase::Held(until) if until > now => {}
                Phase::Held(_) if sending.queued => {
                    sending.phase = Phase::Checking;
                    effects.push(Effect::Fetch(sending.id.clone()));
                }
                Phase::Held(_) => {
                    sending.phase = Phase::Going;
                    effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
                }
                Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => {}
            }
        }
    }

    /// Asks to look at while the others are read. Which one is the first is known only when all are.
    fn load_first(&mut self, asks: Vec<Ask>) {
        if self.loaded || self.settings.mode == Mode::Once {
            return;
        }
        for ask in asks {
            self.asks.put(ask);
        }
        self.connection = Connection::Connected;
        self.changed();
    }

    fn load(&mut self, asks: Vec<Ask>, sessions: &[sayso_client::api::session::Session], effects: &mut Vec<Effect>) {
        let listed: BTreeSet<&str> = asks.iter().map(|ask| ask.id.as_str()).collect();
        // Decided while nobody listened.
        let gone = self.asks.pending().filter(|ask| !listed.contains(ask.id.as_str())).map(|ask| Effect::Fetch(ask.id.clone()));
        effects.extend(gone);
        drop(listed);
        for ask in asks {
            self.put(ask);
        }
        self.asks.put_sessions(sessions);
        self.connection = Connection::Connected;
        if !self.loaded && !self.touched {
            // Nothing is under the hand yet: the cursor begins on what is really the first.
            self.list = List::default();
        }
        self.loaded = true;
        self.changed();
    }

    fn feed(&mut self, event: FeedEvent, effects: &mut Vec<Effect>) {
        // Something came, so the stream works.
        if self.loaded {
            self.connection = Connection::Connected;
        }
        let asked = follow::asked(&event).is_some();
        match self.asks.put_event(event) {
            Taken::New if asked && self.settings.bell => effects.push(Effect::Bell),
            Taken::New | Taken::Changed => {}
            Taken::Ignored => return,
        }
        self.changed();
        let queued: Vec<String> = self.sending.iter().map(|sending| sending.id.clone()).collect();
        queued.iter().for_each(|id| self.check_content(id));
    }

    /// Holds a decision for a moment, in which it can be taken back, and goes on to the next ask.
    pub(super) fn hold(&mut self, id: &str, decision: Decision, label: String) -> Vec<Effect> {
        self.actions += 1;
        self.hold_with(id, decision, label)
    }

    /// Holds one more decision of the same key press.
    pub(super) fn hold_with(&mut self, id: &str, decision: Decision, label: String) -> Vec<Effect> {
        self.sending.retain(|sending| sending.id != id);
        let due = self.now.plus(self.settings.hold);
        let content = self.asks.known(id).map(|known| known.content);
        let (queued, action) = (self.is_lost(), self.actions);
        self.sending.push(Sending { id: id.to_owned(), decision, label, phase: Phase::Held(due), due, queued, content, action });
        if let Some(draft) = self.drafts.get_mut(id) {
            draft.problem = None;
        }
        self.focus = Focus::Card;
        if self.settings.mode == Mode::All {
            self.go_on();
        }
        let mut effects = Vec::new();
        self.go_due(&mut effects);
        effects
    }

    /// Goes to the next ask that waits and is not on its way.
    pub(super) fn go_on(&mut self) {
        let waits = |id: &str| self.asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending) && !self.is_busy(id);
        if let Some(at) = self.list.next(|row| row.group != Group::Snoozed && waits(&row.id)) {
            self.list.at = at;
            self.changed();
        }
    }

    /// Takes back everything that the newest key press decided and that is still held, and shows its ask again.
    pub(super) fn undo(&mut self) {
        let Some((id, action)) = self.held().map(|(sending, _)| (sending.id.clone(), sending.action)) else {
            return self.say("Nothing to undo.");
        };
        let before = self.sending.len();
        self.sending.retain(|sending| sending.action != action || !matches!(sending.phase, Phase::Held(_)));
        self.list.go_to(&id);
        match before - self.sending.len() {
            1 => self.say("Taken back. Nothing was sent."),
            several => self.say(format!("All {several} taken back. Nothing was sent.")),
        }
    }

    /// Sends what is held, and ends.
    pub(super) fn quit(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for sending in &mut self.sending {
            if let Phase::Held(_) | Phase::Checking = sending.phase {
                sending.phase = Phase::Going;
                effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
            }
        }
        effects.push(Effect::Quit);
        effects
    }

    fn not_sent(&mut self, id: &str, why: NotSent) {
        let Some(at) = self.sending.iter().position(|sending| sending.id == id) else { return };
        match why {
            NotSent::TooLate(ask) => {
                let own = self.sending.get(at).map(|sending| sending.label.clone()).unwrap_or_default();
                let first = ask.outcome.as_ref().map(words::outcome).unwrap_or_default();
                self.say(format!("{first} Your answer \"{own}\" wasn't sent."));
                if let Some(sending) = self.sending.get_mut(at) {
                    sending.phase = Phase::TooLate;
                }
                self.put(*ask);
            }
            NotSent::Offline => {
                if let Some(sending) = self.sending.get_mut(at) {
                    sending.phase = Phase::Held(self.now.plus(AGAIN));
                    sending.queued = true;
                }
                self.say("Not sent: no connection. Your decision is queued; u takes it back.");
            }
            NotSent::Refused(reason) => self.failed(at, id, reason),
        }
    }

    fn failed(&mut self, at: usize, id: &str, problem: String) {
        self.sending.remove(at);
        if let Some(ask) = self.asks.get(id) {
            let draft = self.drafts.entry(id.to_owned()).or_insert_with(|| Draft::new(ask));
            draft.problem = Some(problem.clone());
        }
        self.say(problem);
        self.changed();
    }

    fn edited(&mut self, id: &str, text: Result<String, String>) {
        let Some(ask) = self.asks.get(id) else { return };
        let edited = text.and_then(|text| draft::edited(ask, &text));
        let draft = self.drafts.entry(id.to_owned()).or_insert_with(|| Draft::new(ask));
        draft.problem = None;
        draft.scroll = 0;
        match edited {
            Ok(edited) => {
                draft.edited = edited;
                if draft.edited.is_none() {
                    self.say("The input is as the agent wrote it.");
                }
            }
            Err(problem) => draft.problem = Some(problem),
        }
        // The editor had the screen: what was typed for it is not for the card.
        self.shown_at = self.now;
    }

    /// Hides the ask for half an hour and goes on to the next, or brings it back.
    pub(super) fn snooze(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask().filter(|ask| ask.status == AskStatus::Pending) else { return Vec::new() };
        let (id, back) = (ask.id.clone(), crate::order::is_snoozed(ask, self.now));
        let until = (!back).then(|| self.now.plus(SNOOZE));
        self.actions += 1;
        if back {
            self.say("It is back.");
        } else {
            self.say("Snoozed for 30 minutes. The agent keeps waiting.");
            self.go_on();
        }
        vec![Effect::Snooze { id, until }]
    }

    /// The words of an undelivered answer, as a message.
    pub(super) fn as_message(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask().filter(|ask| is_undelivered(ask)) else { return Vec::new() };
        let Some(session) = ask.session_id.clone() else {
            self.say("It belongs to no session that takes messages.");
            return Vec::new();
        };
        let (id, text) = (ask.id.clone(), said(ask));
        let Some(text) = text else {
            self.say("There are no words to send.");
            return Vec::new();
        };
        self.asks.forget(&id);
        self.changed();
        vec![Effect::Message { session, text }]
    }

    /// Leaves an undelivered answer.
    pub(super) fn leave(&mut self) -> bool {
        let Some(id) = self.ask().filter(|ask| is_undelivered(ask)).map(|ask| ask.id.clone()) else { return false };
        self.asks.forget(&id);
        self.changed();
        true
    }

    /// Says no to the ask under the cursor, or to all that are selected.
    pub(super) fn no(&mut self, no: &NoRequest) -> Vec<Effect> {
        let label = |kind: AskKind| match (kind, no.stop) {
            (AskKind::Question, _) => "Reject",
            (AskKind::Approval | AskKind::Link, true) => "Deny and stop",
            (AskKind::Approval | AskKind::Link, false) => "Deny",
        };
        self.decide_each(|ask| {
            let decision = match ask.kind {
                AskKind::Question => Decision::Reject(no.clone()),
                AskKind::Approval | AskKind::Link => Decision::Deny(no.clone()),
            };
            Some((decision, label(ask.kind).to_owned()))
        })
    }

    /// Decides what is selected, else what is under the cursor.
    pub(super) fn decide_each(&mut self, decision: impl Fn(&Ask) -> Option<(Decision, String)>) -> Vec<Effect> {
        let chosen: Vec<String> = match self.selected.len() {
            0 => self.ask().map(|ask| ask.id.clone()).into_iter().collect(),
            _ => std::mem::take(&mut self.selected).into_iter().collect(),
        };
        let mut effects = Vec::new();
        self.actions += 1;
        for id in chosen {
            let ask = self.asks.get(&id).filter(|ask| ask.status == AskStatus::Pending && !self.is_busy(&id));
            if let Some((decision, label)) = ask.and_then(&decision) {
                effects.extend(self.hold_with(&id, decision, label));
            }
        }
        effects
    }
}

/// What was answered, in words for a message.
fn said(ask: &Ask) -> Option<String> {
    let outcome = ask.outcome.as_ref()?;
    let answers = outcome.answers.as_ref()?;
    let lines = ask.questions.iter().zip(answers).filter_map(|(question, answer)| match answer {
        ShownAnswer::Entries(entries) if !entries.is_empty() => {
            Some(format!("{} {}", sanitize::line(&question.text), entries.join(", ")))
        }
        ShownAnswer::Entries(_) | ShownAnswer::Secret { .. } => None,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then_some(text)
}
