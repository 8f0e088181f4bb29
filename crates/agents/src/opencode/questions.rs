//! `question.asked`: its questions, and the answers in OpenCode's format. OpenCode validates nothing: the model reads
//! whatever is sent.

use sayso_core::ask::{Action, Approval, AskBody, Input, Preview, Question, QuestionOption};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde_json::json;
use serde_json::value::RawValue;

use super::state::Kind;
use crate::json::{Object, list};
use crate::text::one_line;

/// Maximum length of a title in characters.
const TITLE: usize = 160;
/// The tool that asks whether to start with a plan.
const PLAN_TOOL: &str = "plan_exit";
const YES: &str = "Yes";

/// The ask of a request; `None` if its list of questions is empty and can be answered immediately.
///
/// # Errors
/// A description of the problem.
pub(super) fn read(request: &Object<'_>) -> Result<Option<(Kind, AskBody)>, String> {
    let entries = request.list("questions").ok_or("there is no list of questions")?;
    let mut questions = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        questions.push(question(index, entry).ok_or_else(|| format!("question {} cannot be read", index + 1))?);
    }
    if questions.is_empty() {
        return Ok(None);
    }
    if let [only] = questions.as_slice()
        && is_plan(only)
    {
        let approval = Approval {
            tool: PLAN_TOOL.to_owned(),
            action: Action::Plan,
            title: one_line(&only.text, TITLE),
            input: request.get("questions").map_or_else(|| Raw::of(&()), |raw| Raw::of(&raw)),
            preview: Some(Preview::Text { text: only.text.clone() }),
            choices: Vec::new(),
            editable: false,
            allowed_decisions: None,
            input_schema: None,
            reason: None,
        };
        return Ok(Some((Kind::Plan, AskBody::Approval(approval))));
    }
    Ok(Some((Kind::Question, AskBody::Question { questions })))
}

fn question(index: usize, raw: &RawValue) -> Option<Question> {
    let fields = Object::of(raw)?;
    let text = fields.non_blank_text("question").or_else(|| fields.non_blank_text("header"))?;
    let options = fields.get("options").map_or_else(|| Some(Vec::new()), list)?;
    let options = options.into_iter().map(option).collect::<Option<Vec<_>>>()?;
    let input = if options.is_empty() {
        Input::Text { secret: false }
    } else {
        let custom = fields.get("custom").is_none_or(|custom| custom.get() != "false");
        Input::Choice { options, multiple: fields.is_true("multiple"), custom }
    };
    Some(Question {
        key: index.to_string(),
        header: fields.non_blank_text("header"),
        text,
        input,
        required: true,
        response_schema: None,
    })
}

fn option(raw: &RawValue) -> Option<QuestionOption> {
    let fields = Object::of(raw)?;
    Some(QuestionOption::new(fields.non_blank_text("label")?, fields.non_blank_text("description")))
}

/// Whether a question is a plan approval: only plan approvals accept just yes and no. Any answer except a clear no
/// would start the plan, so it must not be handled as a question that a message or a default option can answer.
fn is_plan(question: &Question) -> bool {
    let labels: Vec<&str> = question.options().iter().map(|option| option.label.as_str()).collect();
    labels == [YES, "No"] && matches!(question.input, Input::Choice { multiple: false, custom: false, .. })
}

/// The answers in OpenCode's format; `None` if they do not match the questions. The note is added to the first answer
/// that accepts free text.
pub(super) fn answered(request: &Object<'_>, answers: &[Vec<String>], note: Option<&str>) -> Option<Raw> {
    let Ok(Some((Kind::Question, AskBody::Question { questions }))) = read(request) else { return None };
    let blank = |entries: &Vec<String>| entries.is_empty() || entries.iter().any(|entry| entry.trim().is_empty());
    if questions.len() != answers.len() || answers.iter().any(blank) {
        return None;
    }
    let mut answers = answers.to_vec();
    let noted = questions.iter().position(takes_words).and_then(|at| answers.get_mut(at));
    if let (Some(note), Some(entries)) = (note.filter(|note| !note.trim().is_empty()), noted) {
        entries.push(format!("Note: {}", limits::head(note, limits::ANSWER)));
    }
    Some(Raw::of(&json!({ "answers": answers })))
}

/// The words as the answer to every question; `None` if a question does not accept free text.
pub(super) fn declined(request: &Object<'_>, words: &str) -> Option<Raw> {
    let Ok(Some((Kind::Question, AskBody::Question { questions }))) = read(request) else { return None };
    questions.iter().all(takes_words).then(|| Raw::of(&json!({ "answers": vec![[words]; questions.len()] })))
}

/// The approval of a plan.
pub(super) fn plan_approval() -> Raw {
    Raw::of(&json!({ "answers": [[YES]] }))
}

/// The answer to an empty list of questions.
pub(super) fn empty_answers() -> Raw {
    Raw::of(&json!({ "answers": [] }))
}

fn takes_words(question: &Question) -> bool {
    match &question.input {
        Input::Choice { custom, .. } => *custom,
        Input::Text { .. } | Input::Number { .. } | Input::YesNo => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = r#"{"questions":[
        {"question":"Which?","header":"Database","options":[{"label":"A","description":"a"},{"label":"B"}]},
        {"question":"What?","header":"Features","options":[{"label":"X","description":""}],"multiple":true,"custom":true},
        {"question":"Name?","header":"Name","options":[]}]}"#;

    fn entries(entries: &[&[&str]]) -> Vec<Vec<String>> {
        entries.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect()
    }

    #[test]
    fn all_question_fields_are_parsed() {
        let Ok(Some((Kind::Question, AskBody::Question { questions }))) = read(&Object::parse(THREE).unwrap()) else { panic!() };
        let options = vec![QuestionOption::new("A", Some("a".into())), QuestionOption::new("B", None)];
        let wanted = Question {
            key: "0".into(),
            header: Some("Database".into()),
            text: "Which?".into(),
            input: Input::Choice { options, multiple: false, custom: true },
            required: true,
            response_schema: None,
        };
        assert_eq!(questions[0], wanted);
        assert!(matches!(questions[1].input, Input::Choice { multiple: true, custom: true, .. }));
        assert_eq!(questions[2].input, Input::Text { secret: false });
        assert_eq!(read(&Object::parse(r#"{"questions":[]}"#).unwrap()), Ok(None));
        for wrong in [r#"{}"#, r#"{"questions":[7]}"#, r#"{"questions":[{"question":"a","options":[{}]}]}"#] {
            assert!(read(&Object::parse(wrong).unwrap()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_matching_answers_are_sent() {
        let request = Object::parse(THREE).unwrap();
        let said = |answers: &[&[&str]], note| answered(&request, &entries(answers), note).map(|raw| raw.as_str().to_owned());
        assert_eq!(said(&[&["A"], &["X", "own"], &["n"]], None).unwrap(), r#"{"answers":[["A"],["X","own"],["n"]]}"#);
        assert_eq!(said(&[&["A"], &["X"], &["n"]], Some("soon")).unwrap(), r#"{"answers":[["A","Note: soon"],["X"],["n"]]}"#);
        for wrong in [&[&["A"][..]][..], &[&["A"], &[], &["n"]], &[&["A"], &["X"], &[" "]], &[]] {
            assert_eq!(said(wrong, None), None, "{wrong:?}");
        }
    }

    #[test]
    fn plan_approval_is_not_a_question() {
        let plan =
            r#"{"questions":[{"question":"Start?","header":"Build","custom":false,"options":[{"label":"Yes"},{"label":"No"}]}]}"#;
        let request = Object::parse(plan).unwrap();
        assert!(matches!(read(&request), Ok(Some((Kind::Plan, AskBody::Approval(approval)))) if approval.action == Action::Plan));
        assert_eq!((answered(&request, &entries(&[&["Yes"]]), None), declined(&request, "no")), (None, None));
        let closed = THREE.replacen("\"options\"", "\"custom\":false,\"options\"", 1);
        assert_eq!(declined(&Object::parse(&closed).unwrap(), "no"), None, "a question without own words takes none");
        assert!(declined(&Object::parse(THREE).unwrap(), "no").is_some());
    }
}
