//! Codex's `PermissionRequest` hook: its input on stdin and its decision on stdout. The hook runs before the user's own
//! prompt, only carries approvals, and only supports yes and no.

use sayso_core::ask::{Action, Approval, AskBody, Decision, Preview};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde_json::value::RawValue;

use crate::json::{Object, line};

/// Maximum length of a title in characters.
const TITLE: usize = 160;

/// Prefixes of patch lines that name a file.
const FILES: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// An approval that Codex requests before it prompts the user.
#[derive(Debug)]
pub struct CodexAsk {
    /// Codex's id of the thread.
    pub session: String,
    /// The working directory of the session.
    pub cwd: String,
    pub body: AskBody,
    /// The call as text. Equal calls have equal text.
    pub call: String,
}

impl CodexAsk {
    /// Parses the input of a hook; `None` if the event is irrelevant or cannot be parsed.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let fields = Object::parse(text)?;
        if fields.text("hook_event_name")? != "PermissionRequest" {
            return None;
        }
        let (tool, input) = (fields.non_blank_text("tool_name")?, fields.get("tool_input")?);
        let body = AskBody::Approval(approval(&tool, input)?);
        let call = format!("{}:{}", line(&tool), input.get());
        Some(Self { session: fields.non_blank_text("session_id")?, cwd: fields.non_blank_text("cwd")?, body, call })
    }

    /// The hook's output on stdout. `None` leaves the decision to Codex's own prompt.
    #[must_use]
    pub fn decision_output(&self, decision: &Decision) -> Option<String> {
        let decision = match decision {
            // Codex does not accept a changed input or a permanent permission from a hook.
            Decision::Approved { choice: None, input: None } => r#"{"behavior":"allow"}"#.to_owned(),
            Decision::Denied { message, .. } => format!(r#"{{"behavior":"deny","message":{}}}"#, line(message)),
            Decision::Approved { .. } | Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Withdrawn { .. } => {
                return None;
            }
        };
        Some(format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#))
    }
}

fn approval(tool: &str, input: &RawValue) -> Option<Approval> {
    let fields = Object::of(input)?;
    let action = match tool {
        "Bash" => fields.text("command").map(|command| Action::Run { command }),
        "apply_patch" => fields.text("command").and_then(|patch| Some(Action::Edit { paths: files(&patch)? })),
        _ => tool
            .strip_prefix("mcp__")
            .and_then(|rest| rest.split_once("__"))
            .map(|(server, tool)| Action::Mcp { server: server.to_owned(), tool: tool.to_owned() }),
    };
    // Unknown tools must not match a policy rule.
    let action = action.unwrap_or(Action::Other);
    let (title, preview) = match &action {
        Action::Run { command } => (command.clone(), Some(Preview::Command { command: command.clone(), cwd: None })),
        Action::Edit { paths } => {
            (format!("Edit {}", paths.join(", ")), fields.text("command").map(|text| Preview::Text { text }))
        }
        Action::Mcp { server, tool } => (format!("Use {tool} of {server}"), None),
        Action::Read { .. } | Action::Fetch { .. } | Action::Plan | Action::Mode | Action::Other => (format!("Use {tool}"), None),
    };
    let title = title.lines().next().unwrap_or_default();
    Some(Approval {
        title: limits::head(title, TITLE).to_owned(),
        tool: tool.to_owned(),
        input: Raw::of(&input),
        preview,
        choices: Vec::new(),
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: fields.non_blank_text("description"),
        action,
    })
}

/// The files of a patch; `None` if it names no file.
fn files(patch: &str) -> Option<Vec<String>> {
    let named = patch.lines().filter_map(|line| FILES.iter().find_map(|begins| line.strip_prefix(begins)));
    let files: Vec<String> = named.map(|path| path.trim().to_owned()).collect();
    (!files.is_empty()).then_some(files)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn hook_input(tool: &str, input: &Value) -> String {
        json!({
            "session_id": "t-1", "turn_id": "u", "transcript_path": "/t", "cwd": "/p", "hook_event_name": "PermissionRequest",
            "model": "m", "permission_mode": "default", "tool_name": tool, "tool_input": input,
        })
        .to_string()
    }

    fn action(tool: &str, input: &Value) -> Action {
        match CodexAsk::read(&hook_input(tool, input)).unwrap().body {
            AskBody::Approval(approval) => approval.action,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tool_input_maps_to_action() {
        let run = json!({"command": "touch a", "description": "make it"});
        assert_eq!(action("Bash", &run), Action::Run { command: "touch a".into() });
        let patch =
            "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n+y\n*** Add File: c\n+z\n*** End Patch";
        let paths = vec!["src/a.rs".into(), "src/b.rs".into(), "c".into()];
        assert_eq!(action("apply_patch", &json!({ "command": patch })), Action::Edit { paths });
        let mcp = Action::Mcp { server: "demo".into(), tool: "plain".into() };
        assert_eq!(action("mcp__demo__plain", &json!({"x": "1"})), mcp);
        for (tool, input) in [("Bash", json!({})), ("apply_patch", json!({"command": "no patch"})), ("new", json!({}))] {
            assert_eq!(action(tool, &input), Action::Other, "{tool}");
        }
    }

    #[test]
    fn hook_output_is_only_allow_or_deny() {
        let ask = CodexAsk::read(&hook_input("Bash", &json!({"command": "ls"}))).unwrap();
        let said = |decision: &Decision| ask.decision_output(decision).map(|said| serde_json::from_str::<Value>(&said).unwrap());
        let yes = said(&Decision::Approved { choice: None, input: None }).unwrap();
        assert_eq!(yes["hookSpecificOutput"], json!({"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}));
        let no = said(&Decision::Denied { message: "not \"now\"".into(), stop: true }).unwrap();
        assert_eq!(no["hookSpecificOutput"]["decision"], json!({"behavior": "deny", "message": "not \"now\""}));
        for other in [
            Decision::Approved { choice: None, input: Some(Raw::of(&json!({"command": "rm"}))) },
            Decision::Approved { choice: Some("x".into()), input: None },
            Decision::Withdrawn { reason: "x".into() },
            Decision::Answered { answers: vec![], note: None },
        ] {
            assert_eq!(said(&other), None, "{other:?}");
        }
    }

    #[test]
    fn irrelevant_hook_input_is_left_to_the_prompt() {
        for other in [
            "",
            "null",
            "{}",
            r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{}}"#,
        ] {
            assert!(CodexAsk::read(other).is_none(), "{other}");
        }
        assert!(CodexAsk::read(&hook_input("Bash", &json!("ls"))).is_none());
        assert!(CodexAsk::read(&hook_input("", &json!({}))).is_none());
    }
}
