//! Formats the questions of an ask: options, marks and typed text. Pure.

use sayso_client::api::ask::{Ask, InputKind, Question};

use super::body::{Room, line, width_str, wrapped};
use super::draft::{self, Draft, QuestionDraft};
use super::model::Focus;
use super::text::{Break, Pieces, Tone, wrap};
use crate::output::Look;
use crate::sanitize;
use crate::words;

/// Labels up to this width are aligned.
const LABEL: usize = 24;

/// Lines, and the range of the active ones.
pub(super) type Moving = (Vec<Pieces>, Option<std::ops::Range<usize>>);

/// Formats all questions.
pub(super) fn questions(ask: &Ask, draft: &Draft, room: Room, look: &Look, focus: Focus) -> Moving {
    let mut lines = Vec::new();
    let mut under_hand = None;
    let several = ask.questions.len() > 1;
    for (index, (question, own)) in ask.questions.iter().zip(&draft.questions).enumerate() {
        let active = index == draft.active;
        let start = lines.len();
        if several && !active {
            lines.extend(folded(question, own, room, look));
            continue;
        }
        if several && index > 0 {
            lines.push(Vec::new());
        }
        lines.extend(wrapped_title(question, room));
        if let Some(rule) = preselected(question) {
            lines.extend(wrapped(Tone::Dim, &rule, room.columns, 0, Break::Words));
        }
        let (options, hand) = option_lines(question, own, draft, several, room);
        under_hand = Some(hand.map_or(start..lines.len(), |hand| lines.len() + hand.start..lines.len() + hand.end));
        lines.extend(options);
        lines.extend(typed_line(question, own, room, focus));
        if several {
            lines.push(Vec::new());
        }
    }
    if several && draft.active == ask.questions.len() {
        lines.push(Vec::new());
        let answered = draft.answered(ask);
        lines.push(line(Tone::Bold, format!("{answered} of {} answered.", ask.questions.len())));
        under_hand = Some(lines.len() - 1..lines.len());
    }
    (lines, under_hand)
}

fn wrapped_title(question: &Question, room: Room) -> Vec<Pieces> {
    let header = question.header.as_deref().filter(|header| !header.is_empty());
    let header = header.map(|header| format!("[{}] ", words::cut(&sanitize::line(header), 30, "…"))).unwrap_or_default();
    let text = format!("{header}{}", sanitize::text(&question.text).trim_end());
    wrapped(Tone::Bold, &text, room.columns, 0, Break::Words)
}

fn preselected(question: &Question) -> Option<String> {
    let entries = question.preselected.as_ref().filter(|entries| !entries.is_empty())?;
    let entries: Vec<String> = entries.iter().map(|entry| sanitize::line(entry)).collect();
    Some(format!("Preselected by your rule: {}.", entries.join(", ")))
}

/// Formats an inactive question of a set in one line with its current answer.
fn folded(question: &Question, own: &QuestionDraft, room: Room, look: &Look) -> Vec<Pieces> {
    let done = own.is_answered(question);
    let sign = match (done, look.ascii) {
        (true, false) => "✓",
        (true, true) => "v",
        (false, _) => "-",
    };
    let name = sanitize::line(question.header.as_deref().unwrap_or(&question.text));
    let answer = match own.answer(question) {
        Ok(entries) if question.secret && !entries.is_empty() => "(secret)".to_owned(),
        Ok(entries) => sanitize::line(&entries.iter().map(|entry| words::entry(question, entry)).collect::<Vec<_>>().join(", ")),
        Err(_) => String::new(),
    };
    let tone = if done { Tone::Good } else { Tone::Dim };
    let name = words::cut(&name, room.columns.saturating_sub(4) / 2, look.ellipsis());
    let answer = words::cut(&answer, room.columns.saturating_sub(name.len() + 6), look.ellipsis());
    vec![vec![(tone, format!("{sign} ")), (Tone::Plain, format!("[{name}] ")), (Tone::Bold, answer)]]
}

fn option_lines(question: &Question, own: &QuestionDraft, draft: &Draft, several: bool, room: Room) -> Moving {
    let options = draft::options(question);
    let labels: Vec<String> = options.iter().map(|option| words::label(option.label)).collect();
    let column = labels.iter().map(|label| width_str(label)).filter(|width| *width <= LABEL).max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut hand = None;
    for (index, (option, label)) in options.iter().zip(&labels).enumerate() {
        let chosen = own.chosen.iter().any(|chosen| chosen == option.value);
        let description = question.options.get(index).map(words::description).unwrap_or_default();
        let description = sanitize::line(&description);
        let start = lines.len();
        let key = if several { None } else { draft::yes_no_key(question, index) };
        let head = head(index, key, draft.highlight, mark(question, chosen, several));
        let text = if description.is_empty() { label.clone() } else { format!("{}  {description}", words::pad(label, column)) };
        lines.extend(hung(&head, &text, column, room, draft.highlight == Some(index)));
        if draft.highlight == Some(index) {
            if let Some(preview) = option.preview.filter(|_| draft.preview) {
                lines.push(line(Tone::Dim, format!("    preview of {}", index + 1)));
                let text = sanitize::text(preview);
                let shown = wrap(text.trim_end(), room.columns.saturating_sub(4), 4, Break::Tokens);
                lines.extend(shown.into_iter().map(|text| line(Tone::Plain, format!("    {text}"))));
            }
            hand = Some(start..lines.len());
        }
    }
    if draft::takes_other(question) {
        let index = options.len();
        let own_words = sanitize::line(own.field.text());
        let text = match own.other {
            true => format!("Other: \"{own_words}\""),
            false => "Other: type your answer".to_owned(),
        };
        let start = lines.len();
        let head = head(index, None, draft.highlight, mark(question, own.other, several));
        lines.extend(hung(&head, &text, 0, room, draft.highlight == Some(index)));
        if draft.highlight == Some(index) {
            hand = Some(start..lines.len());
        }
    }
    (lines, hand)
}

/// Formats the start of an option: `>1 `, or ` 1 [x] ` if several may be chosen. `key` replaces the digit.
fn head(index: usize, key: Option<char>, highlight: Option<usize>, mark: &str) -> String {
    let hand = if highlight == Some(index) { ">" } else { " " };
    let key = match key {
        Some(key) => key.to_string(),
        None if index < 9 => (index + 1).to_string(),
        None => " ".to_owned(),
    };
    format!("{hand}{key} {mark}")
}

fn mark(question: &Question, chosen: bool, several: bool) -> &'static str {
    match (question.multiple, several, chosen) {
        (true, _, true) => "[x] ",
        (true, _, false) => "[ ] ",
        (false, true, true) => "(x) ",
        (false, true, false) => "( ) ",
        (false, false, _) => "",
    }
}

/// Formats a label with its description. Wrapped lines are indented to the column of the description.
fn hung(head: &str, text: &str, column: usize, room: Room, under_hand: bool) -> Vec<Pieces> {
    let indent = if column > 0 && room.columns > 60 { column + 2 } else { 0 };
    let tone = if under_hand { Tone::Sending } else { Tone::Plain };
    let lines = wrap(text, room.columns.saturating_sub(head.len()), indent, Break::Words);
    let head_of = |index: usize| if index == 0 { head.to_owned() } else { " ".repeat(head.len()) };
    lines.into_iter().enumerate().map(|(index, text)| vec![(tone, head_of(index)), (tone, text)]).collect()
}

/// Formats the kind of text that a question accepts, and the typed text.
fn typed_line(question: &Question, own: &QuestionDraft, room: Room, focus: Focus) -> Vec<Pieces> {
    if !draft::is_typed(question) {
        return Vec::new();
    }
    let kind = match question.input {
        InputKind::Number => crate::prompt::render::select(question).trim_end_matches([':', ' ']).to_owned(),
        InputKind::Text | InputKind::Choice | InputKind::YesNo if question.secret => "Secret, not shown".to_owned(),
        InputKind::Text | InputKind::Choice | InputKind::YesNo => "Text".to_owned(),
    };
    let need = if question.required { "" } else { ", optional" };
    let mut lines = vec![line(Tone::Dim, format!("{kind}{need}"))];
    let text = own.field.text();
    // During typing, the text is shown at the foot of the card instead.
    if !text.is_empty() && focus != Focus::Answer {
        let shown = if question.secret { hidden(text) } else { sanitize::text(text) };
        lines.extend(wrapped(Tone::Plain, &shown, room.columns, 0, Break::Words));
    }
    lines
}

/// Masks a secret. Only its length is visible.
pub(super) fn hidden(text: &str) -> String {
    "*".repeat(text.chars().count())
}
