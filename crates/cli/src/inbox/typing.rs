//! Text fields: which field receives keys, and the effect of Enter, Tab and Esc. Pure.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use sayso_client::api::ask::NoRequest;

use super::event::Effect;
use super::field::Field;
use super::list::Settle;
use super::model::{Focus, Model};

impl Model {
    /// Returns the field that receives keys.
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

    /// Moves the focus to a field of the card.
    pub(super) fn type_into(&mut self, focus: Focus) {
        // The field is part of the draft, which may not exist yet.
        if self.draft_mut().is_some() {
            self.focus = focus;
        }
    }

    /// Updates everything that depends on the text of the field.
    pub(super) fn typed(&mut self) {
        if self.focus == Focus::Filter {
            self.unsettled = Some(Settle::Anew);
        } else if let (Focus::Rule, Some(form)) = (self.focus, &mut self.rule) {
            form.changed(self.now);
        } else if let Some((_, draft)) = self.draft_mut() {
            draft.problem = None;
        }
    }

    pub(super) fn key_in_field(&mut self, key: KeyEvent) -> Vec<Effect> {
        let plain = !key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => {
                if self.focus == Focus::Filter {
                    self.filter = Field::default();
                    self.show_new();
                }
                self.focus = Focus::Card;
            }
            // A key that is held down must not send anything.
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

    /// Handles Enter in a field.
    pub(super) fn typed_enter(&mut self) -> Vec<Effect> {
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

    /// Uses the text of the field as the answer.
    pub(super) fn take_typed(&mut self) {
        if let Some((ask, draft)) = self.draft_mut() {
            let active = draft.active;
            if let (Some(question), Some(own)) = (ask.questions.get(active), draft.questions.get_mut(active)) {
                own.typed(question);
            }
        }
    }
}
