//! The command line of the process.

use sayso_core::id::SessionId;

use crate::process::StartSettings;
use crate::translator::Launch;

/// Arguments of every session: JSON lines in both directions, partial messages, and permission requests on stdio.
/// Without a permission host, Claude has no question tool and denies every call that needs approval.
const ALWAYS: [&str; 6] = [
    "-p",
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool=stdio",
];

/// The arguments for a session that starts or resumes `conversation`. Each value is joined to its flag as
/// `--flag=value`, so that a value cannot be parsed as an option.
pub(super) fn launch(session: SessionId, wanted: StartSettings, conversation: Option<&str>) -> Launch {
    let mut args: Vec<String> = ALWAYS.map(str::to_owned).to_vec();
    if !wanted.mode.is_empty() {
        args.push(format!("--permission-mode={}", wanted.mode));
    }
    if wanted.mode == "bypassPermissions" {
        args.push("--allow-dangerously-skip-permissions".to_owned());
    }
    if let Some(model) = wanted.model.filter(|model| !model.is_empty()) {
        args.push(format!("--model={model}"));
    }
    if !wanted.questions {
        args.push("--disallowedTools=AskUserQuestion".to_owned());
    }
    args.push(match conversation {
        Some(conversation) => format!("--resume={conversation}"),
        None => format!("--session-id={}", conversation_of(session)),
    });
    // This variable makes Claude report when it becomes busy or idle, whatever the cause.
    let env = vec![("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS".to_owned(), "1".to_owned())];
    Launch { directory: wanted.project, args, env, password: None }
}

/// The conversation id that Sayso assigns to a session: the session id in Claude's id format. The id is therefore known
/// even if the process exits before its first output.
pub(super) fn conversation_of(session: SessionId) -> String {
    let hex: String = session.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Whether this is a valid conversation id. The id comes from outside and becomes an argument.
pub(super) fn is_conversation(id: &str) -> bool {
    let groups: Vec<&str> = id.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use sayso_core::time::Time;

    use super::*;

    fn start_settings(mode: &str, model: Option<&str>) -> StartSettings {
        let (project, mode) = ("/project".to_owned(), mode.to_owned());
        StartSettings { project, mode, model: model.map(str::to_owned), questions: true }
    }

    /// The arguments after [`ALWAYS`].
    fn more(wanted: StartSettings, conversation: Option<&str>) -> Vec<String> {
        let session = SessionId::new(Time::from_millis(1_700_000_000_000), [7; 10]);
        let launch = launch(session, wanted, conversation);
        assert_eq!(launch.directory, "/project");
        assert_eq!(launch.env, [("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS".to_owned(), "1".to_owned())]);
        assert_eq!(launch.args[..ALWAYS.len()], ALWAYS);
        launch.args[ALWAYS.len()..].to_vec()
    }

    #[test]
    fn new_session_gets_id_from_sayso() {
        let id = "--session-id=018bcfe5-6800-7707-8707-070707070707";
        assert_eq!(more(start_settings("default", None), None), ["--permission-mode=default", id]);
        assert!(is_conversation(&id["--session-id=".len()..]));
    }

    #[test]
    fn known_conversation_is_resumed() {
        let conversation = Some("29acdebe-ba42-4810-bd75-2475241c67a6");
        let resume = "--resume=29acdebe-ba42-4810-bd75-2475241c67a6";
        assert_eq!(more(start_settings("default", None), conversation), ["--permission-mode=default", resume]);
    }

    #[test]
    fn mode_model_and_questions_become_arguments() {
        for mode in ["acceptEdits", "plan", "dontAsk", "auto"] {
            assert_eq!(more(start_settings(mode, None), None)[..1], [format!("--permission-mode={mode}")]);
        }
        let all = StartSettings { questions: false, ..start_settings("bypassPermissions", Some("opus")) };
        assert_eq!(
            more(all, None)[..4],
            [
                "--permission-mode=bypassPermissions",
                "--allow-dangerously-skip-permissions",
                "--model=opus",
                "--disallowedTools=AskUserQuestion"
            ]
        );
        assert_eq!(more(start_settings("", Some("")), None).len(), 1);
    }

    #[test]
    fn values_cannot_be_read_as_options() {
        let hostile = start_settings("--mcp-config", Some("--dangerously-skip-permissions"));
        assert_eq!(more(hostile, None)[..2], ["--permission-mode=--mcp-config", "--model=--dangerously-skip-permissions"]);
        for id in ["", "--fork-session", "29acdebe-ba42-4810-bd75-2475241c67aG", "29acdebeba424810bd752475241c67a6"] {
            assert!(!is_conversation(id), "{id}");
        }
    }
}
