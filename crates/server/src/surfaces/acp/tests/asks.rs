//! How an ask is presented to the client, and how its response becomes a decision.

use super::*;

/// A question is sent to the client under a request id of this connection.
#[test]
fn question_is_presented_with_a_supported_method() {
    let mut conversation = talking(all());
    let asked = sent(event(&mut conversation, 8, "question.requested", &question()));
    let options = json!([["lite", "SQLite"], ["pg", "PostgreSQL"]]);
    let params =
        json!({ "sessionId": S, "questionId": "ask_1", "toolCallId": "call_1", "prompt": "Which database?", "options": options });
    assert_eq!(asked, json!({ "jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/session/request_question", "params": params }));
    let answered = verdict(&mut conversation, 1, json!({ "status": "answered", "answers": [["pg"]] }));
    assert_eq!(answered, Verdict::Answer(vec![vec!["pg".to_owned()]]));

    let mut conversation = talking(all());
    event(&mut conversation, 8, "question.requested", &question());
    assert_eq!(verdict(&mut conversation, 1, json!({ "status": "rejected" })), Verdict::Reject);
}

/// Several questions, multiple choices and free text are sent as a form, or in an extension field.
#[test]
fn complex_questions_are_presented_as_a_form() {
    let mut conversation = talking(all());
    let outputs = event(&mut conversation, 8, "question.requested", &several());
    let [Output::Send(frame)] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!(frame.to, To::Session(S.to_owned()));
    let places: Vec<_> = ["question_0\"", "question_0_custom", "question_1", "question_2"].map(|key| frame.line.find(key)).into();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "in the order of the questions: {}", frame.line);
    let asked = sent(outputs);
    assert_eq!((&asked["method"], &asked["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));
    let fields = &asked["params"]["requestedSchema"]["properties"];
    assert_eq!(
        fields["question_1"]["items"]["anyOf"],
        json!([{ "const": "API", "title": "API" }, { "const": "UI", "title": "UI" }])
    );
    let content = json!({ "question_0_custom": "DuckDB", "question_1": ["UI", "API"], "question_2": "soon" });
    let answered = verdict(&mut conversation, 1, json!({ "action": "accept", "content": content }));
    let lists = |lists: &[&[&str]]| lists.iter().map(|list| list.iter().map(|entry| (*entry).to_owned()).collect()).collect();
    assert_eq!(answered, Verdict::Answer(lists(&[&["DuckDB"], &["UI", "API"], &["soon"]])));

    let mut conversation = talking(json!({ "extensions": { "sessionRequestQuestion": true } }));
    let asked = sent(event(&mut conversation, 8, "question.requested", &several()));
    assert_eq!((&asked["params"]["options"], &asked["params"]["questions"][1]["multiple"]), (&json!([]), &json!(true)));
    assert_eq!(asked["params"]["prompt"], "Which database?\nWhich areas?\nNotes?");
}

#[test]
fn client_without_questions_gets_a_permission_request() {
    let mut conversation = talking(json!({}));
    assert_eq!(sent(event(&mut conversation, 8, "question.requested", &question()))["id"], 1);
    let unknown = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "no" } });
    let asked = sent(line(&mut conversation, &unknown));
    assert_eq!((&asked["id"], &asked["method"]), (&json!(2), &json!("session/request_permission")));
    assert_eq!(asked["params"]["options"][1], json!({ "optionId": "option-1", "name": "PostgreSQL", "kind": "allow_once" }));
    let selected = json!({ "outcome": { "outcome": "selected", "optionId": "option-1" } });
    assert_eq!(verdict(&mut conversation, 2, selected), Verdict::Answer(vec![vec!["pg".to_owned()]]));

    // Asks that no method can present, and secret questions, are only announced.
    let mut conversation = talking(json!({}));
    event(&mut conversation, 8, "question.requested", &several());
    let told = sent(line(&mut conversation, &json!({ "jsonrpc": "2.0", "id": 1, "result": null })));
    assert!(told["params"]["update"]["content"]["text"].as_str().unwrap().contains("Answer it in your Sayso inbox"), "{told}");
    let secret = ask(json!({ "questions": [{ "text": "Token?", "input": "text", "secret": true }] }));
    let told = sent(event(&mut talking(all()), 8, "question.requested", &secret));
    assert_eq!(told["method"], "session/update");
}

#[test]
fn approval_is_presented_with_the_agents_own_choices() {
    for (option, wanted) in [
        ("allow", Verdict::Approve { choice: None }),
        ("option-0", Verdict::Approve { choice: Some("allow".to_owned()) }),
        ("deny", Verdict::Deny),
    ] {
        let mut conversation = talking(json!({}));
        let asked = sent(event(&mut conversation, 8, "approval.requested", &approval()));
        assert_eq!(asked["method"], "session/request_permission");
        let call = &asked["params"]["toolCall"];
        assert_eq!(
            (&call["toolCallId"], &call["kind"], &call["rawInput"]["command"]),
            (&json!("call_1"), &json!("execute"), &json!("make"))
        );
        assert_eq!(call["content"][0]["content"]["text"], "```sh\nmake\n```");
        assert_eq!(verdict(&mut conversation, 1, json!({ "outcome": { "outcome": "selected", "optionId": option } })), wanted);
    }
}

#[test]
fn link_is_presented_as_an_address_to_open() {
    let link = ask(json!({ "kind": "link", "link": { "url": "https://example.com/x", "message": "Sign in." } }));
    let mut conversation = talking(all());
    let asked = sent(event(&mut conversation, 8, "link.requested", &link));
    let params = json!({ "mode": "url", "sessionId": S, "toolCallId": "call_1", "elicitationId": "ask_1", "url": "https://example.com/x", "message": "Sign in." });
    assert_eq!(asked["params"], params);
    assert_eq!(verdict(&mut conversation, 1, json!({ "action": "accept" })), Verdict::Approve { choice: None });
    let asked = sent(event(&mut talking(json!({})), 8, "link.requested", &link));
    assert_eq!(
        (&asked["method"], &asked["params"]["toolCall"]["title"]),
        (&json!("session/request_permission"), &json!("Open https://example.com/x"))
    );
}

/// Dismissing a dialog is not a decision: the ask stays pending on all surfaces.
#[test]
fn dismissed_dialog_leaves_the_ask_pending() {
    for left in [
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "outcome": { "outcome": "cancelled" } } }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32800, "message": "cancelled" } }),
    ] {
        let mut conversation = talking(all());
        event(&mut conversation, 8, "approval.requested", &approval());
        assert_eq!(line(&mut conversation, &left), []);
        assert_eq!(event(&mut conversation, 9, "approval.resolved", &approval()), []);
    }
}

#[test]
fn ask_decided_elsewhere_is_cancelled_once() {
    let mut conversation = talking(all());
    event(&mut conversation, 8, "question.requested", &question());
    let outputs = event(&mut conversation, 9, "question.resolved", &question());
    let [Output::Send(frame)] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!(frame.to, To::Session(S.to_owned()), "where it was asked, so that it comes afterwards");
    assert_eq!(sent(outputs), json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 1 } }));
    let late = json!({ "jsonrpc": "2.0", "id": 1, "result": { "status": "answered", "answers": [["pg"]] } });
    assert_eq!(line(&mut conversation, &late), []);
    assert_eq!(event(&mut conversation, 10, "question.resolved", &question()), []);
}

#[test]
fn unexpected_response_changes_nothing() {
    let mut conversation = talking(all());
    event(&mut conversation, 8, "question.requested", &question());
    for id in [json!(7), json!("1"), json!(-1), json!(1.5), json!(0)] {
        let never = json!({ "jsonrpc": "2.0", "id": id, "result": { "status": "answered", "answers": [["pg"]] } });
        assert_eq!(line(&mut conversation, &never), [], "{id}");
    }
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "status": "answered", "answers": [["pg"]] } });
    assert_eq!(line(&mut conversation, &answer).len(), 1);
    assert_eq!(line(&mut conversation, &answer), [], "twice");
    // Another person has just answered.
    assert_eq!(refused(&mut conversation, ErrorCode::AskAlreadyResolved), []);
}

#[test]
fn invalid_answer_is_requested_again_a_limited_number_of_times() {
    let mut conversation = talking(all());
    event(&mut conversation, 8, "question.requested", &question());
    for id in [1, 2] {
        verdict(&mut conversation, id, json!({ "status": "answered", "answers": [["Oracle"]] }));
        let again = sent(refused(&mut conversation, ErrorCode::InvalidAnswers));
        assert_eq!(again["params"]["prompt"], "Invalid answer: no.\n\nWhich database?");
    }
    verdict(&mut conversation, 3, json!({ "status": "answered", "answers": [["Oracle"]] }));
    assert_eq!(sent(refused(&mut conversation, ErrorCode::InvalidAnswers))["method"], "session/update");
}

#[test]
fn shortened_ask_is_fetched_before_it_is_shown() {
    let mut conversation = talking(all());
    let mut long = approval();
    long["truncated"] = json!(true);
    let fetched = event(&mut conversation, 8, "approval.requested", &long);
    assert_eq!(fetched, [Output::Call(SessionCall::Whole { ask: "ask_1".to_owned() })]);
    let whole = serde_json::from_value(approval()).unwrap();
    assert_eq!(sent(finish_call(&mut conversation, Reply::Ask(Box::new(whole))))["method"], "session/request_permission");
}

#[test]
fn permission_request_offers_only_allowed_decisions() {
    let offered = |allowed: Value| {
        let mut wanted = approval();
        wanted["approval"]["allowedDecisions"] = allowed;
        wanted["approval"]["editable"] = json!(true);
        event(&mut talking(json!({})), 8, "approval.requested", &wanted)
    };
    let names = |outputs: Vec<Output>| {
        let options = sent(outputs)["params"]["options"].clone();
        options.as_array().unwrap().iter().map(|option| option["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(offered(json!(["approve"]))), ["Allow", "Always"]);
    assert_eq!(names(offered(json!(["edit", "deny"]))), ["Deny"]);
    // Clients cannot edit, so the ask is only announced.
    let announced = to_json(offered(json!(["edit"])));
    assert!(announced.iter().all(|message| message["method"] != "session/request_permission"), "{announced:?}");
}
