//! Decisions that are held or queued, that arrive late, or that are not delivered.

use super::*;

#[test]
fn held_decisions_are_undone_newest_first() {
    let mut desk = Desk::with(vec![ask("a", 3, question_ask()), ask("b", 2, approval_ask()), ask("c", 1, question_ask())]);
    desk.press('1');
    desk.rest();
    desk.press('a');
    assert_eq!(desk.model.sending.len(), 2);
    desk.press('u');
    assert_eq!((desk.open(), desk.held_decision().map(|(id, _)| id.to_owned())), ("b", Some("a".to_owned())));
    desk.press('u');
    assert_eq!((desk.open(), desk.held_decision()), ("a", None));
    desk.press('u');
    assert_eq!(desk.sent(), []);
}

#[test]
fn quitting_sends_held_decisions() {
    for leave in ['q', 'c'] {
        let mut desk = Desk::with(vec![ask("a", 1, question_ask())]);
        desk.press('1');
        let effects = if leave == 'q' { desk.press('q') } else { desk.control('c') };
        let wanted = [Effect::Send { id: "a".into(), decision: answer(&[&["SQLite"]]) }, Effect::Quit];
        assert_eq!(effects, wanted);
    }
    assert_eq!(Desk::with(Vec::new()).press('q'), [Effect::Quit]);
}

#[test]
fn truncated_ask_is_loaded_before_it_can_be_approved() {
    let cut = Ask { truncated: true, ..ask("a", 1, approval_ask()) };
    let mut desk = Desk::with(Vec::new());
    let effects = desk.event(Event::Feed(Box::new(feed_event("approval.requested", &json!(cut)))));
    assert_eq!(effects, [Effect::Bell, Effect::Fetch("a".into())]);
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held_decision(), None);
    desk.event(Event::Fetched(Box::new(ask("a", 1, approval_ask()))));
    desk.press('a');
    assert_eq!(desk.held_decision(), None, "the omitted content has just appeared");
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held_decision(), Some(("a", &yes())));
}

/// An inbox with an approval that was pressed without a connection.
fn queued_approval() -> Desk {
    let mut desk = Desk::with(vec![ask("a", 2, approval_ask()), ask("b", 1, question_ask())]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    desk.press('a');
    desk.press('k');
    desk
}

#[test]
fn approval_queued_over_a_minute_needs_a_new_press() {
    let mut desk = queued_approval();
    desk.wait(Duration::from_secs(60));
    assert_eq!(desk.model.queued(), (1, 0));
    desk.wait(Duration::from_secs(4));
    assert_eq!(desk.model.queued(), (0, 1));
    let screen = desk.screen(80, 24);
    assert!(screen.contains("1 not sent, press again"), "{screen}");
    assert!(screen.contains("Not sent: the connection was lost for more than a minute"), "{screen}");
    desk.event(Event::Back);
    assert_eq!(desk.wait(Duration::from_secs(1)), [], "nothing is sent without a key press");
    desk.press('a');
    assert_eq!(desk.held_decision().map(|(id, _)| id), Some("a"));
    assert_eq!(desk.sent(), [Effect::Send { id: "a".into(), decision: yes() }]);

    // A refusal is safe regardless of its age.
    let mut desk = Desk::with(vec![ask("a", 2, approval_ask())]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    desk.press('d');
    desk.wait(Duration::from_secs(600));
    assert_eq!(desk.model.queued(), (1, 0));
}

#[test]
fn decision_on_changed_content_needs_a_new_press() {
    let mut desk = queued_approval();
    let mut changed = ask("a", 2, approval_ask());
    changed.approval.as_mut().unwrap().command = Some("rm -rf build".into());
    desk.event(Event::Back);
    assert_eq!(desk.wait(Duration::from_secs(3)), [Effect::Fetch("a".into())]);
    assert_eq!(desk.event(Event::Fetched(Box::new(changed))), []);
    let screen = desk.screen(80, 24);
    assert!(screen.contains("Not sent: this ask changed after you decided."), "{screen}");
    desk.press('a');
    assert_eq!(desk.held_decision(), None, "the content has just appeared");
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held_decision().map(|(id, _)| id), Some("a"));
    // If someone else decided the ask, no press is needed.
    let done = decided(ask("a", 2, approval_ask()), AskStatus::Approved, ada());
    let mut desk = queued_approval();
    desk.wait(Duration::from_secs(64));
    desk.event(Event::Fetched(Box::new(done)));
    assert_eq!(desk.model.queued(), (0, 0));
}

#[test]
fn late_decision_is_reported_with_the_winner() {
    let mut desk = Desk::with(vec![ask("a", 1, sessions_question())]);
    desk.press('2');
    desk.sent();
    let theirs = decided(ask("a", 1, sessions_question()), AskStatus::Answered, ada());
    desk.event(Event::NotSent { id: "a".into(), why: NotSent::TooLate(Box::new(theirs)) });
    let screen = desk.screen(80, 24);
    assert!(screen.contains("Answered by ada on the page: \"SQLite table\"."), "{screen}");
    assert!(screen.contains("Your answer \"Redis\" wasn't sent."), "{screen}");
    assert_eq!(desk.model.sending[0].phase, Phase::TooLate);
    desk.press('1');
    assert_eq!(desk.held_decision(), None);
}

#[test]
fn typed_text_stays_visible_when_someone_else_decides() {
    let mut desk = Desk::with(vec![ask("a", 2, sessions_question()), ask("b", 1, question_ask())]);
    desk.press('4');
    desk.type_in("a file");
    desk.event(Event::Fetched(Box::new(decided(ask("a", 2, sessions_question()), AskStatus::Answered, ada()))));
    assert_eq!(desk.model.focus, Focus::Card, "the field is closed");
    assert!(desk.screen(80, 24).contains("Not sent: \"a file\""), "{}", desk.screen(80, 24));
    desk.press('j');
    assert!(desk.open() == "b" && desk.model.drafts.is_empty());
}

#[test]
fn unsent_answer_is_kept_and_retried() {
    let mut desk = Desk::with(vec![ask("a", 1, question_ask())]);
    desk.press('3');
    desk.type_in("mine");
    desk.key(KeyCode::Enter);
    desk.sent();
    desk.event(Event::NotSent { id: "a".into(), why: NotSent::Offline });
    assert!(desk.screen(80, 24).contains("Not sent: no connection. Your decision is queued; press u to undo."));
    assert_eq!(desk.held_decision().map(|(_, decision)| decision), Some(&answer(&[&["mine"]])));
    assert_eq!(desk.sent(), [Effect::Fetch("a".into())], "the ask is loaded again");
    let effects = desk.event(Event::Fetched(Box::new(ask("a", 1, question_ask()))));
    assert_eq!(effects.len(), 1, "and sent again");
    desk.event(Event::NotSent { id: "a".into(), why: NotSent::Refused("Not sent: too long.".into()) });
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("Not sent: too long."));
}

#[test]
fn undelivered_answer_is_sent_as_a_message_or_dismissed() {
    let undelivered = || {
        let ask = decided(ask("a", 1, sessions_question()), AskStatus::Answered, ada());
        Ask { delivery: Some(Delivery::Undeliverable), ..ask }
    };
    let mut desk = Desk::with(vec![ask("a", 1, sessions_question())]);
    desk.event(Event::Fetched(Box::new(undelivered())));
    let effects = desk.key(KeyCode::Enter);
    let text = "Where should login sessions be stored? SQLite table".to_owned();
    assert_eq!(effects, [Effect::Message { session: sessions_question().session_id.unwrap(), text }]);
    let mut desk = Desk::with(vec![ask("a", 1, sessions_question())]);
    desk.event(Event::Fetched(Box::new(undelivered())));
    desk.key(KeyCode::Esc);
    assert_eq!(desk.open(), "");
}

#[test]
fn first_line_shows_the_connection_state() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    assert!(desk.screen(80, 24).contains("DISCONNECTED. Trying again in 4 s."));
    desk.event(Event::Back);
    assert_eq!(desk.model.connection, Connection::Connected);
    assert!(desk.screen(80, 24).contains("connected"));
}

#[test]
fn offline_decision_is_sent_after_reconnecting() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    desk.press('1');
    assert_eq!(desk.sent(), [], "nothing is sent without a server");
    assert!(desk.model.wake() > desk.now, "the model does not retry in a busy loop");
    assert!(desk.model.held_decision().is_some_and(|(sending, _)| sending.id == "a"));
    desk.press('k');
    let screen = desk.screen(80, 24);
    assert!(screen.contains("QUEUED \"SQLite\". No connection. u undo"), "{screen}");
    assert!(screen.contains("1 queued, sent on reconnect, u undo"), "{screen}");
    desk.event(Event::Back);
    assert_eq!(desk.wait(Duration::from_secs(1)), [Effect::Fetch("a".into())], "the ask may have changed");
    assert_eq!(desk.event(Event::NotFetched { id: "a".into(), offline: true }), []);
    assert_eq!(desk.wait(Duration::from_secs(2)), [Effect::Fetch("a".into())]);
    let effects = desk.event(Event::Fetched(Box::new(ask("a", 2, question_ask()))));
    assert_eq!(effects, [Effect::Send { id: "a".into(), decision: answer(&[&["SQLite"]]) }]);
    desk.event(Event::NotSent { id: "a".into(), why: NotSent::Offline });
    desk.press('u');
    assert_eq!(desk.held_decision(), None, "the decision can still be undone");
    assert_eq!(desk.sent(), []);
}

#[test]
fn asks_decided_while_disconnected_are_loaded() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    let effects = desk.event(Event::Loaded { asks: vec![ask("b", 1, question_ask())], sessions: Vec::new() });
    assert_eq!(effects, [Effect::Fetch("a".into())]);
}

fn files(text: &str, digest: &str) -> AskFiles {
    let file = AskFile {
        path: "/p/deploy.sh".into(),
        text: Some(text.into()),
        truncated: false,
        size: Some(9),
        digest: Some("f".repeat(64)),
    };
    AskFiles { digest: Some(digest.into()), files: vec![file], unlisted: false }
}

#[test]
fn approval_carries_the_digest_of_the_files_that_the_card_shows() {
    let executes = ExecutedCode { files: vec!["/p/deploy.sh".into()], unlisted: false, readable: true };
    let card = Ask { executes: Some(executes), ..ask("a", 1, approval_ask()) };
    let mut desk = Desk::with(Vec::new());
    let effects = desk.event(Event::Loaded { asks: vec![card], sessions: Vec::new() });
    assert_eq!(effects, [Effect::ReadFiles("a".into())]);
    assert!(desk.screen(80, 24).contains("Content not available"));
    desk.event(Event::Files { id: "a".into(), files: Some(Box::new(files("echo staging", "d1"))) });
    let shown = desk.screen(80, 24);
    assert!(shown.contains("echo staging") && shown.contains("The agent can still change these files"), "{shown}");
    desk.press('a');
    assert_eq!(desk.held_decision(), None, "the files have just appeared");
    desk.rest();
    desk.press('a');
    let seen =
        |digest: &str| Decision::Approve(ApproveRequest { content_digest: Some(digest.into()), ..ApproveRequest::default() });
    assert_eq!(desk.sent(), [Effect::Send { id: "a".into(), decision: seen("d1") }]);

    let change = FileDiff { path: "/p/deploy.sh".into(), diff: "@@ -1,1 +1,1 @@\n-echo staging\n+echo production\n".into() };
    let effects = desk.event(Event::NotSent { id: "a".into(), why: NotSent::ContentChanged(vec![change]) });
    assert_eq!(effects, [Effect::ReadFiles("a".into())]);
    desk.event(Event::Files { id: "a".into(), files: Some(Box::new(files("echo production", "d2"))) });
    let shown = desk.screen(80, 40);
    for wanted in [
        "Not approved: a file that this command executes has changed",
        "Changed since you looked: /p/deploy.sh",
        "+echo production",
    ] {
        assert!(shown.contains(wanted), "{wanted} is missing in\n{shown}");
    }
    desk.rest();
    desk.press('a');
    assert_eq!(desk.sent(), [Effect::Send { id: "a".into(), decision: seen("d2") }]);
}
