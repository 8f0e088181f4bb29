//! Draws the forms of the inbox: a new rule and a new session.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use sayso_client::api::ask::Ask;
use unicode_width::UnicodeWidthStr;

use super::field::Field;
use super::model::Model;
use super::rule::{LINES, Lasting, RuleForm};
use super::start::StartForm;
use super::text::{self, Break, Pieces, Tone, wrap};
use crate::output::Look;
use crate::sanitize;
use crate::words;

/// Number of asks to list that the rule would have decided differently.
const NAMED: usize = 3;
/// Column where input starts.
const COLUMN: usize = 12;

/// The lines of a form, the index of the active line, and the column of the text cursor.
#[derive(Default)]
struct Lines {
    all: Vec<Pieces>,
    hand: usize,
    cursor: Option<usize>,
    columns: usize,
}

impl Lines {
    fn push_line(&mut self, tone: Tone, text: &str) {
        let parts = wrap(&sanitize::text(text), self.columns, 0, Break::Words);
        self.all.extend(parts.into_iter().map(|part| vec![(tone, part)]));
    }

    /// Adds a line that can be active.
    fn line(&mut self, name: &str, is_under_hand: bool, rest: Pieces) {
        let sign = if is_under_hand { ">" } else { " " };
        if is_under_hand {
            self.hand = self.all.len();
        }
        let mut line = vec![(Tone::Dim, words::pad(&format!("{sign} {name}"), COLUMN))];
        line.extend(rest);
        self.all.push(line);
    }

    /// Adds a text field. If the text is too long, its beginning is cut.
    fn field(&mut self, name: &str, is_under_hand: bool, field: &Field) {
        let room = self.columns.saturating_sub(COLUMN + 1).max(4);
        let clean = |text: &str| sanitize::line(&text.replace('\n', " "));
        let (before, behind) = (clean(field.around().0), clean(field.around().1));
        let mut shown = before;
        while shown.width() >= room {
            shown.remove(0);
        }
        if is_under_hand {
            self.cursor = Some(COLUMN + shown.width());
        }
        self.line(name, is_under_hand, vec![(Tone::Plain, format!("{shown}{behind}"))]);
    }

    /// Adds a line with one chosen value.
    fn choice<'a>(&mut self, name: &str, is_under_hand: bool, all: impl Iterator<Item = (&'a str, bool)>) {
        let pieces = all.flat_map(|(words, chosen)| {
            let words = sanitize::line(words);
            let shown = if chosen { (Tone::Bold, format!("[{words}]")) } else { (Tone::Dim, format!(" {words} ")) };
            [shown, (Tone::Plain, " ".to_owned())]
        });
        self.line(name, is_under_hand, pieces.collect());
    }

    fn draw(self, buffer: &mut Buffer, area: Rect, look: &Look) -> Option<Position> {
        let rows = usize::from(area.height);
        let top = (self.hand + 1).saturating_sub(rows);
        for (y, line) in (area.y..area.bottom()).zip(self.all.iter().skip(top)) {
            text::write(buffer, (area.x, y), area.width, line, look);
        }
        let column = u16::try_from(self.cursor?).ok()?;
        let y = area.y.saturating_add(u16::try_from(self.hand - top).ok()?);
        Some(Position { x: area.x.saturating_add(column).min(area.right().saturating_sub(1)), y })
    }
}

/// Draws the open form and returns the position of the text cursor.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, look: &Look) -> Option<Position> {
    let lines = Lines { columns: usize::from(area.width), ..Lines::default() };
    match (&model.rule, &model.start) {
        (Some(form), _) => rule(lines, model, form, look).draw(buffer, area, look),
        (None, Some(form)) => session(lines, form).draw(buffer, area, look),
        (None, None) => None,
    }
}

/// Describes the keys of the open form.
pub(super) fn keys(model: &Model) -> String {
    match (&model.rule, &model.start) {
        (Some(form), _) => {
            let released = form.releases().filter(|(_, released)| *released).count();
            let save = if released == 0 { "save".to_owned() } else { format!("save and approve {released}") };
            format!(" Enter {save}  Ctrl-S save only  Up/Down  Space change  Esc cancel")
        }
        (None, _) => " Enter start  Up/Down  Space change  Esc cancel".to_owned(),
    }
}

fn rule(mut lines: Lines, model: &Model, form: &RuleForm, look: &Look) -> Lines {
    lines.push_line(Tone::Bold, "Make a rule");
    lines.push_line(Tone::Dim, "Allow this from now on without asking.");
    lines.push_line(Tone::Plain, "");
    let project = form.project.as_deref().map(|project| words::directory(project, look));
    let places = project.iter().map(|project| (project.as_str(), !form.everywhere));
    lines.field(form.rule().about.words(), form.at == 0, &form.pattern);
    lines.choice("Where", form.at == 1, places.chain([("everywhere", form.everywhere)]));
    lines.choice("For", form.at == 2, Lasting::ALL.iter().map(|(lasting, words)| (*words, *lasting == form.lasting)));
    lines.push_line(Tone::Plain, "");
    if form.lasting == Lasting::NoEnd {
        lines.push_line(Tone::Dim, "This will be added at the end of policy.toml:");
        lines.push_line(Tone::Dim, form.rule().toml().trim_end());
        lines.push_line(Tone::Plain, "");
    }
    if let Some(problem) = &form.problem {
        lines.push_line(Tone::Bad, problem);
    }
    let Some(trial) = form.trial() else {
        if form.problem.is_none() {
            lines.push_line(Tone::Dim, "Testing the rule on your recent asks.");
        }
        return lines;
    };
    let told = format!(
        "Would have decided {} of your recent asks: {} same as you, {} different.",
        trial.decided,
        trial.as_you_did,
        trial.otherwise.len()
    );
    lines.push_line(Tone::Plain, &told);
    for summary in trial.otherwise.iter().take(NAMED) {
        let room = lines.columns.saturating_sub(4);
        let summary = words::cut(&sanitize::line(summary), room, look.ellipsis());
        lines.push_line(Tone::Waiting, &format!("  ! {summary}"));
    }
    if trial.otherwise.len() > NAMED {
        lines.push_line(Tone::Waiting, &format!("  and {} more", trial.otherwise.len() - NAMED));
    }
    if !trial.releases.is_empty() {
        lines.push_line(Tone::Plain, "");
        lines.push_line(Tone::Plain, "Also approve these waiting asks");
    }
    for (index, (id, released)) in form.releases().enumerate() {
        let mark = if released { "[x]" } else { "[ ]" };
        let said = model.asks.get(id).map(released_line).unwrap_or_default();
        let room = lines.columns.saturating_sub(7);
        let is_under_hand = form.at == LINES + index;
        if is_under_hand {
            lines.hand = lines.all.len();
        }
        let sign = if is_under_hand { ">" } else { " " };
        lines.all.push(vec![(Tone::Plain, format!("{sign} {mark} {}", words::cut(&said, room, look.ellipsis())))]);
    }
    lines
}

fn released_line(ask: &Ask) -> String {
    let branch = ask.branch.as_deref().map(sanitize::line).unwrap_or_else(|| words::project(ask));
    format!("{}   {}, {branch}", words::subject(ask), sanitize::line(&ask.agent))
}

fn session(mut lines: Lines, form: &StartForm) -> Lines {
    lines.push_line(Tone::Bold, "New session");
    lines.push_line(Tone::Dim, "Its asks appear in this inbox.");
    lines.push_line(Tone::Plain, "");
    lines.field("Prompt", form.at == 0, &form.prompt);
    let agents = form.agents.as_deref().unwrap_or_default();
    lines.choice("Agent", form.at == 1, agents.iter().enumerate().map(|(at, name)| (name.as_str(), at == form.agent)));
    lines.field("Directory", form.at == 2, &form.directory);
    if let Some(problem) = &form.problem {
        lines.push_line(Tone::Plain, "");
        lines.push_line(Tone::Bad, problem);
    }
    lines
}
