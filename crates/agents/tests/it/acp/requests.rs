//! Every kind of request, and the response to each outcome.

use sayso_core::ask::{Action, AskBody, Input, Preview, Question};
use sayso_core::texts;

use super::*;

fn withdrawn() -> Decision {
    Decision::Withdrawn { reason: "gone".to_owned() }
}

fn noted(answers: &[&[&str]], note: &str) -> Decision {
    let Decision::Answered { answers, .. } = answered(answers) else { unreachable!() };
    Decision::Answered { answers, note: Some(note.to_owned()) }
}

/// The result for one decision about one request.
fn result(method: &str, params: &Value, decision: Decision) -> Value {
    let mut host = Host::working();
    host.request(json!("q-1"), method, params.clone());
    assert_eq!(host.asks.len(), 1, "{}", host.log);
    host.decide(decision);
    assert_eq!(host.sent.iter().filter(|line| line["id"] == "q-1").count(), 1, "one answer: {}", host.log);
    host.result().clone()
}

/// The result when the turn is interrupted while the request is open.
fn interrupted(method: &str, params: &Value) -> Value {
    let mut host = Host::working();
    host.request(json!("q-1"), method, params.clone()).command(interrupt());
    assert!(host.log.contains("withdrawn \"q-1\": The turn was interrupted."), "{}", host.log);
    host.result().clone()
}

/// The message that follows the turn in which a decision was made.
fn said_later(method: &str, params: &Value, decision: Decision, by: DecidedBy) -> Option<String> {
    let mut host = Host::working();
    host.request(json!("q-1"), method, params.clone());
    match by {
        DecidedBy::Person | DecidedBy::Typed => host.decide(decision),
        DecidedBy::Automatic => host.decide_automatically(decision),
    };
    host.message(json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } }));
    let prompt = host.sent.iter().find(|line| line["method"] == "session/prompt")?;
    Some(prompt["params"]["prompt"][0]["text"].as_str().unwrap().to_owned())
}

fn questions(method: &str, params: Value) -> Vec<Question> {
    let mut host = Host::working();
    host.request(json!(7), method, params);
    host.asks.pop().unwrap().body.questions().to_vec()
}

fn refusal(method: &str, params: Value) -> Value {
    let mut host = Host::working();
    host.request(json!(7), method, params);
    assert!(host.asks.is_empty(), "{}", host.log);
    assert!(host.log.contains("notice: "), "{}", host.log);
    host.result().clone()
}

const QUESTION: &str = "_sandboxagent/session/request_question";

#[test]
fn sandbox_question_is_asked_and_answered() {
    let params =
        json!({ "sessionId": "s1", "questionId": "u", "prompt": "Which?", "options": [["a", "Option A"], ["b", "Option B"]] });
    assert_eq!(result(QUESTION, &params, answered(&[&["a"]])), json!({ "status": "answered", "answers": [["a"]] }));
    assert_eq!(result(QUESTION, &params, rejected(texts::REJECTED)), json!({ "status": "rejected" }));
    assert_eq!(interrupted(QUESTION, &params)["code"], -32800);
    assert_eq!(result(QUESTION, &params, withdrawn())["code"], -32800);
    for options in [
        json!(["a", "b"]),
        json!([{ "id": "a", "label": "A", "description": "d" }, { "value": "b" }]),
        json!([["a"], ["b", "B"]]),
    ] {
        let asked = questions(QUESTION, json!({ "sessionId": "s1", "prompt": "Which?", "options": options }));
        assert_eq!(asked[0].options().iter().map(|option| option.value.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
    assert_eq!(questions(QUESTION, json!({ "prompt": "Name?" }))[0].input, Input::Text { secret: false });
    assert_eq!(refusal(QUESTION, json!({ "options": [["a", "A"]] }))["code"], -32602);
    assert_eq!(refusal(QUESTION, json!({ "prompt": "x", "options": [7] }))["code"], -32602);
}

fn permission(options: Value) -> Value {
    json!({ "sessionId": "s1", "options": options,
        "toolCall": { "toolCallId": "t1", "title": "touch x", "kind": "execute", "rawInput": { "command": "touch x" } } })
}

fn selected(id: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": id } })
}

const PERMISSION: &str = "session/request_permission";

#[test]
fn permission_option_is_selected_by_kind() {
    let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
    let option = |id: &str, kind: &str| json!({ "optionId": id, "name": id, "kind": kind });
    let all = permission(json!([
        option("all", "allow_always"),
        option("once", "allow_once"),
        option("cancel", "reject_once"),
        option("decline", "reject_once"),
        option("never", "reject_always"),
        option("week", "allow_week")
    ]));
    assert_eq!(result(PERMISSION, &all, approved()), selected("once"));
    assert_eq!(result(PERMISSION, &all, denied(texts::DENIED)), selected("decline"));
    assert_eq!(interrupted(PERMISSION, &all), cancelled);
    let choose = |id: &str| Decision::Approved { choice: Some(id.to_owned()), input: None };
    assert_eq!(result(PERMISSION, &all, choose("all")), selected("all"));
    assert_eq!(result(PERMISSION, &all, choose("week")), selected("week"));
    // A rejecting option is never selected for an approval.
    for id in ["decline", "never", "nonsense"] {
        assert_eq!(result(PERMISSION, &all, choose(id)), cancelled);
    }
    let mut host = Host::working();
    host.request(json!(1), PERMISSION, all);
    let AskBody::Approval(approval) = &host.asks[0].body else { panic!() };
    assert_eq!(approval.choices.iter().map(|choice| choice.id.as_str()).collect::<Vec<_>>(), ["all", "week"]);
    assert!(!approval.editable);

    let only_always = permission(json!([option("all", "allow_always"), option("never", "reject_always")]));
    assert_eq!(result(PERMISSION, &only_always, approved()), selected("all"));
    assert_eq!(result(PERMISSION, &only_always, denied("")), selected("never"));
    // Without a rejecting option, the request is still not approved.
    let only_yes = permission(json!([option("reject", "allow_once")]));
    assert_eq!(result(PERMISSION, &only_yes, denied("")), cancelled);
    let unknown = permission(json!([option("allow", "allow_session"), option("no", "reject_session")]));
    assert_eq!(result(PERMISSION, &unknown, approved()), cancelled);
    assert_eq!(result(PERMISSION, &unknown, denied("")), cancelled);
    assert_eq!(result(PERMISSION, &unknown, choose("allow")), selected("allow"));
    for wrong in [json!([]), json!([{ "name": "x" }]), json!("x"), Value::Null] {
        assert_eq!(refusal(PERMISSION, permission(wrong))["code"], -32602);
    }
}

#[test]
fn decision_without_matching_option_is_undeliverable() {
    let mut host = Host::working();
    host.request(json!(1), PERMISSION, permission(json!([{ "optionId": "x", "name": "X", "kind": "new" }])));
    host.decide(approved());
    assert!(
        host.log.ends_with("undeliverable: The agent offers no option for this decision, so the request was cancelled.\n"),
        "{}",
        host.log
    );
}

#[test]
fn plan_becomes_an_approval_with_a_preview() {
    let mut host = Host::working();
    let options = json!([
        { "optionId": "exit-plan-auto", "name": "Yes, and auto", "kind": "allow_always" },
        { "optionId": "exit-plan-default", "name": "Yes", "kind": "allow_once" },
        { "optionId": "reject", "name": "No, keep planning", "kind": "reject_once" }]);
    let call = json!({ "toolCallId": "p", "name": "ExitPlanMode", "title": "Approve Plan", "kind": "switch_mode", "rawInput": { "plan": "1. Go" } });
    host.request(json!(1), PERMISSION, json!({ "sessionId": "s1", "toolCall": call, "options": options }));
    let AskBody::Approval(approval) = &host.asks[0].body else { panic!() };
    assert_eq!(approval.action, Action::Plan);
    assert_eq!(approval.preview, Some(Preview::Plan { text: "1. Go".to_owned() }));
    host.decide(approved());
    assert_eq!(*host.result(), selected("exit-plan-default"));
}

#[test]
fn later_draft_of_permissions_is_parsed() {
    let params = json!({ "sessionId": "s1", "title": "Delete a file", "options": [{ "optionId": "y", "name": "Yes", "kind": "allow_once" }],
        "subject": { "type": "tool_call", "toolCall": { "toolCallId": "t", "kind": "delete", "locations": [{ "path": "/a" }] } } });
    let mut host = Host::working();
    host.request(json!(1), PERMISSION, params);
    let AskBody::Approval(approval) = &host.asks[0].body else { panic!() };
    assert_eq!((approval.title.as_str(), &approval.action), ("Delete a file", &Action::Edit { paths: vec!["/a".to_owned()] }));
}

fn claude_questions() -> Value {
    json!([
        { "question": "Which?", "header": "DB", "options": [{ "label": "A", "description": "d" }, { "label": "B" }], "multiSelect": false },
        { "question": "What?", "options": [{ "label": "X" }, { "label": "Y" }], "multiSelect": true }])
}

#[test]
fn qwen_permission_carries_questions() {
    let options = json!([{ "optionId": "proceed_once", "name": "Submit", "kind": "allow_once" }, { "optionId": "cancel", "name": "Cancel", "kind": "reject_once" }]);
    let params = json!({ "sessionId": "s1", "options": options,
        "toolCall": { "toolCallId": "q", "kind": "think", "title": "Ask user 2 questions", "rawInput": { "questions": claude_questions() } } });
    let given = result(PERMISSION, &params, answered(&[&["A"], &["X", "own"]]));
    assert_eq!(
        given,
        json!({ "outcome": { "outcome": "selected", "optionId": "proceed_once" }, "answers": { "0": "A", "1": "X, own" } })
    );
    assert_eq!(result(PERMISSION, &params, rejected("")), selected("cancel"));
    assert_eq!(interrupted(PERMISSION, &params), json!({ "outcome": { "outcome": "cancelled" } }));
    // A tool with side effects is an approval, whatever its input looks like.
    let mut other = params;
    other["toolCall"]["kind"] = json!("other");
    let mut host = Host::working();
    host.request(json!(1), PERMISSION, other);
    assert!(matches!(host.asks[0].body, AskBody::Approval(_)));
}

#[test]
fn kimi_permission_options_become_a_question() {
    let options = json!([
        { "optionId": "q0_opt_0", "name": "A", "kind": "allow_once" },
        { "optionId": "q0_opt_1", "name": "B", "kind": "allow_once" },
        { "optionId": "q0_skip", "name": "Skip", "kind": "reject_once" }]);
    let mut host = Host::working();
    host.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "k", "title": "AskUserQuestion", "rawInput": { "questions": claude_questions() } }));
    let call = json!({ "toolCallId": "k", "title": "AskUserQuestion", "content": [{ "type": "content", "content": { "type": "text", "text": "Which?" } }] });
    host.request(json!(1), PERMISSION, json!({ "sessionId": "s1", "toolCall": call, "options": options }));
    let asked = &host.asks[0].body.questions()[0];
    assert_eq!(
        (asked.text.as_str(), asked.header.as_deref(), asked.takes_text(), asked.multiple()),
        ("Which?", Some("DB"), false, false)
    );
    assert_eq!(asked.options()[0].description.as_deref(), Some("d"));
    assert_eq!(asked.options()[1].label, "B");
    host.decide(answered(&[&["q0_opt_1"]]));
    assert_eq!(*host.result(), selected("q0_opt_1"));
    let params = json!({ "sessionId": "s1", "options": options, "toolCall": { "toolCallId": "k", "content": [{ "type": "content", "content": { "type": "text", "text": "Wofür?" } }] } });
    assert_eq!(questions(PERMISSION, params.clone())[0].text, "Wofür?");
    assert_eq!(result(PERMISSION, &params, rejected("")), selected("q0_skip"));
}

#[test]
fn codex_permission_becomes_a_link() {
    let options = json!([{ "optionId": "accept", "name": "Open", "kind": "allow_once" }, { "optionId": "decline", "name": "No", "kind": "reject_once" }]);
    let params = json!({ "sessionId": "s1", "options": options,
        "toolCall": { "toolCallId": "elicitation-1", "kind": "fetch", "title": "Sign in", "rawInput": { "url": "https://example.com/x" } } });
    let mut host = Host::working();
    host.request(json!(1), PERMISSION, params.clone());
    assert!(matches!(&host.asks[0].body, AskBody::Link(link) if link.url == "https://example.com/x"), "never allowed by a rule");
    assert_eq!(result(PERMISSION, &params, approved()), selected("accept"));
    assert_eq!(result(PERMISSION, &params, denied(texts::LINK_DENIED)), selected("decline"));
}

fn form(method: &str) -> (String, Value) {
    let schema = json!({ "type": "object", "properties": {
        "question_0": { "type": "string", "title": "Database", "oneOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }] },
        "question_0_custom": { "type": "string", "title": "Other" },
        "size": { "type": "integer", "title": "How many?" } } });
    (
        method.to_owned(),
        json!({ "mode": "form", "sessionId": "s1", "toolCallId": "t", "message": "Which?", "requestedSchema": schema }),
    )
}

#[test]
fn form_is_asked_and_answered() {
    let (method, params) = form("elicitation/create");
    let send = |decision| result(&method, &params, decision);
    assert_eq!(send(answered(&[&["b"], &["3"]])), json!({ "action": "accept", "content": { "question_0": "b", "size": 3 } }));
    assert_eq!(
        send(answered(&[&["own words"], &[]])),
        json!({ "action": "accept", "content": { "question_0_custom": "own words" } })
    );
    let with_note = json!({ "action": "accept", "content": { "question_0": "a", "question_0_custom": "but small" } });
    assert_eq!(send(noted(&[&["a"], &[]], "but small")), with_note);
    assert_eq!(send(rejected("not now")), json!({ "action": "decline" }));
    assert_eq!(send(rejected(texts::REJECTED_BY_POLICY)), json!({ "action": "decline" }));
    assert_eq!(send(Decision::Rejected { message: String::new(), stop: true }), json!({ "action": "cancel" }));
    assert_eq!(interrupted(&method, &params), json!({ "action": "cancel" }));
}

#[test]
fn older_form_methods_nest_their_result() {
    for method in ["session/elicitation", "_session/elicitation"] {
        let (method, params) = form(method);
        let wanted = json!({ "action": { "action": "accept", "content": { "question_0": "b" } } });
        assert_eq!(result(&method, &params, answered(&[&["b"], &[]])), wanted);
        assert_eq!(interrupted(&method, &params), json!({ "action": { "action": "cancel" } }));
    }
}

#[test]
fn devin_form_accepts_free_text_instead_of_a_choice() {
    let (method, mut params) = form("elicitation/create");
    params["_meta"] = json!({ "cognition.ai/allowOther": true });
    params["requestedSchema"]["properties"] = json!({ "q0": { "type": "string", "oneOf": [{ "const": "Red" }] }, "q1": { "type": "array", "items": { "enum": ["X"] } } });
    assert!(questions(&method, params.clone()).iter().all(Question::takes_text));
    let wanted = json!({ "action": "accept", "content": { "q0": "mauve", "q1": ["X", "Z"] } });
    assert_eq!(result(&method, &params, answered(&[&["mauve"], &["X", "Z"]])), wanted);
}

#[test]
fn form_outside_the_session_is_handled() {
    let mut host = Host::working();
    host.request(
        json!(1),
        "elicitation/create",
        json!({ "mode": "form", "requestId": 0, "message": "Sure?", "requestedSchema": {} }),
    );
    assert_eq!((host.asks[0].subagent.as_deref(), host.asks[0].tool_call_id.as_deref()), (None, None));
    assert_eq!(host.asks[0].body.questions()[0].input, Input::YesNo);
    host.decide(answered(&[&["false"]]));
    assert_eq!(*host.result(), json!({ "action": "decline" }), "a no to a form without fields");
}

#[test]
fn link_is_asked_and_answered() {
    let params = json!({ "mode": "url", "sessionId": "s1", "elicitationId": "e1", "url": "https://example.com/?a=1", "message": "Sign in" });
    assert_eq!(result("elicitation/create", &params, approved()), json!({ "action": "accept" }));
    assert_eq!(result("elicitation/create", &params, denied(texts::LINK_DENIED)), json!({ "action": "decline" }));
    assert_eq!(interrupted("elicitation/create", &params), json!({ "action": "cancel" }));
    for url in ["javascript:alert(1)", "file:///etc/passwd", ""] {
        let mut wrong = params.clone();
        wrong["url"] = json!(url);
        assert_eq!(refusal("elicitation/create", wrong)["code"], -32602);
    }
    let mut host = Host::working();
    host.request(json!(1), "elicitation/create", params);
    host.message(json!({ "jsonrpc": "2.0", "method": "elicitation/complete", "params": { "elicitationId": "other" } }));
    assert!(!host.log.contains("withdrawn"));
    host.message(json!({ "jsonrpc": "2.0", "method": "elicitation/complete", "params": { "elicitationId": "e1" } }));
    assert!(
        host.log.ends_with(
            "> {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"cancel\"}}\nwithdrawn 1: It was opened elsewhere.\n"
        ),
        "{}",
        host.log
    );
    host.decide(approved());
    assert!(host.log.ends_with("undeliverable: The agent no longer waits for it.\n"));
}

#[test]
fn unadvertised_elicitation_mode_is_refused() {
    assert_eq!(refusal("elicitation/create", json!({ "mode": "voice", "sessionId": "s1", "message": "?" }))["code"], -32602);
    assert_eq!(refusal("elicitation/create", json!({ "mode": "form", "sessionId": "s1", "message": "?" }))["code"], -32602);
}

#[test]
fn cursor_questions_and_plans_are_answered() {
    let params = json!({ "toolCallId": "t", "title": "Setup", "questions": [
        { "id": "db", "prompt": "Which?", "options": [{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }] },
        { "id": "x", "prompt": "What?", "options": [{ "id": "1", "label": "One" }], "allowMultiple": true }] });
    let method = "cursor/ask_question";
    let answers = json!([{ "questionId": "db", "selectedOptionIds": ["b"] }, { "questionId": "x", "selectedOptionIds": ["1"] }]);
    assert_eq!(
        result(method, &params, answered(&[&["b"], &["1"]])),
        json!({ "outcome": { "outcome": "answered", "answers": answers } })
    );
    assert_eq!(result(method, &params, rejected("later")), json!({ "outcome": { "outcome": "skipped", "reason": "later" } }));
    assert_eq!(interrupted(method, &params), json!({ "outcome": { "outcome": "cancelled" } }));
    let asked = questions(method, params);
    assert_eq!((asked[0].header.as_deref(), asked[0].takes_text(), asked[1].multiple()), (Some("Setup"), false, true));
    assert_eq!(refusal(method, json!({ "questions": [{ "id": "x" }] }))["code"], -32602);

    let plan = json!({ "toolCallId": "t", "name": "Health check", "overview": "Short.", "plan": "1. Go", "todos": [] });
    let method = "cursor/create_plan";
    let outcome = |outcome: Value| json!({ "outcome": outcome });
    assert_eq!(result(method, &plan, approved()), outcome(json!({ "outcome": "accepted" })));
    assert_eq!(result(method, &plan, denied("smaller")), outcome(json!({ "outcome": "rejected", "reason": "smaller" })));
    assert_eq!(result(method, &plan, denied(texts::DENIED)), outcome(json!({ "outcome": "rejected" })));
    assert_eq!(interrupted(method, &plan), outcome(json!({ "outcome": "cancelled" })));
    let mut host = Host::working();
    host.request(json!(1), method, plan);
    let AskBody::Approval(approval) = &host.asks[0].body else { panic!() };
    assert_eq!(approval.preview, Some(Preview::Plan { text: "Short.\n\n1. Go".to_owned() }));
    host.request(json!(2), "cursor/update_todos", json!({ "todos": [] }));
    assert_eq!(*host.result(), json!({}));
}

#[test]
fn grok_questions_and_plans_are_answered() {
    let inner = json!({ "sessionId": "s1", "toolCallId": "t", "questions": claude_questions(), "mode": "default" });
    for method in ["_x.ai/ask_user_question", "x.ai/ask_user_question"] {
        for params in [inner.clone(), json!({ "method": method, "params": inner })] {
            let wanted = json!({ "outcome": "accepted", "answers": { "Which?": ["A"], "What?": ["X", "Other"] }, "annotations": { "What?": { "notes": "own" } } });
            assert_eq!(result(method, &params, answered(&[&["A"], &["X", "own"]])), wanted);
            assert_eq!(result(method, &params, rejected("")), json!({ "outcome": "skip_interview", "partial_answers": {} }));
            assert_eq!(interrupted(method, &params), json!({ "outcome": "cancelled" }));
        }
    }
    let noted = result("_x.ai/ask_user_question", &inner, noted(&[&["A"], &["X"]], "small"));
    assert_eq!(noted["annotations"], json!({ "Which?": { "notes": "small" } }));
    let plan = json!({ "sessionId": "s1", "toolCallId": "t", "planContent": "# Plan" });
    let method = "_x.ai/exit_plan_mode";
    assert_eq!(result(method, &plan, approved()), json!({ "outcome": "approved" }));
    assert_eq!(result(method, &plan, denied("add tests")), json!({ "outcome": "cancelled", "feedback": "add tests" }));
    assert_eq!(result(method, &plan, denied(texts::DENIED)), json!({ "outcome": "cancelled" }));
    assert_eq!(interrupted(method, &plan), json!({ "outcome": "abandoned" }));
}

#[test]
fn only_words_of_a_person_follow_as_a_message() {
    let yes_or_no = |yes: &str, no: &str| json!([{ "optionId": yes, "name": "Yes", "kind": "allow_once" }, { "optionId": no, "name": "No", "kind": "reject_once" }]);
    let asking = json!({ "toolCallId": "q", "kind": "think", "title": "Ask", "rawInput": { "questions": claude_questions() } });
    let form = form("elicitation/create").1;
    let link = json!({ "mode": "url", "sessionId": "s1", "elicitationId": "e1", "url": "https://example.com" });
    let refused = "I did not answer: why?";
    for (method, params, decision, wanted) in [
        (QUESTION, json!({ "sessionId": "s1", "prompt": "Which?" }), rejected("why?"), refused),
        (PERMISSION, json!({ "options": yes_or_no("y", "n"), "toolCall": asking }), rejected("why?"), refused),
        (PERMISSION, json!({ "options": yes_or_no("q0_opt_0", "q0_skip"), "toolCall": asking }), rejected("why?"), refused),
        ("elicitation/create", form.clone(), rejected("why?"), refused),
        ("session/elicitation", form, rejected("why?"), refused),
        ("_x.ai/ask_user_question", json!({ "questions": claude_questions() }), rejected("why?"), refused),
        ("elicitation/create", link, denied("why?"), "I did not allow it: why?"),
        (PERMISSION, permission(yes_or_no("y", "n")), denied("why?"), "I did not allow `touch x`: why?"),
    ] {
        assert_eq!(said_later(method, &params, decision.clone(), DecidedBy::Person).as_deref(), Some(wanted), "{params}");
        assert_eq!(said_later(method, &params, decision, DecidedBy::Automatic), None, "{params}");
        for none in [rejected(texts::REJECTED), denied(texts::DENIED), denied(texts::LINK_DENIED)] {
            assert_eq!(said_later(method, &params, none, DecidedBy::Person), None, "{params}");
        }
    }
    // If the protocol has a field for the words, it gets the words of people and policies.
    let plan = json!({ "toolCallId": "t", "plan": "1. Go" });
    assert_eq!(said_later("cursor/create_plan", &plan, denied("smaller"), DecidedBy::Person), None);
    let mut host = Host::working();
    host.request(json!(1), "cursor/create_plan", plan).decide_automatically(denied(texts::DENIED_BY_POLICY));
    assert_eq!(host.result()["outcome"]["reason"], texts::DENIED_BY_POLICY);
}

#[test]
fn unknown_method_is_refused_and_reported_once() {
    let mut host = Host::working();
    for (id, method) in ["fs/read_text_file", "terminal/create", "_kiro/userInput", "_kiro/userInput"].into_iter().enumerate() {
        host.request(json!(id), method, json!({ "sessionId": "s1" }));
        assert_eq!(host.result()["code"], -32601);
    }
    assert_eq!(host.log.matches("notice: ").count(), 3, "{}", host.log);
    for id in 0..100 {
        host.request(json!(id), &format!("_vendor/{id}"), json!({}));
    }
    assert_eq!((host.log.matches("notice: ").count(), host.sent.len()), (16, 104));
}

#[test]
fn request_over_a_limit_is_refused() {
    let long = "x".repeat(9000);
    let refused = refusal(QUESTION, json!({ "prompt": long }));
    assert_eq!(
        (refused["code"].as_i64(), refused["message"].as_str().unwrap().contains("the text of a question is 9000")),
        (Some(-32602), true)
    );
    let properties: serde_json::Map<String, Value> = (0..17).map(|n| (format!("q{n}"), json!({ "type": "string" }))).collect();
    let refused =
        refusal("elicitation/create", json!({ "mode": "form", "message": "?", "requestedSchema": { "properties": properties } }));
    assert!(refused["message"].as_str().unwrap().contains("the number of questions is 17"));
    let mut host = Host::working();
    for id in 0..201 {
        host.request(json!(id), QUESTION, json!({ "prompt": "?" }));
    }
    assert_eq!(host.asks.len(), 200);
    assert!(host.result()["message"].as_str().unwrap().contains("the number of pending asks is 201"));
    let huge = permission(json!([{ "optionId": "y", "name": "x".repeat(5 << 20), "kind": "allow_once" }]));
    assert!(refusal(PERMISSION, huge)["message"].as_str().unwrap().contains("the size of the request"));
}
