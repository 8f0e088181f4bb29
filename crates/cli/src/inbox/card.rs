//! The head and the foot of the open ask: its state, the available actions, and typed text. Pure.

use sayso_client::api::ask::{ApprovalDecision, Ask, AskKind, AskStatus, Reach};
use sayso_core::time::in_short;
use unicode_width::UnicodeWidthStr;

use super::asks::is_undelivered;
use super::body::{self, Room};
use super::draft::{self, Draft};
use super::field::Field;
use super::list_view;
use super::model::{Focus, Model};
use super::question_body::{self, Moving, hidden};
use super::sending::{Phase, Why};
use super::text::{Break, Pieces, Tone, width, wrap};
use super::view::clock;
use crate::output::Look;
use crate::sanitize;
use crate::words;

/// Formats the state: `? WAITING FOR YOU  24m                      No deadline`.
pub(super) fn state_line(model: &Model, ask: &Ask, columns: usize, look: &Look) -> Pieces {
    let (sign, tone) = list_view::sign(model, ask, look);
    let sending = model.sending(&ask.id).filter(|sending| sending.phase.is_under_way());
    let left = match (sending, ask.status) {
        (Some(sending), AskStatus::Pending) => {
            let (verb, in_) = match sending.phase {
                Phase::Held(_) if model.is_lost() => ("QUEUED", ". No connection. u undo".to_owned()),
                Phase::Held(until) => {
                    ("SENDING", format!(" in {} s. u undo", until.since(model.now).as_millis().div_ceil(1_000)))
                }
                Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => ("SENDING", String::new()),
            };
            let room = columns.saturating_sub(14 + in_.len()).max(8);
            format!("{verb} \"{}\"{in_}", words::cut(&sending.label, room, look.ellipsis()))
        }
        (_, AskStatus::Pending) => format!("{}  {}", waiting_words(model, ask), in_short(model.now.since(ask.opened_at))),
        (_, _) => decided_words(model, ask),
    };
    let right = match ask.status {
        AskStatus::Pending if sending.is_none() => words::deadline(ask, model.now),
        _ => String::new(),
    };
    let mut line = vec![(tone, format!("{sign} ")), (tone, words::cut(&left, columns.saturating_sub(2), look.ellipsis()))];
    let used = width(&line);
    if !right.is_empty() && used + 2 + right.width() <= columns {
        let tone = if ask.deadline_at.is_some() { Tone::Waiting } else { Tone::Dim };
        line.push((tone, format!("{}{right}", " ".repeat(columns - used - right.width()))));
    }
    line
}

fn waiting_words(model: &Model, ask: &Ask) -> String {
    match ask.snoozed_until.filter(|until| *until > model.now) {
        Some(until) => format!("SNOOZED until {}", clock(until, &model.settings.zone)),
        None if ask.reach == Some(Reach::Parked) => "PARKED".to_owned(),
        None => match ask.kind {
            AskKind::Question => "WAITING FOR YOU".to_owned(),
            AskKind::Approval | AskKind::Link => "WAITING FOR YOUR APPROVAL".to_owned(),
        },
    }
}

fn decided_words(model: &Model, ask: &Ask) -> String {
    let at = ask.outcome.as_ref().map(|outcome| clock(outcome.at, &model.settings.zone)).unwrap_or_default();
    let timed_out = ask.outcome.as_ref().is_some_and(|outcome| outcome.by.kind == "timeout");
    let word = match ask.status {
        _ if is_undelivered(ask) => "NOT DELIVERED",
        AskStatus::Rejected | AskStatus::Denied if timed_out => "NO ANSWER",
        AskStatus::Pending => "WAITING",
        AskStatus::Answered => "ANSWERED",
        AskStatus::Approved => "APPROVED",
        AskStatus::Rejected => "REJECTED",
        AskStatus::Denied => "DENIED",
        AskStatus::Withdrawn => "WITHDRAWN",
    };
    format!("{word} {at}")
}

/// Formats the source: `claude · Store login sessions · shop-api @ feat/sessions · sub-agent explore`.
pub(super) fn source_line(ask: &Ask, columns: usize, look: &Look) -> Pieces {
    let title = sanitize::line(&ask.title);
    let has_title = !title.is_empty();
    let mut facts = vec![words::asker(ask), title];
    let branch = ask.branch.as_deref().map(|branch| format!("@ {}", sanitize::line(branch))).unwrap_or_default();
    facts.push(format!("{} {branch}", words::project(ask)).trim().to_owned());
    if let Some(subagent) = &ask.subagent {
        facts.push(format!("sub-agent {}", sanitize::line(subagent)));
    }
    facts.retain(|fact| !fact.is_empty());
    let joined = |facts: &[String]| facts.join(&format!(" {} ", look.dot()));
    // If there is too little space, the title is shortened. The project must stay readable.
    let excess = joined(&facts).width().saturating_sub(columns);
    if let Some(title) = facts.get_mut(1).filter(|_| has_title && excess > 0) {
        let room = title.width().saturating_sub(excess).max(8);
        *title = words::cut(title, room, look.ellipsis());
    }
    vec![(Tone::Dim, words::cut(&joined(&facts), columns, look.ellipsis()))]
}

/// Formats the lines that change while the person decides, and returns which of them are active.
pub(super) fn moving(model: &Model, ask: &Ask, room: Room, look: &Look) -> Moving {
    if ask.status != AskStatus::Pending {
        let mut lines = vec![];
        if ask.kind == AskKind::Question {
            lines.extend(ask.questions.iter().flat_map(|question| {
                wrap(sanitize::text(&question.text).trim_end(), room.columns, 0, Break::Words)
                    .into_iter()
                    .map(|text| vec![(Tone::Bold, text)])
            }));
        }
        lines.push(Vec::new());
        lines.extend(body::result(model, ask, room, look));
        return (lines, None);
    }
    let fresh;
    let draft = match model.draft() {
        Some(draft) => draft,
        None => {
            fresh = Draft::new(ask);
            &fresh
        }
    };
    let (mut lines, hand) = question_body::questions(ask, draft, room, look, model.focus);
    let mut above = 0;
    if ask.reach == Some(Reach::Parked) {
        lines.insert(0, vec![(Tone::Parked, "The agent stopped. Answering restarts it.".to_owned())]);
        above = 1;
    }
    (lines, hand.map(|hand| hand.start + above..hand.end + above))
}

/// The lines at the bottom of the card, and the position of the text cursor in them.
pub(super) struct Foot {
    pub(super) lines: Vec<Pieces>,
    pub(super) cursor: Option<(usize, usize)>,
}

/// Formats problems, typed text and available actions.
pub(super) fn foot(model: &Model, ask: &Ask, columns: usize, most: usize, look: &Look) -> Foot {
    let draft = model.draft();
    let mut lines: Vec<Pieces> = Vec::new();
    let mut cursor = None;
    if let Some(problem) = draft.and_then(|draft| draft.problem.as_deref()) {
        lines.extend(wrap(&sanitize::line(problem), columns, 0, Break::Words).into_iter().map(|text| vec![(Tone::Bad, text)]));
    }
    if let Some(Phase::Again(why)) = model.sending(&ask.id).map(|sending| sending.phase) {
        let told = match why {
            Why::Waited => "Not sent: the connection was lost for more than a minute. Press the key again to approve.",
            Why::Changed => "Not sent: this ask changed after you decided. Review it, then press the key again.",
        };
        lines.extend(wrap(told, columns, 0, Break::Words).into_iter().map(|text| vec![(Tone::Waiting, text)]));
    }
    let typing = draft.and_then(|draft| typing(model, ask, draft));
    if let Some((label, field, secret)) = typing {
        let (typed, at) = field_lines(label, field, secret, columns, look);
        cursor = Some((lines.len() + at.0, at.1));
        lines.extend(typed);
    } else if let Some(note) = draft.map(|draft| draft.note.text().trim()).filter(|note| !note.is_empty()) {
        let note = words::cut(&sanitize::line(note), columns.saturating_sub(6), look.ellipsis());
        lines.push(vec![(Tone::Dim, "Note: ".to_owned()), (Tone::Plain, note)]);
    }
    lines.extend(packed(&actions(model, ask, draft), columns).into_iter().map(|text| vec![(Tone::Plain, text)]));
    // In a very small terminal, the last lines are the most useful.
    let cut = lines.len().saturating_sub(most);
    Foot { lines: lines.split_off(cut), cursor: cursor.and_then(|(line, column)| Some((line.checked_sub(cut)?, column))) }
}

/// Wraps actions into lines without splitting an action, if possible. Uses shorter labels if one line is not enough.
fn packed(actions: &str, columns: usize) -> Vec<String> {
    const SHORT: [(&str, &str); 3] =
        [("r deny with reason", "r reason"), ("r reject with reason", "r reason"), ("D deny and stop", "D stop")];
    let too_long = actions.width() > columns;
    let mut lines: Vec<String> = Vec::new();
    for action in actions.split("   ") {
        let shorter = SHORT.iter().find(|(long, _)| *long == action && too_long);
        let action = shorter.map_or(action, |(_, short)| short);
        match lines.last_mut() {
            Some(line) if line.width() + 3 + action.width() <= columns => {
                line.push_str("   ");
                line.push_str(action);
            }
            Some(_) | None => lines.extend(wrap(action, columns, 0, Break::Words)),
        }
    }
    lines
}

fn typing<'a>(model: &Model, ask: &Ask, draft: &'a Draft) -> Option<(&'static str, &'a Field, bool)> {
    match model.focus {
        Focus::Answer => {
            let question = ask.questions.get(draft.active)?;
            let label = if question.secret { "Secret: " } else { "Answer: " };
            Some((label, &draft.questions.get(draft.active)?.field, question.secret))
        }
        Focus::Note => Some(("Note for the agent: ", &draft.note, false)),
        Focus::Reason => Some(("Why? The agent will see this: ", &draft.reason, false)),
        Focus::Card | Focus::Filter | Focus::Help(_) | Focus::Session(_) | Focus::Rule | Focus::Start => None,
    }
}

/// Formats the typed text, the last lines if it is long, and the position of the cursor in them.
fn field_lines(label: &str, field: &Field, secret: bool, columns: usize, look: &Look) -> (Vec<Pieces>, (usize, usize)) {
    const MOST: usize = 5;
    let shown = |text: &str| if secret { hidden(text) } else { sanitize::text(text) };
    let (before, behind) = field.around();
    let (before, behind) = (shown(before), shown(behind));
    let lead = wrap(&format!("{label}{before}"), columns, 0, Break::Anywhere);
    let (mut row, mut column) = (lead.len().saturating_sub(1), lead.last().map_or(0, |line| line.width()));
    if column >= columns {
        (row, column) = (row + 1, 0);
    }
    let mut all = wrap(&format!("{label}{before}{behind}"), columns, 0, Break::Anywhere);
    if all.len() <= row {
        all.push(String::new());
    }
    let first = row.saturating_sub(MOST - 1);
    let mut lines: Vec<Pieces> = Vec::new();
    for (index, text) in all.into_iter().enumerate().skip(first).take(MOST) {
        let line = match text.strip_prefix(label).filter(|_| index == 0) {
            Some(rest) => vec![(Tone::Bold, label.to_owned()), (Tone::Plain, rest.to_owned())],
            None => vec![(Tone::Plain, text)],
        };
        lines.push(line);
    }
    if first > 0
        && let Some(line) = lines.first_mut()
    {
        line.insert(0, (Tone::Dim, look.ellipsis().to_owned()));
    }
    (lines, (row - first, column))
}

/// Lists the available actions.
fn actions(model: &Model, ask: &Ask, draft: Option<&Draft>) -> String {
    match model.focus {
        Focus::Answer if ask.questions.len() == 1 => return "Enter send   Alt-Enter new line   Esc back".to_owned(),
        Focus::Answer => return "Enter next question   Alt-Enter new line   Esc back".to_owned(),
        Focus::Note => return "Enter add the note to your answer   Esc back".to_owned(),
        Focus::Reason => return "Enter send with this reason   Esc back".to_owned(),
        Focus::Card | Focus::Filter | Focus::Help(_) | Focus::Session(_) | Focus::Rule | Focus::Start => {}
    }
    if ask.status != AskStatus::Pending {
        return if is_undelivered(ask) { "Enter send as message   Esc dismiss".to_owned() } else { String::new() };
    }
    match model.sending(&ask.id).map(|sending| sending.phase) {
        Some(Phase::Held(_)) if model.is_lost() => return "u undo. Sends after reconnecting.".to_owned(),
        Some(Phase::Held(_)) => return "u undo. Sends when the time is up, or when you leave.".to_owned(),
        Some(Phase::Checking | Phase::Going | Phase::TooLate) => return String::new(),
        Some(Phase::Again(_)) | None => {}
    }
    if ask.truncated {
        return "Loading the rest of this ask.".to_owned();
    }
    let selected = model.selected.len();
    match ask.kind {
        AskKind::Approval | AskKind::Link if selected > 1 => format!("a approve {selected}   d deny {selected}   Esc back"),
        AskKind::Approval => {
            let approval = ask.approval.as_ref();
            let plan = approval.is_some_and(|approval| approval.action == sayso_client::api::ask::ActionKind::Plan);
            let yes = match (draft.is_some_and(|draft| draft.edited.is_some()), plan) {
                (true, _) => "a approve with changes",
                (false, true) => "a approve plan",
                (false, false) => "a approve",
            };
            let allows = |decision| approval.is_none_or(|approval| approval.allows(decision));
            let edited = draft.is_some_and(|draft| draft.edited.is_some());
            let always = match approval.map_or(0, |approval| approval.choices.len()) {
                0 => String::new(),
                1 => "1 always".to_owned(),
                several => format!("1-{} always", several.min(9)),
            };
            let (approves, denies) = (allows(ApprovalDecision::Approve), allows(ApprovalDecision::Deny));
            [
                (approves || edited, yes),
                (denies, "d deny   r deny with reason   D deny and stop"),
                (allows(ApprovalDecision::Edit), "e edit"),
                (true, "m rule"),
                (approves && !always.is_empty(), always.as_str()),
            ]
            .into_iter()
            .filter_map(|(offered, keys)| offered.then_some(keys))
            .collect::<Vec<_>>()
            .join("   ")
        }
        AskKind::Link => "Enter open   a done   d deny   r deny with reason   y copy".to_owned(),
        AskKind::Question if model.is_yes_no() => "a yes   d no   n note   r reject with reason".to_owned(),
        AskKind::Question => format!("{}   n note   d reject   r reject with reason", question_actions(ask, draft)),
    }
}

fn question_actions(ask: &Ask, draft: Option<&Draft>) -> String {
    let fresh;
    let draft = match draft {
        Some(draft) => draft,
        None => {
            fresh = Draft::new(ask);
            &fresh
        }
    };
    let Some(question) = ask.questions.get(draft.active) else {
        return "Enter submit all answers   Tab first question".to_owned();
    };
    let several = ask.questions.len() > 1;
    if draft::is_typed(question) {
        return if several { "Enter type   Tab next question".to_owned() } else { "Enter type your answer".to_owned() };
    }
    let options = draft::options(question);
    let most = (options.len() + usize::from(draft::takes_other(question))).min(9);
    let preview = match draft.highlight.and_then(|at| options.get(at)) {
        Some(option) if option.preview.is_some() => "   p preview",
        Some(_) | None => "",
    };
    if question.multiple {
        let enter = if several { "Enter next question" } else { "Enter submit" };
        return format!("1-{most} or Space choose   {enter}{preview}");
    }
    match draft.highlight {
        Some(at) if at >= options.len() => "Enter type your answer".to_owned(),
        Some(at) => {
            let label = options.get(at).map(|option| words::label(option.label)).unwrap_or_default();
            let verb = if several { "chooses" } else { "sends" };
            format!("Enter {verb} \"{}\".{preview}", words::cut(&label, 40, "…"))
        }
        None if several => format!("1-{most} choose   Tab next question"),
        None => format!("1-{most} pick one to send it"),
    }
}
