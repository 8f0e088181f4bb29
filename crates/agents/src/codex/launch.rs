//! Starting the process and its thread.

use serde_json::{Value, json};

use crate::process::StartSettings;
use crate::translator::Launch;

/// Without this setting, the model can only ask questions in plan mode.
const QUESTIONS_ON: &str = "features.default_mode_request_user_input=true";
/// Removes the question tool.
const QUESTIONS_OFF: &str = "tools.experimental_request_user_input.enabled=false";

/// How a permission mode maps to Codex's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Use the user's own configuration.
    AsConfigured,
    /// Never ask; what the sandbox blocks fails.
    DontAsk,
    /// Allow changes to files in the project without asking.
    AcceptEdits,
    /// Never ask and run without a sandbox.
    Bypass,
}

pub(super) fn launch(wanted: &StartSettings) -> Launch {
    let questions = if wanted.questions { QUESTIONS_ON } else { QUESTIONS_OFF };
    let args = ["-c", questions].map(str::to_owned).to_vec();
    Launch { directory: wanted.project.clone(), args, ..Launch::default() }
}

impl Mode {
    fn of(wanted: &StartSettings) -> Option<Self> {
        match wanted.mode.as_str() {
            "" | "default" | "plan" => Some(Self::AsConfigured),
            "dontAsk" => Some(Self::DontAsk),
            "acceptEdits" => Some(Self::AcceptEdits),
            "bypassPermissions" => Some(Self::Bypass),
            _ => None,
        }
    }
}

/// Whether Codex supports the wanted permission mode.
pub(super) fn knows_mode(wanted: &StartSettings) -> bool {
    Mode::of(wanted).is_some()
}

/// The parameters that start a thread, or resume `thread`.
pub(super) fn thread(wanted: &StartSettings, thread: Option<&str>) -> Value {
    // Codex can let a model review approvals. Here a person always reviews them.
    let mut params = json!({ "cwd": wanted.project, "approvalsReviewer": "user" });
    if let Some(model) = wanted.model.as_deref().filter(|model| !model.is_empty()) {
        params["model"] = json!(model);
    }
    let (policy, sandbox) = match Mode::of(wanted).unwrap_or(Mode::AsConfigured) {
        Mode::AsConfigured => (None, None),
        Mode::DontAsk => (Some("never"), None),
        Mode::AcceptEdits => (Some("on-request"), Some("workspace-write")),
        Mode::Bypass => (Some("never"), Some("danger-full-access")),
    };
    for (name, value) in [("approvalPolicy", policy), ("sandbox", sandbox)] {
        if let Some(value) = value {
            params[name] = json!(value);
        }
    }
    if let Some(thread) = thread {
        params["threadId"] = json!(thread);
        params["excludeTurns"] = json!(true);
    }
    params
}

/// The parameters that start a turn with this message.
pub(super) fn turn(wanted: &StartSettings, thread: &str, model: Option<&str>, text: &str) -> Value {
    let mut params = json!({ "threadId": thread, "input": input(text) });
    if let (true, Some(model)) = (wanted.mode == "plan", model) {
        let settings = json!({ "model": model, "reasoning_effort": null, "developer_instructions": null });
        params["collaborationMode"] = json!({ "mode": "plan", "settings": settings });
    }
    params
}

/// Text in Codex's input format.
pub(super) fn input(text: &str) -> Value {
    json!([{ "type": "text", "text": text, "text_elements": [] }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start_settings(mode: &str) -> StartSettings {
        StartSettings { project: "/project".to_owned(), mode: mode.to_owned(), model: None, questions: true }
    }

    #[test]
    fn question_tool_is_enabled_or_removed() {
        assert_eq!(launch(&start_settings("default")).args, ["-c", QUESTIONS_ON]);
        assert_eq!(launch(&StartSettings { questions: false, ..start_settings("default") }).args, ["-c", QUESTIONS_OFF]);
    }

    #[test]
    fn thread_uses_wanted_mode_with_a_person_as_reviewer() {
        let of = |mode: &str| thread(&start_settings(mode), None);
        let plain = json!({"cwd": "/project", "approvalsReviewer": "user"});
        assert_eq!((of("default"), of(""), of("plan")), (plain.clone(), plain.clone(), plain));
        assert_eq!(of("dontAsk")["approvalPolicy"], "never");
        assert_eq!(
            (&of("acceptEdits")["approvalPolicy"], &of("acceptEdits")["sandbox"]),
            (&json!("on-request"), &json!("workspace-write"))
        );
        assert_eq!(of("bypassPermissions")["sandbox"], "danger-full-access");
        assert!(knows_mode(&start_settings("plan")) && !knows_mode(&start_settings("careful")));
        let again = thread(&StartSettings { model: Some("gpt-5.5".to_owned()), ..start_settings("careful") }, Some("t-1"));
        let known =
            json!({"cwd": "/project", "approvalsReviewer": "user", "model": "gpt-5.5", "threadId": "t-1", "excludeTurns": true});
        assert_eq!(again, known);
    }

    #[test]
    fn plan_mode_is_set_on_every_turn() {
        assert!(turn(&start_settings("default"), "t", Some("m"), "go").get("collaborationMode").is_none());
        assert_eq!(turn(&start_settings("plan"), "t", Some("m"), "go")["collaborationMode"]["mode"], "plan");
        assert!(turn(&start_settings("plan"), "t", None, "go").get("collaborationMode").is_none());
    }
}
