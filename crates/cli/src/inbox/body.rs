//! What is asked, as lines: verbatim and whole. Pure.

use sayso_client::api::ask::{ActionKind, Approval, Ask, AskKind, InputKind, Link, Preview, Question, ShownAnswer};

use super::draft::{self, Draft, QuestionDraft};
use super::model::{Focus, Model};
use super::sending::Phase;
use super::text::{Break, Pieces, Tone, width as width_of, wrap};
use crate::output::Look;
use crate::sanitize;
use crate::words;

/// Labels up to this many columns are lined up.
const LABEL: usize = 24;

/// Lines, and which of them are under the hand.
pub(super) type Moving = (Vec<Pieces>, Option<std::ops::Range<usize>>);

/// How the card is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) columns: usize,
    pub(super) height: Height,
}

/// How many lines there are for a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Height {
    Tall,
    Normal,
    Small,
}

impl Height {
    /// How many lines of what the agent said are shown at first.
    const fn context(self) -> usize {
        match self {
            Self::Tall => 3,
            Self::Normal => 2,
            Self::Small => 0,
        }
    }
}

fn line(tone: Tone, text: impl Into<String>) -> Pieces {
    vec![(tone, text.into())]
}

fn wrapped(tone: Tone, text: &str, columns: usize, hanging: usize, how: Break) -> Vec<Pieces> {
    wrap(text, columns, hanging, how).into_iter().map(|text| line(tone, text)).collect()
}

/// The part that does not change while the person decides. It may be long, and is kept between drawings.
pub(super) fn fixed(ask: &Ask, draft: Option<&Draft>, room: Room, look: &Look) -> Vec<Pieces> {
    let mut lines = context(ask, draft.is_some_and(|draft| draft.whole_context), room, look);
    if !lines.is_empty() && room.height != Height::Small {
        lines.push(Vec::new());
    }
    match (ask.kind, &ask.approval, &ask.link) {
        (AskKind::Approval, Some(approval), _) => lines.extend(approval_lines(ask, approval, draft, room, look)),
        (AskKind::Link, _, Some(link)) => lines.extend(link_lines(link, room)),
        (AskKind::Question | AskKind::Approval | AskKind::Link, _, _) => {}
    }
    lines
}

fn context(ask: &Ask, whole: bool, room: Room, look: &Look) -> Vec<Pieces> {
    let Some(said) = ask.context.as_deref().map(str::trim).filter(|said| !said.is_empty()) else { return Vec::new() };
    let bar = format!("{} ", look.bar());
    let all = wrap(&sanitize::text(said), room.columns.saturating_sub(2), 0, Break::Words);
    let most = room.height.context();
    let shown = if whole { all.len() } else { all.len().min(most) };
    let mut lines = Vec::new();
    if room.height == Height::Tall {
        lines.push(line(Tone::Dim, "Before asking, the agent said"));
    }
    lines.extend(all.iter().take(shown).map(|text| vec![(Tone::Dim, bar.clone()), (Tone::Plain, text.clone())]));
    if all.len() > most {
        let more = match (whole, room.height) {
            (true, _) => "[t] less".to_owned(),
            (false, Height::Small) => "[t] what the agent said before".to_owned(),
            (false, Height::Tall | Height::Normal) => format!("[t] all {} lines", all.len()),
        };
        let last = lines.last_mut().filter(|last| width_of(last) + more.len() + 2 <= room.columns);
        match last {
            Some(last) => {
                let gap = room.columns - width_of(last) - more.len();
                last.push((Tone::Dim, format!("{}{more}", " ".repeat(gap))));
            }
            None => lines.push(line(Tone::Dim, more)),
        }
    }
    lines
}

fn approval_lines(ask: &Ask, approval: &Approval, draft: Option<&Draft>, room: Room, look: &Look) -> Vec<Pieces> {
    let columns = room.columns;
    let tool = sanitize::line(&approval.tool);
    let mut lines = wrapped(Tone::Bold, &heading(approval), columns, 4, Break::Words);
    // The reason takes a line of its own only where it does not fit next to the heading.
    let mut why = words::why(ask);
    if let Some(last) = lines.last_mut()
        && let Some(short) = why.take_if(|why| width_of(last) + width_str(why) + width_str(&tool) + 6 <= columns)
    {
        last.push((Tone::Dim, format!("   {short}")));
    }
    if let Some(last) = lines.last_mut().filter(|last| width_of(last) + 3 + width_str(&tool) <= columns) {
        let gap = columns - width_of(last) - width_str(&tool);
        last.push((Tone::Dim, format!("{}{tool}", " ".repeat(gap))));
    } else {
        lines.push(line(Tone::Dim, tool));
    }
    if let Some(why) = why {
        lines.extend(wrapped(Tone::Dim, &why, columns, 0, Break::Words));
    }
    if let Some(reason) = &approval.reason {
        let reason = format!("The agent's reason: {}", sanitize::text(reason));
        lines.extend(wrapped(Tone::Plain, &reason, columns, 0, Break::Words));
    }
    // With few lines, a diff needs them more than the eye needs a gap.
    if room.height == Height::Tall || !matches!(approval.preview, Some(Preview::Diff { .. })) {
        lines.push(Vec::new());
    }
    match draft.and_then(|draft| draft.edited.as_ref()) {
        Some(edited) => {
            lines.push(line(Tone::Waiting, "Your changes, which are approved instead. Esc discards them."));
            lines.extend(wrapped(Tone::Plain, &sanitize::text(&edited.text), columns, 4, Break::Tokens));
        }
        None => lines.extend(preview_lines(approval, room, look)),
    }
    if approval.action == ActionKind::Plan {
        lines.push(line(Tone::Dim, "Deny keeps the agent in plan mode."));
    }
    if !approval.choices.is_empty() {
        lines.push(Vec::new());
        lines.push(line(Tone::Dim, "Stop asking for this:"));
        for (index, choice) in approval.choices.iter().enumerate() {
            let key = if index < 9 { (index + 1).to_string() } else { " ".to_owned() };
            let text = format!(" {key} {}", sanitize::line(&choice.label));
            lines.extend(wrapped(Tone::Plain, &text, columns, 3, Break::Words));
        }
        let owner = format!("\"Always\" is saved in {}; rules are saved in Sayso.", sanitize::line(&ask.agent));
        lines.extend(wrapped(Tone::Dim, &owner, columns, 0, Break::Words));
    }
    lines
}

fn heading(approval: &Approval) -> String {
    match approval.action {
        ActionKind::Run => "Run a command".to_owned(),
        ActionKind::Plan => "Start with this plan?".to_owned(),
        ActionKind::Edit | ActionKind::Read | ActionKind::Fetch | ActionKind::Mcp | ActionKind::Mode | ActionKind::Other => {
            sanitize::line(&approval.title)
        }
    }
}

fn preview_lines(approval: &Approval, room: Room, look: &Look) -> Vec<Pieces> {
    let columns = room.columns;
    let command_lines = |command: &str| {
        let text = sanitize::text(command).replace('\n', "\n  ");
        wrapped(Tone::Plain, &format!("$ {text}"), columns, 4, Break::Tokens)
    };
    match &approval.preview {
        Some(Preview::Command { command, cwd }) => {
            let mut lines = command_lines(command);
            if let Some(cwd) = cwd {
                let cwd = format!("in {}", words::directory(cwd, look));
                lines.extend(wrapped(Tone::Dim, &cwd, columns, 4, Break::Tokens));
            }
            lines
        }
        Some(Preview::Diff { files }) => {
            let mut lines = Vec::new();
            for file in files {
                let (added, removed) = counts(&file.diff);
                lines.extend(wrapped(Tone::Bold, &sanitize::line(&file.path), columns, 4, Break::Tokens));
                let stat = format!("+{added} -{removed}");
                if let Some(last) = lines.last_mut().filter(|last| width_of(last) + 2 + stat.len() <= columns) {
                    let gap = columns - width_of(last) - stat.len();
                    last.push((Tone::Plain, format!("{}{stat}", " ".repeat(gap))));
                }
                lines.extend(diff_lines(&file.diff, columns));
            }
            lines
        }
        Some(Preview::Plan { text } | Preview::Text { text }) => {
            wrapped(Tone::Plain, sanitize::text(text).trim_end(), columns, 0, Break::Words)
        }
        None => match &approval.command {
            Some(command) => command_lines(command),
            None => {
                // Pretty JSON of a JSON value cannot fail.
                let input = serde_json::to_string_pretty(&approval.input).unwrap_or_default();
                wrapped(Tone::Plain, &sanitize::text(&input), columns, 4, Break::Tokens)
            }
        },
    }
}

/// How many lines a diff adds and removes.
fn counts(diff: &str) -> (usize, usize) {
    let count = |sign: char, heading: &str| diff.lines().filter(|l| l.starts_with(sign) && !l.starts_with(heading)).count();
    (count('+', "+++"), count('-', "---"))
}

/// A diff, every line of it, with line numbers where there is room for them. A line that is too long goes on below
/// its own code, next to an empty gutter.
fn diff_lines(diff: &str, columns: usize) -> Vec<Pieces> {
    let clean = sanitize::text(diff);
    let numbers = columns >= 38;
    let digits = number_width(&clean);
    let mut at: Option<(u64, u64)> = None;
    let mut lines = Vec::new();
    for text in clean.lines() {
        let sign = text.chars().next();
        let tone = match (sign, at) {
            (Some('@'), _) => Tone::Dim,
            (Some('+'), _) => Tone::Good,
            (Some('-'), _) => Tone::Bad,
            (Some(_) | None, _) => Tone::Plain,
        };
        if text.starts_with("@@") {
            at = hunk(text);
            lines.extend(wrapped(tone, text, columns, 4, Break::Tokens));
            continue;
        }
        // The sign, the code's own indentation, and two columns more.
        let code = text.get(1..).unwrap_or_default();
        let hanging = (3 + code.len() - code.trim_start_matches(' ').len()).min(columns / 3);
        let (Some((old, new)), true) = (at, numbers) else {
            lines.extend(wrapped(tone, text, columns, hanging, Break::Tokens));
            continue;
        };
        let (left, right, next) = match sign {
            Some('+') => (String::new(), new.to_string(), (old, new + 1)),
            Some('-') => (old.to_string(), String::new(), (old + 1, new)),
            Some(' ') | None => (old.to_string(), new.to_string(), (old + 1, new + 1)),
            Some(_) => (String::new(), String::new(), (old, new)),
        };
        at = Some(next);
        let numbers = format!("{left:>digits$} {right:>digits$} ");
        for (index, part) in wrap(text, columns.saturating_sub(numbers.len()), hanging, Break::Tokens).into_iter().enumerate() {
            let before = if index == 0 { numbers.clone() } else { " ".repeat(numbers.len()) };
            lines.push(vec![(Tone::Dim, before), (tone, part)]);
        }
    }
    lines
}

/// How many digits the largest line number of a diff has.
fn number_width(diff: &str) -> usize {
    let lines = diff.lines().filter(|line| line.starts_with("@@")).filter_map(hunk);
    let first = lines.map(|(old, new)| old.max(new)).max().unwrap_or(0);
    let last = first.saturating_add(u64::try_from(diff.lines().count()).unwrap_or(0));
    last.to_string().len().max(2)
}

/// Where a hunk begins: `@@ -42,7 +42,9 @@`.
fn hunk(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_whitespace().skip(1);
    let mut number = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        word.split(',').next()?.parse::<u64>().ok().filter(|number| *number < 100_000_000)
    };
    Some((number('-')?, number('+')?))
}

fn link_lines(link: &Link, room: Room) -> Vec<Pieces> {
    let mut lines = vec![line(Tone::Bold, "Open a link")];
    if let Some(message) = link.message.as_deref().filter(|message| !message.is_empty()) {
        lines.extend(wrapped(Tone::Plain, &sanitize::text(message), room.columns, 0, Break::Words));
    }
    lines.push(Vec::new());
    let url = sanitize::line(&link.url);
    lines.extend(wrapped(Tone::Plain, &url, room.columns, 0, Break::Tokens));
    if let Some(host) = crate::prompt::render::host_of(&url) {
        lines.push(vec![(Tone::Dim, "Host: ".to_owned()), (Tone::Bold, host.to_owned())]);
    }
    lines
}

/// The part that changes with every key, and the lines of it that are under the hand.
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

/// A question of a set that is not under the hand: one line, and what stands for it.
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

fn width_str(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// `>1 `, or ` 1 [x] ` where several may be chosen. `key` takes the place of the digit.
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

/// A head, and text beside it whose further lines stand below its second column.
fn hung(head: &str, text: &str, column: usize, room: Room, under_hand: bool) -> Vec<Pieces> {
    let indent = if column > 0 && room.columns > 60 { column + 2 } else { 0 };
    let tone = if under_hand { Tone::Sending } else { Tone::Plain };
    let lines = wrap(text, room.columns.saturating_sub(head.len()), indent, Break::Words);
    let head_of = |index: usize| if index == 0 { head.to_owned() } else { " ".repeat(head.len()) };
    lines.into_iter().enumerate().map(|(index, text)| vec![(tone, head_of(index)), (tone, text)]).collect()
}

/// What kind of text a question takes, and what stands there.
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
    // While it is being typed it stands at the foot of the card.
    if !text.is_empty() && focus != Focus::Answer {
        let shown = if question.secret { hidden(text) } else { sanitize::text(text) };
        lines.extend(wrapped(Tone::Plain, &shown, room.columns, 0, Break::Words));
    }
    lines
}

/// A secret: how much of it there is, and nothing else.
pub(super) fn hidden(text: &str) -> String {
    "*".repeat(text.chars().count())
}

/// How an ask ended, for everybody who looks at it.
pub(super) fn result(model: &Model, ask: &Ask, room: Room, look: &Look) -> Vec<Pieces> {
    let mut lines = Vec::new();
    let good = if look.ascii { "v" } else { "✓" };
    if let Some(answers) = ask.outcome.as_ref().and_then(|outcome| outcome.answers.as_ref()) {
        for (question, answer) in ask.questions.iter().zip(answers) {
            let name = sanitize::line(question.header.as_deref().unwrap_or(&question.text));
            let name = words::cut(&name, 30, look.ellipsis());
            let said = match answer {
                ShownAnswer::Secret { .. } => "Secret sent, not stored".to_owned(),
                ShownAnswer::Entries(entries) if entries.is_empty() => "No answer".to_owned(),
                ShownAnswer::Entries(entries) => {
                    let quoted = entries.iter().map(|entry| format!("\"{}\"", words::entry(question, entry)));
                    format!("Selected: {}", quoted.collect::<Vec<_>>().join(", "))
                }
            };
            lines.extend(wrapped(Tone::Good, &format!("{good} [{name}] {said}"), room.columns, 2, Break::Words));
        }
    }
    if let Some(note) = ask.outcome.as_ref().and_then(|outcome| outcome.note.as_ref()) {
        lines.extend(wrapped(Tone::Plain, &format!("Note: {}", sanitize::text(note)), room.columns, 0, Break::Words));
    }
    lines.extend(wrapped(Tone::Plain, &words::state(ask), room.columns, 0, Break::Words));
    if let Some(lost) = model.sending(&ask.id).filter(|sending| sending.phase == Phase::TooLate) {
        let text = format!("Your answer \"{}\" wasn't sent.", lost.label);
        lines.extend(wrapped(Tone::Waiting, &text, room.columns, 0, Break::Words));
    } else if let Some(draft) = model.draft() {
        // Words that somebody was typing when another one was first; they may be needed elsewhere.
        let typed = ask.questions.iter().zip(&draft.questions).filter(|(question, _)| !question.secret);
        let typed = typed.map(|(_, own)| own.field.text()).chain([draft.reason.text(), draft.note.text()]);
        for text in typed.filter(|text| !text.trim().is_empty()) {
            let text = format!("Not sent: \"{}\"", sanitize::text(text));
            lines.extend(wrapped(Tone::Waiting, &text, room.columns, 0, Break::Words));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, look};

    fn plain(lines: &[Pieces]) -> Vec<String> {
        lines.iter().map(|line| line.iter().map(|(_, text)| text.as_str()).collect()).collect()
    }

    #[test]
    fn every_line_of_a_diff_is_there_with_its_numbers() {
        let diff =
            "--- a\n+++ b\n@@ -42,3 +42,4 @@ fn refund()\n let a;\n-old\n+new\n+more\n end\n\\ No newline at end of file\n";
        let shown = plain(&diff_lines(diff, 70));
        assert_eq!(
            shown,
            [
                "--- a",
                "+++ b",
                "@@ -42,3 +42,4 @@ fn refund()",
                "42 42  let a;",
                "43    -old",
                "   43 +new",
                "   44 +more",
                "44 45  end",
                "      \\ No newline at end of file",
            ]
        );
        assert_eq!(counts(diff), (2, 1));
        assert_eq!(plain(&diff_lines("@@ -x +y @@\n+a", 70)), ["@@ -x +y @@", "+a"]);
        assert_eq!(plain(&diff_lines("@@ -1 +1 @@\n+a", 30)), ["@@ -1 +1 @@", "+a"]);
        // A long line goes on below its own code.
        let long = "@@ -1 +1 @@\n+    let refund = self.gateway.refund(&payment, amount);";
        let wrapped =
            ["@@ -1 +1 @@", "    1 +    let refund = ", "             self.gateway.refund(&payment, ", "             amount);"];
        assert_eq!(plain(&diff_lines(long, 44)), wrapped);
    }

    #[test]
    fn a_long_command_is_shown_whole() {
        let mut ask = approval_ask();
        let command = format!("echo {}\nrm -rf ./build", "x".repeat(500));
        ask.approval.as_mut().unwrap().preview = Some(Preview::Command { command: command.clone(), cwd: None });
        let room = Room { columns: 38, height: Height::Small };
        let lines = plain(&preview_lines(ask.approval.as_ref().unwrap(), room, &look()));
        assert!(lines.iter().all(|line| line.len() <= 38), "{lines:?}");
        let joined: String = lines.iter().map(|line| line.trim_start()).collect();
        assert_eq!(joined.matches('x').count(), 500);
        assert!(joined.ends_with("rm -rf ./build"), "{joined}");
    }
}
