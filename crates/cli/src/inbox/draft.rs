//! The choices and text of a person for an ask that are not sent yet. Pure.

use sayso_client::api::ask::{Ask, InputKind, Question};
use serde_json::Value;

use super::field::Field;
use crate::prompt::parse;

/// An option as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choosable<'a> {
    /// Value to send.
    pub(super) value: &'a str,
    /// Label to show.
    pub(super) label: &'a str,
    pub(super) preview: Option<&'a str>,
}

/// Returns the options of a question, including yes and no.
pub(super) fn options(question: &Question) -> Vec<Choosable<'_>> {
    if question.input == InputKind::YesNo {
        let plain = |value, label| Choosable { value, label, preview: None };
        return vec![plain("true", "Yes"), plain("false", "No")];
    }
    let shown = question.options.iter().map(|option| Choosable {
        value: option.value.as_deref().unwrap_or(&option.label),
        label: &option.label,
        preview: option.preview.as_deref(),
    });
    shown.collect()
}

/// Returns the key for an option of a single yes-no question. The keys are the same as for an approval.
pub(super) fn yes_no_key(question: &Question, index: usize) -> Option<char> {
    (question.input == InputKind::YesNo).then_some(['a', 'd']).and_then(|keys| keys.get(index).copied())
}

/// Returns true if the ask is a single yes-no question.
pub(super) fn is_yes_no(ask: &Ask) -> bool {
    matches!(ask.questions.as_slice(), [only] if only.input == InputKind::YesNo)
}

/// Returns true if the question has no options and is answered by typing.
pub(super) fn is_typed(question: &Question) -> bool {
    match question.input {
        InputKind::Text | InputKind::Number => true,
        InputKind::Choice => question.options.is_empty(),
        InputKind::YesNo => false,
    }
}

/// Returns true if the question accepts free text in addition to its options.
pub(super) fn takes_other(question: &Question) -> bool {
    question.input == InputKind::Choice && question.custom && !question.options.is_empty()
}

/// The draft of the answer to one question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QuestionDraft {
    pub(super) chosen: Vec<String>,
    /// True if the free text is part of the answer.
    pub(super) other: bool,
    pub(super) field: Field,
}

impl QuestionDraft {
    fn new(question: &Question) -> Self {
        let preselected = question.preselected.as_deref().unwrap_or_default();
        let known = options(question);
        let is_option = |entry: &&String| known.iter().any(|option| option.value == entry.as_str());
        let chosen: Vec<String> = preselected.iter().filter(is_option).cloned().collect();
        let own = preselected.iter().find(|entry| !is_option(entry));
        Self { chosen, other: own.is_some(), field: own.map(|own| Field::with(own)).unwrap_or_default() }
    }

    /// Chooses an option. Replaces the previous choice, or toggles the option if several may be chosen.
    pub(super) fn choose(&mut self, question: &Question, value: &str) {
        if !question.multiple {
            self.chosen = vec![value.to_owned()];
            self.other = false;
        } else if let Some(at) = self.chosen.iter().position(|chosen| chosen == value) {
            self.chosen.remove(at);
        } else {
            self.chosen.push(value.to_owned());
        }
    }

    /// Uses the typed text as an answer; empty text removes it.
    pub(super) fn typed(&mut self, question: &Question) {
        self.other = !self.field.text().trim().is_empty();
        if self.other && !question.multiple {
            self.chosen.clear();
        }
    }

    /// Returns the entries to send. An error is a message for the person.
    pub(super) fn answer(&self, question: &Question) -> Result<Vec<String>, String> {
        if is_typed(question) {
            return parse::answer(&Question { preselected: None, ..question.clone() }, self.field.text());
        }
        let in_order = options(question).into_iter().map(|option| option.value);
        let mut entries: Vec<String> =
            in_order.filter(|value| self.chosen.iter().any(|chosen| chosen == value)).map(str::to_owned).collect();
        if self.other {
            entries.push(self.field.text().trim().to_owned());
        }
        if entries.is_empty() && question.required { Err("Choose or type an answer.".to_owned()) } else { Ok(entries) }
    }

    /// Returns true if there is an answer to send.
    pub(super) fn is_answered(&self, question: &Question) -> bool {
        self.answer(question).is_ok_and(|entries| !entries.is_empty())
    }
}

/// An input that the person edited.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edited {
    /// The edited text: a command, a plan or JSON.
    pub(super) text: String,
    /// The value to send.
    pub(super) input: Value,
}

/// The draft of a card. It is kept while the cursor is on another row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) questions: Vec<QuestionDraft>,
    /// Index of the active question; the number of questions for the review step.
    pub(super) active: usize,
    /// Index of the highlighted option; the number of options for free text.
    pub(super) highlight: Option<usize>,
    pub(super) note: Field,
    pub(super) reason: Field,
    pub(super) edited: Option<Edited>,
    /// Message about an invalid draft.
    pub(super) problem: Option<String>,
    /// Scroll position of the card, in lines.
    pub(super) scroll: usize,
    /// True if the complete context is shown.
    pub(super) whole_context: bool,
    /// True if the preview of the highlighted option is shown.
    pub(super) preview: bool,
    /// True if the active lines must be scrolled into view; false after the person scrolled.
    pub(super) follow: bool,
}

impl Draft {
    /// Creates the draft of a card that was just opened. Only a rule of the person can preselect options.
    pub(super) fn new(ask: &Ask) -> Self {
        let mut draft = Self {
            questions: ask.questions.iter().map(QuestionDraft::new).collect(),
            active: 0,
            highlight: None,
            note: Field::default(),
            reason: Field::default(),
            edited: None,
            problem: None,
            scroll: 0,
            whole_context: false,
            preview: false,
            follow: false,
        };
        draft.go_to(ask, 0);
        draft
    }

    /// Makes a question active.
    pub(super) fn go_to(&mut self, ask: &Ask, index: usize) {
        self.active = index.min(ask.questions.len());
        self.follow = index > 0;
        self.highlight = match (ask.questions.get(index), self.questions.get(index)) {
            (Some(question), Some(draft)) => {
                let options = options(question);
                let chosen = options.iter().position(|option| draft.chosen.iter().any(|chosen| chosen == option.value));
                chosen.or_else(|| (draft.other && takes_other(question)).then_some(options.len()))
            }
            (_, _) => None,
        };
    }

    /// Returns the answers to all questions, or the first problem with the index of its question.
    pub(super) fn answers(&self, ask: &Ask) -> Result<Vec<Vec<String>>, (usize, String)> {
        let mut answers = Vec::with_capacity(ask.questions.len());
        for (index, (question, draft)) in ask.questions.iter().zip(&self.questions).enumerate() {
            answers.push(draft.answer(question).map_err(|problem| (index, problem))?);
        }
        Ok(answers)
    }

    /// Counts the questions with a valid answer. Optional questions always count.
    pub(super) fn answered(&self, ask: &Ask) -> usize {
        ask.questions.iter().zip(&self.questions).filter(|(question, draft)| draft.answer(question).is_ok()).count()
    }
}

/// Returns the field of the input that is edited as text, for commands and plans.
fn edited_field(ask: &Ask) -> Option<&'static str> {
    use sayso_client::api::ask::ActionKind;
    let approval = ask.approval.as_ref()?;
    let name = match approval.action {
        ActionKind::Run => "command",
        ActionKind::Plan => "plan",
        ActionKind::Edit | ActionKind::Read | ActionKind::Fetch | ActionKind::Mcp | ActionKind::Mode | ActionKind::Other => {
            return None;
        }
    };
    approval.input.get(name).is_some_and(Value::is_string).then_some(name)
}

/// Returns the text for the editor and the suffix of the temporary file.
pub(super) fn text_to_edit(ask: &Ask) -> (String, &'static str) {
    let input = ask.approval.as_ref().map(|approval| &approval.input);
    match (edited_field(ask), input) {
        (Some(name), Some(input)) => {
            let kind = if name == "plan" { "md" } else { "sh" };
            (input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned(), kind)
        }
        // Serializing a JSON value cannot fail.
        (_, Some(input)) => (serde_json::to_string_pretty(input).unwrap_or_default(), "json"),
        (_, None) => (String::new(), "json"),
    }
}

/// Parses the edited text; `None` if it is unchanged.
pub(super) fn edited(ask: &Ask, text: &str) -> Result<Option<Edited>, String> {
    let (before, _) = text_to_edit(ask);
    // Editors add a final newline that the original may lack.
    let text = if before.ends_with('\n') { text } else { text.strip_suffix('\n').unwrap_or(text) };
    if text == before {
        return Ok(None);
    }
    let agents = ask.approval.as_ref().map(|approval| approval.input.clone()).unwrap_or_default();
    let input = match (edited_field(ask), agents) {
        (Some(name), Value::Object(mut fields)) => {
            fields.insert(name.to_owned(), Value::String(text.to_owned()));
            Value::Object(fields)
        }
        (_, agents) => {
            let read: Value =
                serde_json::from_str(text).map_err(|error| format!("The edited input is not valid JSON: {error}."))?;
            if !read.is_object() {
                return Err("The edited input is not a JSON object.".to_owned());
            }
            if read == agents {
                return Ok(None);
            }
            read
        }
    };
    Ok(Some(Edited { text: text.to_owned(), input }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, database, question, question_ask};
    use serde_json::json;

    #[test]
    fn only_a_rule_preselects_options() {
        assert_eq!(Draft::new(&question_ask()).highlight, None);
        let mut ask = question_ask();
        ask.questions[0].preselected = Some(vec!["PostgreSQL".into()]);
        let draft = Draft::new(&ask);
        assert_eq!((draft.highlight, draft.questions[0].chosen.as_slice()), (Some(1), &["PostgreSQL".to_owned()][..]));
        ask.questions[0].preselected = Some(vec!["my own".into()]);
        let draft = Draft::new(&ask);
        assert_eq!((draft.highlight, draft.answers(&ask).unwrap()), (Some(2), vec![vec!["my own".to_owned()]]));
    }

    #[test]
    fn chosen_options_are_sent_in_the_agents_order() {
        let many = Question { multiple: true, ..database() };
        let mut draft = QuestionDraft::default();
        for value in ["PostgreSQL", "SQLite"] {
            draft.choose(&many, value);
        }
        draft.field = Field::with(" and mine ");
        draft.typed(&many);
        assert_eq!(draft.answer(&many).unwrap(), ["SQLite", "PostgreSQL", "and mine"]);
        draft.choose(&many, "SQLite");
        assert_eq!(draft.answer(&many).unwrap(), ["PostgreSQL", "and mine"]);
    }

    #[test]
    fn free_text_replaces_a_single_choice() {
        let mut draft = QuestionDraft::default();
        draft.choose(&database(), "SQLite");
        draft.field = Field::with("mine");
        draft.typed(&database());
        assert_eq!(draft.answer(&database()).unwrap(), ["mine"]);
        draft.choose(&database(), "SQLite");
        assert_eq!(draft.answer(&database()).unwrap(), ["SQLite"]);
    }

    #[test]
    fn typed_answers_are_validated() {
        let number = Question { input: InputKind::Number, minimum: Some(0.0), maximum: Some(100.0), ..question(&[]) };
        let with = |text: &str| QuestionDraft { field: Field::with(text), ..QuestionDraft::default() };
        assert_eq!(with("101").answer(&number).unwrap_err(), "Type a number between 0 and 100.");
        assert_eq!(with("80").answer(&number).unwrap(), ["80"]);
        assert!(with(" ").answer(&question(&[])).is_err());
        assert!(with("").answer(&Question { required: false, ..question(&[]) }).unwrap().is_empty());
        let secret = Question { secret: true, ..question(&[]) };
        assert_eq!(with(" pass word ").answer(&secret).unwrap(), [" pass word "]);
    }

    #[test]
    fn commands_are_edited_as_text_and_other_inputs_as_json() {
        let ask = approval_ask();
        assert_eq!(text_to_edit(&ask), ("cargo test --workspace".into(), "sh"));
        assert_eq!(edited(&ask, "cargo test --workspace\n").unwrap(), None);
        let changed = edited(&ask, "cargo test -p core\n").unwrap().unwrap();
        assert_eq!(changed, Edited { text: "cargo test -p core".into(), input: json!({"command": "cargo test -p core"}) });

        let mut other = approval_ask();
        other.approval.as_mut().unwrap().action = sayso_client::api::ask::ActionKind::Other;
        assert_eq!(text_to_edit(&other).1, "json");
        assert!(edited(&other, "nonsense").is_err() && edited(&other, "[]").is_err());
        assert_eq!(edited(&other, r#"{"command":"cargo test --workspace"}"#).unwrap(), None);
        assert_eq!(edited(&other, r#"{"command":"ls"}"#).unwrap().unwrap().input, json!({"command": "ls"}));
    }
}
