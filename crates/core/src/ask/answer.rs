//! Answers, checked before an ask is consumed.

use serde::{Deserialize, Serialize};

use super::question::{Input, Question};
use crate::limits;

/// One list of entries per question, in the order of the questions.
pub type Answers = Vec<Vec<String>>;

/// What is wrong with the answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionProblem {
    /// Which question, counted from 0.
    pub index: usize,
    /// Its key.
    pub key: String,
    /// What is wrong, as a sentence without its full stop.
    pub reason: String,
}

/// Answers that do not fit the questions. The ask stays pending.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswers {
    /// Not one list per question.
    #[error("{got} answers for {want} questions")]
    Count {
        /// How many questions there are.
        want: usize,
        /// How many answers came.
        got: usize,
    },
    /// Some answers do not fit.
    #[error("{}", .0.iter().map(|p| format!("question {}: {}", p.index + 1, p.reason)).collect::<Vec<_>>().join("; "))]
    Questions(Vec<QuestionProblem>),
}

/// Checks answers and brings them into the form that agents get: options as their values in the
/// order chosen, each once, text of the person's own last.
///
/// # Errors
/// Everything that is wrong, question by question.
pub fn validate(questions: &[Question], answers: &[Vec<String>]) -> Result<Answers, InvalidAnswers> {
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

/// The first option of every question; nothing if one question has no options to take the first of.
#[must_use]
pub fn first_options(questions: &[Question]) -> Option<Answers> {
    questions.iter().map(|question| question.options().first().map(|option| vec![option.value.clone()])).collect()
}

fn one(question: &Question, entries: &[String]) -> Result<Vec<String>, String> {
    if let Some(long) = entries.iter().find(|entry| entry.len() > limits::ANSWER) {
        return Err(format!("an answer may have {} bytes, this one has {}", limits::ANSWER, long.len()));
    }
    // A blank entry is no answer: "Other" was chosen and nothing typed.
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
                if let Some(option) = named(options, entry) {
                    if !chosen.contains(&option.value) {
                        chosen.push(option.value.clone());
                    }
                } else if !custom {
                    return Err(format!("entry {number} is not one of the options"));
                } else if own.replace(entry).is_some() {
                    return Err("takes one text of your own beside the options".to_owned());
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

/// The option an entry names: by exact value or label first, then with "(Recommended)" ignored.
fn named<'a>(options: &'a [super::QuestionOption], entry: &str) -> Option<&'a super::QuestionOption> {
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
        }
    }

    fn asked(input: Input) -> Question {
        Question { key: "k".into(), header: None, text: "?".into(), input, required: true }
    }

    fn give(question: Question, entries: &[&str]) -> Result<Vec<String>, String> {
        let answers = vec![entries.iter().map(|entry| (*entry).to_owned()).collect()];
        validate(&[question], &answers).map(|mut good| good.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn single_choice_by_value_or_label() {
        assert_eq!(give(choice(false, false), &["A"]), Ok(vec!["A".into()]));
        assert_eq!(give(choice(false, false), &["B"]), Ok(vec!["B (Recommended)".into()]));
        assert!(give(choice(false, false), &["A", "C"]).is_err());
        assert!(give(choice(false, false), &["Z"]).is_err());
        assert!(give(choice(false, false), &[]).is_err());
        assert_eq!(give(choice(false, true), &["Z"]), Ok(vec!["Z".into()]));
        assert!(give(choice(false, true), &["  "]).is_err(), "Other chosen but blank is no answer");
    }

    #[test]
    fn several_choices_take_own_text_last() {
        assert_eq!(give(choice(true, true), &["Z", "C", "A", "C"]), Ok(vec!["C".into(), "A".into(), "Z".into()]));
        assert!(give(choice(true, true), &["Y", "Z"]).is_err());
        assert!(give(choice(true, false), &["A", "Z"]).is_err());
    }

    #[test]
    fn numbers_and_yes_no() {
        let number = |integer| asked(Input::Number { minimum: Some(0.0), maximum: Some(100.0), integer });
        assert_eq!(give(number(true), &["42"]), Ok(vec!["42".into()]));
        for wrong in ["-1", "101", "x", "NaN", "inf", "1.5"] {
            assert!(give(number(true), &[wrong]).is_err(), "{wrong}");
        }
        assert_eq!(give(number(false), &["1.5"]), Ok(vec!["1.5".into()]));
        assert_eq!(give(asked(Input::YesNo), &["Yes"]), Ok(vec!["true".into()]));
        assert!(give(asked(Input::YesNo), &["maybe"]).is_err());
    }

    #[test]
    fn every_question_is_reported() {
        let error = validate(&[choice(false, false), choice(false, false)], &[vec![], vec!["Z".into()]]).unwrap_err();
        let InvalidAnswers::Questions(problems) = error else { panic!("a count error") };
        assert_eq!(problems.iter().map(|problem| problem.index).collect::<Vec<_>>(), [0, 1]);
        assert!(matches!(validate(&[choice(false, false)], &[]), Err(InvalidAnswers::Count { want: 1, got: 0 })));
    }

    #[test]
    fn optional_questions_may_stay_empty() {
        let mut question = choice(false, false);
        question.required = false;
        assert_eq!(give(question, &[]), Ok(vec![]));
    }
}
