//! `AskUserQuestion`: converts its input into questions, and answers into the updated input.

use sayso_core::ask::{Input, Question, QuestionOption};
use serde_json::value::RawValue;

use crate::json::{Object, line, list};

/// Fields that are added to the input. Claude only finds an answer under the exact text of its question.
const ADDED: [&str; 3] = ["answers", "annotations", "response"];

/// The questions of an input.
///
/// # Errors
/// A description of the problem, for the model.
pub(super) fn read(input: &RawValue) -> Result<Vec<Question>, String> {
    let entries = Object::of(input).and_then(|input| input.list("questions")).ok_or("there is no list of questions")?;
    if entries.is_empty() {
        return Err("the list of questions is empty".to_owned());
    }
    let mut questions: Vec<Question> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        let number = index + 1;
        let fields = Object::of(entry).ok_or_else(|| format!("question {number} is not an object"))?;
        let text = fields.non_blank_text("question").ok_or_else(|| format!("question {number} has no text"))?;
        if questions.iter().any(|other| other.text == text) {
            return Err(format!("question {number} has the same text as another one, so their answers cannot be told apart"));
        }
        let options = match fields.get("options") {
            None => Vec::new(),
            Some(options) => list(options)
                .and_then(|options| options.into_iter().map(option).collect::<Option<Vec<_>>>())
                .ok_or_else(|| format!("question {number} has an option without a label"))?,
        };
        let input = if options.is_empty() {
            Input::Text { secret: false }
        } else {
            // Claude never lists "Other" but always accepts free text.
            Input::Choice { options, multiple: fields.is_true("multiSelect"), custom: true }
        };
        questions.push(Question {
            key: index.to_string(),
            header: fields.non_blank_text("header"),
            text,
            input,
            required: true,
            response_schema: None,
        });
    }
    Ok(questions)
}

fn option(raw: &RawValue) -> Option<QuestionOption> {
    let fields = Object::of(raw)?;
    let option = QuestionOption::new(fields.non_blank_text("label")?, fields.non_blank_text("description"));
    Some(QuestionOption { preview: fields.non_blank_text("preview"), ..option })
}

/// The answers of a person.
pub(super) struct AnswerInput<'a> {
    /// One list of entries per question.
    pub(super) answers: &'a [Vec<String>],
    /// Free text that comes with the answers.
    pub(super) note: Option<&'a str>,
    /// Whether the answer was typed as a message; then every question gets the same text.
    pub(super) typed: bool,
}

/// The text of a question exactly as written, which is the key of its answer.
fn asked_text(question: &RawValue) -> Option<&RawValue> {
    Object::of(question)?.get("question").filter(|asked| asked.get().starts_with('"'))
}

/// The input with the answers added; `None` if it does not contain the questions. A message typed in reply to several
/// questions answers none of them: it is a free-text reply.
pub(super) fn answered(input: &RawValue, given: &AnswerInput<'_>) -> Option<String> {
    let answers = given.answers;
    let fields = Object::of(input)?;
    let asked: Vec<&RawValue> = fields.list("questions")?.into_iter().map(asked_text).collect::<Option<_>>()?;
    let mut parts: Vec<String> = fields
        .fields()
        .filter(|(name, _)| !ADDED.contains(name))
        .map(|(name, value)| format!("{}:{}", line(&name), value.get()))
        .collect();
    if given.typed && asked.len() > 1 {
        let words = answers.iter().flatten().next().map_or("", String::as_str);
        parts.push(format!(r#""response":{}"#, line(&words)));
    } else {
        let pairs = asked.iter().zip(answers).filter(|(_, entries)| !entries.is_empty());
        let pairs: Vec<String> = pairs.map(|(asked, entries)| format!("{}:{}", asked.get(), line(&entries.join(", ")))).collect();
        parts.push(format!(r#""answers":{{{}}}"#, pairs.join(",")));
    }
    // The input has no note for the whole set. The note goes to the first question with an answer.
    let noted = asked.iter().zip(answers).find(|(_, entries)| !entries.is_empty()).map(|(asked, _)| asked);
    if let (Some(note), Some(asked)) = (given.note.filter(|note| !note.trim().is_empty()), noted) {
        parts.push(format!(r#""annotations":{{{}:{{"notes":{}}}}}"#, asked.get(), line(&note)));
    }
    Some(format!("{{{}}}", parts.join(",")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    fn answers(answers: &[&[&str]]) -> Vec<Vec<String>> {
        answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect()
    }

    /// The updated input for these answers.
    fn answered_input(input: &RawValue, given: &[&[&str]], note: Option<&str>) -> String {
        answered(input, &AnswerInput { answers: &answers(given), note, typed: false }).unwrap()
    }

    fn typed(input: &RawValue, given: &[&[&str]]) -> Value {
        serde_json::from_str(&answered(input, &AnswerInput { answers: &answers(given), note: None, typed: true }).unwrap())
            .unwrap()
    }

    const TWO: &str = r#"{"questions":[{"question":"A \u00e4?","header":"H","multiSelect":true,
        "options":[{"label":"x, y","description":"d","preview":"p"},{"label":"z"}]},{"question":"B?","options":[]}],
        "answers":{"A ä?":"stale"},"metadata":{"n":1.10}}"#;

    #[test]
    fn all_question_fields_are_parsed() {
        let questions = read(&raw(TWO)).unwrap();
        let first = QuestionOption { preview: Some("p".into()), ..QuestionOption::new("x, y", Some("d".into())) };
        let input = Input::Choice { options: vec![first, QuestionOption::new("z", None)], multiple: true, custom: true };
        let wanted = Question {
            key: "0".into(),
            header: Some("H".into()),
            text: "A ä?".into(),
            input,
            required: true,
            response_schema: None,
        };
        assert_eq!(questions[0], wanted);
        assert_eq!((&questions[1].input, questions[1].key.as_str()), (&Input::Text { secret: false }, "1"));
    }

    #[test]
    fn invalid_question_is_named_in_the_error() {
        let wrong = |json: &str| read(&raw(json)).unwrap_err();
        assert_eq!(wrong("{}"), "there is no list of questions");
        assert_eq!(wrong(r#"{"questions":{}}"#), "there is no list of questions");
        assert_eq!(wrong(r#"{"questions":[]}"#), "the list of questions is empty");
        assert_eq!(wrong(r#"{"questions":["a"]}"#), "question 1 is not an object");
        assert_eq!(wrong(r#"{"questions":[{"question":" "}]}"#), "question 1 has no text");
        assert_eq!(wrong(r#"{"questions":[{"question":"a","options":["b"]}]}"#), "question 1 has an option without a label");
        assert!(wrong(r#"{"questions":[{"question":"a"},{"question":"a"}]}"#).starts_with("question 2 has the same text"));
    }

    #[test]
    fn answers_are_added_to_the_whole_input() {
        let said = answered_input(&raw(TWO), &[&["x, y", "own"], &["text"]], Some("hurry"));
        assert!(said.contains(r#""metadata":{"n":1.10}"#), "numbers stay as they were written: {said}");
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["answers"], json!({"A ä?": "x, y, own", "B?": "text"}));
        assert_eq!(said["annotations"], json!({"A ä?": {"notes": "hurry"}}));
        assert_eq!(said["questions"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn unanswered_question_has_no_key() {
        let read = |said: &str| serde_json::from_str::<Value>(said).unwrap();
        let blank = read(&answered_input(&raw(TWO), &[&[], &["text"]], Some(" ")));
        assert_eq!((&blank["answers"], blank.get("annotations")), (&json!({"B?": "text"}), None));
        let noted = read(&answered_input(&raw(TWO), &[&[], &["text"]], Some("n")));
        assert_eq!(noted["annotations"], json!({"B?": {"notes": "n"}}), "Claude reads it only with an answer");
    }

    #[test]
    fn typed_message_replies_to_a_set_and_answers_a_single_question() {
        let said = typed(&raw(TWO), &[&["why"], &["why"]]);
        assert_eq!((said["response"].as_str(), said.get("answers")), (Some("why"), None));
        let said = typed(&raw(r#"{"questions":[{"question":"A?"}]}"#), &[&["why"]]);
        assert_eq!((said["answers"]["A?"].as_str(), said.get("response")), (Some("why"), None));
    }

    #[test]
    fn unpaired_surrogate_is_returned_unchanged() {
        let input = raw(r#"{"questions":[{"question":"A \ud83d?"}]}"#);
        assert_eq!(read(&input).unwrap().len(), 1);
        let said = answered_input(&input, &[&["x"]], None);
        assert!(said.ends_with(r#""answers":{"A \ud83d?":"x"}}"#), "{said}");
    }
}
