//! What a person has chosen and typed for an ask, and not sent yet. Pure.

use sayso_client::api::ask::{Ask, InputKind, Question};
use serde_json::Value;

use super::field::Field;
use crate::prompt::parse;

/// One thing to choose, as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choosable<'a> {
    /// What is sent.
    pub(super) value: &'a str,
    /// What is read.
    pub(super) label: &'a str,
    pub(super) preview: Option<&'a str>,
}

/// The options of a question; yes and no are options, too.
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

/// The key of an option of a yes/no question that is asked alone: the same keys as for an approval.
pub(super) fn yes_no_key(question: &Question, index: usize) -> Option<char> {
    (question.input == InputKind::YesNo).then_some(['a', 'd']).and_then(|keys| keys.get(index).copied())
}

/// Whether the ask is one yes/no question and nothing else.
pub(super) fn is_yes_no(ask: &Ask) -> bool {
    matches!(ask.questions.as_slice(), [only] if only.input == InputKind::YesNo)
}

/// Whether the question is answered by typing only.
pub(super) fn is_typed(question: &Question) -> bool {
    match question.input {
        InputKind::Text | InputKind::Number => true,
        InputKind::Choice => question.options.is_empty(),
        InputKind::YesNo => false,
    }
}

/// Whether it takes words of the person's own beside its options.
pub(super) fn takes_other(question: &Question) -> bool {
    question.input == InputKind::Choice && question.custom && !question.options.is_empty()
}

/// What stands for one question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QuestionDraft {
    /// The values that are chosen.
    pub(super) chosen: Vec<String>,
    /// Whether the words of the person's own count.
    pub(super) other: bool,
    /// Those words.
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

    /// Chooses an option: in place of the others, or beside them.
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

    /// Takes what was typed; nothing typed takes it back.
    pub(super) fn typed(&mut self, question: &Question) {
        self.other = !self.field.text().trim().is_empty();
        if self.other && !question.multiple {
            self.chosen.clear();
        }
    }

    /// The entries to send. An error is a sentence for the person.
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
        if entries.is_empty() && question.required { Err("An answer is needed.".to_owned()) } else { Ok(entries) }
    }

    /// Whether there is something to send.
    pub(super) fn is_answered(&self, question: &Question) -> bool {
        self.answer(question).is_ok_and(|entries| !entries.is_empty())
    }
}

/// An input that the person changed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edited {
    /// As it was typed: a command, a plan or JSON.
    pub(super) text: String,
    /// As it is sent.
    pub(super) input: Value,
}

/// Everything about a card that is not sent yet, kept while the cursor is elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) questions: Vec<QuestionDraft>,
    /// The question under the hand; one more than there are for the last look at a set.
    pub(super) active: usize,
    /// The option under the hand; one more than there are for words of one's own.
    pub(super) highlight: Option<usize>,
    pub(super) note: Field,
    pub(super) reason: Field,
    pub(super) edited: Option<Edited>,
    /// What is wrong with it.
    pub(super) problem: Option<String>,
    /// How far the card is scrolled.
    pub(super) scroll: usize,
    /// Whether all that the agent said is shown.
    pub(super) whole_context: bool,
    /// Whether the preview of the highlighted option is shown.
    pub(super) preview: bool,
    /// Whether what is under the hand has to be in view; not after the person scrolled.
    pub(super) follow: bool,
}

impl Draft {
    /// A card opens with nothing chosen, except what a rule of the person preselects.
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

    /// Puts a question under the hand.
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

    /// The answers of all questions, or what is missing, with the question that it is about.
    pub(super) fn answers(&self, ask: &Ask) -> Result<Vec<Vec<String>>, (usize, String)> {
        let mut answers = Vec::with_capacity(ask.questions.len());
        for (index, (question, draft)) in ask.questions.iter().zip(&self.questions).enumerate() {
            answers.push(draft.answer(question).map_err(|problem| (index, problem))?);
        }
        Ok(answers)
    }

    /// How many questions have an answer, or need none.
    pub(super) fn answered(&self, ask: &Ask) -> usize {
        ask.questions.iter().zip(&self.questions).filter(|(question, draft)| draft.answer(question).is_ok()).count()
    }
}

/// The field of an input that is edited alone: a command or a plan.
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

/// What the editor begins with, and the end of the file's name.
pub(super) fn text_to_edit(ask: &Ask) -> (String, &'static str) {
    let input = ask.approval.as_ref().map(|approval| &approval.input);
    match (edited_field(ask), input) {
        (Some(name), Some(input)) => {
            let kind = if name == "plan" { "md" } else { "sh" };
            (input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned(), kind)
        }
        // Pretty JSON of a JSON value cannot fail.
        (_, Some(input)) => (serde_json::to_string_pretty(input).unwrap_or_default(), "json"),
        (_, None) => (String::new(), "json"),
    }
}

/// What the edited text means; nothing if it is what the agent wrote.
pub(super) fn edited(ask: &Ask, text: &str) -> Result<Option<Edited>, String> {
    let (before, _) = text_to_edit(ask);
    // Editors end the last line; the agent may not have.
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
            let read: Value = serde_json::from_str(text).map_err(|error| format!("The edited input is not JSON: {error}."))?;
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
    fn nothing_is_chosen_except_by_a_rule() {
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
    fn several_entries_come_in_the_agents_order() {
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
    fn words_of_ones_own_take_the_place_of_an_option() {
        let mut draft = QuestionDraft::default();
        draft.choose(&database(), "SQLite");
        draft.field = Field::with("mine");
        draft.typed(&database());
        assert_eq!(draft.answer(&database()).unwrap(), ["mine"]);
        draft.choose(&database(), "SQLite");
        assert_eq!(draft.answer(&database()).unwrap(), ["SQLite"]);
    }

    #[test]
    fn typed_answers_are_checked_as_everywhere() {
        let number = Question { input: InputKind::Number, minimum: Some(0.0), maximum: Some(100.0), ..question(&[]) };
        let with = |text: &str| QuestionDraft { field: Field::with(text), ..QuestionDraft::default() };
        assert_eq!(with("101").answer(&number).unwrap_err(), "It must be between 0 and 100.");
        assert_eq!(with("80").answer(&number).unwrap(), ["80"]);
        assert!(with(" ").answer(&question(&[])).is_err());
        assert!(with("").answer(&Question { required: false, ..question(&[]) }).unwrap().is_empty());
        let secret = Question { secret: true, ..question(&[]) };
        assert_eq!(with(" pass word ").answer(&secret).unwrap(), [" pass word "]);
    }

    #[test]
    fn a_command_and_a_plan_are_edited_as_text_and_the_rest_as_json() {
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
