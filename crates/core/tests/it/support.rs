//! Short constructors for asks and policy sets.

use std::sync::Arc;

use sayso_core::ask::{Action, Approval, AskBody, Decision, Input, Link, Preview, Question, QuestionOption};
use sayso_core::policy::{Policy, PolicySet, Subject, Verdict, decide};
use sayso_core::raw::Raw;
use sayso_core::time::Time;

pub(crate) const NOW: Time = Time::from_millis(1_700_000_000_000);
pub(crate) const HOME: &str = "/home/u";
pub(crate) const PROJECT: &str = "/home/u/shop";

pub(crate) fn policy(text: &str) -> Policy {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn user(text: &str) -> PolicySet {
    PolicySet::new(Arc::new(policy(text)), vec!["/srv/sayso-data".to_owned()])
}

pub(crate) fn subject(body: &AskBody) -> Subject<'_> {
    Subject { agent: "claude", project: Some(PROJECT), home: Some(HOME), body, step: false, disk: None }
}

pub(crate) fn approval(tool: &str, action: Action) -> AskBody {
    let title = format!("{tool} {}", action.as_str());
    AskBody::Approval(Approval {
        tool: tool.into(),
        action,
        title,
        input: Raw::of(&()),
        preview: None,
        choices: vec![],
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: None,
    })
}

pub(crate) fn run(command: &str) -> AskBody {
    approval("Bash", Action::Run { command: command.into() })
}

/// A command that the agent starts in this directory.
pub(crate) fn run_in(directory: &str, command: &str) -> AskBody {
    let AskBody::Approval(written) = run(command) else { panic!("an approval") };
    let preview = Preview::Command { command: command.to_owned(), cwd: Some(directory.to_owned()) };
    AskBody::Approval(Approval { preview: Some(preview), ..written })
}

pub(crate) fn edit(paths: &[&str]) -> AskBody {
    approval("Edit", Action::Edit { paths: paths.iter().map(|path| (*path).to_owned()).collect() })
}

pub(crate) fn read(path: &str) -> AskBody {
    approval("Read", Action::Read { paths: vec![path.to_owned()] })
}

pub(crate) fn link() -> AskBody {
    AskBody::Link(Link { url: "https://example.com/login".into(), message: None })
}

pub(crate) fn choice(header: &str, text: &str, options: &[&str]) -> Question {
    let options = options.iter().map(|label| QuestionOption::new(*label, None)).collect();
    make_question(header, text, Input::Choice { options, multiple: false, custom: false })
}

pub(crate) fn make_question(header: &str, text: &str, input: Input) -> Question {
    Question {
        key: "0".into(),
        header: Some(header.to_owned()).filter(|header| !header.is_empty()),
        text: text.into(),
        input,
        required: true,
        response_schema: None,
    }
}

pub(crate) fn ask(questions: &[Question]) -> AskBody {
    AskBody::Question { questions: questions.to_vec() }
}

/// The verdict without the keys of its rules. The tests of `policy_hits` look at the keys.
pub(crate) fn verdict(set: &PolicySet, body: &AskBody) -> Verdict {
    without_hits(decide(set, &subject(body), NOW))
}

pub(crate) fn without_hits(mut verdict: Verdict) -> Verdict {
    hits_of(&mut verdict).clear();
    verdict
}

pub(crate) fn hits_of(verdict: &mut Verdict) -> &mut Vec<String> {
    match verdict {
        Verdict::Person(note) => &mut note.hits,
        Verdict::Decided { hits, .. } => hits,
    }
}

pub(crate) fn decided(decision: Decision, rule: &str) -> Verdict {
    Verdict::Decided { decision, rule: rule.to_owned(), hits: Vec::new() }
}

pub(crate) fn answered(answers: &[&[&str]], rule: &str) -> Verdict {
    let answers = answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
    decided(Decision::Answered { answers, note: None }, rule)
}

pub(crate) fn rejected(message: &str, rule: &str) -> Verdict {
    decided(Decision::Rejected { message: message.to_owned(), stop: false }, rule)
}

pub(crate) fn approved(rule: &str) -> Verdict {
    decided(Decision::Approved { choice: None, input: None }, rule)
}

pub(crate) fn denied(message: &str, rule: &str) -> Verdict {
    decided(Decision::Denied { message: message.to_owned(), stop: false }, rule)
}

/// Returns why a person has to decide, or `None` if the policy decided.
pub(crate) fn why(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Person(note) => note.why.as_deref(),
        Verdict::Decided { .. } => None,
    }
}
