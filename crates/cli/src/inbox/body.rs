//! Formats the content of an ask as lines, complete and verbatim. Pure.

use sayso_client::api::ask::{ActionKind, Approval, Ask, AskKind, Link, Preview, ShownAnswer};

use super::draft::Draft;
use super::model::{CardFiles, Model};
use super::sending::Phase;
use super::text::{Break, Pieces, Tone, width as width_of, wrap};
use crate::files::{self, FileLine};
use crate::output::Look;
use crate::sanitize;
use crate::words;

/// Space for the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) columns: usize,
    pub(super) height: Height,
}

/// Classes of card height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Height {
    Tall,
    Normal,
    Small,
}

impl Height {
    /// Number of context lines to show before the person asks for all.
    const fn context(self) -> usize {
        match self {
            Self::Tall => 3,
            Self::Normal => 2,
            Self::Small => 0,
        }
    }
}

pub(super) fn line(tone: Tone, text: impl Into<String>) -> Pieces {
    vec![(tone, text.into())]
}

pub(super) fn wrapped(tone: Tone, text: &str, columns: usize, hanging: usize, how: Break) -> Vec<Pieces> {
    wrap(text, columns, hanging, how).into_iter().map(|text| line(tone, text)).collect()
}

/// Formats the lines that don't change while the person decides. They can be many, so the caller caches them.
pub(super) fn fixed(ask: &Ask, files: Option<&CardFiles>, draft: Option<&Draft>, room: Room, look: &Look) -> Vec<Pieces> {
    let mut lines = context(ask, draft.is_some_and(|draft| draft.whole_context), room, look);
    if !lines.is_empty() && room.height != Height::Small {
        lines.push(Vec::new());
    }
    match (ask.kind, &ask.approval, &ask.link) {
        (AskKind::Approval, Some(approval), _) => lines.extend(approval_lines(ask, approval, files, draft, room, look)),
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

fn approval_lines(
    ask: &Ask,
    approval: &Approval,
    files: Option<&CardFiles>,
    draft: Option<&Draft>,
    room: Room,
    look: &Look,
) -> Vec<Pieces> {
    let columns = room.columns;
    let digest = words::short_digest(ask);
    let tool = sanitize::line(&approval.tool);
    let tool = if digest.is_empty() { tool } else { format!("{tool}  {digest}") };
    let mut lines = wrapped(Tone::Bold, &heading(approval), columns, 4, Break::Words);
    // The reason goes on its own line if it does not fit next to the heading.
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
    // In small cards, a diff needs the space of this empty line.
    if room.height == Height::Tall || !matches!(approval.preview, Some(Preview::Diff { .. })) {
        lines.push(Vec::new());
    }
    match draft.and_then(|draft| draft.edited.as_ref()) {
        Some(edited) => {
            lines.push(line(Tone::Waiting, "Your changes. They are approved instead; Esc discards them."));
            lines.extend(wrapped(Tone::Plain, &sanitize::text(&edited.text), columns, 4, Break::Tokens));
        }
        None => lines.extend(preview_lines(approval, room, look)),
    }
    lines.extend(file_lines(ask, files, columns));
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

/// Formats the files that the command executes.
fn file_lines(ask: &Ask, files: Option<&CardFiles>, columns: usize) -> Vec<Pieces> {
    let changes = files.map(|files| files.changes.as_slice()).unwrap_or_default();
    let said = files::lines(ask, files.and_then(|files| files.read.as_ref()), changes);
    let drawn = said.into_iter().flat_map(|said| match said {
        FileLine::Heading(text) => wrapped(Tone::Bold, &text, columns, 4, Break::Tokens),
        FileLine::Text(text) => wrapped(Tone::Plain, &format!("  {text}"), columns, 4, Break::Tokens),
        FileLine::Note(text) => wrapped(Tone::Dim, &text, columns, 0, Break::Words),
    });
    let mut lines: Vec<Pieces> = drawn.collect();
    if !lines.is_empty() {
        lines.insert(0, Vec::new());
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
                // Serializing a JSON value cannot fail.
                let input = serde_json::to_string_pretty(&approval.input).unwrap_or_default();
                wrapped(Tone::Plain, &sanitize::text(&input), columns, 4, Break::Tokens)
            }
        },
    }
}

/// Counts the added and removed lines of a diff.
fn counts(diff: &str) -> (usize, usize) {
    let count = |sign: char, heading: &str| diff.lines().filter(|l| l.starts_with(sign) && !l.starts_with(heading)).count();
    (count('+', "+++"), count('-', "---"))
}

/// Formats all lines of a diff, with line numbers if there is enough space. Wrapped lines are indented below their
/// code, next to an empty gutter.
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
        // Width of the sign, of the code's own indentation, and of two more columns.
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

/// Returns the number of digits of the largest line number in a diff.
fn number_width(diff: &str) -> usize {
    let lines = diff.lines().filter(|line| line.starts_with("@@")).filter_map(hunk);
    let first = lines.map(|(old, new)| old.max(new)).max().unwrap_or(0);
    let last = first.saturating_add(u64::try_from(diff.lines().count()).unwrap_or(0));
    last.to_string().len().max(2)
}

/// Parses the start lines of a hunk header such as `@@ -42,7 +42,9 @@`.
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

/// Formats the outcome of an ask.
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
        // Text that was being typed when someone else decided first. The person may need it elsewhere.
        let typed = ask.questions.iter().zip(&draft.questions).filter(|(question, _)| !question.secret);
        let typed = typed.map(|(_, own)| own.field.text()).chain([draft.reason.text(), draft.note.text()]);
        for text in typed.filter(|text| !text.trim().is_empty()) {
            let text = format!("Not sent: \"{}\"", sanitize::text(text));
            lines.extend(wrapped(Tone::Waiting, &text, room.columns, 0, Break::Words));
        }
    }
    lines
}

pub(super) fn width_str(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, look};

    fn plain(lines: &[Pieces]) -> Vec<String> {
        lines.iter().map(|line| line.iter().map(|(_, text)| text.as_str()).collect()).collect()
    }

    #[test]
    fn diff_lines_have_line_numbers() {
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
        // A long line is wrapped below its own code.
        let long = "@@ -1 +1 @@\n+    let refund = self.gateway.refund(&payment, amount);";
        let wrapped =
            ["@@ -1 +1 @@", "    1 +    let refund = ", "             self.gateway.refund(&payment, ", "             amount);"];
        assert_eq!(plain(&diff_lines(long, 44)), wrapped);
    }

    #[test]
    fn long_command_is_wrapped_completely() {
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
