//! Tests of all keys and states on several screen sizes. This file contains the asks and the inbox for the tests.

mod cards;
mod list;
mod screens;
mod sending;

use std::collections::BTreeMap;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use sayso_client::Environment;
use sayso_client::api::ask::{
    ActionKind, Actor, ApprovalDecision, ApproveRequest, Ask, AskFile, AskFiles, AskKind, AskStatus, Choice, Delivery,
    ExecutedCode, FileDiff, InputKind, Link, NoRequest, OnTimeout, Outcome, Preview, Question, Reach, ShownAnswer,
};
use sayso_core::time::Time;
use serde_json::json;

use super::event::{Away, Decision, Effect, Event, NotSent};
use super::keys::KEYS;
use super::model::{Connection, Focus, GRACE, Mode, Model, Settings};
use super::rule::{Rule, Trial};
use super::sending::Phase;
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

/// An inbox whose first card accepts keys.
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

    /// Waits until the card accepts keys.
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

    /// Returns the id of the ask under the cursor.
    fn open(&self) -> &str {
        self.model.ask().map_or("", |ask| ask.id.as_str())
    }

    /// Returns the held decision.
    fn held_decision(&self) -> Option<(&str, &Decision)> {
        self.model.held_decision().map(|(sending, _)| (sending.id.as_str(), &sending.decision))
    }

    /// Waits for the undo time and returns the effects.
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
        ("SQLite table", "One table next to users; can be revoked."),
        ("Redis", "Expires by itself. Needs a Redis in every environment."),
        ("Signed cookie", "No storage. Cannot be revoked before it expires."),
    ]);
    stored.header = Some("Session store".into());
    stored.text = "Where should login sessions be stored?".into();
    stored.options[0].recommended = true;
    stored.options[0].preview = Some("CREATE TABLE sessions (\n  id TEXT PRIMARY KEY\n) STRICT;".into());
    let context = "Logins are lost on restart because SessionMap lives in memory. I found no Redis in compose.yaml; SQLite \
                   already holds users. A cookie would need no storage at all, but no one could be logged out from here, and \
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
    let outcome = Outcome {
        status,
        answers,
        note: None,
        message: None,
        message_code: None,
        stop: false,
        choice: None,
        input: None,
        by,
        at: minutes_ago(2),
    };
    Ask { status, reach: None, outcome: Some(outcome), delivery: Some(Delivery::Confirmed), ..ask }
}

fn ada() -> Actor {
    Actor { kind: "person".into(), name: Some("ada".into()), via: Some("page".into()), token_id: None, rule: None, after: None }
}

/// The asks of an ordinary afternoon.
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

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// Snapshots the screen in all sizes.
fn picture(name: &str, desk: &mut Desk) {
    for (columns, rows) in SIZES {
        desk.kept = Kept::default();
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), desk.screen(columns, rows));
    }
}
