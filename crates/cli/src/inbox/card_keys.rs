//! Keys that work on all cards: approve, move, select, copy, go back. Pure.

use sayso_client::api::ask::{ApprovalDecision, ApproveRequest, Ask, AskKind, AskStatus};

use super::draft;
use super::event::{Decision, Effect};
use super::model::{Mode, Model};
use super::question_keys::LABEL;
use crate::sanitize;
use crate::words;

impl Model {
    /// Approves the selected asks, or the ask under the cursor.
    pub(super) fn approve(&mut self) -> Vec<Effect> {
        let edited = self.draft().and_then(|draft| draft.edited.as_ref()).map(|edited| edited.input.clone());
        let several = self.selected.len();
        let wanted = if edited.is_some() && several == 0 { ApprovalDecision::Edit } else { ApprovalDecision::Approve };
        if let Some(why) = self.why_not_allowed(wanted) {
            self.show_message(&why);
            return Vec::new();
        }
        self.decide_each(|ask| {
            if !ask.approval.as_ref().is_none_or(|approval| approval.allows(wanted)) {
                return None;
            }
            let input = edited.clone().filter(|_| several == 0);
            let label = match (ask.kind, &input) {
                (AskKind::Link, _) => "Done",
                (AskKind::Approval | AskKind::Question, Some(_)) => "Approve with changes",
                (AskKind::Approval | AskKind::Question, None) => "Approve",
            };
            let whole = !ask.truncated && ask.kind != AskKind::Question;
            whole.then(|| {
                (Decision::Approve(ApproveRequest { choice: None, input, ..ApproveRequest::default() }), label.to_owned())
            })
        })
    }

    /// Approves with one of the agent's own choices.
    pub(super) fn approve_with(&mut self, digit: char) -> Vec<Effect> {
        if let Some(why) = self.why_not_allowed(ApprovalDecision::Approve) {
            self.show_message(&why);
            return Vec::new();
        }
        let Some(ask) = self.ask() else { return Vec::new() };
        let choices = ask.approval.as_ref().map(|approval| approval.choices.as_slice()).unwrap_or_default();
        let at = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).and_then(|digit| digit.checked_sub(1));
        let Some(choice) = at.and_then(|at| choices.get(at)) else { return Vec::new() };
        let (id, label) = (ask.id.clone(), words::cut(&sanitize::line(&choice.label), LABEL, "…"));
        let decision = Decision::Approve(ApproveRequest { choice: Some(choice.id.clone()), ..ApproveRequest::default() });
        self.hold(&id, decision, label)
    }

    pub(super) fn edit(&mut self) -> Vec<Effect> {
        if let Some(why) = self.why_not_allowed(ApprovalDecision::Edit) {
            self.show_message(&why);
            return Vec::new();
        }
        let Some(ask) = self.ask().filter(|ask| ask.approval.is_some()) else { return Vec::new() };
        let (text, suffix) = draft::text_to_edit(ask);
        let text = self.draft().and_then(|draft| draft.edited.as_ref()).map_or(text, |edited| edited.text.clone());
        vec![Effect::Edit { id: ask.id.clone(), text, suffix }]
    }

    pub(super) fn move_by(&mut self, down: bool) {
        if self.settings.mode == Mode::Once {
            return;
        }
        let over = self.ask().is_none_or(|ask| ask.status != AskStatus::Pending);
        let last = self.list.rows.len().saturating_sub(1);
        self.list.at = if down { (self.list.at + 1).min(last) } else { self.list.at.saturating_sub(1) };
        // A row that was decided under the cursor disappears when the cursor moves.
        if over {
            self.changed();
        }
    }

    pub(super) fn scroll(&mut self, to: impl Fn(usize, usize, usize) -> usize) {
        let measured = self.measured;
        let last = measured.lines.saturating_sub(measured.rows);
        if let Some((_, draft)) = self.draft_mut() {
            draft.follow = false;
            draft.scroll = to(measured.at.min(last), measured.rows.saturating_sub(1).max(1), last).min(last);
        }
    }

    pub(super) fn copy(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask() else { return Vec::new() };
        let text = text_of(ask);
        self.show_message("Copied.");
        vec![Effect::Copy(text)]
    }

    pub(super) fn look_at_session(&mut self) -> Vec<Effect> {
        let session = self.ask().and_then(|ask| ask.session_id.clone());
        if session.is_none() {
            self.show_message("This ask has no session.");
        }
        session.map(Effect::Session).into_iter().collect()
    }

    pub(super) fn go_to_pane(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask() else { return Vec::new() };
        match self.settings.place.pane_of(ask) {
            Ok(pane) => vec![Effect::Jump(pane)],
            Err(why) => {
                self.show_message(why);
                Vec::new()
            }
        }
    }

    pub(super) fn select(&mut self) {
        let Some(id) = self.ask().filter(|ask| ask.status == AskStatus::Pending).map(|ask| ask.id.clone()) else { return };
        if !self.selected.remove(&id) {
            self.selected.insert(id);
        }
    }

    pub(super) fn select_twins(&mut self) {
        let twins = self.ask().map(|ask| self.asks.twins_of(&ask.id)).unwrap_or_default();
        self.selected = twins.into_iter().collect();
    }

    /// Handles Esc: each press closes one thing.
    pub(super) fn back(&mut self) {
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

/// Returns the text that `y` copies. Sanitized like the card, so that invisible characters are not copied.
fn text_of(ask: &Ask) -> String {
    let text = match (&ask.approval, &ask.link) {
        (Some(approval), _) => match approval.command.as_ref().or(approval.url.as_ref()) {
            Some(text) => text.clone(),
            // Serializing a JSON value cannot fail.
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
