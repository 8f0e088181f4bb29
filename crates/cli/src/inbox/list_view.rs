//! Draws the rows of the inbox. Only visible rows are computed.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;
use sayso_client::api::ask::{Ask, AskStatus, OnTimeout, Reach, ShownAnswer};
use sayso_core::time::in_short;
use unicode_width::UnicodeWidthStr;

use super::asks::is_undelivered;
use super::model::Model;
use super::text::{self, Tone};
use crate::output::Look;
use crate::sanitize;
use crate::words;

/// Layout of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Two lines per row.
    pub(super) two_lines: bool,
    /// A heading above each group.
    pub(super) groups: bool,
}

/// The range of rows that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// Index after the last drawn row.
    pub(super) end: usize,
}

/// Returns the height of a row in lines, including its heading.
fn height(model: &Model, at: usize, first: bool, shape: Shape) -> u16 {
    let heading = shape.groups && (first || group_begins(model, at));
    1 + u16::from(shape.two_lines) + u16::from(heading)
}

fn group_begins(model: &Model, at: usize) -> bool {
    let group = |at: usize| model.list.rows.get(at).map(|row| row.group);
    at == 0 || group(at) != group(at - 1)
}

/// Draws the rows around the cursor. `top` is the first visible row and changes only if necessary.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, look: &Look, top: &mut usize, shape: Shape) -> Seen {
    let at = model.list.at;
    let rows = model.list.rows.len();
    let fits = |top: usize| {
        let needed = (top..=at).map(|row| height(model, row, row == top, shape)).map(usize::from).sum::<usize>();
        needed <= usize::from(area.height)
    };
    *top = (*top).min(at);
    // Skips distant rows without stepping through them.
    *top = (*top).max(at.saturating_sub(usize::from(area.height)));
    while *top < at && !fits(*top) {
        *top += 1;
    }
    // Scrolls back if there is empty space below the last row, because the window grew or rows disappeared.
    let all_fit = |top: usize| {
        let mut room = usize::from(area.height);
        (top..rows).all(|row| {
            let needed = usize::from(height(model, row, row == top, shape));
            let fits = needed <= room;
            room = room.saturating_sub(needed);
            fits
        })
    };
    while *top > 0 && all_fit(*top - 1) {
        *top -= 1;
    }
    let columns = Columns::of(model, *top, area);
    let mut y = area.y;
    let mut row = *top;
    while row < rows {
        let needed = height(model, row, row == *top, shape);
        if y + needed > area.bottom() {
            break;
        }
        if shape.groups && (row == *top || group_begins(model, row)) {
            heading(buffer, area, y, model, row, look);
            y += 1;
        }
        let at_row = Rect { y, height: 1 + u16::from(shape.two_lines), ..area };
        if shape.two_lines {
            two_lines(buffer, at_row, model, row, look)
        } else {
            one_line(buffer, at_row, model, row, look, &columns)
        }
        if row == at {
            buffer.set_style(at_row, ratatui_core::style::Style::new().add_modifier(Modifier::REVERSED));
        }
        y += at_row.height;
        row += 1;
    }
    if shape.groups && model.list.folded > 0 && y < area.bottom() {
        let told = format!(" Snoozed {}, z shows them", model.list.folded);
        text::write(buffer, (area.x, y), area.width, &[(Tone::Dim, told)], look);
        y += 1;
    }
    if shape.groups && model.list.hidden > 0 && y < area.bottom() {
        let told = format!(" {}, . shows them", words::count(model.list.hidden, "new ask", "new asks"));
        text::write(buffer, (area.x, area.bottom() - 1), area.width, &[(Tone::Waiting, told)], look);
    }
    Seen { end: row }
}

fn heading(buffer: &mut Buffer, area: Rect, y: u16, model: &Model, row: usize, look: &Look) {
    let Some(group) = model.list.rows.get(row).map(|row| row.group) else { return };
    let count = model.list.groups.get(group.title()).copied().unwrap_or(0);
    let title = format!(" {} {count} ", group.title());
    let rest = usize::from(area.width).saturating_sub(title.width() + 1);
    let sign = if look.ascii { "-" } else { "─" };
    text::write(buffer, (area.x, y), area.width, &[(Tone::Dim, format!("{title}{}", sign.repeat(rest)))], look);
}

/// Column widths for rows of one line.
struct Columns {
    who: usize,
    fact: usize,
    age: usize,
}

impl Columns {
    fn of(model: &Model, top: usize, area: Rect) -> Self {
        let seen = model.list.rows.iter().skip(top).take(usize::from(area.height));
        let asks: Vec<&Ask> = seen.filter_map(|row| model.asks.get(&row.id)).collect();
        let widest = |width: &dyn Fn(&Ask) -> usize, most: usize| asks.iter().map(|ask| width(ask)).max().unwrap_or(0).min(most);
        let age = widest(&|ask| age(model, ask).width(), 6);
        let fact = if area.width >= 50 { widest(&|ask| fact(model, ask).width(), 18) } else { 0 };
        // The agent and project are cut only to leave space for the subject.
        let subject = widest(&|ask| words::subject(ask).width(), usize::MAX);
        let left = usize::from(area.width).saturating_sub(5 + subject + age + fact + 6);
        let who = if area.width >= 70 { widest(&|ask| agent_and_project(ask).width(), left.max(22)) } else { 0 };
        Self { who, fact, age }
    }
}

fn agent_and_project(ask: &Ask) -> String {
    format!("{} {}", sanitize::line(&ask.agent), words::project(ask)).trim_end().to_owned()
}

fn age(model: &Model, ask: &Ask) -> String {
    let since = ask.outcome.as_ref().map_or(ask.opened_at, |outcome| outcome.at);
    in_short(model.now.since(since))
}

fn one_line(buffer: &mut Buffer, area: Rect, model: &Model, row: usize, look: &Look, columns: &Columns) {
    let Some(ask) = model.list.rows.get(row).and_then(|row| model.asks.get(&row.id)) else { return };
    let gap = |width: usize| if width > 0 { width + 2 } else { 0 };
    let fixed = 4 + gap(columns.who) + gap(columns.fact) + gap(columns.age) + 1;
    let room = usize::from(area.width).saturating_sub(fixed);
    let subject = words::pad(&words::cut(&words::subject(ask), room, look.ellipsis()), room);
    let (sign, tone) = sign(model, ask, look);
    let mut line = vec![(Tone::Plain, before(model, ask, row)), (tone, sign), (Tone::Plain, format!(" {subject}"))];
    if columns.who > 0 {
        let who = words::cut(&agent_and_project(ask), columns.who, look.ellipsis());
        line.push((Tone::Dim, format!("  {}", words::pad(&who, columns.who))));
    }
    for (text, width) in [(fact(model, ask), columns.fact), (age(model, ask), columns.age)] {
        if width > 0 {
            let text = words::cut(&text, width, look.ellipsis());
            line.push((Tone::Plain, format!("  {}{text}", " ".repeat(width.saturating_sub(text.width())))));
        }
    }
    text::write(buffer, (area.x, area.y), area.width, &line, look);
}

fn two_lines(buffer: &mut Buffer, area: Rect, model: &Model, row: usize, look: &Look) {
    let Some(ask) = model.list.rows.get(row).and_then(|row| model.asks.get(&row.id)) else { return };
    let width = usize::from(area.width).saturating_sub(1);
    let (sign, tone) = sign(model, ask, look);
    let age = age(model, ask);
    let room = width.saturating_sub(4 + age.width() + 2);
    let subject = words::pad(&words::cut(&words::subject(ask), room, look.ellipsis()), room);
    let first = [(Tone::Plain, before(model, ask, row)), (tone, sign), (Tone::Plain, format!(" {subject}  {age}"))];
    text::write(buffer, (area.x, area.y), area.width, &first, look);

    let fact = fact(model, ask);
    let branch = ask.branch.as_deref().map(|branch| format!(" @ {}", sanitize::line(branch))).unwrap_or_default();
    let place = match words::project(ask) {
        project if project.is_empty() => sanitize::line(&ask.agent),
        project => format!("{} {} {project}{branch}", sanitize::line(&ask.agent), look.dot()),
    };
    let room = width.saturating_sub(4 + fact.width() + 2);
    let place = words::pad(&words::cut(&place, room, look.ellipsis()), room);
    let tone = if ask.deadline_at.is_some() { Tone::Waiting } else { Tone::Plain };
    text::write(buffer, (area.x, area.y + 1), area.width, &[(Tone::Dim, format!("    {place}  ")), (tone, fact)], look);
}

/// Returns `> ` for the cursor and ` x` for a selected row.
fn before(model: &Model, ask: &Ask, row: usize) -> String {
    match (row == model.list.at, model.selected.contains(&ask.id)) {
        (true, true) => ">x".to_owned(),
        (true, false) => "> ".to_owned(),
        (false, true) => " x".to_owned(),
        (false, false) => "  ".to_owned(),
    }
}

/// Returns the sign of an ask and its tone.
pub(super) fn sign(model: &Model, ask: &Ask, look: &Look) -> (String, Tone) {
    let plain = Look { colour: false, ..look.clone() };
    if model.is_busy(&ask.id) && ask.status == AskStatus::Pending {
        return ("^".to_owned(), Tone::Sending);
    }
    let tone = match ask.status {
        _ if is_undelivered(ask) => Tone::Waiting,
        AskStatus::Answered | AskStatus::Approved => Tone::Good,
        AskStatus::Rejected | AskStatus::Denied => Tone::Bad,
        AskStatus::Withdrawn => Tone::Dim,
        AskStatus::Pending if crate::order::is_snoozed(ask, model.now) => Tone::Dim,
        AskStatus::Pending if ask.reach == Some(Reach::Parked) => Tone::Parked,
        AskStatus::Pending => Tone::Waiting,
    };
    (words::sign(ask, &plain), tone)
}

/// Returns the fact at the right end of a row.
pub(super) fn fact(model: &Model, ask: &Ask) -> String {
    if model.is_busy(&ask.id) && ask.status == AskStatus::Pending {
        return if model.is_lost() { "queued" } else { "sending" }.to_owned();
    }
    if ask.status != AskStatus::Pending {
        let first = ask.outcome.as_ref().and_then(|outcome| outcome.answers.as_ref()).and_then(|answers| answers.first());
        return match (ask.status, first) {
            _ if is_undelivered(ask) => "not delivered".to_owned(),
            (AskStatus::Answered, Some(ShownAnswer::Entries(entries))) if !entries.is_empty() => {
                let said = |entry: &String| {
                    ask.questions.first().map_or_else(|| entry.clone(), |question| words::entry(question, entry))
                };
                sanitize::line(&entries.iter().map(said).collect::<Vec<_>>().join(", "))
            }
            (AskStatus::Answered, _) => "answered".to_owned(),
            (AskStatus::Approved, _) => "approved".to_owned(),
            (AskStatus::Rejected, _) => "rejected".to_owned(),
            (AskStatus::Denied, _) => "denied".to_owned(),
            (AskStatus::Withdrawn, _) => "withdrawn".to_owned(),
            (AskStatus::Pending, _) => String::new(),
        };
    }
    let identical = model.asks.twins(&ask.id);
    let said = words::fact(ask, model.now);
    let first = ask.deadline_at.is_some() || ask.on_timeout == Some(OnTimeout::Deny);
    if identical > 1 && !first && ask.reach != Some(Reach::Parked) { format!("x{identical}") } else { said }
}
