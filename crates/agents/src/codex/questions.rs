//! Questions of Codex, blocking and non-blocking.

use sayso_core::ask::{Input, Question, QuestionOption};
use serde_json::value::RawValue;

use crate::json::{Object, line, text};

/// The prefix with which Codex's terminal marks a person's note to a choice.
const NOTE: &str = "user_note: ";

/// The questions of a request.
///
/// # Errors
/// A description of the problem.
pub(super) fn read(params: &Object<'_>) -> Result<Vec<Question>, String> {
    each(params, |number, fields| {
        let text = fields.non_blank_text("question").ok_or_else(|| format!("question {number} has no text"))?;
        let key = fields.non_blank_text("id").ok_or_else(|| format!("question {number} has no id"))?;
        let options = options(fields, number, |raw| {
            let option = Object::of(raw)?;
            Some(QuestionOption::new(option.non_blank_text("label")?, option.non_blank_text("description")))
        })?;
        let custom = !fields.has("isOther") || fields.is_true("isOther");
        let (text, input) = match (fields.is_true("isSecret"), options.is_empty()) {
            (true, true) => (text, Input::Text { secret: true }),
            // A secret is entered as text, even if the question has options.
            (true, false) => {
                let labels: Vec<&str> = options.iter().map(|option| option.label.as_str()).collect();
                (format!("{text}\n({})", labels.join(", ")), Input::Text { secret: true })
            }
            (false, true) => (text, Input::Text { secret: false }),
            (false, false) => (text, Input::Choice { options, multiple: false, custom }),
        };
        Ok(Question { key, header: fields.non_blank_text("header"), text, input, required: true, response_schema: None })
    })
}

/// The questions of a message.
///
/// # Errors
/// A description of the problem.
pub(super) fn of_message(item: &Object<'_>) -> Result<Vec<Question>, String> {
    each(item, |number, fields| {
        let title = fields.non_blank_text("title").ok_or_else(|| format!("question {number} has no text"))?;
        let options = options(fields, number, |raw| Some(QuestionOption::new(text(raw)?, None)))?;
        let input = match options.is_empty() {
            true => Input::Text { secret: false },
            false => Input::Choice { options, multiple: false, custom: true },
        };
        Ok(Question { key: (number - 1).to_string(), header: None, text: title, input, required: true, response_schema: None })
    })
}

fn each(fields: &Object<'_>, question: impl Fn(usize, &Object<'_>) -> Result<Question, String>) -> Result<Vec<Question>, String> {
    let entries = fields.list("questions").filter(|entries| !entries.is_empty()).ok_or("there are no questions")?;
    let mut questions: Vec<Question> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.into_iter().enumerate() {
        let number = at + 1;
        let fields = Object::of(entry).ok_or_else(|| format!("question {number} is not an object"))?;
        let next = question(number, &fields)?;
        if questions.iter().any(|other| other.key == next.key) {
            return Err(format!("question {number} has the same id as another one"));
        }
        questions.push(next);
    }
    Ok(questions)
}

fn options(
    fields: &Object<'_>,
    number: usize,
    option: impl Fn(&RawValue) -> Option<QuestionOption>,
) -> Result<Vec<QuestionOption>, String> {
    let entries = fields.list("options").unwrap_or_default();
    let options: Option<Vec<QuestionOption>> = entries.into_iter().map(option).collect();
    options.ok_or_else(|| format!("question {number} has an option without a label"))
}

/// The result with these answers; `None` if the request does not contain the questions. A note goes to the first
/// question with an answer.
pub(super) fn reply(params: &Object<'_>, answers: &[Vec<String>], note: Option<&str>) -> Option<String> {
    let mut note = note.map(str::trim).filter(|note| !note.is_empty()).map(|note| format!("{NOTE}{note}"));
    let ids = ids(params)?;
    let given = ids.iter().zip(answers).filter(|(_, entries)| !entries.is_empty());
    let given = given.map(|(id, entries)| {
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let note = note.take();
        let entries: Vec<&str> = entries.into_iter().chain(note.as_deref()).collect();
        format!(r#"{}:{{"answers":{}}}"#, line(id), line(&entries))
    });
    Some(format!(r#"{{"answers":{{{}}}}}"#, given.collect::<Vec<_>>().join(",")))
}

/// The result without answers. Codex cannot reject a question, so the words take the place of the first answer.
pub(super) fn refusal(params: &Object<'_>, words: &str) -> String {
    let first = ids(params).and_then(|ids| ids.into_iter().next());
    match first.filter(|_| !words.trim().is_empty()) {
        Some(id) => format!(r#"{{"answers":{{{}:{{"answers":[{}]}}}}}}"#, line(&id), line(&words.trim())),
        None => unanswered(),
    }
}

/// The result of a question that was not answered.
pub(super) fn unanswered() -> String {
    r#"{"answers":{}}"#.to_owned()
}

fn ids(params: &Object<'_>) -> Option<Vec<String>> {
    params.list("questions")?.into_iter().map(|question| Object::of(question)?.non_blank_text("id")).collect()
}

/// The message that answers the questions of a message.
pub(super) fn as_message(item: &Object<'_>, answers: &[Vec<String>], note: Option<&str>) -> Option<String> {
    let titles = item.list("questions")?.into_iter().map(|question| Object::of(question)?.non_blank_text("title"));
    let titles = titles.collect::<Option<Vec<String>>>()?;
    let lines = titles.iter().zip(answers).filter(|(_, entries)| !entries.is_empty());
    let lines = lines.map(|(title, entries)| format!("{title} {}", entries.join(", ")));
    let note = note.map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned);
    Some(lines.chain(note).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ASKED: &str = r#"{"questions":[
        {"id":"db","header":"Database","question":"Which?","isOther":true,"isSecret":false,"options":[{"label":"Postgres (Recommended)","description":"Robust."},{"label":"SQLite"}]},
        {"id":"key","question":"The key?","isSecret":true,"options":[{"label":"none"}]},
        {"id":"name","question":"Called what?","options":[]}]}"#;

    fn answers(answers: &[&[&str]]) -> Vec<Vec<String>> {
        answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect()
    }

    #[test]
    fn all_questions_are_parsed() {
        let questions = read(&Object::parse(ASKED).unwrap()).unwrap();
        let options =
            vec![QuestionOption::new("Postgres (Recommended)", Some("Robust.".into())), QuestionOption::new("SQLite", None)];
        let first = Question {
            key: "db".into(),
            header: Some("Database".into()),
            text: "Which?".into(),
            input: Input::Choice { options, multiple: false, custom: true },
            required: true,
            response_schema: None,
        };
        assert_eq!(questions[0], first);
        assert_eq!((questions[1].text.as_str(), &questions[1].input), ("The key?\n(none)", &Input::Text { secret: true }));
        assert_eq!(questions[2].input, Input::Text { secret: false });
        for wrong in [
            "{}",
            r#"{"questions":[]}"#,
            r#"{"questions":[7]}"#,
            r#"{"questions":[{"id":"a"}]}"#,
            r#"{"questions":[{"question":"a"}]}"#,
            r#"{"questions":[{"id":"a","question":"b","options":[{}]}]}"#,
            r#"{"questions":[{"id":"a","question":"b"},{"id":"a","question":"c"}]}"#,
        ] {
            assert!(read(&Object::parse(wrong).unwrap()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn answers_are_keyed_by_question_id() {
        let params = Object::parse(ASKED).unwrap();
        let said =
            |given: &[&[&str]], note| -> Value { serde_json::from_str(&reply(&params, &answers(given), note).unwrap()).unwrap() };
        let all = json!({"answers": {"db": {"answers": ["SQLite"]}, "key": {"answers": ["s\"3"]}, "name": {"answers": ["x"]}}});
        assert_eq!(said(&[&["SQLite"], &["s\"3"], &["x"]], None), all);
        let noted = json!({"answers": {"key": {"answers": ["k", "user_note: soon"]}, "name": {"answers": ["x"]}}});
        assert_eq!(said(&[&[], &["k"], &["x"]], Some(" soon ")), noted);
        assert_eq!(said(&[], Some("x")), json!({"answers": {}}));
        let no: Value = serde_json::from_str(&refusal(&params, "Decide yourself.")).unwrap();
        assert_eq!(no, json!({"answers": {"db": {"answers": ["Decide yourself."]}}}));
        assert_eq!(refusal(&params, " "), unanswered());
    }

    #[test]
    fn message_questions_are_answered_by_one_message() {
        let item = r#"{"questions":[{"title":"Which database?","options":["Postgres","SQLite"]},{"title":"What name?","options":null}]}"#;
        let item = Object::parse(item).unwrap();
        let questions = of_message(&item).unwrap();
        assert!(questions[0].takes_text() && questions[0].options().len() == 2);
        assert_eq!(questions[1].input, Input::Text { secret: false });
        let said = as_message(&item, &answers(&[&["SQLite"], &["payments"]]), Some("thanks")).unwrap();
        assert_eq!(said, "Which database? SQLite\nWhat name? payments\nthanks");
    }
}
