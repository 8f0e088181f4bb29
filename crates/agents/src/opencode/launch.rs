//! Starting the process. Permission rules are part of its configuration, because rules of a session would not apply to
//! sub-agents.

use serde_json::{Value, json};

use crate::process::StartSettings;
use crate::translator::Launch;

/// The user name for the server.
pub(super) const USER: &str = "opencode";
/// The mode that allows everything without asking.
const BYPASS: &str = "bypassPermissions";

/// The command that starts `opencode serve` for such a session.
pub(super) fn launch(wanted: &StartSettings) -> Launch {
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Launch {
        directory: wanted.project.clone(),
        args: ["serve", "--hostname=127.0.0.1", "--port=0"].map(str::to_owned).to_vec(),
        env: vec![
            own("OPENCODE_SERVER_USERNAME", USER),
            own("OPENCODE_CONFIG_CONTENT", &config(wanted).to_string()),
            // Rules in this variable would override the configuration.
            own("OPENCODE_PERMISSION", "{}"),
            // Only some clients get the question tool.
            own("OPENCODE_CLIENT", "cli"),
            own("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ],
        password: Some("OPENCODE_SERVER_PASSWORD".to_owned()),
    }
}

/// The configuration that is merged over the user's own.
fn config(wanted: &StartSettings) -> Value {
    json!({
        "permission": permissions(wanted),
        // A rejection only denies one call; the turn is stopped separately.
        "experimental": { "continue_loop_on_deny": true },
        "autoupdate": false,
        "share": "disabled",
    })
}

/// The permission rules. The last matching rule counts, so the order matters. Rules with patterns are merged with the
/// user's own, which win where they are more specific.
fn permissions(wanted: &StartSettings) -> Value {
    let other = match wanted.mode.as_str() {
        BYPASS => "allow",
        "dontAsk" => "deny",
        _ => "ask",
    };
    let edit = if wanted.mode == "acceptEdits" { "allow" } else { other };
    let questions = if wanted.questions { "allow" } else { "deny" };
    json!({
        "*": other,
        "glob": "allow", "grep": "allow", "list": "allow", "lsp": "allow", "skill": "allow", "task": "allow",
        "todoread": "allow", "todowrite": "allow", "plan_enter": "allow", "plan_exit": "allow", "sayso_*": "allow",
        "read": { "*": "allow", "*.env": other, "*.env.*": other, "*.env.example": "allow" },
        "bash": { "*": other },
        "edit": { "*": edit },
        "webfetch": other,
        "external_directory": { "*": other },
        "doom_loop": other,
        "question": questions,
    })
}

/// The permission rule of the session itself, in addition to the configuration.
pub(super) fn session_rules(wanted: &StartSettings) -> Option<Value> {
    (!wanted.questions).then(|| json!([{ "permission": "question", "pattern": "*", "action": "deny" }]))
}

/// The OpenCode agent for the session, if the mode names one.
pub(super) fn agent(mode: &str) -> Option<&str> {
    match mode {
        "" | "default" | "acceptEdits" | "dontAsk" | BYPASS => None,
        named => Some(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(mode: &str, questions: bool) -> Value {
        let wanted = StartSettings { project: "/project".into(), mode: mode.into(), model: None, questions };
        let launch = launch(&wanted);
        assert_eq!(launch.password.as_deref(), Some("OPENCODE_SERVER_PASSWORD"));
        assert_eq!(launch.args, ["serve", "--hostname=127.0.0.1", "--port=0"]);
        let (_, config) = launch.env.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
        let config: Value = serde_json::from_str(config).unwrap();
        assert_eq!(config["experimental"]["continue_loop_on_deny"], true);
        config["permission"].clone()
    }

    #[test]
    fn question_tool_is_denied_without_questions() {
        assert_eq!(rules("default", true)["question"], "allow");
        assert_eq!(rules("bypassPermissions", false)["question"], "deny");
        let wanted = |questions| StartSettings { questions, ..StartSettings::default() };
        assert_eq!(session_rules(&wanted(true)), None);
        assert_eq!(session_rules(&wanted(false)).unwrap()[0]["action"], "deny");
    }

    #[test]
    fn mode_maps_to_rules_or_an_agent() {
        let of = |mode: &str| {
            let rules = rules(mode, true);
            ["/*", "/bash/*", "/edit/*"].map(|rule| rules.pointer(rule).unwrap().as_str().unwrap().to_owned())
        };
        assert_eq!(of("default"), ["ask", "ask", "ask"]);
        assert_eq!(of("acceptEdits"), ["ask", "ask", "allow"]);
        assert_eq!(of("bypassPermissions"), ["allow", "allow", "allow"]);
        assert_eq!(of("dontAsk"), ["deny", "deny", "deny"]);
        assert_eq!(of("plan"), ["ask", "ask", "ask"]);
        assert_eq!((agent("plan"), agent("default")), (Some("plan"), None));
    }
}
