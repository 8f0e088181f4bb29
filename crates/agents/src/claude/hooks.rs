//! Hooks of a Claude Code session that the user started (`type: "command"`): Claude writes the event to the hook's
//! stdin and reads the decision from its stdout. `PermissionRequest` competes with the dialog in the terminal. Other
//! hook events show whether the dialog was answered first.
//!
//! Asks and decisions have the same content as for the permission prompt tool.

use sayso_core::ask::{AskBody, Decision};
use sayso_core::raw::Raw;
use serde_json::Value;
use serde_json::value::RawValue;

use super::prompt_tool::PromptCall;
use super::requests::{QUESTION_TOOL, SOME_HELPER};
use crate::json::{Object, canonical, line};

/// The input of a hook.
#[derive(Debug)]
pub enum Hook {
    /// Claude asks for permission, and shows its dialog in the terminal at the same time.
    Asks(Box<HookAsk>),
    /// An event of the session that can end pending asks.
    Happened {
        /// Claude's session id.
        session: String,
        what: Happening,
    },
}

/// The session events that end pending asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// This call ended.
    ToolDone(ToolCall),
    /// The person entered a prompt.
    Prompted,
    TurnEnded,
    Ended,
}

/// A tool call, identified by its content. A hook gets no call id until the call has ended, so equal calls count as the
/// same call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolCall(String);

impl ToolCall {
    fn of(tool: &str, input: &RawValue) -> Option<Self> {
        let mut input: Value = serde_json::from_str(input.get()).ok()?;
        if tool == QUESTION_TOOL {
            // The input of an ended call contains the answers, which are removed for the comparison.
            input = input.get_mut("questions")?.take();
        }
        let mut text = format!("{}:", line(&tool));
        canonical(&input, &mut text);
        Some(Self(text))
    }

    /// The call as text. Equal calls have equal text, regardless of the order of their fields.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A permission that Claude asks for in its terminal and in Sayso.
#[derive(Debug)]
pub struct HookAsk {
    call: PromptCall,
    /// Claude's session id.
    pub session: String,
    /// The working directory of the session.
    pub cwd: String,
    /// The path of Claude's transcript file.
    pub transcript: Option<String>,
    /// The name of the sub-agent that asks.
    pub subagent: Option<String>,
    /// The call that waits for permission.
    pub tool: ToolCall,
}

impl HookAsk {
    #[must_use]
    pub const fn body(&self) -> &AskBody {
        &self.call.body
    }

    /// The hook's output on stdout. `None` leaves the decision to the terminal.
    #[must_use]
    pub fn decision_output(&self, decision: &Decision) -> Option<String> {
        match decision {
            Decision::Withdrawn { .. } => None,
            Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Approved { .. } | Decision::Denied { .. } => {
                Some(format!(
                    r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{}}}}}"#,
                    self.call.reply(decision)
                ))
            }
        }
    }
}

impl Hook {
    /// Parses the input of a hook; `None` if the event is irrelevant or cannot be parsed.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let fields = Object::parse(text)?;
        let session = fields.non_blank_text("session_id")?;
        let happened = |what| Some(Self::Happened { session: session.clone(), what });
        match fields.text("hook_event_name")?.as_str() {
            "PermissionRequest" => Self::asks(&fields, session),
            "PostToolUse" | "PostToolUseFailure" => {
                happened(Happening::ToolDone(ToolCall::of(&fields.non_blank_text("tool_name")?, fields.get("tool_input")?)?))
            }
            "UserPromptSubmit" => happened(Happening::Prompted),
            "Stop" => happened(Happening::TurnEnded),
            "SessionEnd" => happened(Happening::Ended),
            _ => None,
        }
    }

    fn asks(fields: &Object<'_>, session: String) -> Option<Self> {
        let (tool, input) = (fields.non_blank_text("tool_name")?, fields.get("tool_input")?);
        let suggestions = fields.get("permission_suggestions").map_or("[]", RawValue::get);
        let request =
            format!(r#"{{"tool_name":{},"input":{},"permission_suggestions":{suggestions}}}"#, line(&tool), input.get());
        let by_helper = fields.non_blank_text("agent_id").is_some();
        Some(Self::Asks(Box::new(HookAsk {
            call: PromptCall::read(Raw::parse(request).ok()?).ok()?,
            session,
            cwd: fields.non_blank_text("cwd")?,
            transcript: fields.non_blank_text("transcript_path"),
            subagent: fields
                .non_blank_text("agent_type")
                .or_else(|| by_helper.then(|| SOME_HELPER.to_owned()))
                .filter(|_| by_helper),
            tool: ToolCall::of(&tool, input)?,
        })))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asks(json: &Value) -> HookAsk {
        match Hook::read(&json.to_string()) {
            Some(Hook::Asks(ask)) => *ask,
            other => panic!("{other:?}"),
        }
    }

    fn bash() -> Value {
        json!({
            "session_id": "s-1", "transcript_path": "/t.jsonl", "cwd": "/p", "prompt_id": "x", "permission_mode": "default",
            "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls", "description": "look"},
            "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
        })
    }

    fn decided(ask: &HookAsk, decision: &Decision) -> Value {
        let said: Value = serde_json::from_str(&ask.decision_output(decision).unwrap()).unwrap();
        assert_eq!(said["hookSpecificOutput"]["hookEventName"], "PermissionRequest");
        said["hookSpecificOutput"]["decision"].clone()
    }

    #[test]
    fn hook_approval_uses_the_same_decisions_as_the_protocol() {
        let ask = asks(&bash());
        assert_eq!((ask.session.as_str(), ask.cwd.as_str(), ask.transcript.as_deref()), ("s-1", "/p", Some("/t.jsonl")));
        assert_eq!(ask.subagent, None);
        let AskBody::Approval(approval) = ask.body() else { panic!() };
        assert_eq!((approval.title.as_str(), approval.choices.len()), ("ls", 1));
        let yes = Decision::Approved { choice: Some("suggestion-0".into()), input: None };
        assert_eq!(
            decided(&ask, &yes),
            json!({"behavior": "allow", "updatedInput": {"command": "ls", "description": "look"},
                "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]})
        );
        let no = Decision::Denied { message: "not now".into(), stop: false };
        assert_eq!(decided(&ask, &no), json!({"behavior": "deny", "message": "not now"}));
        assert_eq!(ask.decision_output(&Decision::Withdrawn { reason: "x".into() }), None, "the terminal decides");
    }

    #[test]
    fn question_call_matches_after_answers_were_added() {
        let questions =
            json!([{"question": "Which?", "header": "H", "multiSelect": false, "options": [{"label": "A", "description": "a"}]}]);
        let mut before = bash();
        before["tool_name"] = json!("AskUserQuestion");
        before["tool_input"] = json!({ "questions": questions });
        let ask = asks(&before);
        let answer = Decision::Answered { answers: vec![vec!["A".into()]], note: None };
        assert_eq!(decided(&ask, &answer)["updatedInput"]["answers"], json!({"Which?": "A"}));
        let after = r#"{"hook_event_name":"PostToolUse","session_id":"s-1","tool_name":"AskUserQuestion","tool_input":
                {"answers":{"Which?":"A"},"questions":[{"options":[{"description":"a","label":"A"}],"multiSelect":false,"header":"H","question":"Which?"}]}}"#;
        let Some(Hook::Happened { session, what: Happening::ToolDone(done) }) = Hook::read(after) else { panic!() };
        assert_eq!((session.as_str(), &done), ("s-1", &ask.tool));
    }

    #[test]
    fn calls_differ_by_tool_and_input() {
        let (one, mut two) = (bash(), bash());
        two["tool_input"]["command"] = json!("ls ");
        assert_ne!(asks(&one).tool, asks(&two).tool);
        two["tool_input"] = one["tool_input"].clone();
        two["tool_name"] = json!("Shell");
        assert_ne!(asks(&one).tool, asks(&two).tool);
    }

    #[test]
    fn subagent_name_is_reported() {
        let mut json = bash();
        json["agent_type"] = json!("Explore");
        assert_eq!(asks(&json).subagent, None, "the main thread may have a type too");
        json["agent_id"] = json!("a1");
        assert_eq!(asks(&json).subagent.as_deref(), Some("Explore"));
        json.as_object_mut().unwrap().remove("agent_type");
        assert_eq!(asks(&json).subagent.as_deref(), Some("sub-agent"));
    }

    #[test]
    fn irrelevant_hook_input_is_left_to_the_terminal() {
        let event = |name: &str| json!({"hook_event_name": name, "session_id": "s"}).to_string();
        for (name, happened) in
            [("UserPromptSubmit", Happening::Prompted), ("Stop", Happening::TurnEnded), ("SessionEnd", Happening::Ended)]
        {
            let Some(Hook::Happened { what, .. }) = Hook::read(&event(name)) else { panic!("{name}") };
            assert_eq!(what, happened);
        }
        for other in
            ["", "null", "[]", "{", &event("Notification"), &event("PermissionRequest"), &event("PostToolUse"), &event("New")]
        {
            assert!(Hook::read(other).is_none(), "{other}");
        }
        for missing in ["session_id", "cwd", "tool_name", "tool_input", "hook_event_name"] {
            let mut json = bash();
            json.as_object_mut().unwrap().remove(missing);
            assert!(Hook::read(&json.to_string()).is_none(), "{missing}");
        }
        for (name, wrong) in
            [("tool_input", json!("ls")), ("tool_name", json!(7)), ("session_id", json!(null)), ("tool_input", json!(null))]
        {
            let mut json = bash();
            json[name] = wrong;
            assert!(Hook::read(&json.to_string()).is_none(), "{json}");
        }
    }
}
