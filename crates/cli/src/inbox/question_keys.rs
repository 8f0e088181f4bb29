//! Keys for questions: choose options, step through questions, send the answers. Pure.

use crossterm::event::KeyCode;
use sayso_client::api::ask::Ask;

use super::draft;
use super::event::{Decision, Effect};
use super::model::{Focus, Model};
use crate::sanitize;
use crate::words;

/// Maximum width of a label in "SENDING …". Narrow screens cut it further.
pub(super) const LABEL: usize = 120;

impl Model {
    pub(super) fn key_on_question(&mut self, code: KeyCode) -> Vec<Effect> {
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

    /// Chooses an option. Moves on if the question allows only one.
    pub(super) fn choose(&mut self, at: usize, several: bool) -> Vec<Effect> {
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

    /// Moves on from an answered question: to the next question, or sends the answer if there is only one.
    pub(super) fn advance(&mut self) -> Vec<Effect> {
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

    /// Moves to the next or previous question. The review step follows the last question.
    pub(super) fn step(&mut self, on: bool) {
        if let Some((ask, draft)) = self.draft_mut()
            && ask.questions.len() > 1
        {
            let to = if on { draft.active + 1 } else { draft.active.saturating_sub(1) };
            draft.go_to(ask, if to > ask.questions.len() { 0 } else { to });
        }
    }

    /// Sends the answers, or shows the first problem and moves to its question.
    pub(super) fn submit(&mut self) -> Vec<Effect> {
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
}

/// Summarizes an answer for the person, without secrets.
fn label(ask: &Ask, answers: &[Vec<String>]) -> String {
    let named = ask.questions.iter().zip(answers).filter(|(_, entries)| !entries.is_empty()).map(|(question, entries)| {
        if question.secret {
            return "(secret)".to_owned();
        }
        entries.iter().map(|entry| words::entry(question, entry)).collect::<Vec<_>>().join(", ")
    });
    words::cut(&sanitize::line(&named.collect::<Vec<_>>().join("; ")), LABEL, "…")
}
