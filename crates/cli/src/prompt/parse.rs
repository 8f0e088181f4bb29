//! Parses typed lines. An invalid line becomes a message for the person, and the prompt asks again.

use sayso_client::api::ask::{Approval, ApprovalDecision, InputKind, Question, QuestionOption};

use crate::words;

/// Commands that are accepted at all prompts in place of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Reject the question or deny the approval, with an optional reason.
    Reject(Option<String>),
    /// Hide the ask for a while.
    Snooze,
    /// Show what can be typed.
    Help,
}

/// Parses a command. Other text that starts with a slash is an answer.
pub(crate) fn command(line: &str) -> Option<Command> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match (name.to_ascii_lowercase().as_str(), rest) {
        ("/reject" | "/deny", reason) => Some(Command::Reject((!reason.is_empty()).then(|| reason.to_owned()))),
        ("/snooze", "") => Some(Command::Snooze),
        ("/help", "") => Some(Command::Help),
        _ => None,
    }
}

/// Removes the quotes from a quoted command, which is then sent as text.
pub(crate) fn literal(line: &str) -> &str {
    let inside = line.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inside.filter(|text| command(text).is_some()).unwrap_or(line)
}

/// Parses a line as the answer to a question and returns its entries.
pub(crate) fn answer(question: &Question, line: &str) -> Result<Vec<String>, String> {
    let line = if question.secret { line } else { line.trim() };
    if line.trim().is_empty() {
        return match &question.preselected {
            Some(preselected) if !preselected.is_empty() => Ok(preselected.clone()),
            Some(_) | None if question.required => Err("Type an answer.".to_owned()),
            Some(_) | None => Ok(Vec::new()),
        };
    }
    match question.input {
        InputKind::Choice if question.options.is_empty() => Ok(vec![line.to_owned()]),
        InputKind::Choice if question.multiple => several(question, line),
        InputKind::Choice => parse_single_choice(question, line).map(|entry| vec![entry]),
        InputKind::Text => Ok(vec![line.to_owned()]),
        InputKind::Number => number(question, line).map(|entry| vec![entry]),
        InputKind::YesNo => match line.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" | "a" => Ok(vec!["true".to_owned()]),
            "n" | "no" | "false" | "d" => Ok(vec!["false".to_owned()]),
            _ => Err("Type y or n.".to_owned()),
        },
    }
}

/// One part of a typed choice.
enum Piece {
    Option(String),
    Own(String),
}

fn parse_single_choice(question: &Question, line: &str) -> Result<String, String> {
    match piece(question, line)? {
        Piece::Option(value) | Piece::Own(value) => Ok(value),
    }
}

/// Parses numbers, ranges, labels and free text, separated by commas. Parts of free text are joined again, so that
/// free text can contain commas; it is the last entry.
fn several(question: &Question, line: &str) -> Result<Vec<String>, String> {
    if let Some(option) = named(&question.options, line) {
        return Ok(vec![value(option)]);
    }
    let mut chosen: Vec<String> = Vec::new();
    let mut own: Vec<String> = Vec::new();
    for text in split(line).into_iter().map(str::trim).filter(|text| !text.is_empty()) {
        let pieces = match range(question, text) {
            Some(numbers) => numbers?,
            None => vec![piece(question, text)?],
        };
        for piece in pieces {
            match piece {
                Piece::Option(value) if chosen.contains(&value) => {}
                Piece::Option(value) => chosen.push(value),
                Piece::Own(text) => own.push(text),
            }
        }
    }
    if !own.is_empty() {
        chosen.push(own.join(", "));
    }
    if chosen.is_empty() { Err("Type an answer.".to_owned()) } else { Ok(chosen) }
}

/// Splits at commas outside of quotes.
fn split(line: &str) -> Vec<&str> {
    let mut quoted = false;
    line.split(|character: char| {
        quoted ^= character == '"';
        character == ',' && !quoted
    })
    .collect()
}

fn piece(question: &Question, text: &str) -> Result<Piece, String> {
    let options = &question.options;
    if let Ok(number) = text.parse::<usize>()
        && let Some(option) = number.checked_sub(1).and_then(|index| options.get(index))
    {
        return Ok(Piece::Option(value(option)));
    }
    if let Some(option) = named(options, text) {
        return Ok(Piece::Option(value(option)));
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(own) if question.custom && !own.trim().is_empty() => Ok(Piece::Own(own.to_owned())),
        Some(_) | None if !question.custom && !is_number => {
            let shown = crate::sanitize::line(text);
            Err(format!("\"{}\" is not one of the options.", words::cut(&shown, 60, "…")))
        }
        Some(_) | None if is_number && question.custom => {
            Err(format!("There is no option {text}. To send the number as text, put it in quotes: \"{text}\""))
        }
        Some(_) | None if is_number => Err(format!("There is no option {text}.")),
        Some(_) | None => Ok(Piece::Own(text.to_owned())),
    }
}

/// Parses a range of options such as `2-4`.
fn range(question: &Question, text: &str) -> Option<Result<Vec<Piece>, String>> {
    let (first, last) = text.split_once('-')?;
    let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    if first == 0 || first > last || last > question.options.len() {
        return Some(Err(format!("There are no options {first} to {last}.")));
    }
    Some(Ok(question.options[first - 1..last].iter().map(|option| Piece::Option(value(option))).collect()))
}

/// Finds the option with this value or label. Prefers an exact match, then ignores case and "(Recommended)".
fn named<'a>(options: &'a [QuestionOption], text: &str) -> Option<&'a QuestionOption> {
    let exact = options.iter().find(|option| option.label == text || option.value.as_deref() == Some(text));
    exact.or_else(|| options.iter().find(|option| plain(&option.label) == plain(text)))
}

fn plain(label: &str) -> String {
    let label = label.trim().to_lowercase();
    label.strip_suffix("(recommended)").map_or(label.clone(), |label| label.trim_end().to_owned())
}

fn value(option: &QuestionOption) -> String {
    option.value.clone().unwrap_or_else(|| option.label.clone())
}

fn number(question: &Question, line: &str) -> Result<String, String> {
    let value: f64 = line.parse().ok().filter(|value: &f64| value.is_finite()).ok_or("Type a number.")?;
    if question.integer && value.fract() != 0.0 {
        return Err("Type a whole number.".to_owned());
    }
    match (question.minimum, question.maximum) {
        (Some(low), Some(high)) if value < low || value > high => Err(format!("Type a number between {low} and {high}.")),
        (Some(low), _) if value < low => Err(format!("Type a number that is at least {low}.")),
        (_, Some(high)) if value > high => Err(format!("Type a number that is at most {high}.")),
        _ => Ok(line.to_owned()),
    }
}

/// A decision about an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Approve, optionally with one of the agent's own choices.
    Approve(Option<String>),
    /// Approve with an edited input.
    Edit,
    Deny,
    /// Deny, and ask for a reason.
    DenyWithReason,
    /// Deny and stop the agent.
    DenyAndStop,
    /// Show what can be typed.
    Help,
}

/// Parses a line for an approval. Only an explicit yes approves.
pub(crate) fn decision(approval: &Approval, line: &str) -> Result<Decision, String> {
    let decision = parse_decision(approval, line)?;
    let wanted = match decision {
        Decision::Approve(_) => ApprovalDecision::Approve,
        Decision::Edit => ApprovalDecision::Edit,
        Decision::Deny | Decision::DenyWithReason | Decision::DenyAndStop => ApprovalDecision::Deny,
        Decision::Help => return Ok(decision),
    };
    if approval.allows(wanted) { Ok(decision) } else { Err(words::not_allowed(approval, wanted)) }
}

fn parse_decision(approval: &Approval, line: &str) -> Result<Decision, String> {
    let line = line.trim().to_ascii_lowercase();
    match line.as_str() {
        "y" | "yes" | "a" | "approve" => Ok(Decision::Approve(None)),
        "n" | "no" | "d" | "deny" => Ok(Decision::Deny),
        "e" | "edit" => Ok(Decision::Edit),
        "r" | "reason" => Ok(Decision::DenyWithReason),
        "s" | "stop" => Ok(Decision::DenyAndStop),
        "?" | "h" | "help" => Ok(Decision::Help),
        "" => Err("Nothing was sent. Type y, n, or ? for help.".to_owned()),
        other => {
            let choice = other.parse::<usize>().ok().and_then(|number| approval.choices.get(number.checked_sub(1)?));
            match choice {
                Some(choice) => Ok(Decision::Approve(Some(choice.id.clone()))),
                None => Err("Type y, n, or ? for help.".to_owned()),
            }
        }
    }
}

/// A decision about a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkDecision {
    /// The person has opened the link.
    Done,
    /// Open the link in a browser.
    Open,
    Deny,
    /// Deny, and ask for a reason.
    DenyWithReason,
    /// Show what can be typed.
    Help,
}

/// Parses a line for a link.
pub(crate) fn link(line: &str) -> Result<LinkDecision, String> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "done" => Ok(LinkDecision::Done),
        "o" | "open" => Ok(LinkDecision::Open),
        "n" | "no" | "d" | "deny" => Ok(LinkDecision::Deny),
        "r" | "reason" => Ok(LinkDecision::DenyWithReason),
        "?" | "h" | "help" => Ok(LinkDecision::Help),
        _ => Err("Type y, n, o, or ? for help.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval, database, option, question};
    use sayso_client::api::ask::Choice;

    fn letters(multiple: bool, custom: bool) -> Question {
        let options = ["Auth", "Billing (Recommended)", "Yes, all", "4"].map(|label| option(label, "")).to_vec();
        Question { multiple, custom, options, ..database() }
    }

    fn parse_answer(question: &Question, line: &str) -> Vec<String> {
        answer(question, line).unwrap_or_else(|problem| panic!("{line:?}: {problem}"))
    }

    #[test]
    fn single_choice_accepts_numbers_labels_and_text() {
        let own = letters(false, true);
        for (line, entry) in [
            ("1", "Auth"),
            (" 2 ", "Billing (Recommended)"),
            ("auth", "Auth"),
            ("billing", "Billing (Recommended)"),
            ("yes, all", "Yes, all"),
            ("4", "4"),
            ("something else, really", "something else, really"),
            ("\"9\"", "9"),
            ("1-2", "1-2"),
            ("2 workers", "2 workers"),
        ] {
            assert_eq!(parse_answer(&own, line), [entry], "{line}");
        }
        for line in ["", "   ", "0", "9"] {
            assert!(answer(&own, line).is_err(), "{line:?}");
        }
        assert_eq!(answer(&letters(false, false), "other"), Err("\"other\" is not one of the options.".into()));
        assert_eq!(answer(&letters(false, false), "7"), Err("There is no option 7.".into()));
        assert!(answer(&letters(false, false), "\"x\"").is_err());
    }

    #[test]
    fn multiple_choice_accepts_lists_ranges_and_text() {
        let own = letters(true, true);
        for (line, entries) in [
            ("1,2", &["Auth", "Billing (Recommended)"][..]),
            ("2, 1 ,2", &["Billing (Recommended)", "Auth"]),
            ("1-3", &["Auth", "Billing (Recommended)", "Yes, all"]),
            ("auth,3", &["Auth", "Yes, all"]),
            ("Yes, all", &["Yes, all"]),
            ("my own, 1, with a comma", &["Auth", "my own, with a comma"]),
            ("1, \"quoted, whole\"", &["Auth", "quoted, whole"]),
            ("only mine", &["only mine"]),
            (",1,", &["Auth"]),
        ] {
            assert_eq!(parse_answer(&own, line), entries, "{line}");
        }
        for line in ["", ",", "1,9", "0", "2-9", "3-1", "0-2"] {
            assert!(answer(&own, line).is_err(), "{line:?}");
        }
        assert!(answer(&letters(true, false), "1, mine").is_err());
        assert_eq!(parse_answer(&letters(true, false), "1-2,4"), ["Auth", "Billing (Recommended)", "4"]);
    }

    #[test]
    fn empty_line_takes_the_preselection_or_skips_an_optional_question() {
        let optional = Question { required: false, ..database() };
        assert_eq!(parse_answer(&optional, ""), Vec::<String>::new());
        let preselected = Question { preselected: Some(vec!["SQLite".into()]), ..database() };
        assert_eq!(parse_answer(&preselected, ""), ["SQLite"]);
        assert_eq!(parse_answer(&preselected, "2"), ["PostgreSQL"]);
    }

    #[test]
    fn chosen_option_sends_its_value() {
        let mut question = database();
        question.options[0].value = Some("sqlite3".into());
        question.options[1].value = None;
        assert_eq!(
            (parse_answer(&question, "1"), parse_answer(&question, "sqlite")),
            (vec!["sqlite3".into()], vec!["sqlite3".into()])
        );
        assert_eq!(parse_answer(&question, "2"), ["PostgreSQL"]);
    }

    #[test]
    fn input_kinds_validate_their_lines() {
        let text = question(&[]);
        assert_eq!(parse_answer(&text, " 1 "), ["1"]);
        assert_eq!(parse_answer(&Question { secret: true, ..text.clone() }, " pass word "), [" pass word "]);
        let number =
            Question { input: InputKind::Number, minimum: Some(0.0), maximum: Some(100.0), integer: true, ..text.clone() };
        assert_eq!(parse_answer(&number, "42"), ["42"]);
        for line in ["x", "1.5", "101", "-1", "NaN", "inf"] {
            assert!(answer(&number, line).is_err(), "{line}");
        }
        let yes = Question { input: InputKind::YesNo, ..text };
        for (line, value) in [("Y", "true"), ("a", "true"), ("no", "false"), ("d", "false")] {
            assert_eq!(parse_answer(&yes, line), [value], "{line}");
        }
        assert!(answer(&yes, "maybe").is_err());
    }

    #[test]
    fn commands_are_distinguished_from_answers() {
        for (line, wanted) in [
            (" /reject ", Some(Command::Reject(None))),
            ("/REJECT  not now, please ", Some(Command::Reject(Some("not now, please".into())))),
            ("/deny no", Some(Command::Reject(Some("no".into())))),
            ("/snooze", Some(Command::Snooze)),
            ("/help", Some(Command::Help)),
            ("/rejected", None),
            ("/snooze it", None),
            ("/usr/bin", None),
            ("\"/reject\"", None),
            ("reject", None),
        ] {
            assert_eq!(command(line), wanted, "{line:?}");
        }
        assert_eq!(literal(" \"/reject now\" "), "/reject now");
        for same in ["\"yes\"", "\"/usr\"", "/usr/bin", "\"", "1"] {
            assert_eq!(literal(same), same);
        }
    }

    #[test]
    fn only_an_explicit_yes_approves() {
        let wanted = Approval { choices: vec![Choice { id: "always".into(), label: "Always".into() }], ..approval() };
        for line in ["y", "YES", " approve "] {
            assert_eq!(decision(&wanted, line), Ok(Decision::Approve(None)), "{line}");
        }
        assert_eq!(decision(&wanted, "1"), Ok(Decision::Approve(Some("always".into()))));
        for line in ["", "yy", "yes please", "0", "2", "ok", "yn", "\u{1b}y"] {
            assert!(decision(&wanted, line).is_err(), "{line:?}");
        }
        assert_eq!(decision(&wanted, "n"), Ok(Decision::Deny));
        assert_eq!(decision(&wanted, "r"), Ok(Decision::DenyWithReason));
        assert_eq!(decision(&wanted, "e"), Ok(Decision::Edit));
        assert!(decision(&Approval { editable: false, ..wanted.clone() }, "e").is_err());
        let allowed = Some(vec![ApprovalDecision::Edit, ApprovalDecision::Deny]);
        let edited = Approval { allowed_decisions: allowed, ..wanted.clone() };
        let refused = Err("This approval does not allow \u{201c}approve\u{201d}. Allowed: edit, deny.".to_owned());
        assert_eq!((decision(&edited, "y"), decision(&edited, "1")), (refused.clone(), refused));
        assert_eq!((decision(&edited, "e"), decision(&edited, "n")), (Ok(Decision::Edit), Ok(Decision::Deny)));
        let approved = Approval { allowed_decisions: Some(vec![ApprovalDecision::Approve]), ..wanted };
        for line in ["n", "r", "s", "e"] {
            assert!(decision(&approved, line).is_err(), "{line}");
        }
        assert_eq!((link("y"), link("o"), link("").is_err()), (Ok(LinkDecision::Done), Ok(LinkDecision::Open), true));
    }
}
