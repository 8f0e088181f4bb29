//! Keys that answer questions and decide approvals.

use super::*;

#[test]
fn single_choice_is_sent_after_the_undo_time() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    assert_eq!(desk.press('2'), []);
    assert_eq!(desk.held_decision(), Some(("a", &answer(&[&["PostgreSQL"]]))));
    assert_eq!(desk.wait(Duration::from_millis(2_999)), []);
    let sent = desk.wait(Duration::from_millis(1));
    assert_eq!(sent, [Effect::Send { id: "a".into(), decision: answer(&[&["PostgreSQL"]]) }]);
    assert_eq!(desk.held_decision(), None);
    let done = decided(ask("a", 2, question_ask()), AskStatus::Answered, ada());
    desk.event(Event::Sent(Box::new(done)));
    assert!(desk.model.sending.is_empty() && desk.model.waiting() == 1);
}

#[test]
fn digits_beyond_the_options_do_nothing_or_open_free_text() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.press('4');
    assert_eq!((desk.held_decision(), desk.model.focus), (None, Focus::Card));
    desk.press('3');
    assert_eq!(desk.model.focus, Focus::Answer);
    desk.type_in("my own");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision().unwrap().1, &answer(&[&["my own"]]));
}

#[test]
fn first_enter_highlights_an_option_without_sending() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.key(KeyCode::Enter);
    assert_eq!((desk.held_decision(), desk.model.draft().unwrap().highlight), (None, Some(0)));
    desk.key(KeyCode::Down);
    desk.key(KeyCode::Down);
    desk.key(KeyCode::Down);
    assert_eq!(desk.model.draft().unwrap().highlight, Some(2), "the last one is for free text");
    desk.key(KeyCode::Up);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision().unwrap().1, &answer(&[&["PostgreSQL"]]));
    let mut desk = Desk::with(vec![question_ask()]);
    desk.key(KeyCode::Up);
    assert_eq!(desk.model.draft().unwrap().highlight, Some(2));
}

#[test]
fn enter_sends_a_preselected_option() {
    let mut preselected = question_ask();
    preselected.questions[0].preselected = Some(vec!["PostgreSQL".into()]);
    let mut desk = Desk::with(vec![preselected]);
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision().map(|(_, decision)| decision), Some(&answer(&[&["PostgreSQL"]])));
}

#[test]
fn multiple_choice_is_sent_by_enter() {
    let mut many = question_ask();
    many.questions = vec![Question { multiple: true, ..database() }];
    let mut desk = Desk::with(vec![many]);
    desk.press('2');
    desk.key(KeyCode::Up);
    desk.press(' ');
    assert_eq!(desk.held_decision(), None);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision().unwrap().1, &answer(&[&["SQLite", "PostgreSQL"]]));
}

#[test]
fn enter_without_a_choice_reports_a_problem() {
    let mut many = question_ask();
    many.questions = vec![Question { multiple: true, ..database() }];
    let mut desk = Desk::with(vec![many]);
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision(), None);
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("Choose or type an answer."));
}

/// The last step shows all answers for review.
#[test]
fn questions_of_a_set_are_answered_in_order_and_reviewed() {
    let mut desk = Desk::with(vec![set()]);
    desk.press('1');
    desk.press('1');
    desk.press('3');
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.model.focus, Focus::Answer);
    desk.type_in("101");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("Type a number between 0 and 100."));
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Backspace);
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Tab);
    assert_eq!(desk.model.draft().unwrap().active, 4, "the optional question is skipped");
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("Type an answer."));
    desk.key(KeyCode::Enter);
    desk.type_in(" hush ");
    desk.key(KeyCode::Enter);
    assert_eq!((desk.model.draft().unwrap().active, desk.held_decision()), (5, None), "the review step");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision().unwrap().1, &answer(&[&["Vitest"], &["Auth", "Search"], &["10"], &[], &[" hush "]]));
    assert!(!desk.model.held_decision().unwrap().0.label.contains("hush"));
}

#[test]
fn incomplete_set_moves_to_the_missing_question() {
    let mut desk = Desk::with(vec![set()]);
    desk.press('2');
    for _ in 0..4 {
        desk.key(KeyCode::Tab);
    }
    desk.key(KeyCode::Enter);
    let draft = desk.model.draft().unwrap();
    assert_eq!((draft.active, draft.problem.as_deref()), (1, Some("2 of 5 answered. Areas: Choose or type an answer.")));
    desk.key(KeyCode::BackTab);
    assert_eq!(desk.model.draft().unwrap().active, 0);
    // Choices are kept when the cursor comes back.
    assert_eq!(desk.model.draft().unwrap().highlight, Some(1));
}

#[test]
fn note_is_sent_with_the_answer() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.press('n');
    desk.type_in("in WAL mode");
    desk.key(KeyCode::Enter);
    desk.press('1');
    let wanted = Decision::Answer { answers: vec![vec!["SQLite".into()]], note: Some("in WAL mode".into()) };
    assert_eq!(desk.held_decision().unwrap().1, &wanted);
}

#[test]
fn single_keys_decide_approvals() {
    for (key, decision) in [
        ('a', yes()),
        ('d', Decision::Deny(no(None, false))),
        ('D', Decision::Deny(no(None, true))),
        ('1', Decision::Approve(ApproveRequest { choice: Some("always".into()), ..ApproveRequest::default() })),
    ] {
        let mut desk = Desk::with(vec![edit()]);
        desk.press(key);
        assert_eq!(desk.held_decision().map(|(_, decision)| decision), Some(&decision), "{key}");
    }
    let mut desk = Desk::with(vec![edit()]);
    desk.press('2');
    assert_eq!(desk.held_decision(), None, "there is no second choice");
    desk.press('n');
    assert_eq!((desk.held_decision(), desk.model.focus), (None, Focus::Card));
}

#[test]
fn refusal_can_have_a_reason() {
    let mut desk = Desk::with(vec![edit()]);
    desk.press('r');
    assert!(desk.screen(80, 24).contains("Why? The agent will see this:"));
    desk.type_in("use staging");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision().unwrap().1, &Decision::Deny(no(Some("use staging"), false)));
    let mut desk = Desk::with(vec![question_ask()]);
    desk.press('r');
    desk.type_in("d");
    desk.key(KeyCode::Esc);
    assert_eq!((desk.held_decision(), desk.model.focus), (None, Focus::Card));
    desk.press('d');
    assert_eq!(desk.held_decision().unwrap().1, &Decision::Reject(no(None, false)));
}

#[test]
fn approval_keys_do_nothing_on_questions() {
    let mut desk = Desk::with(vec![question_ask()]);
    for key in ['a', 'D', 'e'] {
        desk.press(key);
        assert_eq!(desk.held_decision(), None, "{key}");
    }
}

#[test]
fn edited_input_is_shown_before_approval() {
    let mut desk = Desk::with(vec![ask("a", 1, approval_ask())]);
    let effects = desk.press('e');
    assert_eq!(effects, [Effect::Edit { id: "a".into(), text: "cargo test --workspace".into(), suffix: "sh" }]);
    desk.event(Event::Edited { id: "a".into(), text: Ok("cargo test -p core\n".into()) });
    desk.press('a');
    assert_eq!(desk.held_decision(), None, "keys for the editor do not act on the card");
    desk.rest();
    let screen = desk.screen(80, 24);
    assert!(screen.contains("cargo test -p core") && screen.contains("a approve with changes"), "{screen}");
    desk.press('a');
    let wanted = ApproveRequest { input: Some(json!({"command": "cargo test -p core"})), ..ApproveRequest::default() };
    assert_eq!(desk.held_decision().unwrap().1, &Decision::Approve(wanted));

    let mut desk = Desk::with(vec![ask("a", 1, approval_ask())]);
    desk.event(Event::Edited { id: "a".into(), text: Ok("ls\n".into()) });
    desk.rest();
    desk.key(KeyCode::Esc);
    desk.press('a');
    assert_eq!(desk.held_decision().unwrap().1, &yes(), "Esc discards the changes");
}

#[test]
fn input_that_is_not_editable_is_not_edited() {
    let mut fixed = approval_ask();
    fixed.approval.as_mut().unwrap().editable = false;
    let mut desk = Desk::with(vec![fixed]);
    assert_eq!(desk.press('e'), []);
    assert!(desk.model.notice.is_some());
    desk.event(Event::Edited { id: approval_ask().id, text: Err("The editor `vi` failed.".into()) });
    assert!(desk.model.draft().unwrap().problem.is_some());
}

#[test]
fn only_allowed_decisions_are_offered_and_sent() {
    let with = |allowed: Vec<ApprovalDecision>| {
        let mut ask = ask("a", 1, approval_ask());
        let approval = ask.approval.as_mut().unwrap();
        approval.editable = allowed.contains(&ApprovalDecision::Edit);
        approval.allowed_decisions = Some(allowed);
        Desk::with(vec![ask])
    };
    let mut edited = with(vec![ApprovalDecision::Edit, ApprovalDecision::Deny]);
    let screen = edited.screen(100, 30);
    assert!(!screen.contains("a approve") && screen.contains("d deny") && screen.contains("e edit"), "{screen}");
    edited.rest();
    edited.press('a');
    edited.press('1');
    assert_eq!((edited.held_decision(), edited.model.notice.is_some()), (None, true));
    edited.event(Event::Edited { id: "a".into(), text: Ok("ls\n".into()) });
    edited.rest();
    edited.press('a');
    assert!(edited.held_decision().is_some(), "an edited input can be approved");

    let mut approved = with(vec![ApprovalDecision::Approve]);
    let screen = approved.screen(100, 30);
    assert!(screen.contains("a approve") && !screen.contains("d deny") && !screen.contains("e edit"), "{screen}");
    approved.rest();
    for key in ['d', 'D', 'e'] {
        assert_eq!(approved.press(key), [], "{key}");
    }
    assert_eq!(approved.held_decision(), None);
    approved.press('a');
    assert_eq!(approved.held_decision().unwrap().1, &yes());
}

#[test]
fn link_is_opened_and_then_approved() {
    let mut desk = Desk::with(vec![ask("l", 1, link())]);
    assert_eq!(desk.key(KeyCode::Enter), [Effect::Browse("https://github.com/login/device?code=ABCD-1234".into())]);
    assert_eq!(desk.press('y'), [Effect::Copy("https://github.com/login/device?code=ABCD-1234".into())]);
    desk.press('D');
    assert_eq!(desk.held_decision(), None);
    desk.press('a');
    assert_eq!(desk.held_decision().unwrap().1, &yes());
}

#[test]
fn held_key_decides_only_one_card() {
    let mut desk = Desk::with(["a", "b", "c"].map(|id| ask(id, 5, approval_ask())).to_vec());
    desk.press('a');
    assert_eq!((desk.model.sending.len(), desk.open()), (1, "b"));
    // A terminal without release reports: first the repeat delay, then regular repeats.
    desk.wait(Duration::from_millis(660));
    desk.press('a');
    for _ in 0..40 {
        desk.wait(Duration::from_millis(33));
        desk.press('a');
    }
    assert_eq!((desk.model.sending.len(), desk.open()), (1, "b"));
    desk.wait(Duration::from_millis(250));
    desk.press('a');
    assert_eq!(desk.open(), "c", "released and pressed again");
    // Another key counts as a new press.
    desk.rest();
    desk.press('d');
    assert_eq!(desk.model.sending.iter().filter(|sending| sending.id == "c").count(), 1);

    // A terminal that reports repeats and releases.
    let kind = |kind| Event::Key(KeyEvent::new_with_kind(KeyCode::Char('a'), KeyModifiers::NONE, kind));
    let mut desk = Desk::with(["a", "b"].map(|id| ask(id, 5, approval_ask())).to_vec());
    desk.event(kind(KeyEventKind::Press));
    for _ in 0..40 {
        desk.wait(Duration::from_millis(33));
        desk.event(kind(KeyEventKind::Repeat));
    }
    assert_eq!((desk.model.sending.iter().filter(|sending| sending.id == "b").count(), desk.open()), (0, "b"));
    desk.event(kind(KeyEventKind::Release));
    desk.event(kind(KeyEventKind::Press));
    assert_eq!(desk.model.sending.iter().filter(|sending| sending.id == "b").count(), 1);
}

#[test]
fn keys_with_modifiers_decide_nothing() {
    let mut desk = Desk::with(vec![ask("a", 5, approval_ask())]);
    for modifiers in [KeyModifiers::SHIFT, KeyModifiers::SUPER, KeyModifiers::META, KeyModifiers::ALT] {
        desk.event(Event::Key(KeyEvent::new(KeyCode::Char('a'), modifiers)));
        assert_eq!(desk.held_decision(), None, "{modifiers:?}");
    }
    desk.event(Event::Key(KeyEvent::new(KeyCode::Char('D'), KeyModifiers::SHIFT)));
    assert_eq!(desk.held_decision().map(|(_, decision)| decision.clone()), Some(Decision::Deny(no(None, true))));
}

#[test]
fn yes_no_question_accepts_the_keys_of_an_approval() {
    for (key, value) in [('a', "true"), ('d', "false"), ('1', "true"), ('2', "false")] {
        let alone = Question { input: InputKind::YesNo, ..question(&[]) };
        let mut desk = Desk::with(vec![Ask { questions: vec![alone], ..question_ask() }]);
        desk.press(key);
        assert_eq!(desk.held_decision().map(|(_, decision)| decision), Some(&answer(&[&[value]])), "{key}");
    }
}

#[test]
fn recommended_is_shown_as_a_mark_instead_of_label_text() {
    let mut marked = question_ask();
    marked.questions[0].options[1].label = "PostgreSQL (Recommended)".into();
    marked.questions[0].options[1].value = Some("PostgreSQL (Recommended)".into());
    let mut desk = Desk::with(vec![ask("a", 1, marked)]);
    let screen = desk.screen(80, 24);
    assert!(screen.contains("2 PostgreSQL  recommended. full-featured") && !screen.contains("(Recommended)"), "{screen}");
    desk.press('2');
    assert_eq!(desk.model.held_decision().unwrap().0.label, "PostgreSQL");
    assert_eq!(desk.held_decision().unwrap().1, &answer(&[&["PostgreSQL (Recommended)"]]), "the agent gets its own label");
}

#[test]
fn pasted_text_is_ignored_outside_of_fields() {
    let mut desk = Desk::with(vec![approval_ask()]);
    desk.event(Event::Paste("aaaa".into()));
    assert_eq!(desk.held_decision(), None);
    desk.press('r');
    desk.event(Event::Paste("two\nlines".into()));
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held_decision().unwrap().1, &Decision::Deny(no(Some("two\nlines"), false)));
}
