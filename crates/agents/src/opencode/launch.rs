//! How the process is started: its rules are part of its configuration, where they hold for sub-agents
//! too. Rules of a session would not.

use serde_json::{Value, json};

use crate::process::Wanted;
use crate::translator::Launch;

/// The name we give to the server.
pub(super) const USER: &str = "opencode";
/// The mode in which nothing is asked and everything is allowed.
const BYPASS: &str = "bypassPermissions";

/// What starts `opencode serve` for a session like this.
pub(super) fn launch(wanted: &Wanted) -> Launch {
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Launch {
        directory: wanted.project.clone(),
        args: ["serve", "--hostname=127.0.0.1", "--port=0"].map(str::to_owned).to_vec(),
        env: vec![
            own("OPENCODE_SERVER_USERNAME", USER),
            own("OPENCODE_CONFIG_CONTENT", &config(wanted).to_string()),
            // Rules in it would beat those of the configuration.
            own("OPENCODE_PERMISSION", "{}"),
            // The question tool is there for some clients only.
            own("OPENCODE_CLIENT", "cli"),
            own("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ],
        password: Some("OPENCODE_SERVER_PASSWORD".to_owned()),
    }
}

/// What is put over the person's own configuration.
fn config(wanted: &Wanted) -> Value {
    json!({
        "permission": permissions(wanted),
        // A no is a no to one call; to stop is said in another way.
        "experimental": { "continue_loop_on_deny": true },
        "autoupdate": false,
        "share": "disabled",
    })
}

/// The rules. The last that fits counts, so the order matters. Rules with patterns are joined with the
/// person's own, which stay where they are more exact.
fn permissions(wanted: &Wanted) -> Value {
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

/// The rule of the session itself, beside those of the configuration.
pub(super) fn session_rules(wanted: &Wanted) -> Option<Value> {
    (!wanted.questions).then(|| json!([{ "permission": "question", "pattern": "*", "action": "deny" }]))
}

/// The agent of OpenCode's that does the work, if the mode names one.
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
        let wanted = Wanted { project: "/project".into(), mode: mode.into(), model: None, questions };
        let launch = launch(&wanted);
        assert_eq!(launch.password.as_deref(), Some("OPENCODE_SERVER_PASSWORD"));
        assert_eq!(launch.args, ["serve", "--hostname=127.0.0.1", "--port=0"]);
        let (_, config) = launch.env.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
        let config: Value = serde_json::from_str(config).unwrap();
        assert_eq!(config["experimental"]["continue_loop_on_deny"], true);
        config["permission"].clone()
    }

    #[test]
    fn the_question_tool_is_denied_when_questions_are_off() {
        assert_eq!(rules("default", true)["question"], "allow");
        assert_eq!(rules("bypassPermissions", false)["question"], "deny");
        let wanted = |questions| Wanted { questions, ..Wanted::default() };
        assert_eq!(session_rules(&wanted(true)), None);
        assert_eq!(session_rules(&wanted(false)).unwrap()[0]["action"], "deny");
    }

    #[test]
    fn a_mode_is_a_set_of_rules_or_an_agent() {
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
