//! Tools with a known schema, and the fields of their input that only describe a call.
//!
//! The digest of an approval omits such fields: the same command with another description or timeout is the same
//! action. A field is only omitted if every field of the tool is known; an input with an unknown field counts in full.

use sayso_core::ask::Approval;
use serde_json::{Map, Value};

use crate::json::{Object, canonical};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldType {
    Text,
    Number,
    Flag,
    /// Text that describes the purpose of a call, or its timeout.
    Description,
    Timeout,
}

use FieldType::{Description, Flag, Number, Text, Timeout};

impl FieldType {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text | Self::Description => value.is_string(),
            Self::Number | Self::Timeout => value.is_number(),
            Self::Flag => value.is_boolean(),
        }
    }

    /// Whether the field does not change the action.
    const fn is_incidental(self) -> bool {
        match self {
            Self::Description | Self::Timeout => true,
            Self::Text | Self::Number | Self::Flag => false,
        }
    }
}

/// The input schema of one tool of one agent.
struct KnownTool {
    agent: &'static str,
    tool: &'static str,
    fields: &'static [(&'static str, FieldType)],
}

/// The tools by the names of the built-in agents. An agent that is configured under another name has no known tools.
const KNOWN_TOOLS: &[KnownTool] = &[
    KnownTool {
        agent: "claude",
        tool: "Bash",
        fields: &[
            ("command", Text),
            ("description", Description),
            ("timeout", Timeout),
            ("run_in_background", Flag),
            ("dangerouslyDisableSandbox", Flag),
        ],
    },
    KnownTool { agent: "claude", tool: "Write", fields: &[("file_path", Text), ("content", Text)] },
    KnownTool {
        agent: "claude",
        tool: "Edit",
        fields: &[("file_path", Text), ("old_string", Text), ("new_string", Text), ("replace_all", Flag)],
    },
    KnownTool { agent: "claude", tool: "Read", fields: &[("file_path", Text), ("offset", Number), ("limit", Number)] },
    KnownTool { agent: "claude", tool: "WebFetch", fields: &[("url", Text), ("prompt", Text)] },
    KnownTool { agent: "codex", tool: "commandExecution", fields: &[("command", Text), ("cwd", Text)] },
    KnownTool { agent: "codex", tool: "Bash", fields: &[("command", Text), ("description", Description)] },
    KnownTool { agent: "codex", tool: "apply_patch", fields: &[("command", Text)] },
    KnownTool {
        agent: "opencode",
        tool: "bash",
        fields: &[("command", Text), ("workdir", Text), ("description", Description), ("timeout", Timeout)],
    },
];

/// The input of a known tool as canonical JSON, without the fields that only describe the call. `None` if the tool is
/// unknown or the input does not match its schema.
#[must_use]
pub fn known_arguments(agent: &str, approval: &Approval) -> Option<String> {
    let known = KNOWN_TOOLS.iter().find(|known| known.agent == agent && known.tool == approval.tool)?;
    let mut fields = Map::new();
    for (name, raw) in Object::parse(approval.input.as_str())?.fields() {
        let field_type = known.fields.iter().find(|(known, _)| *known == name)?.1;
        let value = serde_json::from_str(raw.get()).ok().filter(|value| field_type.fits(value))?;
        // The agent could interpret a duplicate field differently.
        if fields.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    fields.retain(|name, _| !known.fields.iter().any(|(known, field)| known == name && field.is_incidental()));
    let mut arguments = String::new();
    canonical(&Value::Object(fields), &mut arguments);
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sayso_core::ask::Action;
    use sayso_core::raw::Raw;
    use serde_json::json;

    use super::*;

    fn arguments(agent: &str, tool: &str, input: &str) -> Option<String> {
        let approval = Approval {
            tool: tool.to_owned(),
            action: Action::Other,
            title: String::new(),
            input: Raw::parse(input.to_owned()).unwrap(),
            preview: None,
            choices: vec![],
            editable: false,
            allowed_decisions: None,
            input_schema: None,
            reason: None,
        };
        known_arguments(agent, &approval)
    }

    #[test]
    fn known_arguments_omit_descriptions_and_timeouts() {
        let input = r#"{"timeout": 5000, "command": "ls", "description": "List files", "run_in_background": true}"#;
        let left = r#"{"command":"ls","run_in_background":true,}"#;
        assert_eq!(arguments("claude", "Bash", input).as_deref(), Some(left));
        assert_eq!(
            arguments("codex", "commandExecution", r#"{"cwd":"/p","command":"ls"}"#).unwrap(),
            r#"{"command":"ls","cwd":"/p",}"#
        );
        assert_eq!(arguments("claude", "Bash", "{}").unwrap(), "{}");
    }

    #[test]
    fn input_outside_the_schema_counts_in_full() {
        for (agent, tool, input) in [
            ("claude", "Bash", r#"{"command":"ls","shell":"zsh"}"#),
            ("claude", "Bash", r#"{"command":"ls","timeout":"5000"}"#),
            ("claude", "Bash", r#"{"command":"ls","description":{"text":"x"}}"#),
            ("claude", "Bash", r#"{"command":"ls","description":null}"#),
            ("claude", "Bash", r#"{"command":"ls","command":"rm x"}"#),
            ("claude", "Bash", r#"{"description":"a","command":"ls","description":"b"}"#),
            ("claude", "Bash", r#"["ls"]"#),
            ("claude", "bash", r#"{"command":"ls"}"#),
            ("my-claude", "Bash", r#"{"command":"ls"}"#),
            ("claude", "mcp__ops__deploy", r#"{"description":"to production"}"#),
        ] {
            assert_eq!(arguments(agent, tool, input), None, "{agent} {tool} {input}");
        }
    }

    proptest! {
        #[test]
        fn only_incidental_fields_are_ignored(command in "[ab]{0,2}", other in "[ab]{0,2}", description in ".{0,4}", timeout in 0_u32..9) {
            let plain = arguments("claude", "Bash", &json!({"command": command}).to_string());
            let described = json!({"description": description, "timeout": timeout, "command": other}).to_string();
            prop_assert_eq!(plain == arguments("claude", "Bash", &described), command == other);
        }
    }
}
