//! The state of the inbox: events in, effects out. Pure; what it is drawn as is in `view`.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use sayso_client::api::ask::{Ask, AskKind, AskStatus, NoRequest, ShownAnswer};
use sayso_core::time::Time;

use super::asks::{Asks, Taken, is_undelivered};
use super::draft::{self, Draft};
use super::event::{Away, Decision, Effect, Event, NotSent};
use super::field::Field;
use super::list::{Group, List, Settle};
use super::rule::RuleForm;
use super::start::StartForm;
use super::tmux::Place;
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
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Until then it can be taken back.
    Held(Time),
    /// On its way.
    Going,
    /// Somebody was first.
    TooLate,
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
                self.asks.put(*ask);
                self.changed();
            }
            Event::Feed { kind, session, data } => self.feed(&kind, session.as_deref(), &data, &mut effects),
            Event::Lost { after } => self.connection = Connection::Lost { again: now.plus(after) },
            Event::Back => {
                self.connection = Connection::Connected;
                effects.extend(self.read_whole());
            }
            Event::Sent(ask) => {
                self.sending.retain(|sending| sending.id != ask.id);
                self.drafts.remove(&ask.id);
                let done = self.settings.mode == Mode::Once && self.only.as_deref() == Some(&ask.id);
                self.asks.put(*ask);
                self.changed();
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
            self.selected.retain(|id| asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending));
        }
        if self.settings.mode == Mode::Once && self.only.is_none() && self.loaded {
            self.only = self.list.rows.iter().find(|row| row.group != Group::Snoozed).map(|row| row.id.to_string());
        }
        let under_hand = match &self.only {
            Some(only) => Some(only.clone()),
            None => self.list.cursor().map(|row| row.id.to_string()),
        };
        let is_pending = |id: &str| self.asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending);
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
            Phase::Going | Phase::TooLate => None,
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
            Phase::Going | Phase::TooLate => None,
        })
    }

    /// Whether the card under the cursor can be decided: pending, nothing on its way, whole.
    pub(super) fn is_open(&self) -> bool {
        self.ask().is_some_and(|ask| {
            let busy = self.sending(&ask.id).is_some_and(|sending| sending.phase != Phase::TooLate);
            ask.status == AskStatus::Pending && !busy
        })
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

    fn time_went_on(&mut self, effects: &mut Vec<Effect>) {
        if self.notice.as_ref().is_some_and(|(since, _)| self.now.since(*since) >= NOTICE) {
            self.notice = None;
        }
        if self.now.since(self.settled_at) >= Duration::from_secs(15) {
            self.changed();
        }
        self.try_rule(effects);
        self.go_due(effects);
    }

    /// Sends what was held long enough. While no server is there, everything waits.
    fn go_due(&mut self, effects: &mut Vec<Effect>) {
        let now = self.now;
        if !self.is_lost() {
            self.go(effects, |until| until <= now);
        }
    }

    /// Sends what is held and may go.
    fn go(&mut self, effects: &mut Vec<Effect>, may: impl Fn(Time) -> bool) {
        for sending in &mut self.sending {
            if let Phase::Held(until) = sending.phase
                && may(until)
            {
                sending.phase = Phase::Going;
                effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
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
            self.asks.put(ask);
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

    fn feed(&mut self, kind: &str, session: Option<&str>, data: &str, effects: &mut Vec<Effect>) {
        // Something came, so the stream works.
        if self.loaded {
            self.connection = Connection::Connected;
        }
        let asked = kind.ends_with(".requested");
        if asked || kind.ends_with(".resolved") || kind.starts_with("ask.") {
            match self.asks.put_event(data) {
                Taken::New if asked && self.settings.bell => effects.push(Effect::Bell),
                Taken::New | Taken::Changed => {}
                Taken::Ignored => return,
            }
            self.changed();
        } else if let (true, Some(session)) = (kind.starts_with("session."), session) {
            self.asks.put_session(session, data);
        }
    }

    /// Holds a decision for a moment, in which it can be taken back, and goes on to the next ask.
    pub(super) fn hold(&mut self, id: &str, decision: Decision, label: String) -> Vec<Effect> {
        self.sending.retain(|sending| sending.id != id);
        let phase = Phase::Held(self.now.plus(self.settings.hold));
        self.sending.push(Sending { id: id.to_owned(), decision, label, phase });
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
        let waits =
            |id: &str| self.asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending) && self.sending(id).is_none();
        if let Some(at) = self.list.next(|row| row.group != Group::Snoozed && waits(&row.id)) {
            self.list.at = at;
            self.changed();
        }
    }

    /// Takes back the newest decision that is held, and shows its ask again.
    pub(super) fn undo(&mut self) {
        let Some(id) = self.held().map(|(sending, _)| sending.id.clone()) else { return self.say("Nothing to undo.") };
        self.sending.retain(|sending| sending.id != id);
        self.list.go_to(&id);
        self.say("Taken back. Nothing was sent.");
    }

    /// Sends what is held, and ends.
    pub(super) fn quit(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.go(&mut effects, |_| true);
        effects.push(Effect::Quit);
        effects
    }

    fn not_sent(&mut self, id: &str, why: NotSent) {
        let Some(at) = self.sending.iter().position(|sending| sending.id == id) else { return };
        match why {
            NotSent::TooLate(ask) => {
                let own = self.sending.get(at).map(|sending| sending.label.clone()).unwrap_or_default();
                let first = ask.outcome.as_ref().map(words::outcome).unwrap_or_default();
                self.say(format!("{first} Your choice \"{own}\" was not sent."));
                if let Some(sending) = self.sending.get_mut(at) {
                    sending.phase = Phase::TooLate;
                }
                self.asks.put(*ask);
                self.changed();
            }
            NotSent::Offline => {
                if let Some(sending) = self.sending.get_mut(at) {
                    sending.phase = Phase::Held(self.now.plus(AGAIN));
                }
                self.say("Not sent: no connection. It is kept, and sent when the connection is back.");
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
        if back {
            self.say("It is back.");
        } else {
            self.say("Snoozed for 30 minutes. Not a no.");
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
        for id in chosen {
            let busy = self.sending(&id).is_some_and(|sending| sending.phase != Phase::TooLate);
            let ask = self.asks.get(&id).filter(|ask| ask.status == AskStatus::Pending && !busy);
            if let Some((decision, label)) = ask.and_then(&decision) {
                effects.extend(self.hold(&id, decision, label));
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
