//! The lifecycle of a session, including failures at every step.

use sayso_agents::opencode::OpenCodeTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Exit, HttpReply, Input, Login, Output, Translator};
use sayso_core::ask::{Decision, Delivery};
use sayso_core::texts;
use serde_json::{Value, json};

use super::{Host, outcome, permission, question, session, start};

fn answered(entry: &str) -> Decision {
    Decision::Answered { answers: vec![vec![entry.to_owned()]], note: None }
}

const YES: Decision = Decision::Approved { choice: None, input: None };

fn withdrawn(events: &[AgentEvent]) -> Vec<(String, String)> {
    let of = |event: &AgentEvent| match event {
        AgentEvent::AskWithdrawn { native_id, reason } => Some((native_id.clone(), reason.clone())),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn errors(events: &[AgentEvent]) -> Vec<String> {
    let of = |event: &AgentEvent| match event {
        AgentEvent::Error(text) => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[test]
fn session_is_created_once_the_server_listens() {
    let mut host = Host { opencode: OpenCodeTranslator::new(), now: 1_000 };
    let led = host.command(start(Some("go")));
    assert!(matches!(&led.others[..], [Output::Launch(launch)] if launch.directory == "/project"));
    assert_eq!((led.events.len(), led.calls.len(), host.opencode.server()), (1, 0, None));
    for elsewhere in ["listening on http://10.0.0.1:80", "listening on http://127.0.0.1:x", "listening on http://127.0.0.1:0"] {
        host.input(Input::Line(elsewhere.to_owned()));
        assert_eq!(host.opencode.server(), None, "{elsewhere}");
    }
    host.input(Input::Line("opencode server listening on http://127.0.0.1:4711".to_owned()));
    let server = host.opencode.server().unwrap();
    assert_eq!((server.url.as_str(), server.events.as_deref()), ("http://127.0.0.1:4711", Some("/global/event")));
    assert_eq!(server.login, Login::Basic("opencode".to_owned()));
    let led = host.input(Input::StreamOpened);
    assert_eq!(led.paths(), ["POST /session", "GET /session/status"]);
    let led = host.reply(led.call("/session?"), 200, &json!({ "id": "ses_1", "directory": "/project" }));
    assert_eq!(led.paths(), ["POST /session/ses_1/prompt_async"]);
    assert_eq!(led.calls[0].body.as_ref().unwrap().as_str(), r#"{"parts":[{"text":"go","type":"text"}]}"#);
    let led = host.reply(&led.calls[0].clone(), 204, &Value::Null);
    assert!(led.calls.is_empty() && led.events.is_empty());
    host.event("session.status", json!({ "sessionID": "ses_1", "status": { "type": "busy" } }));
    let led = host.event("session.idle", json!({ "sessionID": "ses_1" }));
    assert_eq!(led.events, [AgentEvent::TurnEnded]);
    assert_eq!(host.event("session.idle", json!({ "sessionID": "ses_1" })).events, []);
    assert_eq!(host.opencode.deadline(), None, "nothing is looked for while nothing goes on");
}

#[test]
fn repeated_request_is_one_ask() {
    let mut host = Host::working();
    assert_eq!(host.event("question.asked", question("que_1", "ses_1")).asks().len(), 1);
    let both = [question("que_1", "ses_1"), question("que_2", "ses_1")];
    let led = host.poll(&["ses_1"], &both, &[permission("per_1", "ses_1")]);
    let found: Vec<String> = led.iter().flat_map(super::Led::asks).map(|ask| ask.native_id).collect();
    assert_eq!(found, ["que_2", "per_1"], "the list finds what no event told");
    host.input(Input::StreamClosed);
    let led = host.input(Input::StreamOpened);
    assert_eq!(led.paths(), ["GET /session/status"]);
    assert_eq!(host.event("question.asked", question("que_2", "ses_1")).asks().len(), 0);
    let led = host.poll(&["ses_1"], &both, &[permission("per_1", "ses_1")]);
    assert!(led.iter().all(|led| led.events.is_empty()), "{led:?}");
}

#[test]
fn answer_is_sent_once_and_confirmed_by_an_event() {
    let mut host = Host::working();
    let ask = host.event("question.asked", question("que_1", "ses_1")).asks().remove(0);
    let led = host.command(outcome(&ask, answered("B"), DecidedBy::Person));
    assert_eq!(led.paths(), ["POST /question/que_1/reply"]);
    assert_eq!((led.calls[0].body.as_ref().unwrap().as_str(), &led.calls[0].guard), (r#"{"answers":[["B"]]}"#, &None));
    let again = host.command(outcome(&ask, answered("A"), DecidedBy::Person));
    assert_eq!((again.calls.len(), again.undeliverable.len()), (0, 1));
    host.reply(&led.calls[0], 200, &json!(true));
    let led = host.event("question.replied", json!({ "sessionID": "ses_1", "requestID": "que_1", "answers": [["B"]] }));
    assert!(matches!(led.events[..], [AgentEvent::AskDelivery { delivery: Delivery::Confirmed, .. }]));
    assert_eq!(host.event("question.asked", question("que_1", "ses_1")).asks().len(), 0);
}

#[test]
fn uncertain_answer_is_checked_before_a_retry() {
    let mut host = Host::working();
    let ask = host.event("question.asked", question("que_1", "ses_1")).asks().remove(0);
    let led = host.command(outcome(&ask, answered("B"), DecidedBy::Person));
    assert!(host.no_reply(&led.calls[0]).calls.is_empty());
    let led = host.poll(&["ses_1"], &[question("que_1", "ses_1")], &[]);
    assert_eq!(led[1].paths(), ["POST /question/que_1/reply"], "it still waits, so it is said again");
    host.no_reply(&led[1].calls[0]);
    let led = host.poll(&["ses_1"], &[], &[]);
    assert!(led[1].calls.is_empty() && led[1].events.is_empty(), "it waits no more: it arrived");
    let ask = host.event("question.asked", question("que_2", "ses_1")).asks().remove(0);
    let mut call = host.command(outcome(&ask, answered("B"), DecidedBy::Person)).calls.remove(0);
    for (status, body) in [(500, json!({})), (200, json!("<html>")), (401, json!(""))] {
        let led = host.reply(&call, status, &body);
        assert_eq!(errors(&led.events).len(), 1, "{led:?}");
        let mut led = host.poll(&["ses_1"], &[question("que_2", "ses_1")], &[]);
        call = led[1].calls.remove(0);
    }
    assert!(call.path.contains("/question/que_2/reject"), "in the end it is given up: {call:?}");
}

#[test]
fn answer_after_one_from_elsewhere_is_undeliverable() {
    let mut host = Host::working();
    let one = host.event("question.asked", question("que_1", "ses_1")).asks().remove(0);
    host.event("question.asked", question("que_2", "ses_1"));
    host.event("permission.asked", permission("per_1", "ses_1"));
    let led = host.event("question.replied", json!({ "sessionID": "ses_1", "requestID": "que_2", "answers": [["A"]] }));
    assert_eq!(withdrawn(&led.events), [("que_2".to_owned(), "It was answered elsewhere.".to_owned())]);
    let led = host.poll(&["ses_1"], &[question("que_1", "ses_1")], &[]);
    assert_eq!(withdrawn(&led[2].events), [("per_1".to_owned(), "It was answered elsewhere.".to_owned())]);
    let call = host.command(outcome(&one, answered("A"), DecidedBy::Person)).calls.remove(0);
    let led = host.reply(&call, 404, &json!({ "_tag": "QuestionNotFoundError" }));
    assert!(
        matches!(&led.events[..], [AgentEvent::AskDelivery { delivery: Delivery::Undeliverable { reason }, .. }] if reason == "It was answered elsewhere.")
    );
}

#[test]
fn approval_is_sent_only_while_its_session_is_busy() {
    let mut host = Host::working();
    let ask = host.event("permission.asked", permission("per_1", "ses_1")).asks().remove(0);
    let led = host.command(outcome(&ask, YES, DecidedBy::Person));
    let call = led.call("/permission/per_1/reply").clone();
    assert_eq!(call.body.as_ref().unwrap().as_str(), r#"{"reply":"once"}"#);
    let guard = call.guard.as_ref().unwrap();
    assert_eq!((guard.path.as_str(), guard.key.as_str()), ("/session/status?directory=/project", "ses_1"));
    let led = host.input(Input::HttpReply(HttpReply { id: call.id, status: Some(HttpReply::NOT_SENT), body: String::new() }));
    assert_eq!(led.paths(), ["POST /permission/per_1/reply"]);
    assert_eq!(led.calls[0].body.as_ref().unwrap().as_str(), r#"{"reply":"reject"}"#);
    assert!(matches!(led.events[..], [AgentEvent::AskDelivery { delivery: Delivery::Undeliverable { .. }, .. }]));
}

#[test]
fn always_choice_becomes_a_sayso_rule_and_once() {
    let mut host = Host::working();
    let ask = host.event("permission.asked", permission("per_1", "ses_1")).asks().remove(0);
    let always = |choice: &str| Decision::Approved { choice: Some(choice.to_owned()), input: None };
    let led = host.command(outcome(&ask, always("always"), DecidedBy::Person));
    assert_eq!(led.call("/reply").body.as_ref().unwrap().as_str(), r#"{"reply":"once"}"#);
    assert_eq!(led.events, [AgentEvent::Granted { run: vec!["touch *".to_owned()] }]);
    let ask = host.event("permission.asked", permission("per_2", "ses_1")).asks().remove(0);
    let led = host.command(outcome(&ask, always("forever"), DecidedBy::Person));
    assert!(led.call("/reply").body.as_ref().unwrap().as_str().contains("reject") && led.undeliverable.len() == 1);
}

#[test]
fn rejection_continues_with_words_and_only_people_stop_the_turn() {
    let mut host = Host::working();
    let rejected = |message: &str, stop| Decision::Rejected { message: message.to_owned(), stop };
    let cases = [
        (rejected(texts::REJECTED, false), DecidedBy::Person, "reject", None),
        (
            rejected("my words", false),
            DecidedBy::Person,
            "reply",
            Some(r#"{"answers":[["The user declined to answer and says: my words"]]}"#),
        ),
        (rejected("no one is there", false), DecidedBy::Automatic, "reply", Some(r#"{"answers":[["no one is there"]]}"#)),
    ];
    for (n, (decision, by, verb, body)) in cases.into_iter().enumerate() {
        let id = format!("que_{n}");
        let ask = host.event("question.asked", question(&id, "ses_1")).asks().remove(0);
        let led = host.command(outcome(&ask, decision, by));
        assert_eq!(led.paths(), [format!("POST /question/{id}/{verb}")]);
        assert_eq!(led.calls[0].body.as_ref().map(sayso_core::raw::Raw::as_str), body);
    }
    let ask = host.event("permission.asked", permission("per_1", "ses_1")).asks().remove(0);
    let led = host.command(outcome(&ask, Decision::Denied { message: "no".to_owned(), stop: false }, DecidedBy::Person));
    assert_eq!(led.calls[0].body.as_ref().unwrap().as_str(), r#"{"message":"no","reply":"reject"}"#);
    // OpenCode also denies the other permissions of the session.
    host.event("permission.asked", permission("per_2", "ses_1"));
    let led = host.event("permission.replied", json!({ "sessionID": "ses_1", "requestID": "per_2", "reply": "reject" }));
    assert!(withdrawn(&led.events)[0].1.contains("along with another request"), "{led:?}");
    let ask = host.event("question.asked", question("que_9", "ses_1")).asks().remove(0);
    host.event("permission.asked", permission("per_9", "ses_1"));
    let led = host.command(outcome(&ask, rejected("stop", true), DecidedBy::Person));
    let paths = ["POST /question/que_9/reject", "POST /permission/per_9/reply", "POST /session/ses_1/abort"];
    assert_eq!(led.paths(), paths, "pending requests are rejected before the abort");
}

#[test]
fn interrupt_leaves_no_request_pending() {
    let mut host = Host::working();
    host.event("permission.asked", permission("per_1", "ses_1"));
    let led = host.command(Command::Interrupt { session: session() });
    assert_eq!(led.paths(), ["POST /permission/per_1/reply", "POST /session/ses_1/abort"]);
    assert_eq!(withdrawn(&led.events), [("per_1".to_owned(), texts::WITHDRAWN_INTERRUPTED.to_owned())]);
    let abort = led.call("/abort").clone();
    let led = host.event("permission.asked", permission("per_2", "ses_1"));
    assert_eq!((led.paths(), led.asks().len()), (vec!["POST /permission/per_2/reply".to_owned()], 0), "it has not seen it yet");
    host.event("session.error", json!({ "sessionID": "ses_1", "error": { "name": "MessageAbortedError" } }));
    assert_eq!(host.event("session.idle", json!({ "sessionID": "ses_1" })).events, [AgentEvent::TurnEnded]);
    let led = host.reply(&abort, 200, &json!(true));
    let led = host.reply(led.call("/session/status"), 200, &json!({}));
    let led = host.reply(&led.call("/permission").clone(), 200, &json!([permission("per_3", "ses_1")]));
    assert_eq!((led.paths(), led.asks().len()), (vec!["POST /permission/per_3/reply".to_owned()], 0));
}

#[test]
fn subagent_sessions_are_followed_and_others_ignored() {
    let mut host = Host::working();
    let created =
        |id: &str, parent: Option<&str>| json!({ "sessionID": id, "info": { "id": id, "parentID": parent, "title": "look" } });
    host.event("session.created", created("ses_child", Some("ses_1")));
    host.event("session.created", created("ses_other", None));
    host.event("session.created", created("ses_grandchild_of_other", Some("ses_other")));
    let asks = host.event("permission.asked", permission("per_1", "ses_child")).asks();
    assert_eq!(asks[0].subagent.as_deref(), Some("look"));
    for other in ["ses_other", "ses_grandchild_of_other"] {
        let led = host.event("question.asked", question("que_o", other));
        assert!(led.events.is_empty() && led.calls.is_empty(), "{other}");
    }
    let led =
        host.poll(&["ses_1", "ses_child", "ses_other"], &[question("que_o", "ses_other")], &[permission("per_1", "ses_child")]);
    assert!(led.iter().all(|led| led.events.is_empty()));
    assert!(led[1].calls.is_empty() && led[2].calls.is_empty());
    host.event("session.idle", json!({ "sessionID": "ses_child" }));
    let led = host.command(outcome(&asks[0], YES, DecidedBy::Person));
    assert_eq!(led.calls[0].guard.as_ref().unwrap().key, "ses_child");
}

#[test]
fn uncertain_message_is_checked_before_a_retry() {
    let mut host = Host::working();
    let call = host.command(Command::Prompt { session: session(), text: "more".to_owned() }).calls.remove(0);
    let find = host.no_reply(&call).calls.remove(0);
    assert!(find.path.starts_with("/session/ses_1/message?"), "{find:?}");
    let message = |text: &str, created: i64| json!({ "info": { "role": "user", "time": { "created": created } }, "parts": [{ "type": "text", "text": text }] });
    assert!(host.reply(&find, 200, &json!([message("more", 1_500)])).calls.is_empty(), "it arrived");
    host.now = 100_000;
    let call = host.command(Command::Prompt { session: session(), text: "more".to_owned() }).calls.remove(0);
    let find = host.no_reply(&call).calls.remove(0);
    let led = host.reply(&find, 200, &json!([message("more", 1_500), message("other", 100_000)]));
    assert_eq!(led.paths(), ["POST /session/ses_1/prompt_async"], "the one before is another one");
    let led = host.reply(&led.calls[0], 500, &json!({ "data": { "message": "boom" } }));
    assert_eq!(errors(&led.events), ["OpenCode did not accept the message: it replied with status 500: boom."]);
}

#[test]
fn doubtful_request_is_checked_by_the_next_poll() {
    let mut host = Host::working();
    let led = host.poll(&[], &[question("que_1", "ses_1"), question("que_2", "ses_gone")], &[]);
    assert!(led[1].calls.is_empty() && led[1].events.is_empty(), "the session may have begun in between");
    let led = host.poll(&["ses_1"], &[question("que_1", "ses_1"), question("que_2", "ses_gone")], &[]);
    assert_eq!((led[1].asks().len(), led[1].paths()), (1, vec!["POST /question/que_2/reject".to_owned()]));
}

#[test]
fn missed_turn_end_is_detected_by_polling() {
    let mut host = Host::working();
    host.poll(&[], &[], &[]);
    let led = host.poll(&[], &[], &[]);
    assert_eq!(led[0].events, [AgentEvent::TurnEnded]);
}

#[test]
fn broken_server_is_reported() {
    let mut host = Host { opencode: OpenCodeTranslator::new(), now: 1_000 };
    host.command(start(None));
    host.input(Input::Line("opencode server listening on http://127.0.0.1:4711".to_owned()));
    let refused = HttpReply { id: HttpReply::EVENTS, status: Some(401), body: String::new() };
    let led = host.input(Input::HttpReply(refused));
    assert_eq!(errors(&led.events), ["OpenCode's event stream failed: it rejected Sayso's password (status 401)."]);
    let led = host.input(Input::StreamOpened);
    let page = HttpReply { id: led.call("/session?").id, status: Some(200), body: "<!doctype html>".to_owned() };
    let led = host.input(Input::HttpReply(page));
    assert!(matches!(&led.events[..], [AgentEvent::Ended { reason, failed: true, resumable: false }]
        if reason == "OpenCode did not create a session: it replied with status 200: a web page"));
    assert!(matches!(led.others[..], [Output::Stop]));
    let mut silent = Host { opencode: OpenCodeTranslator::new(), now: 1_000 };
    silent.command(start(None));
    silent.now = silent.opencode.deadline().unwrap().as_millis();
    let led = silent.input(Input::Tick);
    assert!(matches!(&led.events[..], [AgentEvent::Ended { reason, .. }] if reason.contains("did not report its address")));
}

#[test]
fn existing_session_is_resumed() {
    let killed = Exit { code: None, signal: Some(9), message: String::new() };
    let mut host = Host::working();
    let led = host.input(Input::Exited(killed.clone()));
    assert!(
        matches!(&led.events[..], [AgentEvent::Ended { reason, failed: true, resumable: true }] if reason.contains("signal 9"))
    );
    assert_eq!(host.opencode.server(), None);
    host.command(start(None));
    host.command(Command::Prompt { session: session(), text: "the answer".to_owned() });
    host.input(Input::Line("opencode server listening on http://127.0.0.1:4712".to_owned()));
    assert_eq!(host.opencode.server().unwrap().url, "http://127.0.0.1:4712", "the port is another one");
    let led = host.input(Input::StreamOpened);
    assert_eq!(led.paths(), ["GET /session/ses_1", "GET /session/status"]);
    let led = host.reply(led.call("/session/ses_1"), 200, &json!({ "id": "ses_1" }));
    assert_eq!(led.paths(), ["POST /session/ses_1/prompt_async"]);
    host.input(Input::Exited(killed));
    host.command(start(None));
    host.input(Input::Line("opencode server listening on http://127.0.0.1:4713".to_owned()));
    let led = host.input(Input::StreamOpened);
    let led = host.reply(led.call("/session/ses_1"), 404, &json!({}));
    assert!(matches!(&led.events[..], [AgentEvent::Ended { resumable: false, .. }]));
}
