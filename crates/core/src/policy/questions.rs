//! Decides questions. Rules answer them one by one, and the defaults decide the rest.

use super::decide::{Verdict, message_or, quoted};
use super::explain::Considered;
use super::model::{Effect, QuestionPolicy, Texts};
use super::rules::{MismatchReason, PreparedAsk, PreparedQuestion, Rule};
use super::scopes::{PolicySet, Scope};
use super::settings::Settings;
use crate::ask::{Decision, PolicyNote, Question, first_options, validate_answers};
use crate::texts;

/// Decides a set of questions. `seen`, if given, receives the result of every rule.
pub(super) fn decide(
    set: &PolicySet,
    settings: &Settings,
    questions: &[Question],
    prepared: &PreparedAsk<'_>,
    mut seen: Option<&mut Vec<Considered>>,
) -> Verdict {
    let mut rejected: Option<(Scope, &Rule)> = None;
    let mut asked: Option<(String, String)> = None;
    let mut answers: Vec<Option<Vec<String>>> = vec![None; questions.len()];
    let (mut answered_by, mut hits): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let ready: Vec<PreparedQuestion<'_>> = questions.iter().map(PreparedQuestion::of).collect();
    for (scope, rule) in set.rules() {
        let fit = find_first_match(set, scope, rule, &ready, prepared, &mut answers);
        if let Some(seen) = seen.as_deref_mut() {
            seen.push(Considered::of(scope, rule, fit.map(|_| ())));
        }
        let Ok(index) = fit else { continue };
        match rule.effect() {
            Effect::Reject => rejected = rejected.or(Some((scope, rule))),
            Effect::Ask => {
                asked = asked.or_else(|| {
                    let why = format!("rule \"{}\" asks for {}", rule.label(scope), quoted(questions[index].name()));
                    Some((rule.key(scope), why))
                });
            }
            Effect::Answer => {
                answered_by.push(rule.label(scope));
                hits.push(rule.key(scope));
            }
            Effect::Allow | Effect::Deny => {}
        }
    }

    let reject = |message: Option<&String>, rule: String, hits: Vec<String>| Verdict::Decided {
        decision: Decision::Rejected { message: message_or(message, texts::REJECTED_BY_POLICY), stop: false },
        rule,
        hits,
    };
    let policy = format!("questions.policy = \"{}\"", settings.questions.as_str());
    if let Some((scope, rule)) = rejected {
        let message = rule.spec().message.as_ref().or(settings.question_message.as_ref());
        return reject(message, rule.label(scope), vec![rule.key(scope)]);
    }
    let person = |why: String, answers: Vec<Option<Vec<String>>>, hits: Vec<String>| {
        let preselected = if answers.iter().any(Option::is_some) { answers } else { Vec::new() };
        Verdict::Person(PolicyNote {
            why: Some(why),
            preselected,
            rules: Some(set.fingerprint()),
            deadline: settings.question_deadline(prepared.now),
            hits,
        })
    };
    if let Some((hit, why)) = asked {
        return person(why, answers, vec![hit]);
    }
    let all: Option<Vec<Vec<String>>> = answers.iter().cloned().collect();
    if let Some(all) = all.filter(|all| !all.is_empty()) {
        let decision = Decision::Answered { answers: all, note: None };
        return Verdict::Decided { decision, rule: answered_by.join(", "), hits };
    }
    match settings.questions {
        QuestionPolicy::Forward => {
            let why = match answers.iter().position(Option::is_none).and_then(|open| questions.get(open)) {
                Some(question) => format!("no rule answers {}", quoted(question.name())),
                None => policy,
            };
            person(why, answers, Vec::new())
        }
        QuestionPolicy::Reject => reject(settings.question_message.as_ref(), policy, Vec::new()),
        QuestionPolicy::AcceptFirst | QuestionPolicy::Auto => {
            // A choice is never secret, so a secret question has no first option, and the ask is rejected.
            let given = if settings.questions == QuestionPolicy::Auto { answers } else { vec![None; questions.len()] };
            let filled: Option<Vec<Vec<String>>> = questions
                .iter()
                .zip(given)
                .map(|(question, answer)| {
                    answer.or_else(|| first_options(std::slice::from_ref(question)).and_then(|mut only| only.pop()))
                })
                .collect();
            match filled.filter(|filled| !filled.is_empty()).and_then(|filled| validate_answers(questions, &filled).ok()) {
                Some(answers) => {
                    let rule = answered_by
                        .into_iter()
                        .filter(|_| settings.questions == QuestionPolicy::Auto)
                        .chain([policy])
                        .collect::<Vec<_>>()
                        .join(", ");
                    let hits = if settings.questions == QuestionPolicy::Auto { hits } else { Vec::new() };
                    Verdict::Decided { decision: Decision::Answered { answers, note: None }, rule, hits }
                }
                None => reject(settings.question_message.as_ref(), format!("{policy} (a question has no options)"), Vec::new()),
            }
        }
    }
}

/// Returns the first question that a rule matches. The answer of the rule is stored for every open question that it matches. A
/// rule whose answer a question does not accept does not match.
fn find_first_match(
    set: &PolicySet,
    scope: Scope,
    rule: &Rule,
    questions: &[PreparedQuestion<'_>],
    prepared: &PreparedAsk<'_>,
    answers: &mut [Option<Vec<String>>],
) -> Result<usize, MismatchReason> {
    // Rejecting is stricter than asking, so untrusted projects can reject questions.
    if !set.permits(scope, rule.effect()) && rule.effect() != Effect::Reject {
        return Err("the project is not trusted, so it may only deny, ask and reject");
    }
    if matches!(rule.effect(), Effect::Allow | Effect::Deny) {
        return Err("it is about approvals");
    }
    rule.matches_context(prepared)?;
    let mut first: Option<usize> = None;
    let mut miss: MismatchReason = "there is no question";
    for (index, question) in questions.iter().enumerate() {
        let fit = rule.matches_question(question).and_then(|()| match rule.effect() {
            Effect::Answer if answers[index].is_some() => Err("a nearer rule answers it"),
            Effect::Answer => answer_to(rule, question.question).map(|answer| answers[index] = Some(answer)),
            Effect::Ask | Effect::Reject | Effect::Allow | Effect::Deny => Ok(()),
        });
        match fit {
            Ok(()) => first = first.or(Some(index)),
            Err(why) => miss = why,
        }
    }
    first.ok_or(miss)
}

fn answer_to(rule: &Rule, question: &Question) -> Result<Vec<String>, MismatchReason> {
    if question.is_secret() {
        return Err("secrets are never answered by a rule");
    }
    let entries = match (&rule.spec().answer, rule.spec().pick) {
        (Some(Texts(entries)), _) => entries.clone(),
        (None, Some(pick)) => {
            let option =
                pick.checked_sub(1).and_then(|index| question.options().get(index)).ok_or("the question has no such option")?;
            vec![option.value.clone()]
        }
        (None, None) => return Err("it has no answer"),
    };
    let answer =
        validate_answers(std::slice::from_ref(question), &[entries]).map_err(|_| "the question does not take its answer")?;
    if question.response_schema.is_some() && answer.iter().any(|entries| question.own_text(entries).is_some()) {
        return Err("the question has a schema for own text");
    }
    answer.into_iter().next().filter(|entries| !entries.is_empty()).ok_or("the question does not take its answer")
}
