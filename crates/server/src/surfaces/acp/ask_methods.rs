//! Presents asks to an ACP client, and interprets its responses.

use sayso_agents::form;
use sayso_agents::json::{Object, line};
use sayso_api::ask::{ActionKind, Approval, ApprovalDecision, Ask, AskKind, InputKind, Link, Preview};
use sayso_core::ask::Question;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::call::Verdict;
use super::client::Client;
use super::updates::{content, fenced};

/// The ids of our own permission options. The agent's choices use their position as id.
const ALLOW: &str = "allow";
const DENY: &str = "deny";
const OPTION: &str = "option-";

/// A method of presenting an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskMethod {
    /// `_sandboxagent/session/request_question`.
    Question,
    /// `elicitation/create` with a form.
    Form,
    /// `elicitation/create` with a URL.
    Link,
    /// `session/request_permission`, which every client supports.
    Permission,
}

/// The meaning of a client's response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The person decided.
    Decided(Verdict),
    /// The person dismissed the dialog. The ask stays pending on all surfaces.
    Left,
    /// The response is not valid for this method.
    Unreadable,
}

/// Returns the methods by which this client can present this ask, the best first. If there is none, the ask has to be answered
/// on another surface.
pub(super) fn ways(ask: &Ask, client: Client) -> Vec<AskMethod> {
    match ask.kind {
        // Clients do not edit inputs.
        AskKind::Approval => {
            let offered =
                |approval: &Approval| approval.allows(ApprovalDecision::Approve) || approval.allows(ApprovalDecision::Deny);
            ask.approval.as_ref().is_some_and(offered).then_some(AskMethod::Permission).into_iter().collect()
        }
        AskKind::Link => [client.links.then_some(AskMethod::Link), Some(AskMethod::Permission)].into_iter().flatten().collect(),
        // Clients display and store the values of a form, and the protocol has no field for secrets.
        AskKind::Question if ask.questions.iter().any(|question| question.secret) => Vec::new(),
        AskKind::Question => {
            let simple = is_simple(ask);
            let mut ways = Vec::new();
            if client.questions && simple {
                ways.push(AskMethod::Question);
            }
            if client.forms {
                ways.push(AskMethod::Form);
            }
            // Clients that do not know the method return an error.
            if !ways.contains(&AskMethod::Question) {
                ways.push(AskMethod::Question);
            }
            if simple {
                ways.push(AskMethod::Permission);
            }
            ways
        }
    }
}

/// Returns whether the ask is one question that accepts exactly one of its options.
fn is_simple(ask: &Ask) -> bool {
    matches!(ask.questions.as_slice(), [only] if only.input == InputKind::Choice && !only.multiple && !only.options.is_empty())
}

/// Returns the questions with generated keys, which are valid as field names regardless of the agent's keys.
fn questions(ask: &Ask) -> Vec<Question> {
    let named = |(index, question): (usize, &sayso_api::ask::Question)| Question {
        key: format!("question_{index}"),
        ..question.clone().into_core(index)
    };
    ask.questions.iter().enumerate().map(named).collect()
}

/// Builds the method and parameters of the request. `again` says why an earlier response was refused.
pub(super) fn request(way: AskMethod, session: &str, ask: &Ask, again: Option<&str>) -> (&'static str, Box<RawValue>) {
    let before = again.map(|again| format!("{again}\n\n")).unwrap_or_default();
    let (method, params) = match way {
        AskMethod::Question => ("_sandboxagent/session/request_question", line(&question(session, ask, &before))),
        AskMethod::Form => {
            let (message, schema) = form::form(&questions(ask));
            let (session, call, message) = (line(&session), line(&ask.tool_call_id), line(&format!("{before}{message}")));
            let scope = format!(r#""sessionId":{session},"toolCallId":{call}"#);
            ("elicitation/create", format!(r#"{{"mode":"form",{scope},"message":{message},"requestedSchema":{schema}}}"#))
        }
        AskMethod::Link => {
            let Link { url, message } = ask.link.clone().unwrap_or(Link { url: String::new(), message: None });
            let message = message.unwrap_or_else(|| "The agent asks you to open this address.".to_owned());
            let params = json!({
                "mode": "url", "sessionId": session, "toolCallId": ask.tool_call_id, "elicitationId": ask.id, "url": url,
                "message": format!("{before}{message}"),
            });
            ("elicitation/create", line(&params))
        }
        AskMethod::Permission => ("session/request_permission", line(&permission(session, ask, &before))),
    };
    // All parts are valid JSON.
    (method, RawValue::from_string(params).unwrap_or_else(|_| RawValue::NULL.to_owned()))
}

fn question(session: &str, ask: &Ask, before: &str) -> Value {
    let prompt = ask.questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>().join("\n");
    let simple = is_simple(ask);
    let offered = ask.questions.first().filter(|_| simple).map(|question| question.options.as_slice()).unwrap_or_default();
    let options: Vec<[&str; 2]> =
        offered.iter().map(|option| [option.value.as_deref().unwrap_or(&option.label), option.label.as_str()]).collect();
    let mut params = json!({
        "sessionId": session, "questionId": ask.id, "toolCallId": ask.tool_call_id,
        "prompt": format!("{before}{prompt}"), "options": options,
    });
    // The simple payload cannot express these parts.
    if !simple || ask.questions.iter().any(|question| question.custom) {
        params["questions"] = json!(ask.questions);
    }
    params
}

fn permission(session: &str, ask: &Ask, before: &str) -> Value {
    let option = |id: &str, name: &str, kind: &str| json!({ "optionId": id, "name": name, "kind": kind });
    let numbered = |kind: &'static str| move |(index, name): (usize, &String)| option(&format!("{OPTION}{index}"), name, kind);
    let mut call = json!({ "toolCallId": ask.tool_call_id, "status": "pending" });
    let (title, kind, mut shown, options) = match (&ask.approval, &ask.link) {
        (Some(approval), _) => {
            call["rawInput"] = approval.input.clone();
            call["locations"] = approval.paths.iter().map(|path| json!({ "path": path })).collect();
            let mut options = Vec::new();
            if approval.allows(ApprovalDecision::Approve) {
                options.push(option(ALLOW, "Allow", "allow_once"));
                let choices: Vec<String> = approval.choices.iter().map(|choice| choice.label.clone()).collect();
                options.extend(choices.iter().enumerate().map(numbered("allow_always")));
            }
            if approval.allows(ApprovalDecision::Deny) {
                options.push(option(DENY, "Deny", "reject_once"));
            }
            (approval.title.clone(), kind(approval.action), approval_content(approval), options)
        }
        (None, Some(link)) => {
            let options = vec![option(ALLOW, "I opened it", "allow_once"), option(DENY, "No", "reject_once")];
            let shown = link.message.iter().map(|message| content(message)).chain([content(&fenced("", &link.url))]).collect();
            (format!("Open {}", link.url), "fetch", shown, options)
        }
        (None, None) => {
            let only = ask.questions.first();
            let labels: Vec<String> =
                only.map(|only| only.options.iter().map(|option| option.label.clone()).collect()).unwrap_or_default();
            let mut options: Vec<Value> = labels.iter().enumerate().map(numbered("allow_once")).collect();
            options.push(option(DENY, "Do not answer", "reject_once"));
            (only.map(|only| only.text.clone()).unwrap_or_default(), "other", Vec::new(), options)
        }
    };
    if !before.is_empty() {
        shown.insert(0, content(before.trim_end()));
    }
    call["title"] = json!(title);
    call["kind"] = json!(kind);
    call["content"] = json!(shown);
    json!({ "sessionId": session, "toolCall": call, "options": options })
}

/// Returns the content that a person needs before approving.
fn approval_content(approval: &Approval) -> Vec<Value> {
    let reason = approval.reason.iter().map(|reason| content(reason));
    let preview = match &approval.preview {
        None => Vec::new(),
        Some(Preview::Command { command, cwd }) => {
            let place = cwd.as_ref().map(|cwd| content(&format!("in {cwd}")));
            [Some(content(&fenced("sh", command))), place].into_iter().flatten().collect()
        }
        Some(Preview::Diff { files }) => {
            files.iter().map(|file| content(&format!("{}\n{}", file.path, fenced("diff", &file.diff)))).collect()
        }
        Some(Preview::Plan { text }) => vec![content(text)],
        Some(Preview::Text { text }) => vec![content(&fenced("", text))],
    };
    reason.chain(preview).collect()
}

const fn kind(action: ActionKind) -> &'static str {
    match action {
        ActionKind::Run => "execute",
        ActionKind::Edit => "edit",
        ActionKind::Read => "read",
        ActionKind::Fetch => "fetch",
        ActionKind::Plan | ActionKind::Mode => "switch_mode",
        ActionKind::Mcp | ActionKind::Other => "other",
    }
}

/// Interprets the client's response.
pub(super) fn read(way: AskMethod, ask: &Ask, result: &Object<'_>) -> Answer {
    let no = || Answer::Decided(if ask.kind == AskKind::Question { Verdict::Reject } else { Verdict::Deny });
    match way {
        AskMethod::Question => match result.text("status").as_deref() {
            Some("answered") if result.list("answers").is_some() => Answer::Decided(Verdict::Answer(form::answers(result))),
            Some("rejected") => no(),
            _ => Answer::Unreadable,
        },
        AskMethod::Form => match result.text("action").as_deref() {
            Some("accept") => {
                let content = result.object("content").unwrap_or_default();
                Answer::Decided(Verdict::Answer(form::content_of(&questions(ask), &content)))
            }
            Some("decline") => no(),
            Some("cancel") => Answer::Left,
            _ => Answer::Unreadable,
        },
        AskMethod::Link => match result.text("action").as_deref() {
            Some("accept") => Answer::Decided(Verdict::Approve { choice: None }),
            Some("decline") => no(),
            Some("cancel") => Answer::Left,
            _ => Answer::Unreadable,
        },
        AskMethod::Permission => {
            let outcome = result.object("outcome").unwrap_or_default();
            match (outcome.text("outcome").as_deref(), outcome.text("optionId").as_deref()) {
                (Some("selected"), Some(DENY)) => no(),
                (Some("selected"), Some(ALLOW)) if ask.kind != AskKind::Question => {
                    Answer::Decided(Verdict::Approve { choice: None })
                }
                (Some("selected"), Some(id)) => option(ask, id).map_or(Answer::Unreadable, Answer::Decided),
                (Some("cancelled"), _) => Answer::Left,
                _ => Answer::Unreadable,
            }
        }
    }
}

/// Returns the verdict of the option with this id: one of the agent's choices, or an answer to the question.
fn option(ask: &Ask, id: &str) -> Option<Verdict> {
    let index: usize = id.strip_prefix(OPTION)?.parse().ok()?;
    match &ask.approval {
        Some(approval) => Some(Verdict::Approve { choice: Some(approval.choices.get(index)?.id.clone()) }),
        None => {
            let option = ask.questions.first()?.options.get(index)?;
            Some(Verdict::Answer(vec![vec![option.value.clone().unwrap_or_else(|| option.label.clone())]]))
        }
    }
}
