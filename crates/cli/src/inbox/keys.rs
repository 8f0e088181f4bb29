//! Maps keys to actions. The keys are the same as on the page, and are off in text fields. Pure.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use sayso_client::api::ask::{ApprovalDecision, AskKind, AskStatus, NoRequest};

use super::draft;
use super::event::Effect;
use super::model::{Focus, HeldKey, Mode, Model};

/// For terminals that don't report key releases: within this time after a decision, the same key may be the first
/// repeat of a key that is held down. Longer than the initial repeat delay of common desktops.
const FIRST_REPEAT: Duration = Duration::from_millis(700);

/// Like `FIRST_REPEAT`, for later repeats. Longer than the usual repeat interval.
const NEXT_REPEAT: Duration = Duration::from_millis(200);

/// All keys, for the help.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("j k", "next, previous ask"),
    ("1-9", "choose; sends a single choice"),
    ("Up Down", "highlight an option"),
    ("Space", "select or clear an option, if several are allowed"),
    ("Enter", "send the highlighted or typed answer; open a link"),
    ("Tab", "next question"),
    ("a", "approve, yes, done"),
    ("d", "deny, no, reject"),
    ("r", "deny or reject with a reason"),
    ("D", "deny and stop the agent"),
    ("e", "edit the input or the plan in your editor"),
    ("n", "add a note to your answer"),
    ("u", "undo the decisions of the last key before they are sent"),
    ("m", "make a rule that allows this"),
    ("s", "snooze for 30 minutes, or end the snooze"),
    ("x X", "select; select identical ones"),
    ("t", "show everything the agent said"),
    ("p", "preview an option"),
    ("o", "show the session's transcript"),
    ("y", "copy the command, the address or the question"),
    ("g", "go to the agent's tmux pane"),
    ("PgUp PgDn", "scroll"),
    ("/", "filter"),
    (".", "show new asks"),
    ("z", "show or hide snoozed asks"),
    ("c", "new session"),
    ("?", "show these keys"),
    ("Esc", "leave a field, then go back"),
    ("q", "quit; held answers are sent"),
];

impl Model {
    /// Handles a key event.
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.reports_kinds |= key.kind != KeyEventKind::Press;
        if key.kind == KeyEventKind::Release {
            self.held_key.take_if(|held| held.code == key.code);
            return Vec::new();
        }
        if let KeyCode::Modifier(_) | KeyCode::CapsLock | KeyCode::NumLock | KeyCode::ScrollLock = key.code {
            return Vec::new();
        }
        // Another key was pressed, so the previous key no longer repeats.
        self.held_key.take_if(|held| held.code != key.code);
        let before = self.actions;
        let effects = self.key_down(key);
        if self.actions != before {
            self.held_key = Some(HeldKey { code: key.code, seen: self.now, gap: FIRST_REPEAT });
        }
        effects
    }

    /// Returns true if the key has been held down since it decided another card, or since before this card accepted
    /// keys.
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

    /// Returns true if a key may decide something: the card has been visible for a moment, and the key was pressed
    /// anew.
    fn may_decide(&mut self, key: KeyEvent) -> bool {
        // Keys that only move the highlight may repeat.
        if !matches!(key.code, KeyCode::Char(_) | KeyCode::Enter) {
            return self.is_ready();
        }
        let held = self.is_held(key);
        if !self.is_ready() {
            self.held_key = Some(HeldKey { code: key.code, seen: self.now, gap: NEXT_REPEAT });
            return false;
        }
        if held {
            self.show_message("Release the key, then press it again to decide this ask.");
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
                // Don't scroll beyond the first line.
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

    fn key_on_card(&mut self, key: KeyEvent) -> Vec<Effect> {
        if self.settings.mode == Mode::Once && self.is_over() {
            return self.quit();
        }
        // Keys that decide nothing work at once. The other keys wait until the card has been visible for a moment.
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
            _ if self.ask().is_some_and(|ask| ask.truncated) => self.show_message("This ask is still loading."),
            KeyCode::Char(yes_no @ ('a' | 'd')) if self.is_yes_no() => return self.choose(usize::from(yes_no == 'd'), false),
            KeyCode::Char('d') => return self.no(&NoRequest::default()),
            KeyCode::Char('D') if self.ask().is_some_and(|ask| ask.kind == AskKind::Approval) => {
                return self.no(&NoRequest { message: None, stop: true });
            }
            KeyCode::Char('r') => match self.why_not_allowed(ApprovalDecision::Deny) {
                Some(why) => self.show_message(&why),
                None => self.type_into(Focus::Reason),
            },
            KeyCode::Char('m') => return self.make_rule(),
            code => return self.key_for_kind(code),
        }
        Vec::new()
    }

    /// Returns true if `a` and `d` answer a yes-no question.
    pub(super) fn is_yes_no(&self) -> bool {
        self.selected.is_empty() && self.ask().is_some_and(draft::is_yes_no)
    }

    /// Returns true if there is no ask left to decide: none at all, or one that someone else has decided.
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
}

/// Returns true if the key is pressed without modifiers, or with Shift for the character that Shift produces.
fn is_plain(key: KeyEvent) -> bool {
    let unshifted = matches!(key.code, KeyCode::Char(character) if !character.is_uppercase());
    match key.modifiers {
        KeyModifiers::NONE => true,
        KeyModifiers::SHIFT => !unshifted,
        _ => false,
    }
}
