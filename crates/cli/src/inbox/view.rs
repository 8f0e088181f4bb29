//! Draws the inbox: the list, the open ask and the keys. Pure except for a cache of long asks.

use std::rc::Rc;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Modifier;
use ratatui_core::terminal::Frame;
use sayso_client::api::ask::Preview;
use unicode_width::UnicodeWidthStr;

use super::body::{self, Height, Room};
use super::card;
use super::event::Away;
use super::form_view;
use super::keys::KEYS;
use super::list_view;
use super::model::{CardFiles, Connection, FilesRevision, Focus, Measured, Mode, Model};
use super::text::{self, Break, Pieces, Tone, wrap};
use crate::output::Look;
use crate::sanitize;
use crate::words;

/// Minimum width at which the list is drawn next to the ask.
const WIDE: u16 = 100;
/// Minimum height at which rows have two lines.
const TALL: u16 = 30;
/// Below this height, separator lines are omitted.
const SHORT: u16 = 16;

/// State that is kept between drawings.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Index of the first visible row.
    pub(super) top: usize,
    /// Cached lines of the ask that was drawn last, with the key that they depend on.
    fixed: Option<(Key, Rc<Vec<Pieces>>)>,
}

/// The inputs that the cached lines depend on.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    id: String,
    revision: u64,
    columns: usize,
    height: Height,
    files: Option<FilesRevision>,
    whole_context: bool,
    edited: Option<String>,
}

/// The areas of the screen.
struct Parts {
    top: Rect,
    list: Rect,
    /// Row of the separator between list and ask, if the list is above the ask.
    between: Option<u16>,
    /// Column of the separator between list and ask, if they are next to each other.
    side_separator: Option<u16>,
    ask: Rect,
    keys: u16,
    rules: bool,
}

fn parts(area: Rect, model: &Model) -> Parts {
    let rules = area.height >= SHORT;
    let head = 1 + u16::from(rules);
    let foot = 1 + u16::from(rules);
    let middle = Rect { y: area.y + head, height: area.height.saturating_sub(head + foot), ..area };
    let top = Rect { height: 1.min(area.height), ..area };
    let keys = area.bottom().saturating_sub(1);
    let none = Rect { width: 0, height: 0, ..middle };
    if model.settings.mode == Mode::Once {
        return Parts { top, list: none, between: None, side_separator: None, ask: middle, keys, rules };
    }
    if area.width >= WIDE {
        let width = (area.width * 3 / 8).clamp(36, 60);
        let list = Rect { width: width - 1, ..middle };
        let ask = Rect { x: area.x + width, width: area.width - width, ..middle };
        return Parts { top, list, between: None, side_separator: Some(area.x + width - 1), ask, keys, rules };
    }
    let rows = u16::try_from(model.list.rows.len()).unwrap_or(u16::MAX).max(1);
    let each = if area.height >= TALL { 2 } else { 1 };
    // A diff or a plan needs the lines more than the list.
    let long = model.ask().and_then(|ask| ask.approval.as_ref()).is_some_and(|approval| {
        matches!(approval.preview, Some(Preview::Diff { .. } | Preview::Plan { .. } | Preview::Text { .. }))
    });
    let most = match middle.height {
        0..=11 => 2,
        12..=17 => 3,
        18..=25 if long => 4,
        18..=25 => 6,
        _ => middle.height / 3,
    };
    let height = rows.saturating_mul(each).min(most).min(middle.height.saturating_sub(2));
    let list = Rect { height, ..middle };
    let ask = Rect { y: middle.y + height + 1, height: middle.height.saturating_sub(height + 1), ..middle };
    Parts { top, list, between: Some(middle.y + height), side_separator: None, ask, keys, rules }
}

/// Draws the whole screen and returns the measurements of the card.
pub(crate) fn draw(frame: &mut Frame<'_>, model: &Model, look: &Look, kept: &mut Kept) -> Measured {
    let area = frame.area();
    if area.width < 10 || area.height < 6 {
        text::write(frame.buffer_mut(), (area.x, area.y), area.width, &[(Tone::Plain, "Too small".to_owned())], look);
        return Measured::default();
    }
    let parts = parts(area, model);
    let buffer = frame.buffer_mut();
    top_line(buffer, parts.top, model, look);
    if parts.rules {
        rule(buffer, area, parts.top.bottom(), look);
        rule(buffer, area, parts.keys.saturating_sub(1), look);
    }
    keys_line(buffer, Rect { y: parts.keys, height: 1, ..area }, model, look);
    if let Focus::Help(scrolled) = model.focus {
        help(buffer, below(area, &parts), scrolled, look);
        return model.measured;
    }
    if let Focus::Session(up) = model.focus {
        return session(buffer, below(area, &parts), model, up, look);
    }
    if let Focus::Rule | Focus::Start = model.focus {
        if let Some(position) = form_view::draw(buffer, inset(below(area, &parts)), model, look) {
            frame.set_cursor_position(position);
        }
        return model.measured;
    }
    if let Some(x) = parts.side_separator {
        let (bar, tee, foot) = if look.ascii { ("|", "-", "-") } else { ("│", "┬", "┴") };
        for y in parts.list.y..parts.list.bottom() {
            buffer.set_string(x, y, bar, Tone::Dim.style(look));
        }
        if parts.rules {
            buffer.set_string(x, parts.list.y.saturating_sub(1), tee, Tone::Dim.style(look));
            buffer.set_string(x, parts.list.bottom(), foot, Tone::Dim.style(look));
        }
    }
    if parts.list.height > 0 {
        let two_lines = area.height >= TALL;
        let groups = two_lines && parts.side_separator.is_some();
        let seen = list_view::draw(buffer, parts.list, model, look, &mut kept.top, list_view::Shape { two_lines, groups });
        if let Some(y) = parts.between {
            between(buffer, area, y, model, seen, look);
        }
    }
    let mut cursor = None;
    let measured = match model.ask() {
        None => {
            nothing(buffer, parts.ask, model, look);
            Measured::default()
        }
        Some(_) => card_in(buffer, inset(parts.ask), model, look, kept, &mut cursor),
    };
    if model.focus == Focus::Filter {
        let at = u16::try_from(model.filter.around().0.width()).unwrap_or(u16::MAX);
        cursor = Some(Position { x: area.x.saturating_add(9).saturating_add(at).min(area.right() - 1), y: parts.keys });
    }
    if let Some(position) = cursor {
        frame.set_cursor_position(position);
    }
    measured
}

/// Returns the area between the first and the last line.
fn below(area: Rect, parts: &Parts) -> Rect {
    let y = parts.top.bottom() + u16::from(parts.rules);
    Rect { y, height: parts.keys.saturating_sub(u16::from(parts.rules)).saturating_sub(y), ..area }
}

fn inset(area: Rect) -> Rect {
    Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }
}

fn rule(buffer: &mut Buffer, area: Rect, y: u16, look: &Look) {
    let sign = if look.ascii { "-" } else { "─" };
    buffer.set_string(area.x, y, sign.repeat(usize::from(area.width)), Tone::Dim.style(look));
}

/// Draws the first line: the decision being sent or the number of pending asks, and the connection.
fn top_line(buffer: &mut Buffer, area: Rect, model: &Model, look: &Look) {
    let time = clock(model.now, &model.settings.zone);
    let (state, tone) = match model.connection {
        Connection::Loading => ("connecting".to_owned(), Tone::Dim),
        Connection::Connected => ("connected".to_owned(), Tone::Dim),
        Connection::Lost { again } => {
            let seconds = again.since(model.now).as_millis().div_ceil(1_000);
            let told = if area.width < 60 { "DISCONNECTED, again" } else { "DISCONNECTED. Trying again" };
            (format!("{told} in {seconds} s."), Tone::Waiting)
        }
    };
    let waiting = format!("{} waiting", model.list.waiting);
    let mut left: Pieces = vec![(Tone::Bold, " Sayso".to_owned())];
    let mut right: Pieces = vec![(tone, state.clone()), (Tone::Dim, format!("  {time} "))];
    let lost = model.is_lost();
    if let Some(away) = away(model, area.width) {
        right.insert(0, (Tone::Dim, format!("{away}   ")));
    }
    if let (Some((sending, until)), false) = (model.held_decision(), lost) {
        let seconds = until.since(model.now).as_millis().div_ceil(1_000);
        let room = usize::from(area.width).saturating_sub(54).max(8);
        let label = words::cut(&sending.label, room, look.ellipsis());
        let (times, all) = match model.held_together() {
            0 | 1 => (String::new(), ""),
            several => (format!(" x{several}"), " all"),
        };
        left.push((Tone::Sending, format!("   SENDING \"{label}\"{times} in {seconds} s")));
        left.push((Tone::Bold, "   u".to_owned()));
        left.push((Tone::Plain, format!(" undo{all}")));
        right = vec![(Tone::Plain, waiting), (Tone::Dim, format!("  {time} "))];
    } else if model.queued() != (0, 0) {
        left.push((Tone::Sending, format!("   {}", queued_words(model))));
    } else {
        let tone = if model.list.waiting > 0 { Tone::Waiting } else { Tone::Plain };
        left.push((Tone::Plain, "   Inbox  ".to_owned()));
        left.push((tone, waiting));
        let working = model.asks.working();
        if working > 0 && area.width >= 70 {
            left.push((Tone::Dim, format!("   {} working", words::count(working, "agent", "agents"))));
        }
    }
    let width = usize::from(area.width);
    if text::width(&left) + text::width(&right) + 1 > width {
        right.truncate(1);
        right.push((Tone::Plain, " ".to_owned()));
    }
    if text::width(&left) + text::width(&right) + 1 > width && lost {
        left.truncate(1);
    }
    text::write(buffer, (area.x, area.y), area.width, &left, look);
    let used = text::width(&right);
    if text::width(&left) + used < width {
        let x = area.right().saturating_sub(u16::try_from(used).unwrap_or(0));
        text::write(buffer, (x, area.y), area.width, &right, look);
    }
}

/// Describes queued decisions, and decisions that need another key press.
fn queued_words(model: &Model) -> String {
    match model.queued() {
        (0, 0) => String::new(),
        (queued, 0) => format!("{queued} queued, sent on reconnect, u undo"),
        (0, again) => format!("{again} not sent, press again"),
        (queued, again) => format!("{queued} queued, u undo; {again} to press again"),
    }
}

/// Describes the away state. The off state is shown on wide screens only.
fn away(model: &Model, width: u16) -> Option<String> {
    match model.away {
        Away::On { until: Some(until) } => Some(format!("away until {}", clock(until, &model.settings.zone))),
        Away::On { until: None } => Some("away on".to_owned()),
        Away::Off if width >= WIDE => Some("away off".to_owned()),
        Away::Off | Away::Unknown => None,
    }
}

/// Formats the local time of day.
pub(super) fn clock(time: sayso_core::time::Time, zone: &jiff::tz::TimeZone) -> String {
    let at = jiff::Timestamp::from_millisecond(time.as_millis());
    at.map(|at| at.to_zoned(zone.clone()).strftime("%H:%M").to_string()).unwrap_or_default()
}

/// Draws the separator: `── 2 of 11 ──── 3 more below ──`.
fn between(buffer: &mut Buffer, area: Rect, y: u16, model: &Model, seen: list_view::Seen, look: &Look) {
    rule(buffer, area, y, look);
    let rows = model.list.rows.len();
    if rows > 0 {
        let place = format!(" {} of {rows} ", model.list.at + 1);
        text::write(buffer, (area.x + 2, y), area.width, &[(Tone::Dim, place)], look);
    }
    let more = match (model.list.hidden, rows.saturating_sub(seen.end)) {
        (0, 0) if model.list.folded > 0 => (Tone::Dim, format!(" {} snoozed, z shows them ", model.list.folded)),
        (0, 0) => return,
        (0, below) => (Tone::Dim, format!(" {below} more below ")),
        (hidden, _) => (Tone::Waiting, format!(" {}, . shows them ", words::count(hidden, "new ask", "new asks"))),
    };
    let x = area.right().saturating_sub(u16::try_from(more.1.width() + 2).unwrap_or(0));
    text::write(buffer, (x, y), area.width, &[more], look);
}

/// Draws the last line: a message, the filter, or the keys.
fn keys_line(buffer: &mut Buffer, area: Rect, model: &Model, look: &Look) {
    if model.focus == Focus::Filter {
        let pieces = [(Tone::Bold, " Filter: ".to_owned()), (Tone::Plain, model.filter.text().to_owned())];
        text::write(buffer, (area.x, area.y), area.width, &pieces, look);
        return;
    }
    if let Some((_, notice)) = &model.notice {
        let clean = words::cut(&sanitize::line(notice), usize::from(area.width).saturating_sub(2), look.ellipsis());
        text::write(buffer, (area.x, area.y), area.width, &[(Tone::Bold, format!(" {clean}"))], look);
        return;
    }
    if let Focus::Session(_) | Focus::Help(_) = model.focus {
        let told = " PgUp/PgDn scroll  Esc back".to_owned();
        text::write(buffer, (area.x, area.y), area.width, &[(Tone::Dim, told)], look);
        return;
    }
    if let Focus::Rule | Focus::Start = model.focus {
        let told = words::cut(&form_view::keys(model), usize::from(area.width), look.ellipsis());
        text::write(buffer, (area.x, area.y), area.width, &[(Tone::Dim, told)], look);
        return;
    }
    let mut shown: Vec<&str> = match model.settings.mode {
        Mode::All => vec!["j/k move", "1-9 choose", "a/d yes/no", "r reason", "s snooze", "u undo", "/ filter"],
        Mode::Once => vec!["1-9 choose", "a/d yes/no", "r reason", "u undo", "q leave", "PgDn scroll"],
    };
    if area.width >= WIDE {
        shown.extend(["g tmux pane", "y copy", "x select", "e edit", "m rule", "c new"]);
    }
    let filtered = (!model.filter.text().is_empty()).then(|| format!("Filter: {}", model.filter.text()));
    let selected = (!model.selected.is_empty()).then(|| format!("{} selected", model.selected.len()));
    let mut line: String = filtered.into_iter().chain(selected).map(|text| format!(" {text} ")).collect();
    let help = "? keys";
    for key in shown {
        if line.width() + key.len() + 2 + help.len() + 2 > usize::from(area.width) {
            break;
        }
        line.push_str(&format!(" {key} "));
    }
    text::write(buffer, (area.x, area.y), area.width, &[(Tone::Dim, line)], look);
    let x = area.right().saturating_sub(7);
    text::write(buffer, (x, area.y), area.width, &[(Tone::Dim, help.to_owned())], look);
}

fn help(buffer: &mut Buffer, area: Rect, scrolled: usize, look: &Look) {
    let mut lines: Vec<Pieces> = vec![vec![(Tone::Bold, "Keys".to_owned())]];
    let columns = usize::from(area.width).saturating_sub(14);
    for (key, does) in KEYS {
        for (index, part) in wrap(does, columns, 0, Break::Words).into_iter().enumerate() {
            let key = if index == 0 { *key } else { "" };
            lines.push(vec![(Tone::Bold, format!("{key:<11}")), (Tone::Plain, part)]);
        }
    }
    let last = lines.len().saturating_sub(usize::from(area.height));
    for (index, line) in lines.iter().skip(scrolled.min(last)).take(usize::from(area.height)).enumerate() {
        let y = area.y + u16::try_from(index).unwrap_or(0);
        text::write(buffer, (area.x + 1, y), area.width.saturating_sub(2), line, look);
    }
}

/// Draws the transcript of a session, initially its end.
fn session(buffer: &mut Buffer, area: Rect, model: &Model, up: usize, look: &Look) -> Measured {
    let lines = wrap(&sanitize::text(&model.session), usize::from(area.width).saturating_sub(2), 0, Break::Words);
    let rows = usize::from(area.height);
    let at = lines.len().saturating_sub(rows + up);
    let measured = Measured { lines: lines.len(), rows, at };
    for (index, line) in lines.into_iter().skip(at).take(rows).enumerate() {
        let y = area.y + u16::try_from(index).unwrap_or(0);
        text::write(buffer, (area.x + 1, y), area.width.saturating_sub(2), &[(Tone::Plain, line)], look);
    }
    measured
}

/// Draws the empty state.
fn nothing(buffer: &mut Buffer, area: Rect, model: &Model, look: &Look) {
    let working = model.asks.working();
    let text = if !model.is_loaded() {
        String::new()
    } else if !model.filter.text().trim().is_empty() {
        format!("Nothing matches \"{}\".", sanitize::line(model.filter.text().trim()))
    } else if working > 0 {
        let (agents, verb) = (words::count(working, "agent", "agents"), if working == 1 { "is" } else { "are" });
        format!("You're all caught up. {agents} {verb} working.")
    } else if model.asks.has_sessions() {
        "You're all caught up.".to_owned()
    } else {
        "No agents yet. Try: sayso start mock \"ask me a question\"".to_owned()
    };
    for (index, line) in wrap(&text, usize::from(area.width).saturating_sub(2), 0, Break::Words).into_iter().enumerate() {
        let y = area.y + u16::try_from(index).unwrap_or(0);
        if y < area.bottom() {
            text::write(buffer, (area.x + 1, y), area.width.saturating_sub(2), &[(Tone::Plain, line)], look);
        }
    }
}

/// Draws the card. Its head and foot are fixed; the rest scrolls between them.
fn card_in(
    buffer: &mut Buffer,
    area: Rect,
    model: &Model,
    look: &Look,
    kept: &mut Kept,
    cursor: &mut Option<Position>,
) -> Measured {
    let Some(ask) = model.ask() else { return Measured::default() };
    let columns = usize::from(area.width);
    let height = match area.height {
        20.. => Height::Tall,
        10..20 => Height::Normal,
        0..10 => Height::Small,
    };
    let room = Room { columns, height };
    let mut head = vec![card::state_line(model, ask, columns, look)];
    if area.height >= 8 {
        head.push(card::source_line(ask, columns, look));
    }
    let foot = card::foot(model, ask, columns, usize::from(area.height).saturating_sub(head.len() + 1).max(1), look);
    let rows = usize::from(area.height).saturating_sub(head.len() + foot.lines.len());

    let fixed = fixed_lines(model, room, look, kept);
    let (moving, hand) = card::moving(model, ask, room, look);
    let lines = fixed.len() + moving.len();
    // If not all lines fit, the last line shows how many there are.
    let rows = if lines > rows { rows.saturating_sub(1) } else { rows };
    let last = lines.saturating_sub(rows);
    let mut at = model.draft().map_or(0, |draft| draft.scroll).min(last);
    if let (Some(hand), true) = (hand, model.draft().is_some_and(|draft| draft.follow)) {
        let (from, to) = (fixed.len() + hand.start, fixed.len() + hand.end);
        if to > at + rows {
            at = to.saturating_sub(rows);
        }
        at = at.min(from);
    }

    let mut y = area.y;
    for line in &head {
        text::write(buffer, (area.x, y), area.width, line, look);
        y += 1;
    }
    for line in fixed.iter().chain(&moving).skip(at).take(rows) {
        text::write(buffer, (area.x, y), area.width, line, look);
        y += 1;
    }
    if lines > rows {
        let seen = (at + rows).min(lines);
        let more = if seen < lines { ", PgDn for more" } else { ", PgUp for previous lines" };
        let told = format!("{seen} of {lines} lines{more}");
        let x = area.right().saturating_sub(u16::try_from(told.width()).unwrap_or(0));
        text::write(buffer, (x.max(area.x), y), area.width, &[(Tone::Waiting, told)], look);
    }
    let first = area.bottom().saturating_sub(u16::try_from(foot.lines.len()).unwrap_or(0));
    if let Some((line, column)) = foot.cursor {
        let x = area.x.saturating_add(u16::try_from(column).unwrap_or(0)).min(area.right().saturating_sub(1));
        *cursor = Some(Position { x, y: first.saturating_add(u16::try_from(line).unwrap_or(0)) });
    }
    for (y, line) in (first..).zip(&foot.lines) {
        text::write(buffer, (area.x, y), area.width, line, look);
    }
    if !model.is_ready() {
        // The foot is dimmed while deciding keys are ignored.
        let foot = Rect { y: first, height: area.bottom().saturating_sub(first), ..area };
        buffer.set_style(foot, ratatui_core::style::Style::new().add_modifier(Modifier::DIM));
    }
    Measured { lines, rows, at }
}

/// Returns the lines of the ask that are expensive to compute, from the cache if possible.
fn fixed_lines(model: &Model, room: Room, look: &Look, kept: &mut Kept) -> Rc<Vec<Pieces>> {
    let Some(known) = model.ask().and_then(|ask| model.asks.known(&ask.id)) else { return Rc::default() };
    let draft = model.draft();
    let files = model.files.get(&known.ask.id);
    let key = Key {
        id: known.ask.id.clone(),
        revision: known.revision,
        columns: room.columns,
        height: room.height,
        files: files.map(CardFiles::revision),
        whole_context: draft.is_some_and(|draft| draft.whole_context),
        edited: draft.and_then(|draft| draft.edited.as_ref()).map(|edited| edited.text.clone()),
    };
    match &kept.fixed {
        Some((made_from, lines)) if *made_from == key => Rc::clone(lines),
        Some(_) | None => {
            let lines = Rc::new(body::fixed(&known.ask, files, draft, room, look));
            kept.fixed = Some((key, Rc::clone(&lines)));
            lines
        }
    }
}
