//! The list of asks, filters, rules and new sessions.

use super::*;

#[test]
fn new_card_ignores_deciding_keys_at_first() {
    let mut desk = Desk::with(vec![ask("a", 3, question_ask()), ask("b", 2, approval_ask()), ask("c", 1, question_ask())]);
    assert_eq!(desk.open(), "a");
    assert_eq!((desk.press('k'), desk.open().to_owned()), (vec![], "a".to_owned()));
    desk.press('j');
    assert_eq!(desk.open(), "b");
    desk.press('a');
    assert_eq!(desk.held_decision(), None, "the card has just appeared");
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held_decision(), Some(("b", &yes())));
    assert_eq!(desk.open(), "c", "the next one is shown");
}

#[test]
fn control_keys_suspend_and_redraw() {
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.control('z'), [Effect::Suspend]);
    assert_eq!(desk.control('l'), [Effect::Redraw]);
    assert_eq!(desk.control('a'), []);
    assert_eq!(desk.held_decision(), None);
}

#[test]
fn snoozed_ask_disappears_and_can_return() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    let until = desk.now.plus(Duration::from_secs(30 * 60));
    assert_eq!(desk.press('s'), [Effect::Snooze { id: "a".into(), until: Some(until) }]);
    assert_eq!(desk.open(), "b");
    desk.event(Event::Snoozed(Box::new(Ask { snoozed_until: Some(until), ..ask("a", 2, question_ask()) })));
    assert_eq!((desk.model.waiting(), desk.model.list.rows.len()), (1, 1));
    desk.press('z');
    desk.press('j');
    desk.rest();
    assert_eq!(desk.open(), "a");
    assert_eq!(desk.press('s'), [Effect::Snooze { id: "a".into(), until: None }]);
}

#[test]
fn filter_limits_rows_until_esc() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, approval_ask())]);
    desk.press('/');
    desk.type_in("cargo");
    assert_eq!(desk.open(), "b");
    desk.key(KeyCode::Enter);
    assert_eq!((desk.model.focus, desk.model.list.rows.len()), (Focus::Card, 1));
    desk.key(KeyCode::Esc);
    assert_eq!(desk.model.list.rows.len(), 2);
    desk.press('/');
    desk.type_in("zzz");
    assert!(desk.screen(80, 24).contains("Nothing matches \"zzz\"."));
    desk.key(KeyCode::Esc);
    assert_eq!(desk.model.list.rows.len(), 2);
}

#[test]
fn identical_approvals_are_selected_and_decided_together() {
    let same = ["a", "b", "c"].map(|id| ask(id, 5, approval_ask())).to_vec();
    let mut desk = Desk::with(same.clone());
    desk.press('X');
    assert_eq!(desk.model.selected.len(), 3);
    desk.key(KeyCode::Esc);
    assert!(desk.model.selected.is_empty());
    desk.press('X');
    desk.press('a');
    assert_eq!(desk.model.sending.len(), 3);
    assert_eq!(desk.sent().len(), 3);

    let mut desk = Desk::with(same);
    desk.press('x');
    desk.press('j');
    desk.press('x');
    desk.press('x');
    desk.press('j');
    desk.press('x');
    desk.rest();
    desk.press('d');
    let ids: Vec<&str> = desk.model.sending.iter().map(|sending| sending.id.as_str()).collect();
    assert_eq!(ids, ["a", "c"]);
}

#[test]
fn pane_key_jumps_to_the_agents_tmux_pane() {
    let labels = |pane: &str| BTreeMap::from([("tmuxPane".to_owned(), pane.to_owned())]);
    let mut desk = Desk::with(vec![Ask { labels: labels("%7"), ..question_ask() }]);
    assert_eq!(desk.press('g'), [Effect::Jump("%7".into())]);
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.press('g'), []);
    assert!(desk.model.notice.is_some());
}

#[test]
fn transcript_opens_at_its_end() {
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.press('o'), [Effect::Session(question_ask().session_id.unwrap())]);
    let text = (1..=100).map(|number| format!("said {number}")).collect::<Vec<_>>().join("\n");
    desk.event(Event::Session(text));
    let screen = desk.screen(80, 24);
    assert!(screen.contains("said 100") && !screen.contains("said 80\n"), "{screen}");
    desk.key(KeyCode::PageUp);
    assert!(desk.screen(80, 24).contains("said 80\n"));
    for _ in 0..10 {
        desk.key(KeyCode::PageUp);
        desk.screen(80, 24);
    }
    assert!(desk.screen(80, 24).contains("said 1\n"));
    desk.press('j');
    desk.key(KeyCode::PageDown);
    desk.press('k');
    assert_eq!(desk.press('1'), []);
    assert_eq!((desk.held_decision(), desk.model.focus), (None, Focus::Card), "no key decides anything here");
    let mut desk = Desk::with(vec![Ask { session_id: None, ..question_ask() }]);
    assert_eq!(desk.press('o'), []);
}

#[test]
fn new_asks_ring_once_and_keep_rows_in_place() {
    let mut desk = Desk::with(vec![ask("a", 3, question_ask()), ask("b", 2, question_ask())]);
    desk.press('j');
    let urgent = Ask { deadline_at: Some(NOW.plus(Duration::from_secs(60))), ..ask("c", 1, approval_ask()) };
    let requested = || Event::Feed(Box::new(feed_event("approval.requested", &json!(urgent))));
    let effects = desk.event(requested());
    assert_eq!((effects, desk.open(), desk.model.list.hidden), (vec![Effect::Bell], "b", 1));
    assert_eq!(desk.event(requested()), [], "rings only once");
    desk.press('.');
    assert_eq!((desk.open(), desk.model.list.at, desk.model.list.hidden), ("b", 2, 0));
}

#[test]
fn messages_disappear_after_some_seconds() {
    let mut desk = Desk::with(vec![approval_ask()]);
    desk.press('y');
    assert!(desk.screen(80, 24).contains("Copied."));
    // The message expires with any event, not only with a tick.
    desk.now = desk.now.plus(Duration::from_secs(6));
    desk.event(Event::Away(Away::Off));
    assert!(!desk.screen(80, 24).contains("Copied."));
}

#[test]
fn first_page_is_shown_while_others_load() {
    let mut desk = Desk { model: Model::new(settings(Mode::All), NOW), now: NOW, kept: Kept::default() };
    desk.event(Event::First(vec![ask("a", 2, question_ask())]));
    assert_eq!(desk.open(), "a");
    let soon = Ask { deadline_at: Some(NOW.plus(Duration::from_secs(60))), ..ask("b", 1, question_ask()) };
    desk.event(Event::Loaded { asks: vec![ask("a", 2, question_ask()), soon.clone()], sessions: Vec::new() });
    assert_eq!(desk.open(), "b", "no key was pressed yet");
    let mut touched = Desk { model: Model::new(settings(Mode::All), NOW), now: NOW, kept: Kept::default() };
    touched.event(Event::First(vec![ask("a", 2, question_ask())]));
    touched.press('t');
    touched.event(Event::Loaded { asks: vec![ask("a", 2, question_ask()), soon], sessions: Vec::new() });
    assert_eq!((touched.open(), touched.model.list.hidden), ("a", 1));
}

#[test]
fn snoozed_asks_are_hidden_until_requested() {
    let snoozed = Ask { snoozed_until: Some(NOW.plus(Duration::from_secs(900))), ..ask("b", 1, question_ask()) };
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), snoozed]);
    assert_eq!((desk.model.list.rows.len(), desk.model.list.folded), (1, 1));
    assert!(desk.screen(80, 24).contains("1 snoozed, z shows them"));
    assert!(desk.screen(120, 40).contains("Snoozed 1, z shows them"));
    desk.press('z');
    assert_eq!((desk.model.list.rows.len(), desk.model.list.folded), (2, 0));
    desk.press('z');
    desk.press('/');
    desk.type_in("database");
    assert_eq!(desk.model.list.rows.len(), 2, "a filter finds it");
}

#[test]
fn first_line_shows_the_away_state() {
    let mut desk = Desk::with(vec![question_ask()]);
    assert!(!desk.screen(120, 40).contains("away"));
    desk.event(Event::Away(Away::Off));
    assert!(desk.screen(120, 40).contains("away off") && !desk.screen(80, 24).contains("away"));
    desk.event(Event::Away(Away::On { until: Some(NOW.plus(Duration::from_secs(7_620))) }));
    assert!(desk.screen(80, 24).contains("away until 16:10   connected"), "{}", desk.screen(80, 24));
}

/// An inbox with an approval under the cursor and another one of the same content.
fn three_tests() -> Desk {
    Desk::with(vec![ask("a", 3, approval_ask()), ask("b", 2, approval_ask()), ask("c", 1, question_ask())])
}

#[test]
fn rule_is_tested_before_saving_and_approves_pending_asks() {
    let mut desk = three_tests();
    let effects = desk.press('m');
    let [Effect::TryRule(rule)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((rule.pattern.as_str(), rule.project.is_some()), ("cargo test *", true));
    desk.key(KeyCode::Enter);
    assert!(desk.model.notice.is_some(), "the result of the test must be visible first");
    let trial = Trial {
        decided: 12,
        as_you_did: 11,
        otherwise: vec!["cargo test --release".to_owned()],
        releases: vec!["a".to_owned(), "b".to_owned()],
    };
    desk.event(Event::Tried(rule.clone(), Ok(trial.clone())));
    desk.model.notice = None;
    picture("rule", &mut desk);
    // A changed pattern is tested shortly after the last key.
    desk.key(KeyCode::Backspace);
    desk.key(KeyCode::Backspace);
    assert_eq!(desk.event(Event::Tick), []);
    let effects = desk.wait(Duration::from_millis(250));
    let narrower = Rule { pattern: "cargo test".to_owned(), ..rule.clone() };
    assert_eq!(effects, [Effect::TryRule(narrower.clone())]);
    desk.event(Event::Tried(rule.clone(), Ok(trial.clone())));
    assert!(desk.screen(80, 24).contains("Testing the rule"), "an outdated result is not shown");
    desk.event(Event::Tried(narrower.clone(), Ok(trial)));
    // Everywhere, without an end, and for only one of the two asks.
    for code in [KeyCode::Down, KeyCode::Char(' '), KeyCode::Down, KeyCode::Left] {
        desk.key(code);
    }
    desk.wait(Duration::from_millis(250));
    let wide = Rule { project: None, ..narrower };
    let trial = Trial { releases: vec!["a".to_owned(), "b".to_owned()], ..Trial::default() };
    desk.event(Event::Tried(wide.clone(), Ok(trial)));
    desk.key(KeyCode::Down);
    desk.press(' ');
    assert!(desk.screen(80, 24).contains("Enter save and approve 1"), "{}", desk.screen(80, 24));
    assert_eq!(desk.key(KeyCode::Enter), [Effect::SaveRule { rule: wide, until: None }]);
    assert_eq!(desk.held_decision(), None, "nothing is approved before the rule is saved");
    desk.event(Event::RuleSaved(Err("The file was changed in the meantime.".to_owned())));
    assert!(desk.screen(80, 24).contains("The file was changed in the meantime."));
    desk.key(KeyCode::Esc);
    assert_eq!((desk.model.focus, desk.held_decision()), (Focus::Card, None));

    let mut desk = three_tests();
    let effects = desk.press('m');
    let [Effect::TryRule(rule)] = effects.as_slice() else { panic!("{effects:?}") };
    let trial = Trial { releases: vec!["a".to_owned(), "b".to_owned()], ..Trial::default() };
    desk.event(Event::Tried(rule.clone(), Ok(trial)));
    let until = Some(desk.now.plus(Duration::from_secs(3_600)));
    assert_eq!(desk.key(KeyCode::Enter), [Effect::SaveRule { rule: rule.clone(), until }]);
    desk.event(Event::RuleSaved(Ok(())));
    let sent: Vec<String> = desk.model.sending.iter().map(|sending| sending.id.clone()).collect();
    assert_eq!(sent, ["a", "b"]);
    assert_eq!(desk.open(), "c");
}

#[test]
fn invalid_rule_is_not_saved_and_questions_offer_no_rule() {
    let mut desk = three_tests();
    let effects = desk.press('m');
    let [Effect::TryRule(rule)] = effects.as_slice() else { panic!("{effects:?}") };
    desk.event(Event::Tried(rule.clone(), Err("line 4: a pattern is missing".to_owned())));
    assert_eq!(desk.key(KeyCode::Enter), []);
    assert!(desk.screen(80, 24).contains("line 4: a pattern is missing"));
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.press('m'), []);
    assert!(desk.screen(80, 24).contains("You can make rules from approvals only."));
}

#[test]
fn session_starts_with_agent_directory_and_prompt() {
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.press('c'), [Effect::Agents]);
    desk.type_in("ask me");
    desk.event(Event::Agents(Ok(vec!["claude".to_owned(), "mock".to_owned()])));
    desk.key(KeyCode::Down);
    desk.key(KeyCode::Right);
    desk.key(KeyCode::Down);
    desk.type_in("/api");
    picture("new_session", &mut desk);
    let started = Effect::Start { agent: "mock".to_owned(), directory: "/code/shop/api".to_owned(), prompt: "ask me".to_owned() };
    assert_eq!(desk.key(KeyCode::Enter), [started]);
    assert_eq!(desk.key(KeyCode::Enter), [], "starts only once");
    desk.event(Event::Started(Err("There is no such directory.".to_owned())));
    assert!(desk.screen(80, 24).contains("There is no such directory."));
    desk.key(KeyCode::Enter);
    desk.event(Event::Started(Ok(())));
    assert_eq!(desk.model.focus, Focus::Card);
    desk.press('c');
    assert_eq!(desk.key(KeyCode::Enter), [], "a session needs a prompt and an agent");
}

#[test]
fn once_mode_quits_after_the_first_ask() {
    let mut desk = Desk::in_mode(Mode::Once, vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    desk.press('j');
    assert_eq!(desk.open(), "a");
    desk.press('1');
    assert_eq!(desk.open(), "a");
    desk.sent();
    let done = decided(ask("a", 2, question_ask()), AskStatus::Answered, ada());
    assert_eq!(desk.event(Event::Sent(Box::new(done.clone()))), [Effect::Quit]);
    // If someone else decides the ask, the result is shown and any key quits.
    let mut desk = Desk::in_mode(Mode::Once, vec![ask("a", 2, question_ask())]);
    desk.event(Event::Fetched(Box::new(done)));
    assert!(desk.screen(80, 24).contains("ANSWERED"));
    assert_eq!(desk.press('x'), [Effect::Quit]);
    assert_eq!(Desk::in_mode(Mode::Once, Vec::new()).press('x'), [Effect::Quit]);
}

/// Ten thousand asks. Each key draws only the visible rows.
#[test]
fn ten_thousand_asks_are_listed_in_order() {
    let asks: Vec<Ask> = (0..10_000).map(|number| ask(&format!("ask_{number:05}"), 10_000 - number, question_ask())).collect();
    let mut desk = Desk::with(asks);
    assert_eq!(desk.model.waiting(), 10_000);
    for _ in 0..50 {
        desk.press('j');
        desk.screen(120, 40);
    }
    assert_eq!(desk.open(), "ask_00050");
    assert!(desk.screen(80, 24).contains("51 of 10000"));
}
