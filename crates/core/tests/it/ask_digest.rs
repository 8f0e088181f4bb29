//! Asks have the same digest only if they ask for the same thing.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use sayso_core::ask::{Action, Approval, AskBody, AskContext, FileDiff, Preview, ask_digest};
use sayso_core::digest::{FileHash, ShaDigest};
use sayso_core::raw::Raw;

use crate::support::{ask, choice, link, run};

/// Texts from a small alphabet, so that two random texts are often equal or differ only in where they are split.
fn text() -> impl Strategy<Value = String> {
    "[ab]{0,2}"
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        text().prop_map(|command| Action::Run { command }),
        vec(text(), 0..3).prop_map(|paths| Action::Edit { paths }),
        vec(text(), 0..3).prop_map(|paths| Action::Read { paths }),
        text().prop_map(|url| Action::Fetch { url }),
        (text(), text()).prop_map(|(server, tool)| Action::Mcp { server, tool }),
        prop::sample::select(vec![Action::Plan, Action::Mode, Action::Other]),
    ]
}

fn preview() -> impl Strategy<Value = Preview> {
    prop_oneof![
        (text(), option::of(text())).prop_map(|(command, cwd)| Preview::Command { command, cwd }),
        vec((text(), text()).prop_map(|(path, diff)| FileDiff { path, diff }), 0..3).prop_map(|files| Preview::Diff { files }),
        text().prop_map(|text| Preview::Plan { text }),
        text().prop_map(|text| Preview::Text { text }),
    ]
}

prop_compose! {
    fn approval()(tool in text(), action in action(), title in text(), input in text(), preview in option::of(preview()), reason in option::of(text()))
        -> Approval
    {
        Approval { tool, action, title, input: Raw::of(&input), preview, choices: vec![], editable: false, allowed_decisions: None, input_schema: None, reason }
    }
}

prop_compose! {
    fn context()(agent in text(), project in option::of(text())) -> AskContext {
        AskContext { agent, project, ..AskContext::default() }
    }
}

/// The properties that the digest has to distinguish.
fn semantics(
    approval: &Approval,
    context: &AskContext,
    known: Option<&str>,
) -> (Approval, String, Option<String>, Option<String>) {
    let mut approval = approval.clone();
    if known.is_some() {
        (approval.title, approval.reason, approval.input) = (String::new(), None, Raw::of(&()));
    }
    (approval, context.agent.clone(), context.project.clone(), known.map(str::to_owned))
}

proptest! {
    #[test]
    fn digests_are_equal_exactly_for_equal_actions(
        (one, one_at, one_known) in (approval(), context(), option::of(text())),
        (two, two_at, two_known) in (approval(), context(), option::of(text())),
    ) {
        let digest = |approval: &Approval, context, known: &Option<String>| {
            ask_digest(&AskBody::Approval(approval.clone()), context, known.as_deref())
        };
        let same = semantics(&one, &one_at, one_known.as_deref()) == semantics(&two, &two_at, two_known.as_deref());
        prop_assert_eq!(digest(&one, &one_at, &one_known) == digest(&two, &two_at, &two_known), same);
    }

    /// Varies one field at a time, because random pairs rarely differ in only one.
    #[test]
    fn every_field_changes_the_digest(approval in approval(), at in context(), known in option::of(text()), other in "[ab]{3}") {
        let digest = |approval: &Approval, at: &AskContext| ask_digest(&AskBody::Approval(approval.clone()), at, known.as_deref());
        let first = digest(&approval, &at);
        prop_assert_ne!(first, digest(&Approval { tool: other.clone(), ..approval.clone() }, &at));
        prop_assert_ne!(first, digest(&Approval { action: Action::Run { command: other.clone() }, ..approval.clone() }, &at));
        let moved = Preview::Command { command: "a".to_owned(), cwd: Some(other.clone()) };
        prop_assert_ne!(first, digest(&Approval { preview: Some(moved), ..approval.clone() }, &at));
        prop_assert_ne!(first, digest(&approval, &AskContext { agent: other.clone(), ..at.clone() }));
        prop_assert_ne!(first, digest(&approval, &AskContext { project: Some(other.clone()), ..at.clone() }));
        // For tools with a known schema, these fields only describe the call.
        let described = known.is_some();
        let input = Raw::of(&other);
        prop_assert_eq!(first == digest(&Approval { input, ..approval.clone() }, &at), described);
        prop_assert_eq!(first == digest(&Approval { title: other.clone(), ..approval.clone() }, &at), described);
        prop_assert_eq!(first == digest(&Approval { reason: Some(other.clone()), ..approval.clone() }, &at), described);
        // These fields describe the session and the person, not the action.
        let elsewhere = AskContext { title: other.clone(), context: Some(other.clone()), tool_call_id: Some(other), ..at.clone() };
        prop_assert_eq!(first, digest(&approval, &elsewhere));
    }

    #[test]
    fn digests_round_trip_as_text(approval in approval(), at in context()) {
        let digest = ask_digest(&AskBody::Approval(approval), &at, None);
        prop_assert_eq!(digest.to_string().parse::<ShaDigest>(), Ok(digest));
        prop_assert!(digest.to_string().starts_with(&digest.short()) && digest.short().len() == 12);
    }
}

#[test]
fn file_hash_equals_the_published_test_vector() {
    let hash = FileHash::of_bytes(b"abc");
    assert_eq!(hash.to_string(), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
    assert_eq!(hash.to_string().parse(), Ok(hash));
}

#[test]
fn questions_and_links_have_digests() {
    let at = AskContext::default();
    let digest = |body: &AskBody| ask_digest(body, &at, None);
    let question = |text: &str, options: &[&str]| digest(&ask(&[choice("Database", text, options)]));
    assert_eq!(question("Which?", &["a", "b"]), question("Which?", &["a", "b"]));
    assert_ne!(question("Which?", &["a", "b"]), question("Which one?", &["a", "b"]));
    assert_ne!(question("Which?", &["a", "b"]), question("Which?", &["a", "c"]));
    assert_ne!(digest(&link()), digest(&run("https://example.com/login")));
}

/// Digests are stored and displayed, so the layout of version 1 must not change.
#[test]
fn layout_of_the_digest_is_fixed() {
    let at = AskContext { agent: "claude".to_owned(), project: Some("/home/u/shop".to_owned()), ..AskContext::default() };
    let digest = ask_digest(&run("cargo test"), &at, Some("{\"command\":\"cargo test\"}"));
    assert_eq!(digest.short(), "87c9ce449caa");
    assert_eq!("f".repeat(63).parse::<ShaDigest>().unwrap_err().to_string(), "a digest is 64 hexadecimal digits");
    assert!("é".repeat(32).parse::<ShaDigest>().is_err());
}
