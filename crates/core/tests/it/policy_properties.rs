//! Properties that hold for every policy and every ask.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use sayso_core::ask::{Action, AskBody, Decision, Input, Question, QuestionOption, validate_answers};
use sayso_core::policy::{
    Effect, Policy, PolicySet, ProjectPolicy, RuleSpec, SessionPolicy, Subject, Texts, Verdict, decide, explain,
};

use crate::support::{HOME, NOW, PROJECT, approval, link, make_question};

/// Fragments of lines and patterns, some of them invalid.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "git", "push", "status", "rm", "-rf", "x", "*", "ls", ";", "&&", "|", "&", "\n", "(", ")", "$(", "`", "'", "\"", "\\", ">", "<", "<<", "{", "}", "$x", "bash", "-c", "env",
            "sudo", "eval", "if", "then", "fi", "A=1", "2>&1", "/dev/null", "sayso", "~", "#", "!", "[[", "]]", "..", "\u{0}", "é", "--", "find", "-exec",
        ]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    vec((piece(), prop::sample::select(vec![" ", "", " "])), 0..14)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, gap)| piece + gap).collect())
}

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec!["git *", "git status", "git push *", "rm *", "*", "ls *", "bash *", "env *", "* x"])
            .prop_map(str::to_owned),
        line()
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let options = vec("[A-C]( \\(Recommended\\))?", 0..4)
        .prop_map(|labels| labels.into_iter().map(|label| QuestionOption::new(label, None)).collect::<Vec<_>>());
    let input = prop_oneof![
        4 => (options, any::<bool>(), any::<bool>()).prop_map(|(options, multiple, custom)| Input::Choice { options, multiple, custom }),
        1 => any::<bool>().prop_map(|secret| Input::Text { secret }),
        1 => Just(Input::YesNo),
        1 => Just(Input::Number { minimum: Some(1.0), maximum: None, integer: true }),
    ];
    ("(Database|Name|)", "[a-z ?]{0,12}", input, any::<bool>())
        .prop_map(|(header, text, input, required)| Question { required, ..make_question(&header, &text, input) })
}

fn body() -> impl Strategy<Value = AskBody> {
    let path = prop_oneof![line(), "(src|\\.\\.|~|/etc|\\.sayso\\.toml)(/[a-z.]{0,5}){0,3}"];
    let action = prop_oneof![
        6 => line().prop_map(|command| Action::Run { command }),
        1 => vec(path.clone(), 0..3).prop_map(|paths| Action::Edit { paths }),
        1 => vec(path, 0..3).prop_map(|paths| Action::Read { paths }),
        1 => "(https?://)?[a-z@.:/\\\\]{0,14}".prop_map(|url| Action::Fetch { url }),
        1 => ("[a-z/]{0,4}", "[a-z/]{0,4}").prop_map(|(server, tool)| Action::Mcp { server, tool }),
        1 => prop::sample::select(vec![Action::Plan, Action::Mode, Action::Other]),
    ];
    prop_oneof![
        4 => ("(Bash|Edit|ExitPlanMode|x)", action).prop_map(|(tool, action)| approval(&tool, action)),
        3 => vec(question(), 0..4).prop_map(|questions| AskBody::Question { questions }),
        1 => Just(link()),
    ]
}

fn rule() -> impl Strategy<Value = RuleSpec> {
    let texts = |list: BoxedStrategy<String>| prop::option::weighted(0.4, vec(list, 0..3).prop_map(Texts));
    let effect = prop::sample::select(vec![Effect::Allow, Effect::Deny, Effect::Ask, Effect::Answer, Effect::Reject]);
    let word = || "(\\*|[A-Za-z]{1,5}\\*?|ExitPlanMode|/[a-z(*+]{1,4}/)".boxed();
    (
        effect,
        (texts(pattern().boxed()), texts("(\\*\\*|!?[a-z./\\[]{0,6})".boxed()), texts("[a-z.:/*]{0,8}".boxed())),
        (texts(word()), texts("cl.*".boxed()), prop::option::weighted(0.2, "(~|/home/u|x)(/shop)?")),
        (
            prop::option::weighted(0.4, word()),
            prop::option::weighted(0.4, word()),
            texts("[A-C]".boxed()),
            prop::option::weighted(0.4, 0_usize..4),
        ),
    )
        .prop_map(|(effect, (run, edit, fetch), (tool, agent, project), (header, matches, answer, pick))| RuleSpec {
            run,
            edit,
            fetch,
            tool,
            agent,
            project,
            header,
            matches,
            answer,
            pick,
            ..RuleSpec::new(effect)
        })
}

fn settings() -> impl Strategy<Value = String> {
    (prop::sample::select(vec!["forward", "auto", "accept-first", "reject"]), prop::sample::select(vec!["ask", "allow", "deny"]))
        .prop_map(|(questions, approvals)| {
            format!("[questions]\npolicy = \"{questions}\"\n[approvals]\npolicy = \"{approvals}\"\n")
        })
}

/// Builds a policy set from those rules that are valid.
fn set_of(settings: &str, rules: &[RuleSpec]) -> PolicySet {
    let usable: Vec<RuleSpec> = rules
        .iter()
        .filter(|rule| SessionPolicy { rules: vec![(*rule).clone()], ..SessionPolicy::default() }.check().is_ok())
        .cloned()
        .collect();
    let user = Arc::new(Policy::parse(settings).unwrap());
    PolicySet::new(user, vec![]).with_session(&SessionPolicy { rules: usable, ..SessionPolicy::default() }).unwrap()
}

fn cases() -> ProptestConfig {
    // A million cases: `PROPTEST_CASES=1000000 cargo test --release -p sayso-core`.
    ProptestConfig::default()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn decisions_of_any_policy_satisfy_the_invariants(settings in settings(), rules in vec(rule(), 0..6), body in body(), step in any::<bool>()) {
        let set = set_of(&settings, &rules);
        let subject = Subject { agent: "claude", project: Some(PROJECT), home: Some(HOME), body: &body, step, disk: None };
        let verdict = decide(&set, &subject, NOW);
        prop_assert_eq!(&verdict, &decide(&set, &subject, NOW), "deterministic");
        prop_assert_eq!(&verdict, &explain(&set, &subject, NOW).verdict, "explained as decided");
        match (&body, &verdict) {
            (AskBody::Question { questions }, Verdict::Decided { decision: Decision::Answered { answers, .. }, rule, .. }) => {
                prop_assert_eq!(validate_answers(questions, answers), Ok(answers.clone()), "answers fit");
                for question in questions {
                    prop_assert!(!question.is_secret(), "a secret was answered");
                    prop_assert!(!rule.starts_with("questions.policy") || !question.options().is_empty(), "no option to take the first of");
                }
            }
            (AskBody::Question { .. }, Verdict::Decided { decision, .. }) => prop_assert!(matches!(decision, Decision::Rejected { .. }), "only rejected"),
            (AskBody::Link(_), Verdict::Decided { decision, .. }) => prop_assert!(matches!(decision, Decision::Denied { .. }), "only denied"),
            (AskBody::Approval(_), Verdict::Decided { decision, .. }) => prop_assert!(matches!(decision, Decision::Approved { .. } | Decision::Denied { .. }), "of its kind"),
            (_, Verdict::Person(note)) => prop_assert!(note.why.is_some()),
        }
    }

    #[test]
    fn deny_always_wins(settings in settings(), rules in vec(rule(), 0..6), body in body()) {
        let body = if matches!(body, AskBody::Question { .. }) { link() } else { body };
        let mut rules = rules;
        rules.push(RuleSpec { name: Some("all".to_owned()), ..RuleSpec::new(Effect::Deny) });
        let subject = Subject { agent: "claude", project: Some(PROJECT), home: Some(HOME), body: &body, step: false, disk: None };
        let denied = matches!(decide(&set_of(&settings, &rules), &subject, NOW), Verdict::Decided { decision: Decision::Denied { .. }, .. });
        prop_assert!(denied);
    }

    #[test]
    fn untrusted_project_never_causes_an_approval(rules in vec(rule(), 0..6), settings in settings(), body in body()) {
        let session = SessionPolicy { rules: rules.into_iter().filter(|rule| SessionPolicy { rules: vec![rule.clone()], ..SessionPolicy::default() }.check().is_ok()).collect(), ..SessionPolicy::default() };
        let mut policy = Policy::parse(&settings).unwrap();
        policy.rules = session.rules.iter().map(|rule| sayso_core::policy::Rule::new(rule.clone()).unwrap()).collect();
        let subject = Subject { agent: "claude", project: Some(PROJECT), home: Some(HOME), body: &body, step: false, disk: None };
        let set = PolicySet::default().with_project(Arc::new(ProjectPolicy { policy, trusted: false }));
        let yes = matches!(decide(&set, &subject, NOW), Verdict::Decided { decision: Decision::Approved { .. } | Decision::Answered { .. }, .. });
        prop_assert!(!yes);
    }

    #[test]
    fn line_that_bash_cannot_parse_is_never_approved(line in line()) {
        // Without other quotes and comments, an open quote at the end makes any line incomplete.
        let line = line.replace(['#', '\'', '"', '\\'], "");
        for broken in [format!("{line} '"), format!("{line} \"")] {
            let set = set_of("[approvals]\npolicy = \"allow\"", &[RuleSpec { run: Some(Texts(vec!["*".to_owned()])), ..RuleSpec::new(Effect::Allow) }]);
            let body = approval("Bash", Action::Run { command: broken.clone() });
            let subject = Subject { agent: "claude", project: Some(PROJECT), home: Some(HOME), body: &body, step: false, disk: None };
            prop_assert!(matches!(decide(&set, &subject, NOW), Verdict::Person(_)), "{}", broken);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "(\\[\\[?[a-z]{1,9}\\]\\]?|[a-z]{1,8} = \"[a-z-]{0,8}\"|.{0,12}|\n){0,12}") {
        if let Err(error) = Policy::parse(&text) {
            prop_assert!(error.line >= 1 && error.column >= 1);
        }
    }
}
