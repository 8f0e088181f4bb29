//! What each key does. The same keys as on the page; off while something is typed. Pure.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use sayso_client::api::ask::{ApproveRequest, Ask, AskKind, AskStatus, NoRequest};

use super::draft;
use super::event::{Decision, Effect};
use super::model::{Focus, HeldKey, Mode, Model};
use crate::sanitize;
use crate::words;

/// How long a label may be in "Sending …"; where there is less room it is cut there.
const LABEL: usize = 120;

/// Where a terminal does not report releases: the same key within this time after a decision may be the first
/// repeat of a key that is held down. Longer than the delay before the first repeat on common desktops.
const FIRST_REPEAT: Duration = Duration::from_millis(700);

/// The same for every further repeat. Longer than the time between two repeats.
const NEXT_REPEAT: Duration = Duration::from_millis(200);

/// Every key, for the help.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("j k", "next, previous ask"),
    ("1-9", "choose; a single choice is sent"),
    ("Up Down", "highlight an option"),
    ("Space", "choose it, when several may be chosen"),
    ("Enter", "send what is highlighted or typed; open a link"),
    ("Tab", "the next question of a set"),
    ("a", "approve, yes, done"),
    ("d", "deny, no, reject"),
    ("r", "deny or reject with a reason"),
    ("D", "deny and stop the agent"),
    ("e", "edit the input or the plan in your editor"),
    ("n", "add a note to your answer"),
    ("u", "undo everything the last key decided, until it is sent"),
    ("m", "make a rule that allows it"),
    ("s", "snooze for 30 minutes, or bring it back"),
    ("x X", "select; select identical ones"),
    ("t", "all that the agent said"),
    ("p", "preview of an option"),
    ("o", "what was said and done in the session"),
    ("y", "copy the command, the address or the question"),
    ("g", "go to the agent's tmux pane"),
    ("PgUp PgDn", "scroll"),
    ("/", "filter"),
    (".", "show new asks that wait above"),
    ("z", "show what is snoozed, or fold it"),
    ("c", "new session"),
    ("?", "keys"),
    ("Esc", "out of a field, then back"),
    ("q", "leave; what is being sent is sent"),
];

impl Model {
    /// Takes a key.
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.reports_kinds |= key.kind != KeyEventKind::Press;
        if key.kind == KeyEventKind::Release {
            self.held_key.take_if(|held| held.code == key.code);
            return Vec::new();
        }
        if let KeyCode::Modifier(_) | KeyCode::CapsLock | KeyCode::NumLock | KeyCode::ScrollLock = key.code {
            return Vec::new();
        }
        // Another key is pressed, so the last one no longer repeats.
        self.held_key.take_if(|held| held.code != key.code);
        let before = self.actions;
        let effects = self.key_down(key);
        if self.actions != before {
            self.held_key = Some(HeldKey { code: key.code, seen: self.now, gap: FIRST_REPEAT });
        }
        effects
    }

    /// Whether a key is still held down since it decided another card, or since before this card took keys.
    fn is_held(&mut self, key: KeyEvent) -> bool {
        if key.kind == KeyEventKind::Repeat {
            return true;
        }
        let (now, guess) = (self.now, !self.reports_kinds);
        let Some(held) = self.held_key.as_mut().filter(|held| guess && now.since(held.seen) < held.gap) else {
            self.held_key = None;
            return false;
        };
        (held.seen, held.gap) = (now, NEXT_REPEAT);
        true
    }

    /// Whether a key may decide something: the card has been there for a moment, and this is a fresh press.
    fn may_decide(&mut self, key: KeyEvent) -> bool {
        // Keys that only move the highlight repeat.
        if !matches!(key.code, KeyCode::Char(_) | KeyCode::Enter) {
            return self.is_ready();
        }
        let held = self.is_held(key);
        if !self.is_ready() {
            self.held_key = Some(HeldKey { code: key.code, seen: self.now, gap: NEXT_REPEAT });
            return false;
        }
        if held {
            self.say("Release the key, then press it again to decide this one.");
        }
        !held
    }

    fn key_down(&mut self, key: KeyEvent) -> Vec<Effect> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return self.quit(),
                KeyCode::Char('z') => return vec![Effect::Suspend],
                KeyCode::Char('l') => return vec![Effect::Redraw],
                _ => {}
            }
        }
        match self.focus {
            Focus::Help(scrolled) => {
                self.focus = match key.code {
                    KeyCode::Down | KeyCode::Char('j') => Focus::Help((scrolled + 1).min(KEYS.len())),
                    KeyCode::Up | KeyCode::Char('k') => Focus::Help(scrolled.saturating_sub(1)),
                    KeyCode::PageDown => Focus::Help((scrolled + 8).min(KEYS.len())),
                    KeyCode::PageUp => Focus::Help(scrolled.saturating_sub(8)),
                    _ => Focus::Card,
                };
                Vec::new()
            }
            Focus::Session(up) => {
                self.focus = match key.code {
                    KeyCode::Down | KeyCode::Char('j') => Focus::Session(up.saturating_sub(1)),
                    KeyCode::Up | KeyCode::Char('k') => Focus::Session(up + 1),
                    KeyCode::PageDown => Focus::Session(up.saturating_sub(self.measured.rows)),
                    KeyCode::PageUp => Focus::Session(up + self.measured.rows),
                    _ => Focus::Card,
                };
                // Never further than the first line.
                if let Focus::Session(up) = &mut self.focus {
                    *up = (*up).min(self.measured.lines.saturating_sub(self.measured.rows));
                }
                Vec::new()
            }
            Focus::Answer | Focus::Note | Focus::Reason | Focus::Filter => self.key_in_field(key),
            Focus::Rule => self.key_in_rule(key),
            Focus::Start => self.key_in_start(key),
            Focus::Card if !is_plain(key) => Vec::new(),
            Focus::Card => self.key_on_card(key),
        }
    }

    fn key_in_field(&mut self, key: KeyEvent) -> Vec<Effect> {
        let plain = !key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => {
                if self.focus == Focus::Filter {
                    self.filter = super::field::Field::default();
                    self.show_new();
                }
                self.focus = Focus::Card;
            }
            // A key that is held down sends nothing.
            KeyCode::Enter if plain && key.kind == KeyEventKind::Repeat => {}
            KeyCode::Enter if plain => return self.typed_enter(),
            KeyCode::Tab | KeyCode::BackTab if self.focus == Focus::Answer => {
                self.take_typed();
                self.focus = Focus::Card;
                self.step(key.code == KeyCode::Tab);
            }
            _ => {
                let taken = self.field().is_some_and(|field| field.key(key));
                if taken {
                    self.typed();
                }
            }
        }
        Vec::new()
    }

    /// Enter in a field.
    fn typed_enter(&mut self) -> Vec<Effect> {
        match self.focus {
            Focus::Filter | Focus::Note => self.focus = Focus::Card,
            Focus::Reason => {
                let text = self.draft().map(|draft| draft.reason.text().trim().to_owned()).unwrap_or_default();
                let message = (!text.is_empty()).then_some(text);
                if self.is_open() {
                    return self.no(&NoRequest { message, stop: false });
                }
                self.focus = Focus::Card;
            }
            Focus::Answer => {
                self.take_typed();
                return self.advance();
            }
            Focus::Card | Focus::Help(_) | Focus::Session(_) | Focus::Rule | Focus::Start => {}
        }
        Vec::new()
    }

    /// What stands in the field counts as the answer.
    fn take_typed(&mut self) {
        if let Some((ask, draft)) = self.draft_mut() {
            let active = draft.active;
            if let (Some(question), Some(own)) = (ask.questions.get(active), draft.questions.get_mut(active)) {
                own.typed(question);
            }
        }
    }

    fn key_on_card(&mut self, key: KeyEvent) -> Vec<Effect> {
        if self.settings.mode == Mode::Once && self.is_over() {
            return self.quit();
        }
        // Keys that decide nothing work at once; the others wait until the card has been seen.
        match key.code {
            KeyCode::Char('q') => return self.quit(),
            KeyCode::Char('?') => self.focus = Focus::Help(0),
            KeyCode::Char('j') => self.move_by(true),
            KeyCode::Char('k') => self.move_by(false),
            KeyCode::Char('/') if self.settings.mode == Mode::All => self.focus = Focus::Filter,
            KeyCode::Char('.') => self.show_new(),
            KeyCode::Char('z') => {
                self.list.unfolded = !self.list.unfolded;
                self.show_new();
            }
            KeyCode::Char('c') => return self.new_session(),
            KeyCode::Char('u') => self.undo(),
            KeyCode::Char('t') => {
                if let Some((_, draft)) = self.draft_mut() {
                    draft.whole_context = !draft.whole_context;
                }
            }
            KeyCode::PageDown => self.scroll(|at, rows, _| at.saturating_add(rows)),
            KeyCode::PageUp => self.scroll(|at, rows, _| at.saturating_sub(rows)),
            KeyCode::Home => self.scroll(|_, _, _| 0),
            KeyCode::End => self.scroll(|_, _, last| last),
            KeyCode::Char('y') => return self.copy(),
            KeyCode::Char('g') => return self.go_to_pane(),
            KeyCode::Char('o') => return self.look_at_session(),
            KeyCode::Char('x') => self.select(),
            KeyCode::Char('X') => self.select_twins(),
            KeyCode::Esc => self.back(),
            _ if !self.may_decide(key) => {}
            KeyCode::Char('s') => return self.snooze(),
            KeyCode::Enter if !self.is_open() => return self.as_message(),
            _ if !self.is_open() => {}
            _ if self.ask().is_some_and(|ask| ask.truncated) => self.say("The whole of it is still being read."),
            KeyCode::Char(yes_no @ ('a' | 'd')) if self.is_yes_no() => return self.choose(usize::from(yes_no == 'd'), false),
            KeyCode::Char('d') => return self.no(&NoRequest::default()),
            KeyCode::Char('D') if self.ask().is_some_and(|ask| ask.kind == AskKind::Approval) => {
                return self.no(&NoRequest { message: None, stop: true });
            }
            KeyCode::Char('r') => self.type_into(Focus::Reason),
            KeyCode::Char('m') => return self.make_rule(),
            code => return self.key_for_kind(code),
        }
        Vec::new()
    }

    /// Whether `a` and `d` answer a yes/no question.
    pub(super) fn is_yes_no(&self) -> bool {
        self.selected.is_empty() && self.ask().is_some_and(draft::is_yes_no)
    }

    /// Whether there is nothing left to look at: no ask, or one that somebody else has decided.
    fn is_over(&self) -> bool {
        self.is_loaded() && self.ask().is_none_or(|ask| ask.status != AskStatus::Pending)
    }

    fn key_for_kind(&mut self, code: KeyCode) -> Vec<Effect> {
        let Some(ask) = self.ask() else { return Vec::new() };
        match (ask.kind, code) {
            (AskKind::Question, KeyCode::Char('n')) => self.type_into(Focus::Note),
            (AskKind::Question, _) => return self.key_on_question(code),
            (AskKind::Approval | AskKind::Link, KeyCode::Char('a')) => return self.approve(),
            (AskKind::Approval, KeyCode::Char('e')) => return self.edit(),
            (AskKind::Approval, KeyCode::Char(digit)) => return self.approve_with(digit),
            (AskKind::Link, KeyCode::Enter) => {
                return ask.link.as_ref().map(|link| Effect::Browse(link.url.clone())).into_iter().collect();
            }
            (AskKind::Approval | AskKind::Link, _) => {}
        }
        Vec::new()
    }

    fn key_on_question(&mut self, code: KeyCode) -> Vec<Effect> {
        let Some((ask, draft)) = self.draft_mut() else { return Vec::new() };
        let Some(question) = ask.questions.get(draft.active) else {
            return match code {
                KeyCode::Enter => self.submit(),
                KeyCode::Tab | KeyCode::BackTab => {
                    self.step(code == KeyCode::Tab);
                    Vec::new()
                }
                _ => Vec::new(),
            };
        };
        let options = draft::options(question).len();
        let all = options + usize::from(draft::takes_other(question));
        let several = question.multiple;
        let typed = draft::is_typed(question);
        draft.follow = true;
        match code {
            KeyCode::Tab | KeyCode::BackTab => self.step(code == KeyCode::Tab),
            KeyCode::Enter if typed => self.focus = Focus::Answer,
            KeyCode::Down if all > 0 => draft.highlight = Some(draft.highlight.map_or(0, |at| (at + 1).min(all - 1))),
            KeyCode::Up if all > 0 => draft.highlight = Some(draft.highlight.map_or(all - 1, |at| at.saturating_sub(1))),
            KeyCode::Char('p') => draft.preview = !draft.preview,
            KeyCode::Char(digit @ '1'..='9') => {
                let at = digit as usize - '1' as usize;
                if at < all {
                    draft.highlight = Some(at);
                    return self.choose(at, several);
                }
            }
            KeyCode::Char(' ') if several => {
                if let Some(at) = draft.highlight {
                    return self.choose(at, several);
                }
            }
            KeyCode::Enter => match draft.highlight {
                None if several && draft.questions.get(draft.active).is_some_and(|own| own.is_answered(question)) => {
                    return self.advance();
                }
                None => draft.highlight = Some(0),
                Some(at) if !several || at >= options => return self.choose(at, several),
                Some(_) => return self.advance(),
            },
            _ => {}
        }
        Vec::new()
    }

    /// Chooses an option; one of several is marked, a single one goes on.
    fn choose(&mut self, at: usize, several: bool) -> Vec<Effect> {
        let Some((ask, draft)) = self.draft_mut() else { return Vec::new() };
        let active = draft.active;
        let (Some(question), Some(own)) = (ask.questions.get(active), draft.questions.get_mut(active)) else { return Vec::new() };
        draft.problem = None;
        match draft::options(question).get(at) {
            Some(option) => own.choose(question, option.value),
            None => {
                self.focus = Focus::Answer;
                return Vec::new();
            }
        }
        if several { Vec::new() } else { self.advance() }
    }

    /// Goes on from a question that has its answer: to the next one of a set, or sends it.
    fn advance(&mut self) -> Vec<Effect> {
        self.focus = Focus::Card;
        let Some((ask, draft)) = self.draft_mut() else { return Vec::new() };
        let active = draft.active;
        if let (Some(question), Some(own)) = (ask.questions.get(active), draft.questions.get(active))
            && let Err(problem) = own.answer(question)
        {
            draft.problem = Some(problem);
            return Vec::new();
        }
        draft.problem = None;
        match ask.questions.len() {
            1 => self.submit(),
            _ => {
                draft.go_to(ask, active + 1);
                Vec::new()
            }
        }
    }

    /// The next or the previous question of a set; behind the last one stands the last look.
    fn step(&mut self, on: bool) {
        if let Some((ask, draft)) = self.draft_mut()
            && ask.questions.len() > 1
        {
            let to = if on { draft.active + 1 } else { draft.active.saturating_sub(1) };
            draft.go_to(ask, if to > ask.questions.len() { 0 } else { to });
        }
    }

    /// Sends the answers, or says what is missing and goes there.
    fn submit(&mut self) -> Vec<Effect> {
        if !self.is_open() {
            return Vec::new();
        }
        let Some((ask, draft)) = self.draft_mut() else { return Vec::new() };
        match draft.answers(ask) {
            Ok(answers) => {
                let note = Some(draft.note.text().trim().to_owned()).filter(|note| !note.is_empty());
                let (id, label) = (ask.id.clone(), label(ask, &answers));
                self.hold(&id, Decision::Answer { answers, note }, label)
            }
            Err((index, problem)) => {
                let missing = ask.questions.get(index).map(|question| question.header.as_deref().unwrap_or(&question.text));
                let missing = sanitize::line(missing.unwrap_or_default());
                let several = ask.questions.len() > 1;
                let said = format!("{} of {} answered. {missing}: {problem}", draft.answered(ask), ask.questions.len());
                draft.problem = Some(if several { said } else { problem });
                draft.go_to(ask, index);
                Vec::new()
            }
        }
    }

    /// Says yes to what is selected, else to what is under the cursor.
    fn approve(&mut self) -> Vec<Effect> {
        let edited = self.draft().and_then(|draft| draft.edited.as_ref()).map(|edited| edited.input.clone());
        let several = self.selected.len();
        self.decide_each(|ask| {
            let input = edited.clone().filter(|_| several == 0);
            let label = match (ask.kind, &input) {
                (AskKind::Link, _) => "Done",
                (AskKind::Approval | AskKind::Question, Some(_)) => "Approve with changes",
                (AskKind::Approval | AskKind::Question, None) => "Approve",
            };
            let whole = !ask.truncated && ask.kind != AskKind::Question;
            whole.then(|| (Decision::Approve(ApproveRequest { choice: None, input }), label.to_owned()))
        })
    }

    /// Says yes in one of the agent's own ways.
    fn approve_with(&mut self, digit: char) -> Vec<Effect> {
        let Some(ask) = self.ask() else { return Vec::new() };
        let choices = ask.approval.as_ref().map(|approval| approval.choices.as_slice()).unwrap_or_default();
        let at = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).and_then(|digit| digit.checked_sub(1));
        let Some(choice) = at.and_then(|at| choices.get(at)) else { return Vec::new() };
        let (id, label) = (ask.id.clone(), words::cut(&sanitize::line(&choice.label), LABEL, "…"));
        let decision = Decision::Approve(ApproveRequest { choice: Some(choice.id.clone()), input: None });
        self.hold(&id, decision, label)
    }

    fn edit(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask() else { return Vec::new() };
        if !ask.approval.as_ref().is_some_and(|approval| approval.editable) {
            self.say("The agent takes its input only as it is.");
            return Vec::new();
        }
        let (text, suffix) = draft::text_to_edit(ask);
        let text = self.draft().and_then(|draft| draft.edited.as_ref()).map_or(text, |edited| edited.text.clone());
        vec![Effect::Edit { id: ask.id.clone(), text, suffix }]
    }

    fn move_by(&mut self, down: bool) {
        if self.settings.mode == Mode::Once {
            return;
        }
        let over = self.ask().is_none_or(|ask| ask.status != AskStatus::Pending);
        let last = self.list.rows.len().saturating_sub(1);
        self.list.at = if down { (self.list.at + 1).min(last) } else { self.list.at.saturating_sub(1) };
        // A row that was decided under the cursor goes when the cursor does.
        if over {
            self.changed();
        }
    }

    fn scroll(&mut self, to: impl Fn(usize, usize, usize) -> usize) {
        let measured = self.measured;
        let last = measured.lines.saturating_sub(measured.rows);
        if let Some((_, draft)) = self.draft_mut() {
            draft.follow = false;
            draft.scroll = to(measured.at.min(last), measured.rows.saturating_sub(1).max(1), last).min(last);
        }
    }

    fn copy(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask() else { return Vec::new() };
        let text = text_of(ask);
        self.say("Copied.");
        vec![Effect::Copy(text)]
    }

    fn look_at_session(&mut self) -> Vec<Effect> {
        let session = self.ask().and_then(|ask| ask.session_id.clone());
        if session.is_none() {
            self.say("It belongs to no session.");
        }
        session.map(Effect::Session).into_iter().collect()
    }

    fn go_to_pane(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask() else { return Vec::new() };
        match self.settings.place.pane_of(ask) {
            Ok(pane) => vec![Effect::Jump(pane)],
            Err(why) => {
                self.say(why);
                Vec::new()
            }
        }
    }

    fn select(&mut self) {
        let Some(id) = self.ask().filter(|ask| ask.status == AskStatus::Pending).map(|ask| ask.id.clone()) else { return };
        if !self.selected.remove(&id) {
            self.selected.insert(id);
        }
    }

    fn select_twins(&mut self) {
        let twins = self.ask().map(|ask| self.asks.twins_of(&ask.id)).unwrap_or_default();
        self.selected = twins.into_iter().collect();
    }

    /// Esc: out of what is open, one thing after the other.
    fn back(&mut self) {
        let edited = self.draft_mut().is_some_and(|(_, draft)| draft.edited.take().is_some());
        if edited || self.leave() {
            return;
        }
        if !self.selected.is_empty() {
            self.selected.clear();
        } else if !self.filter.text().is_empty() {
            self.filter = super::field::Field::default();
            self.show_new();
        } else {
            self.notice = None;
        }
    }
}

/// Whether a key is pressed alone, or with Shift for the character that Shift makes of it.
fn is_plain(key: KeyEvent) -> bool {
    let unshifted = matches!(key.code, KeyCode::Char(character) if !character.is_uppercase());
    match key.modifiers {
        KeyModifiers::NONE => true,
        KeyModifiers::SHIFT => !unshifted,
        _ => false,
    }
}

/// What an answer says, for the person. A secret is not named.
fn label(ask: &Ask, answers: &[Vec<String>]) -> String {
    let named = ask.questions.iter().zip(answers).filter(|(_, entries)| !entries.is_empty()).map(|(question, entries)| {
        if question.secret {
            return "(secret)".to_owned();
        }
        entries.iter().map(|entry| words::entry(question, entry)).collect::<Vec<_>>().join(", ")
    });
    words::cut(&sanitize::line(&named.collect::<Vec<_>>().join("; ")), LABEL, "…")
}

/// An ask as text to copy: what is shown, so that nothing invisible is pasted somewhere.
fn text_of(ask: &Ask) -> String {
    let text = match (&ask.approval, &ask.link) {
        (Some(approval), _) => match approval.command.as_ref().or(approval.url.as_ref()) {
            Some(text) => text.clone(),
            // Pretty JSON of a JSON value cannot fail.
            None => serde_json::to_string_pretty(&approval.input).unwrap_or_default(),
        },
        (None, Some(link)) => link.url.clone(),
        (None, None) => {
            let block = |question: &sayso_client::api::ask::Question| {
                let options = question.options.iter().map(|option| format!("\n- {}", option.label));
                format!("{}{}", question.text, options.collect::<String>())
            };
            ask.questions.iter().map(block).collect::<Vec<_>>().join("\n\n")
        }
    };
    sanitize::text(&text)
}
