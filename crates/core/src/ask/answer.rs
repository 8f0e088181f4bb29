//! Answers to questions, and their validation.

use serde::{Deserialize, Serialize};

use super::question::{Input, Question};
use crate::limits;

/// One list of entries per question, in the order of the questions.
pub type Answers = Vec<Vec<String>>;

/// Why the answer to one question is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionProblem {
    /// The index of the question, from 0.
    pub index: usize,
    /// The key of the question.
    pub key: String,
    /// The reason, as a sentence without a full stop.
    pub reason: String,
}

/// Why answers were refused. The ask stays pending.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswers {
    /// The number of answers is not the number of questions.
    #[error("{got} answers for {want} questions")]
    Count { want: usize, got: usize },
    /// Some answers are invalid.
    #[error("{}", .0.iter().map(|p| format!("question {}: {}", p.index + 1, p.reason)).collect::<Vec<_>>().join("; "))]
    Questions(Vec<QuestionProblem>),
}

/// Validates answers and converts them to the form that agents get: the values of the options in the chosen order without
/// repetitions, then the person's own text.
///
/// # Errors
/// All invalid answers, by question.
pub fn validate_answers(questions: &[Question], answers: &[Vec<String>]) -> Result<Answers, InvalidAnswers> {
    if questions.len() != answers.len() {
        return Err(InvalidAnswers::Count { want: questions.len(), got: answers.len() });
    }
    let mut good = Vec::with_capacity(answers.len());
    let mut problems = Vec::new();
    for (index, (question, entries)) in questions.iter().zip(answers).enumerate() {
        match one(question, entries) {
            Ok(answer) => good.push(answer),
            Err(reason) => problems.push(QuestionProblem { index, key: question.key.clone(), reason }),
        }
    }
    if problems.is_empty() { Ok(good) } else { Err(InvalidAnswers::Questions(problems)) }
}

/// Returns the first option of every question, or `None` if a question has no options.
#[must_use]
pub fn first_options(questions: &[Question]) -> Option<Answers> {
    questions.iter().map(|question| question.options().first().map(|option| vec![option.value.clone()])).collect()
}

fn one(question: &Question, entries: &[String]) -> Result<Vec<String>, String> {
    if let Some(long) = entries.iter().find(|entry| entry.len() > limits::ANSWER) {
        return Err(format!("an answer may have {} bytes, this one has {}", limits::ANSWER, long.len()));
    }
    // A blank entry is not an answer: the person chose "Other" and typed nothing.
    let entries: Vec<&str> = entries.iter().map(String::as_str).filter(|entry| !entry.trim().is_empty()).collect();
    if entries.is_empty() {
        return if question.required { Err("an answer is required".to_owned()) } else { Ok(Vec::new()) };
    }
    if entries.len() > 1 && !question.multiple() {
        return Err(format!("takes one answer, got {}", entries.len()));
    }
    match &question.input {
        Input::Choice { options, custom, .. } => {
            let mut chosen: Vec<String> = Vec::with_capacity(entries.len());
            let mut own: Option<&str> = None;
            for (number, entry) in (1..).zip(entries) {
                if let Some(option) = find_option(options, entry) {
                    if !chosen.contains(&option.value) {
                        chosen.push(option.value.clone());
                    }
                } else if !custom {
                    return Err(format!("entry {number} is not one of the options"));
                } else if own.replace(entry).is_some() {
                    return Err("takes only one text of your own in addition to the options".to_owned());
                }
            }
            chosen.extend(own.map(str::to_owned));
            Ok(chosen)
        }
        Input::Text { .. } => Ok(vec![entries[0].to_owned()]),
        Input::Number { minimum, maximum, integer } => number(entries[0], *minimum, *maximum, *integer),
        Input::YesNo => match entries[0].trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" => Ok(vec!["true".to_owned()]),
            "false" | "no" | "n" => Ok(vec!["false".to_owned()]),
            _ => Err("takes yes or no".to_owned()),
        },
    }
}

/// Finds the option with this value or label. An exact match wins over one that ignores "(Recommended)".
fn find_option<'a>(options: &'a [super::QuestionOption], entry: &str) -> Option<&'a super::QuestionOption> {
    options
        .iter()
        .find(|option| option.value == entry || option.label == entry)
        .or_else(|| options.iter().find(|option| option.is_named_by(entry)))
}

fn number(entry: &str, minimum: Option<f64>, maximum: Option<f64>, integer: bool) -> Result<Vec<String>, String> {
    let entry = entry.trim();
    let value: f64 = entry.parse().ok().filter(|value: &f64| value.is_finite()).ok_or("takes a number")?;
    if integer && value.fract() != 0.0 {
        return Err("takes a whole number".to_owned());
    }
    match (minimum, maximum) {
        (Some(low), Some(high)) if value < low || value > high => Err(format!("must be between {low} and {high}")),
        (Some(low), _) if value < low => Err(format!("must be at least {low}")),
        (_, Some(high)) if value > high => Err(format!("must be at most {high}")),
        _ => Ok(vec![entry.to_owned()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::QuestionOption;

    fn choice(multiple: bool, custom: bool) -> Question {
        let options = ["A", "B (Recommended)", "C"].map(|label| QuestionOption::new(label, None)).to_vec();
        Question {
            key: "0".into(),
            header: None,
            text: "Which?".into(),
            input: Input::Choice { options, multiple, custom },
            required: true,
            response_schema: None,
        }
    }

    fn make_question(input: Input) -> Question {
        Question { key: "k".into(), header: None, text: "?".into(), input, required: true, response_schema: None }
    }

    fn give(question: Question, entries: &[&str]) -> Result<Vec<String>, String> {
        let answers = vec![entries.iter().map(|entry| (*entry).to_owned()).collect()];
        validate_answers(&[question], &answers).map(|mut good| good.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn single_choice_accepts_value_or_label() {
        assert_eq!(give(choice(false, false), &["A"]), Ok(vec!["A".into()]));
        assert_eq!(give(choice(false, false), &["B"]), Ok(vec!["B (Recommended)".into()]));
        assert!(give(choice(false, false), &["A", "C"]).is_err());
        assert!(give(choice(false, false), &["Z"]).is_err());
        assert!(give(choice(false, false), &[]).is_err());
        assert_eq!(give(choice(false, true), &["Z"]), Ok(vec!["Z".into()]));
        assert!(give(choice(false, true), &["  "]).is_err(), "Other chosen but blank is no answer");
    }

    #[test]
    fn several_choices_accept_own_text_last() {
        assert_eq!(give(choice(true, true), &["Z", "C", "A", "C"]), Ok(vec!["C".into(), "A".into(), "Z".into()]));
        assert!(give(choice(true, true), &["Y", "Z"]).is_err());
        assert!(give(choice(true, false), &["A", "Z"]).is_err());
    }

    #[test]
    fn numbers_and_yes_no_are_validated() {
        let number = |integer| make_question(Input::Number { minimum: Some(0.0), maximum: Some(100.0), integer });
        assert_eq!(give(number(true), &["42"]), Ok(vec!["42".into()]));
        for wrong in ["-1", "101", "x", "NaN", "inf", "1.5"] {
            assert!(give(number(true), &[wrong]).is_err(), "{wrong}");
        }
        assert_eq!(give(number(false), &["1.5"]), Ok(vec!["1.5".into()]));
        assert_eq!(give(make_question(Input::YesNo), &["Yes"]), Ok(vec!["true".into()]));
        assert!(give(make_question(Input::YesNo), &["maybe"]).is_err());
    }

    #[test]
    fn every_invalid_answer_is_reported() {
        let error = validate_answers(&[choice(false, false), choice(false, false)], &[vec![], vec!["Z".into()]]).unwrap_err();
        let InvalidAnswers::Questions(problems) = error else { panic!("a count error") };
        assert_eq!(problems.iter().map(|problem| problem.index).collect::<Vec<_>>(), [0, 1]);
        assert!(matches!(validate_answers(&[choice(false, false)], &[]), Err(InvalidAnswers::Count { want: 1, got: 0 })));
    }

    #[test]
    fn optional_questions_may_stay_empty() {
        let mut question = choice(false, false);
        question.required = false;
        assert_eq!(give(question, &[]), Ok(vec![]));
    }
}
