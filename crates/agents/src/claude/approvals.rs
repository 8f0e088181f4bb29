//! `can_use_tool`: builds the approval for a tool call, and the response that allows it.

use sayso_core::ask::{Action, Approval, Preview};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde_json::value::RawValue;

use super::outcome::ApprovedCall;
use super::{diff, suggestions};
use crate::json::Object;
use crate::mcp;
use crate::text::one_line;

/// Maximum length of a title in characters. The preview or the input shows the full text.
const TITLE: usize = 160;

/// The approval that a request asks for.
pub(super) fn read(request: &Object<'_>, tool: &str, input: &RawValue) -> Approval {
    let fields = Object::of(input).unwrap_or_default();
    let action = action(request, tool, &fields);
    let title = one_line(&title(request, tool, &action), TITLE);
    let preview = match &action {
        Action::Run { command } => Some(Preview::Command { command: command.clone(), cwd: None }),
        Action::Edit { .. } => diff::preview(&fields),
        // For these actions, the input itself is the best preview.
        Action::Read { .. } | Action::Fetch { .. } | Action::Mcp { .. } | Action::Plan | Action::Mode | Action::Other => None,
    };
    Approval {
        reason: reason(request, &fields, &title),
        tool: tool.to_owned(),
        action,
        title,
        input: Raw::of(&input),
        preview,
        choices: suggestions::choices(request),
        editable: true,
        allowed_decisions: None,
        input_schema: None,
    }
}

/// The response that allows a tool; `None` if the choice or changed input does not match the request.
pub(super) fn approved(request: &Object<'_>, choice: Option<&str>, changed: Option<&Raw>) -> Option<ApprovedCall> {
    let permission = match choice {
        Some(choice) => Some(suggestions::chosen(request, choice)?),
        None => None,
    };
    let input = match (changed, request.get("input")) {
        (Some(changed), _) => changed.as_str().to_owned(),
        (None, Some(input)) => input.get().to_owned(),
        (None, None) => "{}".to_owned(),
    };
    Object::parse(&input)?;
    Some(ApprovedCall { input, permission })
}

/// The action of the tool. An input that does not describe its action matches no policy rule.
fn action(request: &Object<'_>, tool: &str, input: &Object<'_>) -> Action {
    let known = match tool {
        "Bash" => input.text("command").map(|command| Action::Run { command }),
        "Edit" | "MultiEdit" | "Write" => input.non_blank_text("file_path").map(|path| Action::Edit { paths: vec![path] }),
        "NotebookEdit" => input.non_blank_text("notebook_path").map(|path| Action::Edit { paths: vec![path] }),
        "Read" => input.non_blank_text("file_path").map(|path| Action::Read { paths: vec![path] }),
        "Grep" | "LS" => Some(Action::Read { paths: vec![input.non_blank_text("path").unwrap_or_else(|| ".".to_owned())] }),
        "Glob" => input.non_blank_text("pattern").map(|pattern| Action::Read {
            // The pattern itself can point outside the directory.
            paths: vec![input.non_blank_text("path").unwrap_or_else(|| ".".to_owned()), pattern],
        }),
        "WebFetch" => input.non_blank_text("url").map(|url| Action::Fetch { url }),
        "EnterPlanMode" => Some(Action::Mode),
        _ => {
            let server = request.text("mcp_server").or_else(|| request.object("mcp_server")?.non_blank_text("name"));
            mcp::server_and_tool(tool, server.as_deref()).map(|(server, tool)| Action::Mcp { server, tool })
        }
    };
    known.unwrap_or(Action::Other)
}

fn title(request: &Object<'_>, tool: &str, action: &Action) -> String {
    match action {
        Action::Run { command } => command.clone(),
        Action::Edit { paths } if tool == "Write" => format!("Write {}", paths.join(", ")),
        Action::Edit { paths } => format!("Edit {}", paths.join(", ")),
        Action::Read { paths } => format!("Read {}", paths.join(", ")),
        Action::Fetch { url } => format!("Fetch {url}"),
        Action::Mcp { server, tool } => format!("Use {tool} of {server}"),
        Action::Plan | Action::Mode => "Plan first?".to_owned(),
        Action::Other => request.non_blank_text("title").unwrap_or_else(|| {
            let name = request.non_blank_text("display_name").unwrap_or_else(|| tool.to_owned());
            request.non_blank_text("description").map_or_else(|| format!("Use {name}"), |what| format!("Use {name}: {what}"))
        }),
    }
}

/// Why Claude asks, combined with Claude's description of the call.
fn reason(request: &Object<'_>, input: &Object<'_>, title: &str) -> Option<String> {
    let described = input.non_blank_text("description").or_else(|| request.non_blank_text("description"));
    let described = described.filter(|words| !title.contains(words.as_str()));
    let blocked = request.non_blank_text("blocked_path").map(|path| format!("It touches {path}."));
    let parts: Vec<String> = [described, request.non_blank_text("decision_reason"), blocked].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| limits::head(&parts.join("\n"), limits::TEXT).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_approval(request: &str) -> Approval {
        let request = Object::parse(request).unwrap();
        read(&request, &request.text("tool_name").unwrap(), request.get("input").unwrap_or(RawValue::NULL))
    }

    fn paths(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn every_tool_maps_to_its_action() {
        let action = |tool: &str, input: &str| read_approval(&format!(r#"{{"tool_name":"{tool}","input":{input}}}"#)).action;
        assert_eq!(action("Bash", r#"{"command":"ls\n#"}"#), Action::Run { command: "ls\n#".into() });
        for tool in ["Edit", "Write", "MultiEdit"] {
            assert_eq!(action(tool, r#"{"file_path":"/a"}"#), Action::Edit { paths: paths(&["/a"]) });
        }
        assert_eq!(action("NotebookEdit", r#"{"notebook_path":"/n"}"#), Action::Edit { paths: paths(&["/n"]) });
        assert_eq!(action("Read", r#"{"file_path":"/a"}"#), Action::Read { paths: paths(&["/a"]) });
        assert_eq!(action("Grep", r#"{"pattern":"x"}"#), Action::Read { paths: paths(&["."]) });
        assert_eq!(action("Glob", r#"{"pattern":"/etc/*"}"#), Action::Read { paths: paths(&[".", "/etc/*"]) });
        assert_eq!(action("WebFetch", r#"{"url":"https://a.b"}"#), Action::Fetch { url: "https://a.b".into() });
        assert_eq!(action("EnterPlanMode", "{}"), Action::Mode);
        let listed = Action::Mcp { server: "github".into(), tool: "list_issues".into() };
        assert_eq!(action("mcp__github__list_issues", "{}"), listed);
        // An input that does not describe its action matches no rule.
        for (tool, input) in [("Bash", "{}"), ("Bash", r#"{"command":7}"#), ("Edit", "7"), ("WebSearch", "{}"), ("mcp__x", "{}")]
        {
            assert_eq!(action(tool, input), Action::Other, "{tool} {input}");
        }
    }

    #[test]
    fn mcp_tool_name_is_split_into_server_and_tool() {
        let action = |server: &str| {
            read_approval(&format!(r#"{{"tool_name":"mcp__my_own__do__it","mcp_server":{server},"input":{{}}}}"#)).action
        };
        let of = |server: &str, tool: &str| Action::Mcp { server: server.into(), tool: tool.into() };
        assert_eq!(action(r#"{"name":"my own","source":"user"}"#), of("my own", "do__it"));
        assert_eq!(action(r#""my.own__do""#), of("my.own__do", "it"));
        assert_eq!(action(r#"{"name":"another"}"#), of("my_own", "do__it"));
        assert_eq!(action("7"), of("my_own", "do__it"));
    }

    #[test]
    fn titles_are_truncated_to_one_line() {
        let title =
            |command: &str| read_approval(&serde_json::json!({"tool_name":"Bash","input":{"command":command}}).to_string()).title;
        assert_eq!(title("cargo test"), "cargo test");
        assert_eq!(title("cat <<A\nrm -rf /\nA"), "cat <<A…");
        assert_eq!(title(&"ä".repeat(200)), format!("{}…", "ä".repeat(TITLE - 1)));
        let other = r#"{"tool_name":"Skill","display_name":"Skill","description":"deploy","input":{}}"#;
        assert_eq!(read_approval(other).title, "Use Skill: deploy");
    }

    #[test]
    fn reason_is_taken_from_the_request() {
        let request = "{\"tool_name\":\"Bash\",\"input\":{\"command\":\"touch a\",\"description\":\"make a file\"},\"description\":\"make a file\",
            \"decision_reason\":\"\\u001b[1moutside\\u001b[0m\",\"blocked_path\":\"/a\"}";
        assert_eq!(read_approval(request).reason.as_deref(), Some("make a file\n\u{1b}[1moutside\u{1b}[0m\nIt touches /a."));
        assert_eq!(read_approval(r#"{"tool_name":"Read","description":"/etc/x","input":{"file_path":"/etc/x"}}"#).reason, None);
    }

    #[test]
    fn approval_carries_whole_input_and_at_most_one_permission() {
        let request = r#"{"input":{"command":"ls", "timeout":1.50},"permission_suggestions":[{"type":"setMode","mode":"plan","destination":"session"},
            {"type":"setMode","mode":"acceptEdits","destination":"session"}]}"#;
        let request = Object::parse(request).unwrap();
        let yes = approved(&request, None, None).unwrap();
        assert_eq!(yes, ApprovedCall { input: r#"{"command":"ls", "timeout":1.50}"#.to_owned(), permission: None });
        let changed = Raw::parse(r#"{"command":"pwd"}"#.to_owned()).unwrap();
        let yes = approved(&request, Some("suggestion-1"), Some(&changed)).unwrap();
        assert_eq!(yes.input, r#"{"command":"pwd"}"#);
        assert_eq!(yes.permission.as_deref(), Some(r#"{"type":"setMode","mode":"acceptEdits","destination":"session"}"#));
        assert_eq!(approved(&request, Some("suggestion-2"), None), None);
        assert_eq!(approved(&request, None, Some(&Raw::of(&"pwd"))), None);
    }
}
