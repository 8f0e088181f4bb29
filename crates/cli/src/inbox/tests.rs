//! Every key, and every state on screens of several sizes.

use std::collections::BTreeMap;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use sayso_client::Environment;
use sayso_client::api::ask::{
    ActionKind, Actor, ApproveRequest, Ask, AskKind, AskStatus, Choice, Delivery, FileDiff, InputKind, Link, NoRequest,
    OnTimeout, Outcome, Preview, Question, Reach, ShownAnswer,
};
use sayso_core::time::Time;
use serde_json::json;

use super::event::{Away, Decision, Effect, Event, NotSent};
use super::keys::KEYS;
use super::model::{Connection, Focus, GRACE, Mode, Model, Phase, Settings};
use super::rule::{Rule, Trial};
use super::tmux::Place;
use super::view::{self, Kept};
use crate::fixtures::{approval_ask, database, feed_event, look, option, question, question_ask};
use crate::output::Look;

/// 14:03 on a day in November.
const NOW: Time = Time::from_millis(1_794_751_380_000);

fn settings(mode: Mode) -> Settings {
    let place = Place::of(&Environment::from_pairs([("TMUX", "/tmp/tmux/default,1,0"), ("TMUX_PANE", "%0")]));
    Settings {
        hold: Duration::from_secs(3),
        bell: true,
        title: true,
        mode,
        directory: "/code/shop".to_owned(),
        place,
        zone: jiff::tz::TimeZone::UTC,
    }
}

fn minutes_ago(minutes: i64) -> Time {
    Time::from_millis(NOW.as_millis() - minutes * 60_000)
}

fn ask(id: &str, minutes: i64, ask: Ask) -> Ask {
    Ask { id: id.into(), opened_at: minutes_ago(minutes), ..ask }
}

/// An inbox at rest, with the cursor on the first ask.
struct Desk {
    model: Model,
    now: Time,
    kept: Kept,
}

impl Desk {
    fn with(asks: Vec<Ask>) -> Self {
        Self::in_mode(Mode::All, asks)
    }

    fn in_mode(mode: Mode, asks: Vec<Ask>) -> Self {
        let mut desk = Self { model: Model::new(settings(mode), NOW), now: NOW, kept: Kept::default() };
        desk.event(Event::Loaded { asks, sessions: Vec::new() });
        desk.rest();
        desk
    }

    fn event(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.model.update(self.now, event);
        effects.extend(self.model.settle());
        effects
    }

    /// Time goes on, until a card takes keys.
    fn rest(&mut self) -> Vec<Effect> {
        self.wait(GRACE)
    }

    fn wait(&mut self, time: Duration) -> Vec<Effect> {
        self.now = self.now.plus(time);
        self.event(Event::Tick)
    }

    fn key(&mut self, code: KeyCode) -> Vec<Effect> {
        self.event(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn press(&mut self, character: char) -> Vec<Effect> {
        self.key(KeyCode::Char(character))
    }

    fn type_in(&mut self, text: &str) {
        for character in text.chars() {
            assert_eq!(self.press(character), []);
        }
    }

    fn control(&mut self, character: char) -> Vec<Effect> {
        self.event(Event::Key(KeyEvent::new(KeyCode::Char(character), KeyModifiers::CONTROL)))
    }

    /// The ask under the cursor.
    fn open(&self) -> &str {
        self.model.ask().map_or("", |ask| ask.id.as_str())
    }

    /// What is held, as it will be sent.
    fn held(&self) -> Option<(&str, &Decision)> {
        self.model.held().map(|(sending, _)| (sending.id.as_str(), &sending.decision))
    }

    /// Lets what is held go, and gives it.
    fn sent(&mut self) -> Vec<Effect> {
        self.wait(Duration::from_secs(3))
    }

    fn screen(&mut self, columns: u16, rows: u16) -> String {
        self.screen_with(columns, rows, &look())
    }

    fn screen_with(&mut self, columns: u16, rows: u16, look: &Look) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut measured = self.model.measured;
        terminal.draw(|frame| measured = view::draw(frame, &self.model, look, &mut self.kept)).unwrap();
        self.model.measured = measured;
        let buffer = terminal.backend().buffer();
        let line = |y: u16| {
            let mut line = String::new();
            let mut skip = 0;
            for x in 0..columns {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    line.push_str(symbol);
                    skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                } else {
                    skip -= 1;
                }
            }
            line.trim_end().to_owned()
        };
        (0..rows).map(line).collect::<Vec<_>>().join("\n")
    }
}

fn answer(entries: &[&[&str]]) -> Decision {
    let answers = entries.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
    Decision::Answer { answers, note: None }
}

fn yes() -> Decision {
    Decision::Approve(ApproveRequest::default())
}

fn no(message: Option<&str>, stop: bool) -> NoRequest {
    NoRequest { message: message.map(str::to_owned), stop }
}

fn sessions_question() -> Ask {
    let mut stored = question(&[
        ("SQLite table", "One table beside users; can be revoked."),
        ("Redis", "Expires by itself. Needs a Redis in every environment."),
        ("Signed cookie", "No storage. Cannot be revoked before it expires."),
    ]);
    stored.header = Some("Session store".into());
    stored.text = "Where should login sessions be stored?".into();
    stored.options[0].recommended = true;
    stored.options[0].preview = Some("CREATE TABLE sessions (\n  id TEXT PRIMARY KEY\n) STRICT;".into());
    let context = "Logins are lost on restart because SessionMap lives in memory. I found no Redis in compose.yaml; SQLite \
                   already holds users. A cookie would need no storage at all, but nobody could be logged out from here, and \
                   support asked for that twice this year.";
    Ask {
        agent: "claude".into(),
        title: "Store login sessions".into(),
        project: Some("/home/ada/work/shop-api".into()),
        branch: Some("feat/sessions".into()),
        subagent: Some("explore".into()),
        context: Some(context.into()),
        questions: vec![stored],
        ..question_ask()
    }
}

fn edit() -> Ask {
    let diff = "@@ -42,7 +42,9 @@ fn refund\n let payment = self.payments.get(req.payment_id).await?;\n-if payment.status != Status::Captured {\n+if payment.refundable() < req.amount {\n-    return Err(RefundError::NotCaptured);\n+    return Err(RefundError::TooMuch { left: payment.refundable() });\n }\n-let refund = self.gateway.refund(&payment, req.amount).await?;\n-self.refunds.insert(&refund).await?;\n+let refund = self.refunds.begin(&payment, req.amount).await?;\n+self.gateway.refund(&refund).await?;\n+self.refunds.finish(refund).await?;\n Ok(())";
    let mut ask = approval_ask();
    ask.agent = "claude".into();
    ask.title = "Fix double refunds".into();
    ask.project = Some("/home/ada/work/billing".into());
    ask.branch = Some("fix/refunds".into());
    ask.why = Some("no rule allows src/payments/**".into());
    let approval = ask.approval.as_mut().unwrap();
    approval.tool = "Write".into();
    approval.action = ActionKind::Edit;
    approval.title = "Edit refund.rs".into();
    approval.command = None;
    approval.paths = vec!["src/payments/refund.rs".into()];
    approval.input = json!({"path": "src/payments/refund.rs"});
    approval.preview = Some(Preview::Diff { files: vec![FileDiff { path: "src/payments/refund.rs".into(), diff: diff.into() }] });
    approval.choices =
        vec![Choice { id: "always".into(), label: "Always allow edits in src/payments (Claude, this project)".into() }];
    ask
}

fn plan() -> Ask {
    let text = "# Make invoice jobs idempotent\n\n1. Give each job a key.\n2. Store the key with the invoice, in one transaction.\n3. Skip a job whose key is stored.";
    let mut ask = approval_ask();
    let approval = ask.approval.as_mut().unwrap();
    approval.tool = "ExitPlanMode".into();
    approval.action = ActionKind::Plan;
    approval.title = "Plan: make invoice jobs idempotent".into();
    approval.command = None;
    approval.input = json!({ "plan": text });
    approval.preview = Some(Preview::Plan { text: text.into() });
    ask
}

fn link() -> Ask {
    let link =
        Link { url: "https://github.com/login/device?code=ABCD-1234".into(), message: Some("Sign in with this code.".into()) };
    Ask { kind: AskKind::Link, questions: Vec::new(), link: Some(link), agent: "codex".into(), ..question_ask() }
}

fn set() -> Ask {
    let named =
        |header: &str, text: &str, question: Question| Question { header: Some(header.into()), text: text.into(), ..question };
    let areas = Question { multiple: true, ..question(&[("Auth", ""), ("Billing", ""), ("Search", "")]) };
    let coverage = Question { input: InputKind::Number, minimum: Some(0.0), maximum: Some(100.0), ..question(&[]) };
    let token = Question { secret: true, ..question(&[]) };
    let flaky = Question { input: InputKind::YesNo, required: false, ..question(&[]) };
    let questions = vec![
        named("Test runner", "Which runner?", question(&[("Vitest", "fast"), ("Jest", "known")])),
        named("Areas", "Which areas first?", areas),
        named("Coverage", "How much coverage?", coverage),
        named("Flaky", "Retry flaky tests?", flaky),
        named("Registry", "The token of the registry?", token),
    ];
    Ask { agent: "opencode".into(), project: Some("/home/ada/work/web-app".into()), questions, ..question_ask() }
}

fn decided(ask: Ask, status: AskStatus, by: Actor) -> Ask {
    let answers = (status == AskStatus::Answered).then(|| vec![ShownAnswer::Entries(vec!["SQLite table".into()])]);
    let outcome =
        Outcome { status, answers, note: None, message: None, stop: false, choice: None, input: None, by, at: minutes_ago(2) };
    Ask { status, reach: None, outcome: Some(outcome), delivery: Some(Delivery::Confirmed), ..ask }
}

fn ada() -> Actor {
    Actor { kind: "person".into(), name: Some("ada".into()), via: Some("page".into()), token_id: None, rule: None, after: None }
}

/// What waits on an ordinary afternoon.
fn afternoon() -> Vec<Ask> {
    let mut terraform = approval_ask();
    terraform.agent = "codex".into();
    terraform.project = Some("/home/ada/work/infra".into());
    terraform.deadline_at = Some(Time::from_millis(NOW.as_millis() + 221_000));
    terraform.on_timeout = Some(OnTimeout::Deny);
    let command = "terraform apply -var-file=staging.tfvars -auto-approve".to_owned();
    let approval = terraform.approval.as_mut().unwrap();
    approval.preview = Some(Preview::Command { command: command.clone(), cwd: Some("/home/ada/work/infra".into()) });
    approval.command = Some(command);
    let mut asks = vec![
        ask("ask_a", 6, terraform),
        ask("ask_b", 24, sessions_question()),
        ask("ask_c", 18, edit()),
        ask("ask_d", 15, plan()),
        ask("ask_e", 9, set()),
        ask("ask_i", 2, link()),
        ask("ask_j", 31, Ask { blocking: false, ..question_ask() }),
        ask("ask_k", 120, Ask { reach: Some(Reach::Parked), ..question_ask() }),
        ask("ask_l", 40, Ask { snoozed_until: Some(NOW.plus(Duration::from_secs(900))), ..question_ask() }),
    ];
    asks.extend(["ask_f", "ask_g", "ask_h"].map(|id| ask(id, 5, approval_ask())));
    asks
}

#[test]
fn the_list_moves_by_keys_and_a_new_card_takes_no_keys_at_first() {
    let mut desk = Desk::with(vec![ask("a", 3, question_ask()), ask("b", 2, approval_ask()), ask("c", 1, question_ask())]);
    assert_eq!(desk.open(), "a");
    assert_eq!((desk.press('k'), desk.open().to_owned()), (vec![], "a".to_owned()));
    desk.press('j');
    assert_eq!(desk.open(), "b");
    desk.press('a');
    assert_eq!(desk.held(), None, "the card has just appeared");
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held(), Some(("b", &yes())));
    assert_eq!(desk.open(), "c", "the next one is shown");
}

#[test]
fn one_key_sends_a_single_choice_after_a_moment() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    assert_eq!(desk.press('2'), []);
    assert_eq!(desk.held(), Some(("a", &answer(&[&["PostgreSQL"]]))));
    assert_eq!(desk.wait(Duration::from_millis(2_999)), []);
    let sent = desk.wait(Duration::from_millis(1));
    assert_eq!(sent, [Effect::Send { id: "a".into(), decision: answer(&[&["PostgreSQL"]]) }]);
    assert_eq!(desk.held(), None);
    let done = decided(ask("a", 2, question_ask()), AskStatus::Answered, ada());
    desk.event(Event::Sent(Box::new(done)));
    assert!(desk.model.sending.is_empty() && desk.model.waiting() == 1);
}

#[test]
fn a_number_without_an_option_does_nothing_and_the_last_is_for_own_words() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.press('4');
    assert_eq!((desk.held(), desk.model.focus), (None, Focus::Card));
    desk.press('3');
    assert_eq!(desk.model.focus, Focus::Answer);
    desk.type_in("my own");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held().unwrap().1, &answer(&[&["my own"]]));
}

#[test]
fn enter_moves_into_the_options_before_it_sends_anything() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.key(KeyCode::Enter);
    assert_eq!((desk.held(), desk.model.draft().unwrap().highlight), (None, Some(0)));
    desk.key(KeyCode::Down);
    desk.key(KeyCode::Down);
    desk.key(KeyCode::Down);
    assert_eq!(desk.model.draft().unwrap().highlight, Some(2), "the last one is for words of one's own");
    desk.key(KeyCode::Up);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held().unwrap().1, &answer(&[&["PostgreSQL"]]));
    let mut desk = Desk::with(vec![question_ask()]);
    desk.key(KeyCode::Up);
    assert_eq!(desk.model.draft().unwrap().highlight, Some(2));
}

#[test]
fn what_a_rule_preselects_is_sent_by_enter() {
    let mut preselected = question_ask();
    preselected.questions[0].preselected = Some(vec!["PostgreSQL".into()]);
    let mut desk = Desk::with(vec![preselected]);
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held().map(|(_, decision)| decision), Some(&answer(&[&["PostgreSQL"]])));
}

#[test]
fn several_options_are_marked_and_then_sent() {
    let mut many = question_ask();
    many.questions = vec![Question { multiple: true, ..database() }];
    let mut desk = Desk::with(vec![many]);
    desk.press('2');
    desk.key(KeyCode::Up);
    desk.press(' ');
    assert_eq!(desk.held(), None);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held().unwrap().1, &answer(&[&["SQLite", "PostgreSQL"]]));
}

#[test]
fn nothing_chosen_is_not_sent() {
    let mut many = question_ask();
    many.questions = vec![Question { multiple: true, ..database() }];
    let mut desk = Desk::with(vec![many]);
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held(), None);
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("An answer is needed."));
}

/// The last step shows all answers for review.
#[test]
fn several_questions_are_answered_one_after_the_other() {
    let mut desk = Desk::with(vec![set()]);
    desk.press('1');
    desk.press('1');
    desk.press('3');
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.model.focus, Focus::Answer);
    desk.type_in("101");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("It must be between 0 and 100."));
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Backspace);
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Tab);
    assert_eq!(desk.model.draft().unwrap().active, 4, "the optional one is passed over");
    desk.key(KeyCode::Enter);
    desk.key(KeyCode::Enter);
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("An answer is needed."));
    desk.key(KeyCode::Enter);
    desk.type_in(" hush ");
    desk.key(KeyCode::Enter);
    assert_eq!((desk.model.draft().unwrap().active, desk.held()), (5, None), "the last look");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held().unwrap().1, &answer(&[&["Vitest"], &["Auth", "Search"], &["10"], &[], &[" hush "]]));
    assert!(!desk.model.held().unwrap().0.label.contains("hush"));
}

#[test]
fn a_set_says_what_is_missing_and_goes_there() {
    let mut desk = Desk::with(vec![set()]);
    desk.press('2');
    for _ in 0..4 {
        desk.key(KeyCode::Tab);
    }
    desk.key(KeyCode::Enter);
    let draft = desk.model.draft().unwrap();
    assert_eq!((draft.active, draft.problem.as_deref()), (1, Some("2 of 5 answered. Areas: An answer is needed.")));
    desk.key(KeyCode::BackTab);
    assert_eq!(desk.model.draft().unwrap().active, 0);
    // What was chosen is kept when the cursor comes back.
    assert_eq!(desk.model.draft().unwrap().highlight, Some(1));
}

#[test]
fn a_note_goes_with_the_answer() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.press('n');
    desk.type_in("in WAL mode");
    desk.key(KeyCode::Enter);
    desk.press('1');
    let wanted = Decision::Answer { answers: vec![vec!["SQLite".into()]], note: Some("in WAL mode".into()) };
    assert_eq!(desk.held().unwrap().1, &wanted);
}

#[test]
fn approvals_are_decided_by_single_keys() {
    for (key, decision) in [
        ('a', yes()),
        ('d', Decision::Deny(no(None, false))),
        ('D', Decision::Deny(no(None, true))),
        ('1', Decision::Approve(ApproveRequest { choice: Some("always".into()), input: None })),
    ] {
        let mut desk = Desk::with(vec![edit()]);
        desk.press(key);
        assert_eq!(desk.held().map(|(_, decision)| decision), Some(&decision), "{key}");
    }
    let mut desk = Desk::with(vec![edit()]);
    desk.press('2');
    assert_eq!(desk.held(), None, "there is no second way");
    desk.press('n');
    assert_eq!((desk.held(), desk.model.focus), (None, Focus::Card));
}

#[test]
fn a_no_may_have_words() {
    let mut desk = Desk::with(vec![edit()]);
    desk.press('r');
    assert!(desk.screen(80, 24).contains("Why? The agent will see this:"));
    desk.type_in("use staging");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held().unwrap().1, &Decision::Deny(no(Some("use staging"), false)));
    let mut desk = Desk::with(vec![question_ask()]);
    desk.press('r');
    desk.type_in("d");
    desk.key(KeyCode::Esc);
    assert_eq!((desk.held(), desk.model.focus), (None, Focus::Card));
    desk.press('d');
    assert_eq!(desk.held().unwrap().1, &Decision::Reject(no(None, false)));
}

#[test]
fn questions_are_not_approved_and_not_stopped() {
    let mut desk = Desk::with(vec![question_ask()]);
    for key in ['a', 'D', 'e'] {
        desk.press(key);
        assert_eq!(desk.held(), None, "{key}");
    }
}

#[test]
fn an_edited_input_is_shown_before_it_is_approved() {
    let mut desk = Desk::with(vec![ask("a", 1, approval_ask())]);
    let effects = desk.press('e');
    assert_eq!(effects, [Effect::Edit { id: "a".into(), text: "cargo test --workspace".into(), suffix: "sh" }]);
    desk.event(Event::Edited { id: "a".into(), text: Ok("cargo test -p core\n".into()) });
    desk.press('a');
    assert_eq!(desk.held(), None, "keys for the editor are not for the card");
    desk.rest();
    let screen = desk.screen(80, 24);
    assert!(screen.contains("cargo test -p core") && screen.contains("a approve with changes"), "{screen}");
    desk.press('a');
    let wanted = ApproveRequest { choice: None, input: Some(json!({"command": "cargo test -p core"})) };
    assert_eq!(desk.held().unwrap().1, &Decision::Approve(wanted));

    let mut desk = Desk::with(vec![ask("a", 1, approval_ask())]);
    desk.event(Event::Edited { id: "a".into(), text: Ok("ls\n".into()) });
    desk.rest();
    desk.key(KeyCode::Esc);
    desk.press('a');
    assert_eq!(desk.held().unwrap().1, &yes(), "Esc takes the agent's again");
}

#[test]
fn an_input_that_cannot_be_changed_is_not_edited() {
    let mut fixed = approval_ask();
    fixed.approval.as_mut().unwrap().editable = false;
    let mut desk = Desk::with(vec![fixed]);
    assert_eq!(desk.press('e'), []);
    assert!(desk.model.notice.is_some());
    desk.event(Event::Edited { id: approval_ask().id, text: Err("The editor `vi` did not end well.".into()) });
    assert!(desk.model.draft().unwrap().problem.is_some());
}

#[test]
fn links_are_opened_and_then_done() {
    let mut desk = Desk::with(vec![ask("l", 1, link())]);
    assert_eq!(desk.key(KeyCode::Enter), [Effect::Browse("https://github.com/login/device?code=ABCD-1234".into())]);
    assert_eq!(desk.press('y'), [Effect::Copy("https://github.com/login/device?code=ABCD-1234".into())]);
    desk.press('D');
    assert_eq!(desk.held(), None);
    desk.press('a');
    assert_eq!(desk.held().unwrap().1, &yes());
}

#[test]
fn what_is_held_can_be_taken_back_newest_first() {
    let mut desk = Desk::with(vec![ask("a", 3, question_ask()), ask("b", 2, approval_ask()), ask("c", 1, question_ask())]);
    desk.press('1');
    desk.rest();
    desk.press('a');
    assert_eq!(desk.model.sending.len(), 2);
    desk.press('u');
    assert_eq!((desk.open(), desk.held().map(|(id, _)| id.to_owned())), ("b", Some("a".to_owned())));
    desk.press('u');
    assert_eq!((desk.open(), desk.held()), ("a", None));
    desk.press('u');
    assert_eq!(desk.sent(), []);
}

#[test]
fn leaving_sends_what_is_held() {
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
fn keys_for_the_terminal() {
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.control('z'), [Effect::Suspend]);
    assert_eq!(desk.control('l'), [Effect::Redraw]);
    assert_eq!(desk.control('a'), []);
    assert_eq!(desk.held(), None);
}

#[test]
fn a_snoozed_ask_goes_and_comes_back() {
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
fn a_filter_is_typed_and_taken_back() {
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
fn all_that_the_agent_said_and_previews_on_demand() {
    let mut desk = Desk::with(vec![sessions_question()]);
    let short = desk.screen(80, 40);
    desk.press('t');
    let whole = desk.screen(80, 40);
    assert!(!short.contains("twice this year") && whole.contains("twice this year"), "{short}\n{whole}");
    desk.key(KeyCode::Down);
    desk.press('p');
    assert!(desk.screen(80, 40).contains("CREATE TABLE sessions"));
    desk.press('p');
    assert!(!desk.screen(80, 40).contains("CREATE TABLE sessions"));
}

#[test]
fn a_long_card_scrolls_to_its_end() {
    let mut long = approval_ask();
    let text = (1..=200).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
    long.approval.as_mut().unwrap().preview = Some(Preview::Text { text });
    let mut desk = Desk::with(vec![long]);
    let mut seen = desk.screen(80, 24);
    for _ in 0..40 {
        desk.key(KeyCode::PageDown);
        seen.push_str(&desk.screen(80, 24));
    }
    for number in 1..=200 {
        assert!(seen.contains(&format!("line {number}\n")), "{number}");
    }
    desk.key(KeyCode::Home);
    assert!(desk.screen(80, 24).contains("line 1\n"));
    desk.key(KeyCode::End);
    assert!(desk.screen(80, 24).contains("line 200\n"));
    desk.key(KeyCode::PageUp);
    assert!(!desk.screen(80, 24).contains("line 200\n"));
}

#[test]
fn the_option_under_the_hand_is_in_view() {
    let mut many = question_ask();
    many.questions[0].options = (1..=40).map(|number| option(&format!("Option {number}"), "")).collect();
    let mut desk = Desk::with(vec![many]);
    for _ in 0..30 {
        desk.key(KeyCode::Down);
        desk.screen(80, 24);
    }
    assert!(desk.screen(80, 24).contains("> "), "{}", desk.screen(80, 24));
    assert!(desk.screen(80, 24).contains("Option 30"), "{}", desk.screen(80, 24));
    desk.key(KeyCode::Home);
    assert!(desk.screen(80, 24).contains("Option 1\n"), "the person may look elsewhere");
}

#[test]
fn the_pane_of_the_agent_is_gone_to() {
    let labels = |pane: &str| BTreeMap::from([("tmuxPane".to_owned(), pane.to_owned())]);
    let mut desk = Desk::with(vec![Ask { labels: labels("%7"), ..question_ask() }]);
    assert_eq!(desk.press('g'), [Effect::Jump("%7".into())]);
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.press('g'), []);
    assert!(desk.model.notice.is_some());
}

#[test]
fn the_session_is_read_from_its_end() {
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
    assert_eq!((desk.held(), desk.model.focus), (None, Focus::Card), "no key decides anything here");
    let mut desk = Desk::with(vec![Ask { session_id: None, ..question_ask() }]);
    assert_eq!(desk.press('o'), []);
}

#[test]
fn new_asks_ring_and_do_not_move_the_rows() {
    let mut desk = Desk::with(vec![ask("a", 3, question_ask()), ask("b", 2, question_ask())]);
    desk.press('j');
    let urgent = Ask { deadline_at: Some(NOW.plus(Duration::from_secs(60))), ..ask("c", 1, approval_ask()) };
    let requested = || Event::Feed(Box::new(feed_event("approval.requested", &json!(urgent))));
    let effects = desk.event(requested());
    assert_eq!((effects, desk.open(), desk.model.list.hidden), (vec![Effect::Bell], "b", 1));
    assert_eq!(desk.event(requested()), [], "once");
    desk.press('.');
    assert_eq!((desk.open(), desk.model.list.at, desk.model.list.hidden), ("b", 2, 0));
}

#[test]
fn what_the_stream_left_out_is_read_before_anything_is_approved() {
    let cut = Ask { truncated: true, ..ask("a", 1, approval_ask()) };
    let mut desk = Desk::with(Vec::new());
    let effects = desk.event(Event::Feed(Box::new(feed_event("approval.requested", &json!(cut)))));
    assert_eq!(effects, [Effect::Bell, Effect::Fetch("a".into())]);
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held(), None);
    desk.event(Event::Fetched(Box::new(ask("a", 1, approval_ask()))));
    desk.press('a');
    assert_eq!(desk.held(), None, "what was left out has just appeared");
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held(), Some(("a", &yes())));
}

#[test]
fn a_key_that_is_held_down_decides_one_card_only() {
    let mut desk = Desk::with(["a", "b", "c"].map(|id| ask(id, 5, approval_ask())).to_vec());
    desk.press('a');
    assert_eq!((desk.model.sending.len(), desk.open()), (1, "b"));
    // A terminal without reports of releases: the delay, then one repeat after the other.
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
    // Another key is another press.
    desk.rest();
    desk.press('d');
    assert_eq!(desk.model.sending.iter().filter(|sending| sending.id == "c").count(), 1);

    // A terminal that reports them.
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
fn only_a_key_alone_decides() {
    let mut desk = Desk::with(vec![ask("a", 5, approval_ask())]);
    for modifiers in [KeyModifiers::SHIFT, KeyModifiers::SUPER, KeyModifiers::META, KeyModifiers::ALT] {
        desk.event(Event::Key(KeyEvent::new(KeyCode::Char('a'), modifiers)));
        assert_eq!(desk.held(), None, "{modifiers:?}");
    }
    desk.event(Event::Key(KeyEvent::new(KeyCode::Char('D'), KeyModifiers::SHIFT)));
    assert_eq!(desk.held().map(|(_, decision)| decision.clone()), Some(Decision::Deny(no(None, true))));
}

#[test]
fn a_yes_no_question_has_the_keys_of_an_approval() {
    for (key, value) in [('a', "true"), ('d', "false"), ('1', "true"), ('2', "false")] {
        let alone = Question { input: InputKind::YesNo, ..question(&[]) };
        let mut desk = Desk::with(vec![Ask { questions: vec![alone], ..question_ask() }]);
        desk.press(key);
        assert_eq!(desk.held().map(|(_, decision)| decision), Some(&answer(&[&[value]])), "{key}");
    }
}

/// An approval that was pressed without a connection.
fn queued_approval() -> Desk {
    let mut desk = Desk::with(vec![ask("a", 2, approval_ask()), ask("b", 1, question_ask())]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    desk.press('a');
    desk.press('k');
    desk
}

#[test]
fn an_approval_that_waited_a_minute_for_the_connection_needs_a_new_press() {
    let mut desk = queued_approval();
    desk.wait(Duration::from_secs(60));
    assert_eq!(desk.model.queued(), (1, 0));
    desk.wait(Duration::from_secs(4));
    assert_eq!(desk.model.queued(), (0, 1));
    let screen = desk.screen(80, 24);
    assert!(screen.contains("1 not sent, press again"), "{screen}");
    assert!(screen.contains("Not sent: your approval waited more than a minute"), "{screen}");
    desk.event(Event::Back);
    assert_eq!(desk.wait(Duration::from_secs(1)), [], "nothing is sent by itself");
    desk.press('a');
    assert_eq!(desk.held().map(|(id, _)| id), Some("a"));
    assert_eq!(desk.sent(), [Effect::Send { id: "a".into(), decision: yes() }]);

    // A no is safe however old it is.
    let mut desk = Desk::with(vec![ask("a", 2, approval_ask())]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    desk.press('d');
    desk.wait(Duration::from_secs(600));
    assert_eq!(desk.model.queued(), (1, 0));
}

#[test]
fn a_decision_on_content_that_has_changed_needs_a_new_press() {
    let mut desk = queued_approval();
    let mut changed = ask("a", 2, approval_ask());
    changed.approval.as_mut().unwrap().command = Some("rm -rf build".into());
    desk.event(Event::Back);
    assert_eq!(desk.wait(Duration::from_secs(3)), [Effect::Fetch("a".into())]);
    assert_eq!(desk.event(Event::Fetched(Box::new(changed))), []);
    let screen = desk.screen(80, 24);
    assert!(screen.contains("Not sent: this has changed since you decided."), "{screen}");
    desk.press('a');
    assert_eq!(desk.held(), None, "the content has just appeared");
    desk.rest();
    desk.press('a');
    assert_eq!(desk.held().map(|(id, _)| id), Some("a"));
    // Decided by somebody else, it needs no press of anybody.
    let done = decided(ask("a", 2, approval_ask()), AskStatus::Approved, ada());
    let mut desk = queued_approval();
    desk.wait(Duration::from_secs(64));
    desk.event(Event::Fetched(Box::new(done)));
    assert_eq!(desk.model.queued(), (0, 0));
}

#[test]
fn the_list_uses_the_room_that_it_gets() {
    let many: Vec<Ask> = (10..30).map(|number| ask(&format!("q{number}"), 60 - number, question_ask())).collect();
    let mut desk = Desk::with(many);
    for _ in 0..30 {
        desk.press('j');
    }
    desk.screen(80, 24);
    assert!(desk.kept.top > 10);
    desk.screen(80, 200);
    assert_eq!(desk.kept.top, 0, "the window grew");
    desk.screen(80, 24);
    desk.press('/');
    desk.type_in("zzz");
    desk.screen(80, 24);
    desk.key(KeyCode::Esc);
    desk.screen(80, 24);
    assert!(desk.screen(80, 24).contains("> ?"), "{}", desk.screen(80, 24));
}

#[test]
fn messages_go_by_themselves() {
    let mut desk = Desk::with(vec![approval_ask()]);
    desk.press('y');
    assert!(desk.screen(80, 24).contains("Copied."));
    // Whatever happens next, not only a tick.
    desk.now = desk.now.plus(Duration::from_secs(6));
    desk.event(Event::Away(Away::Off));
    assert!(!desk.screen(80, 24).contains("Copied."));
}

#[test]
fn recommended_is_a_mark_and_no_part_of_the_label() {
    let mut marked = question_ask();
    marked.questions[0].options[1].label = "PostgreSQL (Recommended)".into();
    marked.questions[0].options[1].value = Some("PostgreSQL (Recommended)".into());
    let mut desk = Desk::with(vec![ask("a", 1, marked)]);
    let screen = desk.screen(80, 24);
    assert!(screen.contains("2 PostgreSQL  recommended. full-featured") && !screen.contains("(Recommended)"), "{screen}");
    desk.press('2');
    assert_eq!(desk.model.held().unwrap().0.label, "PostgreSQL");
    assert_eq!(desk.held().unwrap().1, &answer(&[&["PostgreSQL (Recommended)"]]), "the agent gets its own words");
}

#[test]
fn somebody_else_was_first() {
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
    assert_eq!(desk.held(), None);
}

#[test]
fn words_that_were_being_typed_are_not_lost_when_somebody_else_is_first() {
    let mut desk = Desk::with(vec![ask("a", 2, sessions_question()), ask("b", 1, question_ask())]);
    desk.press('4');
    desk.type_in("a file");
    desk.event(Event::Fetched(Box::new(decided(ask("a", 2, sessions_question()), AskStatus::Answered, ada()))));
    assert_eq!(desk.model.focus, Focus::Card, "there is nothing to type for any more");
    assert!(desk.screen(80, 24).contains("Not sent: \"a file\""), "{}", desk.screen(80, 24));
    desk.press('j');
    assert!(desk.open() == "b" && desk.model.drafts.is_empty());
}

#[test]
fn an_answer_that_was_not_taken_is_kept() {
    let mut desk = Desk::with(vec![ask("a", 1, question_ask())]);
    desk.press('3');
    desk.type_in("mine");
    desk.key(KeyCode::Enter);
    desk.sent();
    desk.event(Event::NotSent { id: "a".into(), why: NotSent::Offline });
    assert!(desk.screen(80, 24).contains("Not sent: no connection. Your decision is queued; u takes it back."));
    assert_eq!(desk.held().map(|(_, decision)| decision), Some(&answer(&[&["mine"]])));
    assert_eq!(desk.sent(), [Effect::Fetch("a".into())], "it is looked at again");
    let effects = desk.event(Event::Fetched(Box::new(ask("a", 1, question_ask()))));
    assert_eq!(effects.len(), 1, "and sent again");
    desk.event(Event::NotSent { id: "a".into(), why: NotSent::Refused("Not sent: too long.".into()) });
    assert_eq!(desk.model.draft().unwrap().problem.as_deref(), Some("Not sent: too long."));
}

#[test]
fn an_answer_that_did_not_arrive_becomes_a_message_or_is_left() {
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
fn the_connection_is_told_as_it_is() {
    let mut desk = Desk::with(vec![question_ask()]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    assert!(desk.screen(80, 24).contains("DISCONNECTED. Trying again in 4 s."));
    desk.event(Event::Back);
    assert_eq!(desk.model.connection, Connection::Connected);
    assert!(desk.screen(80, 24).contains("connected"));
}

#[test]
fn what_is_decided_without_a_connection_is_sent_when_it_is_back() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    desk.event(Event::Lost { after: Duration::from_secs(4) });
    desk.press('1');
    assert_eq!(desk.sent(), [], "nothing goes while no server is there");
    assert!(desk.model.wake() > desk.now, "and nothing is tried all the time");
    assert!(desk.model.held().is_some_and(|(sending, _)| sending.id == "a"));
    desk.press('k');
    let screen = desk.screen(80, 24);
    assert!(screen.contains("QUEUED \"SQLite\". No connection. u undo"), "{screen}");
    assert!(screen.contains("1 queued, sent on reconnect, u undo"), "{screen}");
    desk.event(Event::Back);
    assert_eq!(desk.wait(Duration::from_secs(1)), [Effect::Fetch("a".into())], "it may have changed meanwhile");
    assert_eq!(desk.event(Event::NotFetched { id: "a".into(), offline: true }), []);
    assert_eq!(desk.wait(Duration::from_secs(2)), [Effect::Fetch("a".into())]);
    let effects = desk.event(Event::Fetched(Box::new(ask("a", 2, question_ask()))));
    assert_eq!(effects, [Effect::Send { id: "a".into(), decision: answer(&[&["SQLite"]]) }]);
    desk.event(Event::NotSent { id: "a".into(), why: NotSent::Offline });
    desk.press('u');
    assert_eq!(desk.held(), None, "it can still be taken back");
    assert_eq!(desk.sent(), []);
}

#[test]
fn the_first_of_many_asks_are_there_while_the_others_are_read() {
    let mut desk = Desk { model: Model::new(settings(Mode::All), NOW), now: NOW, kept: Kept::default() };
    desk.event(Event::First(vec![ask("a", 2, question_ask())]));
    assert_eq!(desk.open(), "a");
    let soon = Ask { deadline_at: Some(NOW.plus(Duration::from_secs(60))), ..ask("b", 1, question_ask()) };
    desk.event(Event::Loaded { asks: vec![ask("a", 2, question_ask()), soon.clone()], sessions: Vec::new() });
    assert_eq!(desk.open(), "b", "nothing was under the hand yet");
    let mut touched = Desk { model: Model::new(settings(Mode::All), NOW), now: NOW, kept: Kept::default() };
    touched.event(Event::First(vec![ask("a", 2, question_ask())]));
    touched.press('t');
    touched.event(Event::Loaded { asks: vec![ask("a", 2, question_ask()), soon], sessions: Vec::new() });
    assert_eq!((touched.open(), touched.model.list.hidden), ("a", 1));
}

#[test]
fn what_is_snoozed_is_folded_until_somebody_wants_to_see_it() {
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
fn the_first_line_says_whether_the_away_rules_apply() {
    let mut desk = Desk::with(vec![question_ask()]);
    assert!(!desk.screen(120, 40).contains("away"));
    desk.event(Event::Away(Away::Off));
    assert!(desk.screen(120, 40).contains("away off") && !desk.screen(80, 24).contains("away"));
    desk.event(Event::Away(Away::On { until: Some(NOW.plus(Duration::from_secs(7_620))) }));
    assert!(desk.screen(80, 24).contains("away until 16:10   connected"), "{}", desk.screen(80, 24));
}

/// An approval under the hand, with two more that are the same.
fn three_tests() -> Desk {
    Desk::with(vec![ask("a", 3, approval_ask()), ask("b", 2, approval_ask()), ask("c", 1, question_ask())])
}

#[test]
fn a_rule_is_tried_shown_and_saved_and_releases_what_waits() {
    let mut desk = three_tests();
    let effects = desk.press('m');
    let [Effect::TryRule(rule)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((rule.pattern.as_str(), rule.project.is_some()), ("cargo test *", true));
    desk.key(KeyCode::Enter);
    assert!(desk.model.notice.is_some(), "what it would do has to be seen first");
    let trial = Trial {
        decided: 12,
        as_you_did: 11,
        otherwise: vec!["cargo test --release".to_owned()],
        releases: vec!["a".to_owned(), "b".to_owned()],
    };
    desk.event(Event::Tried(rule.clone(), Ok(trial.clone())));
    desk.model.notice = None;
    picture("rule", &mut desk);
    // Another pattern is tried a moment after the last key.
    desk.key(KeyCode::Backspace);
    desk.key(KeyCode::Backspace);
    assert_eq!(desk.event(Event::Tick), []);
    let effects = desk.wait(Duration::from_millis(250));
    let narrower = Rule { pattern: "cargo test".to_owned(), ..rule.clone() };
    assert_eq!(effects, [Effect::TryRule(narrower.clone())]);
    desk.event(Event::Tried(rule.clone(), Ok(trial.clone())));
    assert!(desk.screen(80, 24).contains("It is being tried"), "what comes too late is not shown");
    desk.event(Event::Tried(narrower.clone(), Ok(trial)));
    // Everywhere, for good, and only one of the two.
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
    assert_eq!(desk.held(), None, "nothing is approved before the rule is there");
    desk.event(Event::RuleSaved(Err("Somebody else wrote the file meanwhile.".to_owned())));
    assert!(desk.screen(80, 24).contains("Somebody else wrote the file meanwhile."));
    desk.key(KeyCode::Esc);
    assert_eq!((desk.model.focus, desk.held()), (Focus::Card, None));

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
fn a_rule_that_is_wrong_is_not_saved_and_rules_are_made_from_approvals_only() {
    let mut desk = three_tests();
    let effects = desk.press('m');
    let [Effect::TryRule(rule)] = effects.as_slice() else { panic!("{effects:?}") };
    desk.event(Event::Tried(rule.clone(), Err("line 4: a pattern is missing".to_owned())));
    assert_eq!(desk.key(KeyCode::Enter), []);
    assert!(desk.screen(80, 24).contains("line 4: a pattern is missing"));
    let mut desk = Desk::with(vec![question_ask()]);
    assert_eq!(desk.press('m'), []);
    assert!(desk.screen(80, 24).contains("Rules are made from approvals."));
}

#[test]
fn a_session_is_started_with_agent_directory_and_prompt() {
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
    assert_eq!(desk.key(KeyCode::Enter), [], "once");
    desk.event(Event::Started(Err("There is no such directory.".to_owned())));
    assert!(desk.screen(80, 24).contains("There is no such directory."));
    desk.key(KeyCode::Enter);
    desk.event(Event::Started(Ok(())));
    assert_eq!(desk.model.focus, Focus::Card);
    desk.press('c');
    assert_eq!(desk.key(KeyCode::Enter), [], "without a prompt and an agent nothing begins");
}

#[test]
fn what_was_decided_while_nobody_listened_is_asked_for() {
    let mut desk = Desk::with(vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    let effects = desk.event(Event::Loaded { asks: vec![ask("b", 1, question_ask())], sessions: Vec::new() });
    assert_eq!(effects, [Effect::Fetch("a".into())]);
}

#[test]
fn pasted_text_goes_only_where_something_is_typed() {
    let mut desk = Desk::with(vec![approval_ask()]);
    desk.event(Event::Paste("aaaa".into()));
    assert_eq!(desk.held(), None);
    desk.press('r');
    desk.event(Event::Paste("two\nlines".into()));
    desk.key(KeyCode::Enter);
    assert_eq!(desk.held().unwrap().1, &Decision::Deny(no(Some("two\nlines"), false)));
}

#[test]
fn only_the_first_ask_and_then_the_end() {
    let mut desk = Desk::in_mode(Mode::Once, vec![ask("a", 2, question_ask()), ask("b", 1, question_ask())]);
    desk.press('j');
    assert_eq!(desk.open(), "a");
    desk.press('1');
    assert_eq!(desk.open(), "a");
    desk.sent();
    let done = decided(ask("a", 2, question_ask()), AskStatus::Answered, ada());
    assert_eq!(desk.event(Event::Sent(Box::new(done.clone()))), [Effect::Quit]);
    // Somebody else decides it: that is read, and any key ends it.
    let mut desk = Desk::in_mode(Mode::Once, vec![ask("a", 2, question_ask())]);
    desk.event(Event::Fetched(Box::new(done)));
    assert!(desk.screen(80, 24).contains("ANSWERED"));
    assert_eq!(desk.press('x'), [Effect::Quit]);
    assert_eq!(Desk::in_mode(Mode::Once, Vec::new()).press('x'), [Effect::Quit]);
}

/// Every key of the help is tried by a test above; a new one has to be added there, too.
#[test]
fn the_help_names_every_key() {
    let mut desk = Desk::with(afternoon());
    desk.press('?');
    let screen = desk.screen(80, 40);
    for (key, does) in KEYS {
        assert!(screen.contains(key) && screen.contains(does), "{key}: {does}\n{screen}");
    }
    desk.press('j');
    assert_eq!(desk.model.focus, Focus::Help(1));
    desk.press('k');
    desk.press('q');
    assert_eq!(desk.model.focus, Focus::Card);
}

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// One picture per size.
fn picture(name: &str, desk: &mut Desk) {
    for (columns, rows) in SIZES {
        desk.kept = Kept::default();
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), desk.screen(columns, rows));
    }
}

#[test]
fn screens() {
    let at = |id: &str| {
        let mut desk = Desk::with(afternoon());
        desk.model.list.go_to(id);
        desk.event(Event::Tick);
        desk.rest();
        desk
    };
    for (name, id) in
        [("command", "ask_a"), ("question", "ask_b"), ("edit", "ask_c"), ("plan", "ask_d"), ("set", "ask_e"), ("link", "ask_i")]
    {
        picture(name, &mut at(id));
    }
    picture("parked", &mut at("ask_k"));
    let mut snoozed = at("ask_a");
    snoozed.press('z');
    snoozed.model.list.go_to("ask_l");
    snoozed.event(Event::Tick);
    snoozed.rest();
    picture("snoozed", &mut snoozed);
    let mut highlighted = at("ask_b");
    highlighted.key(KeyCode::Down);
    picture("question_highlighted", &mut highlighted);
    let mut held = at("ask_b");
    held.press('1');
    held.rest();
    picture("sending", &mut held);
    let mut reason = at("ask_c");
    reason.press('r');
    reason.type_in("Use the refund queue instead; this races with the nightly job.");
    picture("reason", &mut reason);
    let mut lost = at("ask_b");
    lost.event(Event::Lost { after: Duration::from_secs(4) });
    picture("disconnected", &mut lost);
    let mut help = at("ask_b");
    help.press('?');
    picture("help", &mut help);
    let mut filter = at("ask_b");
    filter.press('/');
    filter.type_in("shop");
    picture("filter", &mut filter);
    let mut all = at("ask_e");
    for _ in 0..5 {
        all.key(KeyCode::Tab);
    }
    picture("set_last_look", &mut all);
}

#[test]
fn screens_of_what_is_over() {
    let ended = |status: AskStatus, change: &dyn Fn(&mut Ask)| {
        let mut desk = Desk::with(vec![ask("ask_b", 24, sessions_question())]);
        let mut over = decided(ask("ask_b", 24, sessions_question()), status, ada());
        change(&mut over);
        desk.event(Event::Fetched(Box::new(over)));
        desk.rest();
        desk
    };
    picture("answered_elsewhere", &mut ended(AskStatus::Answered, &|_| {}));
    picture("undelivered", &mut ended(AskStatus::Answered, &|ask| ask.delivery = Some(Delivery::Undeliverable)));
    picture(
        "rejected",
        &mut ended(AskStatus::Rejected, &|ask| {
            ask.outcome.as_mut().unwrap().message = Some("Use the bucket in infra/storage.tf.".into());
        }),
    );
    picture(
        "timed_out",
        &mut ended(AskStatus::Rejected, &|ask| {
            ask.outcome.as_mut().unwrap().by = Actor { kind: "timeout".into(), after: Some("10m".into()), name: None, ..ada() };
        }),
    );
    picture(
        "withdrawn",
        &mut ended(AskStatus::Withdrawn, &|ask| {
            ask.outcome.as_mut().unwrap().message = Some("The turn was interrupted.".into());
        }),
    );
    picture("empty", &mut Desk::with(Vec::new()));
    let once = &mut Desk::in_mode(Mode::Once, afternoon());
    picture("once", once);
}

#[test]
fn ascii_and_tiny_screens() {
    let ascii = Look { ascii: true, ..look() };
    let screen = Desk::with(afternoon()).screen_with(120, 40, &ascii);
    assert!(screen.is_ascii(), "{screen}");
    // Nothing breaks, however small it is.
    let mut desk = Desk::with(afternoon());
    for (columns, rows) in [(1, 1), (9, 9), (10, 6), (20, 7), (30, 10), (100, 6), (200, 60)] {
        for id in ["ask_a", "ask_b", "ask_c", "ask_e", "ask_i"] {
            desk.model.list.go_to(id);
            desk.event(Event::Tick);
            desk.screen(columns, rows);
        }
    }
}

/// Text that would clear screens, set titles, write clipboards, hide or turn words: 0 to 31, 127 to 159, and
/// the table of sequences, in every place where an agent's text is drawn.
#[test]
fn no_hostile_text_reaches_the_screen_as_control() {
    let sequences = [
        "\u{1b}[2J",
        "\u{1b}]0;owned\u{7}",
        "\u{1b}]52;c;cm0=\u{7}",
        "\u{1b}[1A\u{1b}[2K",
        "\u{1b}P+q\u{1b}\\",
        "\u{1b}c",
        "\u{9b}31m",
        "\u{9d}0;t\u{9c}",
        "\u{1b}[?1049l",
        "\u{1b}[6n",
        "\u{1b}_G\u{1b}\\",
        "\u{1b}[200~",
        "\u{1b}(0",
        "\r",
        "\u{8}\u{8}",
        "\u{7f}",
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{feff}",
        "\u{ad}",
        "\u{e0041}",
        "\u{fe0f}",
        "z\u{310}\u{311}\u{312}\u{313}\u{314}\u{315}",
        "\u{2028}",
        "\u{fff9}",
        "\u{61c}",
    ];
    let controls = (0u32..0x20).chain(0x7f..0xa0).filter_map(char::from_u32).map(String::from);
    let invisible = (0x200bu32..0x2010).chain(0x2028..0x202f).chain(0x2060..0x2070).chain(0xfe00..0xfe10).chain(0xe0000..0xe0080);
    let hostile: Vec<String> = sequences
        .iter()
        .map(|text| (*text).to_owned())
        .chain(controls)
        .chain(invisible.filter_map(char::from_u32).map(String::from))
        .collect();
    assert!(hostile.len() >= 200, "{}", hostile.len());
    for text in &hostile {
        let evil = |place: &str| format!("{place}{text}x");
        let mut question = question(&[("a", "b")]);
        question.header = Some(evil("header"));
        question.text = evil("text");
        question.options[0].label = evil("label");
        question.options[0].description = Some(evil("description"));
        question.options[0].preview = Some(evil("preview"));
        let asked = Ask {
            agent: evil("agent"),
            title: evil("title"),
            project: Some(evil("/project")),
            branch: Some(evil("branch")),
            subagent: Some(evil("sub")),
            context: Some(evil("context")),
            questions: vec![question],
            ..question_ask()
        };
        let mut tool = edit();
        tool.why = Some(evil("why"));
        let approval = tool.approval.as_mut().unwrap();
        approval.tool = evil("tool");
        approval.title = evil("heading");
        approval.reason = Some(evil("reason"));
        approval.choices[0].label = evil("choice");
        approval.preview = Some(Preview::Diff { files: vec![FileDiff { path: evil("path"), diff: evil("@@ -1 +1 @@\n+") }] });
        let url = Link { url: evil("https://host/"), message: Some(evil("message")) };
        let linked = Ask { link: Some(url), ..link() };
        let mut desk = Desk::with(vec![ask("a", 3, asked), ask("b", 2, tool), ask("c", 1, linked)]);
        for _ in 0..3 {
            desk.key(KeyCode::Down);
            desk.press('p');
            for (columns, rows) in [(80, 24), (120, 40)] {
                let screen = desk.screen(columns, rows);
                let harmful = |c: char| {
                    (c.is_control() && c != '\n')
                        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
                };
                assert!(!screen.contains(harmful), "{text:?}: {screen}");
            }
            desk.press('j');
            desk.rest();
        }
    }
}

/// Ten thousand asks: a key costs a drawing of what is seen, and nothing else.
#[test]
fn many_asks_are_listed_in_order_and_stepped_through() {
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
