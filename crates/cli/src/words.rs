//! Words and signs that describe asks, shared by lists, prompts and outcomes. Pure.

use sayso_client::api::ask::{
    ActionKind, Actor, Approval, ApprovalDecision, Ask, AskKind, AskStatus, Delivery, InputKind, OnTimeout, Outcome, Preview,
    Question, QuestionOption, Reach, ShownAnswer,
};
use sayso_core::ask::strip_recommended;
use sayso_core::time::{Time, in_short};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

use crate::output::{Look, Style};
use crate::sanitize;

/// Maximum width of a quoted answer in a sentence.
const QUOTED: usize = 60;

/// Returns the sign of an ask. Signs are readable without color.
pub(crate) fn sign(ask: &Ask, look: &Look) -> String {
    let pick = |sign: &'static str, ascii: &'static str| if look.ascii { ascii } else { sign };
    if matches!(ask.delivery, Some(Delivery::Undeliverable | Delivery::Withheld)) {
        return look.paint(Style::Bad, "!");
    }
    match ask.status {
        AskStatus::Answered | AskStatus::Approved => look.paint(Style::Good, pick("✓", "v")),
        AskStatus::Rejected | AskStatus::Denied => look.paint(Style::Bad, "x"),
        AskStatus::Withdrawn => look.paint(Style::Dim, "-"),
        AskStatus::Pending if ask.reach == Some(Reach::Parked) => look.paint(Style::Parked, pick("‖", "P")),
        AskStatus::Pending => {
            let sign = match ask.kind {
                AskKind::Question => "?",
                AskKind::Link => pick("↗", "@"),
                AskKind::Approval => match ask.approval.as_ref().map(|approval| approval.action) {
                    Some(ActionKind::Edit) => pick("±", "%"),
                    Some(ActionKind::Plan) => "=",
                    Some(
                        ActionKind::Run
                        | ActionKind::Read
                        | ActionKind::Fetch
                        | ActionKind::Mcp
                        | ActionKind::Mode
                        | ActionKind::Other,
                    )
                    | None => "$",
                },
            };
            look.paint(Style::Waiting, sign)
        }
    }
}

/// Explains why an approval cannot be decided like this.
pub(crate) fn not_allowed(approval: &Approval, wanted: ApprovalDecision) -> String {
    let possible = |decision: &ApprovalDecision| approval.allows(*decision);
    let name = |decision: ApprovalDecision| match decision {
        ApprovalDecision::Approve => "approve",
        ApprovalDecision::Edit => "edit",
        ApprovalDecision::Deny => "deny",
    };
    if wanted == ApprovalDecision::Edit && approval.allowed_decisions.is_none() {
        return "This agent does not accept an edited input.".to_owned();
    }
    let all = [ApprovalDecision::Approve, ApprovalDecision::Edit, ApprovalDecision::Deny];
    let allowed: Vec<&str> = all.into_iter().filter(possible).map(name).collect();
    format!("This approval does not allow \u{201c}{}\u{201d}. Allowed: {}.", name(wanted), allowed.join(", "))
}

/// Summarizes an ask in one line.
pub(crate) fn subject(ask: &Ask) -> String {
    let subject = match ask.kind {
        AskKind::Question => match ask.questions.as_slice() {
            [only] => only.text.clone(),
            several => {
                let names = several.iter().map(|question| question.header.as_deref().unwrap_or(&question.text));
                names.collect::<Vec<_>>().join(", ")
            }
        },
        AskKind::Approval => match &ask.approval {
            Some(approval) if approval.action == ActionKind::Run => {
                approval.command.clone().unwrap_or_else(|| approval.title.clone())
            }
            Some(approval) => approval.title.clone(),
            None => String::new(),
        },
        AskKind::Link => match &ask.link {
            Some(link) => match &link.message {
                Some(message) => format!("{message} {}", link.url),
                None => format!("Open {}", link.url),
            },
            None => String::new(),
        },
    };
    sanitize::line(&subject)
}

/// Returns the label of an option without "(Recommended)", which is shown as a mark instead.
pub(crate) fn label(label: &str) -> String {
    match strip_recommended(label) {
        "" => sanitize::line(label),
        plain => sanitize::line(plain),
    }
}

/// Returns the text next to a label: the mark, then the description.
pub(crate) fn description(option: &QuestionOption) -> String {
    let text = sanitize::text(option.description.as_deref().unwrap_or_default());
    let marked = option.recommended || strip_recommended(&option.label).len() < option.label.trim_end().len();
    let mark = if marked { "recommended. " } else { "" };
    format!("{mark}{}", text.trim_end()).trim_end().to_owned()
}

/// Formats one entry of an answer: the label of the option with this value, or the entry itself.
pub(crate) fn entry(question: &Question, entry: &str) -> String {
    match (question.input, entry) {
        (InputKind::YesNo, "true") => return "Yes".to_owned(),
        (InputKind::YesNo, "false") => return "No".to_owned(),
        (InputKind::YesNo | InputKind::Choice | InputKind::Text | InputKind::Number, _) => {}
    }
    let named = |option: &&QuestionOption| option.label == entry || option.value.as_deref() == Some(entry);
    question.options.iter().find(named).map_or_else(|| sanitize::text(entry), |option| label(&option.label))
}

/// Explains why a person is asked, as a sentence. Does not repeat the command or path, because the card shows it.
pub(crate) fn why(ask: &Ask) -> Option<String> {
    let why = ask.why.as_deref()?.trim_end_matches('.');
    let named = why.strip_prefix("no rule allows `").and_then(|rest| rest.strip_suffix('`'));
    let is_named = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        named.is_some_and(|named| named == text || named.strip_suffix('…').is_some_and(|head| text.starts_with(head)))
    };
    if let Some(approval) = &ask.approval {
        if approval.command.as_deref().is_some_and(is_named) {
            return Some("No rule allows this command.".to_owned());
        }
        if approval.action == ActionKind::Edit && is_named(&approval.paths.join(", ")) {
            return Some("No rule allows edits to this file.".to_owned());
        }
    }
    let mut characters = why.chars();
    let first = characters.next()?.to_uppercase();
    Some(sanitize::line(&format!("{first}{}.", characters.as_str())))
}

/// Returns the one additional fact of a list row, for example the time left or the size of a diff.
pub(crate) fn fact(ask: &Ask, now: Time) -> String {
    if let Some(at) = ask.deadline_at {
        let verb = match ask.on_timeout {
            Some(OnTimeout::Reject) => "rejects",
            Some(OnTimeout::AcceptFirst) => "picks first",
            Some(OnTimeout::Deny) | None => "denies",
        };
        return format!("{verb} {}", clock(at.since(now).as_secs()));
    }
    if let Some(until) = ask.snoozed_until.filter(|until| *until > now) {
        return format!("snoozed {}", in_short(until.since(now)));
    }
    if ask.reach == Some(Reach::Parked) {
        return "parked".to_owned();
    }
    if !ask.blocking {
        return "not blocking".to_owned();
    }
    if ask.questions.len() > 1 {
        return format!("{} q", ask.questions.len());
    }
    match ask.approval.as_ref().and_then(|approval| approval.preview.as_ref()) {
        Some(Preview::Diff { files }) => {
            let count = |sign: char, heading: &str| {
                files
                    .iter()
                    .flat_map(|file| file.diff.lines())
                    .filter(|line| line.starts_with(sign) && !line.starts_with(heading))
                    .count()
            };
            format!("+{} -{}", count('+', "+++"), count('-', "---"))
        }
        Some(Preview::Command { .. } | Preview::Plan { .. } | Preview::Text { .. }) | None => String::new(),
    }
}

/// Formats seconds like a clock: `3:41`, `1:02:03`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// Describes the deadline: the decision at the deadline, and the time until then.
pub(crate) fn deadline(ask: &Ask, now: Time) -> String {
    let Some(at) = ask.deadline_at else { return "No deadline".to_owned() };
    let left = clock(at.since(now).as_secs());
    match ask.on_timeout {
        Some(OnTimeout::Reject) => format!("Rejects in {left}"),
        Some(OnTimeout::Deny) | None => format!("Denies in {left}"),
        Some(OnTimeout::AcceptFirst) => {
            let first = ask.questions.first().and_then(|question| question.options.first());
            let first = first.map(|option| label(&option.label)).unwrap_or_default();
            format!("Picks \"{}\" in {left}", cut(&first, QUOTED, "…"))
        }
    }
}

/// Describes the decision at the deadline, and the time until then. `None` without a deadline.
pub(crate) fn consequence(ask: &Ask, now: Time) -> Option<String> {
    let left = clock(ask.deadline_at?.since(now).as_secs());
    let then = match ask.on_timeout {
        Some(OnTimeout::AcceptFirst) if ask.questions.len() > 1 => "First options",
        Some(OnTimeout::AcceptFirst) => "First option",
        Some(OnTimeout::Reject) => "Rejects",
        Some(OnTimeout::Deny) | None => "Denies",
    };
    Some(format!("{then} in {left}"))
}

/// Says how many other asks are pending, and when the first of them expires.
pub(crate) fn also_waiting<'a>(asks: impl IntoIterator<Item = &'a Ask>, now: Time) -> String {
    let asks: Vec<&Ask> = asks.into_iter().collect();
    let soonest = asks.iter().filter(|ask| ask.deadline_at.is_some()).min_by_key(|ask| ask.deadline_at);
    let soonest = soonest.and_then(|ask| consequence(ask, now)).map(|then| format!(" ({})", then.to_lowercase()));
    match asks.len() {
        0 => String::new(),
        1 => format!("1 more pending{}", soonest.unwrap_or_default()),
        several => format!("{several} more pending{}", soonest.unwrap_or_default()),
    }
}

/// Describes the state of an ask.
pub(crate) fn state(ask: &Ask) -> String {
    match (&ask.outcome, ask.kind, ask.reach) {
        (Some(outcome_of), _, _) => {
            let delivery = match ask.delivery {
                Some(Delivery::Queued) => " Waiting for the agent to pick it up.".to_owned(),
                Some(Delivery::Delivered) => " Delivered.".to_owned(),
                Some(Delivery::Confirmed) => " Confirmed by the agent.".to_owned(),
                Some(Delivery::Withheld) => {
                    let reason = ask.delivery_reason.as_deref().map(sanitize::line).unwrap_or_default();
                    format!(" Withheld. {reason}").trim_end().to_owned()
                }
                Some(Delivery::Undeliverable) => {
                    let reason = ask.delivery_reason.as_deref().map(sanitize::line).unwrap_or_default();
                    format!(" Not delivered. {reason}").trim_end().to_owned()
                }
                None => String::new(),
            };
            // A withdrawn ask has no outcome to deliver, so its delivery is not described.
            let delivery = if outcome_of.status == AskStatus::Withdrawn { String::new() } else { delivery };
            format!("{}{delivery}", outcome(outcome_of))
        }
        (None, _, Some(Reach::Parked)) => "Parked. The agent stopped. Answering restarts it.".to_owned(),
        (None, AskKind::Question, _) => "Waiting for you.".to_owned(),
        (None, AskKind::Approval | AskKind::Link, _) => "Waiting for your approval.".to_owned(),
    }
}

/// Returns the first 12 digits of the digest of an approval. Empty for other asks.
pub(crate) fn short_digest(ask: &Ask) -> String {
    let digest = ask.digest.as_deref().filter(|_| ask.kind == AskKind::Approval);
    digest.map(|digest| sanitize::line(digest).chars().take(12).collect()).unwrap_or_default()
}

/// Describes how an ask ended and who decided, as a sentence.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    let by = &outcome.by;
    if by.kind == "timeout" && matches!(outcome.status, AskStatus::Rejected | AskStatus::Denied) {
        let after = by.after.as_deref().and_then(|after| after.parse::<sayso_core::time::Span>().ok());
        let after = after.map(|span| format!(" in {}", sayso_core::time::in_words(span.0))).unwrap_or_default();
        let verb = if outcome.status == AskStatus::Rejected { "Rejected" } else { "Denied" };
        return format!("No answer{after}. {verb} by timeout.");
    }
    let verb = match outcome.status {
        AskStatus::Pending => "Waiting",
        AskStatus::Answered => "Answered",
        AskStatus::Rejected => "Rejected",
        AskStatus::Approved if by.kind == "policy" => "Allowed",
        AskStatus::Approved => "Approved",
        AskStatus::Denied => "Denied",
        AskStatus::Withdrawn => {
            let reason = outcome.message.as_deref().map(sanitize::line).unwrap_or_default();
            return format!("Withdrawn. {reason}").trim_end().to_owned();
        }
    };
    let mut sentence = format!("{verb} {}", actor(by));
    let said = match outcome.status {
        AskStatus::Answered => answers(outcome),
        AskStatus::Rejected | AskStatus::Denied => outcome.message.clone().filter(|_| by.kind == "person"),
        AskStatus::Pending | AskStatus::Approved | AskStatus::Withdrawn => None,
    };
    if let Some(said) = said {
        let said = sanitize::line(&said);
        sentence = format!("{sentence}: \"{}\"", cut(&said, QUOTED, "…"));
    }
    sentence.push('.');
    if outcome.stop {
        sentence.push_str(" Agent stopped.");
    }
    sentence
}

/// Names who decided, and on which surface.
pub(crate) fn actor(by: &Actor) -> String {
    let name = by.name.as_deref().map_or_else(|| "someone".to_owned(), sanitize::line);
    match by.kind.as_str() {
        "policy" => format!("by rule \"{}\"", by.rule.as_deref().map(sanitize::line).unwrap_or_default()),
        "timeout" => "by timeout".to_owned(),
        "agent" => "by the agent".to_owned(),
        "message" => format!("by a message from {name}{}", surface(by)),
        _ => format!("by {name}{}", surface(by)),
    }
}

fn surface(by: &Actor) -> String {
    match by.via.as_deref() {
        None | Some("") => String::new(),
        Some("terminal") => " in the terminal".to_owned(),
        Some("page") => " on the page".to_owned(),
        Some("phone") => " on the phone".to_owned(),
        Some("http") => " over HTTP".to_owned(),
        Some(other) => format!(" through {}", sanitize::line(other)),
    }
}

/// Joins the answers into one line and omits secrets.
fn answers(outcome: &Outcome) -> Option<String> {
    let shown = outcome.answers.as_ref()?.iter().map(|answer| match answer {
        ShownAnswer::Entries(entries) => entries.iter().map(|entry| label(entry)).collect::<Vec<_>>().join(", "),
        ShownAnswer::Secret { .. } => "(secret)".to_owned(),
    });
    Some(shown.collect::<Vec<_>>().join(" / "))
}

/// Returns the commands that decide an ask.
pub(crate) fn how_to_decide(ask: &Ask) -> String {
    let id = crate::order::ending(&ask.id, 4);
    match ask.kind {
        AskKind::Question => format!("sayso answer {id}"),
        AskKind::Approval | AskKind::Link => format!("sayso approve {id}, or sayso deny {id}"),
    }
}

/// Abbreviates the home directory of a path to `~`.
pub(crate) fn directory(path: &str, look: &Look) -> String {
    let short = look.home.as_deref().filter(|home| !home.is_empty()).and_then(|home| path.strip_prefix(home));
    match short {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => sanitize::line(&format!("~{rest}")),
        Some(_) | None => sanitize::line(path),
    }
}

/// Names who asks: the agent, and also the token if the agent's name is self-reported.
pub(crate) fn asker(ask: &Ask) -> String {
    let agent = sanitize::line(&ask.agent);
    match &ask.asked_by {
        Some(token) if ask.agent_reported => format!("{agent} (token {})", sanitize::line(token)),
        Some(_) | None => agent,
    }
}

/// Returns the last component of the project directory.
pub(crate) fn project(ask: &Ask) -> String {
    let name = ask.project.as_deref().and_then(|path| std::path::Path::new(path).file_name());
    name.map(|name| sanitize::line(&name.to_string_lossy())).unwrap_or_default()
}

/// Formats the local time of day, with the date if that is not today.
pub(crate) fn at(time: Time, now: Time) -> String {
    let local =
        |time: Time| jiff::Timestamp::from_millisecond(time.as_millis()).map(|at| at.to_zoned(jiff::tz::TimeZone::system()));
    match (local(time), local(now)) {
        (Ok(at), Ok(now)) if at.date() == now.date() => at.strftime("%H:%M").to_string(),
        (Ok(at), _) => at.strftime("%Y-%m-%d %H:%M").to_string(),
        (Err(_), _) => time.to_string(),
    }
}

/// Formats an age: `7m ago`, `just now`.
pub(crate) fn ago(span: std::time::Duration) -> String {
    if span.as_secs() == 0 { "just now".to_owned() } else { format!("{} ago", in_short(span)) }
}

/// Formats a response time: `after 7m`, `at once`.
pub(crate) fn after(span: std::time::Duration) -> String {
    if span.as_secs() == 0 { "at once".to_owned() } else { format!("after {}", in_short(span)) }
}

/// Cuts text to this many columns and marks the cut with the ellipsis.
pub(crate) fn cut(text: &str, columns: usize, ellipsis: &str) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(ellipsis.width());
    let mut used = 0;
    let kept = text.graphemes(true).take_while(|cluster| {
        used += cluster.width();
        used <= room
    });
    format!("{}{ellipsis}", kept.collect::<String>().trim_end())
}

/// Pads text with spaces to this many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Formats a number with its noun: `1 ask`, `2 asks`.
pub(crate) fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, look, question_ask};

    fn by(kind: &str) -> Actor {
        Actor { kind: kind.into(), name: None, via: None, token_id: None, rule: None, after: None }
    }

    fn ended(status: AskStatus, by: Actor) -> Outcome {
        Outcome {
            status,
            answers: None,
            note: None,
            message: None,
            message_code: None,
            stop: false,
            choice: None,
            input: None,
            by,
            at: Time::from_millis(0),
        }
    }

    #[test]
    fn outcome_is_described_by_a_sentence() {
        let ada = Actor { name: Some("ada".into()), via: Some("page".into()), ..by("person") };
        let answered = Outcome {
            answers: Some(vec![ShownAnswer::Entries(vec!["SQLite (Recommended)".into()])]),
            ..ended(AskStatus::Answered, ada.clone())
        };
        assert_eq!(outcome(&answered), "Answered by ada on the page: \"SQLite\".");
        let secret = Outcome { answers: Some(vec![ShownAnswer::Secret { secret: true }]), ..answered };
        assert_eq!(outcome(&secret), "Answered by ada on the page: \"(secret)\".");
        let denied = Outcome { message: Some("not now".into()), stop: true, ..ended(AskStatus::Denied, ada) };
        assert_eq!(outcome(&denied), "Denied by ada on the page: \"not now\". Agent stopped.");
        let rule = Actor { rule: Some("tests".into()), ..by("policy") };
        assert_eq!(outcome(&ended(AskStatus::Approved, rule)), "Allowed by rule \"tests\".");
        let late = Actor { after: Some("10m".into()), ..by("timeout") };
        assert_eq!(outcome(&ended(AskStatus::Rejected, late.clone())), "No answer in 10 minutes. Rejected by timeout.");
        assert_eq!(outcome(&ended(AskStatus::Denied, late)), "No answer in 10 minutes. Denied by timeout.");
        let gone = Outcome { message: Some("The turn was interrupted.".into()), ..ended(AskStatus::Withdrawn, by("agent")) };
        assert_eq!(outcome(&gone), "Withdrawn. The turn was interrupted.");
    }

    #[test]
    fn fact_shows_the_time_left_until_the_deadline() {
        let now = Time::from_millis(0);
        let late = |then| Ask { deadline_at: Some(Time::from_millis(221_000)), on_timeout: Some(then), ..question_ask() };
        assert_eq!(fact(&late(OnTimeout::Deny), now), "denies 3:41");
        assert_eq!(deadline(&late(OnTimeout::AcceptFirst), now), "Picks \"SQLite\" in 3:41");
        assert_eq!(deadline(&question_ask(), now), "No deadline");
        assert_eq!(fact(&Ask { blocking: false, ..question_ask() }, now), "not blocking");
        assert_eq!(clock(3_723), "1:02:03");
    }

    #[test]
    fn signs_distinguish_kinds_without_color() {
        let (look, ascii) = (look(), Look { ascii: true, ..look() });
        assert_eq!(sign(&question_ask(), &look), "?");
        assert_eq!(sign(&approval_ask(), &look), "$");
        let mut edit = approval_ask();
        edit.approval.as_mut().unwrap().action = ActionKind::Edit;
        assert_eq!((sign(&edit, &look).as_str(), sign(&edit, &ascii).as_str()), ("±", "%"));
        let parked = Ask { reach: Some(Reach::Parked), ..question_ask() };
        assert_eq!((sign(&parked, &look).as_str(), sign(&parked, &ascii).as_str()), ("‖", "P"));
    }

    #[test]
    fn home_directory_is_abbreviated() {
        assert_eq!(directory("/home/ada/work/shop", &look()), "~/work/shop");
        assert_eq!(directory("/home/ada", &look()), "~");
        assert_eq!(directory("/home/adam/x", &look()), "/home/adam/x");
    }

    #[test]
    fn cut_text_fits_its_columns() {
        assert_eq!(cut("abcdef", 4, "…"), "abc…");
        assert_eq!(cut("日本語日本語", 7, "…"), "日本語…");
        assert_eq!(cut("abc", 3, "…"), "abc");
    }
}
