//! `permission.asked`: builds the approval for a tool call.

use sayso_core::ask::{Action, Approval, Choice, FileDiff, Preview};
use sayso_core::limits;
use sayso_core::raw::Raw;

use crate::json::{Object, text};
use crate::text::one_line;

/// Maximum length of a title in characters.
const TITLE: usize = 160;
/// Maximum length of a label in bytes. Longer choices are not offered, because a person cannot agree to truncated text.
const LABEL: usize = 1024;
/// The id of the choice that allows more than this call.
pub(super) const ALWAYS: &str = "always";

/// The approval that a request asks for. `input` is the tool's input, if known.
pub(super) fn read(request: &Object<'_>, input: Option<Raw>) -> Option<Approval> {
    let kind = request.non_blank_text("permission")?;
    let metadata = request.object("metadata").unwrap_or_default();
    let patterns = texts(request, "patterns");
    let action = action(&kind, &metadata, &patterns);
    let diff = metadata.non_blank_text("diff");
    let directory = || Object::parse(input.as_ref()?.as_str())?.non_blank_text("workdir");
    let preview = match &action {
        Action::Run { command } => Some(Preview::Command { command: command.clone(), cwd: directory() }),
        Action::Edit { paths } => diff.map(|diff| Preview::Diff { files: vec![FileDiff { path: paths.join(", "), diff }] }),
        Action::Read { .. } | Action::Fetch { .. } | Action::Mcp { .. } | Action::Plan | Action::Mode | Action::Other => {
            diff.map(|text| Preview::Text { text })
        }
    };
    let input = input.or_else(|| request.get("metadata").map(|metadata| Raw::of(&metadata))).unwrap_or_else(|| Raw::of(&()));
    Some(Approval {
        title: one_line(&title(&kind, &action, &metadata, &patterns), TITLE),
        tool: limits::head(&kind, limits::NAME).to_owned(),
        input,
        preview,
        choices: choice(request).into_iter().collect(),
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: None,
        action,
    })
}

/// The action of the tool. Imprecise requests must not match a policy rule. Paths in patterns are ignored, because they
/// are relative to an unknown directory.
fn action(kind: &str, metadata: &Object<'_>, patterns: &[String]) -> Action {
    let absolute = |path: &String| path.starts_with('/');
    let known = match kind {
        "bash" => metadata.text("command").map(|command| Action::Run { command }),
        "edit" | "write" | "apply_patch" => edited(metadata).map(|paths| Action::Edit { paths }),
        "read" if !patterns.is_empty() && patterns.iter().all(absolute) => Some(Action::Read { paths: patterns.to_vec() }),
        "read" => metadata.non_blank_text("filepath").filter(absolute).map(|path| Action::Read { paths: vec![path] }),
        "webfetch" => metadata.non_blank_text("url").or_else(|| patterns.first().cloned()).map(|url| Action::Fetch { url }),
        _ => None,
    };
    known.unwrap_or(Action::Other)
}

/// The edited files, if all of them have absolute paths.
fn edited(metadata: &Object<'_>) -> Option<Vec<String>> {
    let paths = match metadata.list("files") {
        Some(files) if !files.is_empty() => {
            let path =
                |file: &Object<'_>| ["filePath", "filepath", "path"].into_iter().find_map(|name| file.non_blank_text(name));
            files.into_iter().map(|file| path(&Object::of(file)?)).collect::<Option<Vec<_>>>()?
        }
        _ => vec![metadata.non_blank_text("filepath")?],
    };
    paths.iter().all(|path| path.starts_with('/')).then_some(paths)
}

fn title(kind: &str, action: &Action, metadata: &Object<'_>, patterns: &[String]) -> String {
    match action {
        Action::Run { command } => command.clone(),
        Action::Edit { paths } => format!("Edit {}", paths.join(", ")),
        Action::Read { paths } => format!("Read {}", paths.join(", ")),
        Action::Fetch { url } => format!("Fetch {url}"),
        Action::Mcp { .. } | Action::Plan | Action::Mode | Action::Other => match kind {
            "external_directory" => {
                let path = metadata.non_blank_text("filepath").or_else(|| metadata.non_blank_text("parentDir"));
                format!("Work outside of the project: {}", path.unwrap_or_else(|| patterns.join(", ")))
            }
            "doom_loop" => format!("Continue although `{}` was called three times with the same input?", patterns.join(", ")),
            "task" => {
                format!("Start a sub-agent: {}", metadata.non_blank_text("description").unwrap_or_else(|| patterns.join(", ")))
            }
            other if patterns.is_empty() || patterns == ["*"] => format!("Use {other}"),
            other => format!("Use {other}: {}", patterns.join(", ")),
        },
    }
}

/// The permanent choice. It becomes a Sayso rule, so it is only offered for commands that such a rule can express.
fn choice(request: &Object<'_>) -> Option<Choice> {
    let patterns = always(request)?;
    let named = patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(" and ");
    let label = format!("Allow {named} for a day (Sayso, OpenCode in this project)");
    (label.len() <= LABEL).then(|| Choice { id: ALWAYS.to_owned(), label })
}

/// The commands that the choice would allow.
pub(super) fn always(request: &Object<'_>) -> Option<Vec<String>> {
    let patterns = texts(request, "always");
    let meaningful = |pattern: &String| pattern.trim_matches(['*', ' ']).len() > 1;
    let offered = request.non_blank_text("permission")? == "bash" && !patterns.is_empty() && patterns.iter().all(meaningful);
    offered.then_some(patterns)
}

fn texts(request: &Object<'_>, name: &str) -> Vec<String> {
    request.list(name).unwrap_or_default().into_iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_approval(request: &str) -> Approval {
        read(&Object::parse(request).unwrap(), None).unwrap()
    }

    #[test]
    fn directory_of_a_command_is_the_one_that_the_tool_was_called_with() {
        let request = r#"{"permission":"bash","patterns":["ls"],"metadata":{"command":"ls"},"always":[]}"#;
        let with_input = |input: Option<&str>| {
            let input = input.map(|input| Raw::parse(input.to_owned()).unwrap());
            read(&Object::parse(request).unwrap(), input).unwrap().directory().map(str::to_owned)
        };
        assert_eq!(with_input(Some(r#"{"command":"ls","workdir":"/srv"}"#)).as_deref(), Some("/srv"));
        assert_eq!(with_input(Some(r#"{"command":"ls"}"#)), None);
        assert_eq!(with_input(None), None);
    }

    #[test]
    fn every_permission_maps_to_its_action() {
        let run = read_approval(
            r#"{"permission":"bash","patterns":["git push"],"metadata":{"command":"git push\n#"},"always":["git push *"]}"#,
        );
        assert_eq!(run.action, Action::Run { command: "git push\n#".into() });
        assert_eq!((run.title.as_str(), run.choices.len()), ("git push…", 1));
        assert_eq!(run.choices[0].label, "Allow `git push *` for a day (Sayso, OpenCode in this project)");
        let edit = read_approval(
            r#"{"permission":"edit","patterns":["project/a"],"metadata":{"filepath":"/project/a","diff":"+x\n"},"always":["*"]}"#,
        );
        assert_eq!((edit.action, edit.choices.len()), (Action::Edit { paths: vec!["/project/a".into()] }, 0));
        assert!(matches!(edit.preview, Some(Preview::Diff { .. })));
        let fetch = read_approval(
            r#"{"permission":"webfetch","patterns":["https://a.b"],"metadata":{"url":"https://a.b","format":"text"}}"#,
        );
        assert_eq!(fetch.action, Action::Fetch { url: "https://a.b".into() });
        let read = read_approval(r#"{"permission":"read","patterns":["/project/.env"],"metadata":{}}"#);
        assert_eq!(read.action, Action::Read { paths: vec!["/project/.env".into()] });
        for (other, title) in [
            (
                r#"{"permission":"external_directory","patterns":["/etc/*"],"metadata":{"filepath":"/etc/x"}}"#,
                "Work outside of the project: /etc/x",
            ),
            (
                r#"{"permission":"doom_loop","patterns":["read"],"metadata":{"tool":"read"},"always":["read"]}"#,
                "Continue although `read` was called three times with the same input?",
            ),
            (r#"{"permission":"task","metadata":{"description":"look"}}"#, "Start a sub-agent: look"),
            (r#"{"permission":"github_list","patterns":["*"]}"#, "Use github_list"),
            (r#"{"permission":"bash","patterns":["ls"]}"#, "Use bash: ls"),
            (r#"{"permission":"edit","patterns":["../../etc/x"],"metadata":{"filepath":"a, b"}}"#, "Use edit: ../../etc/x"),
        ] {
            let asked = read_approval(other);
            assert_eq!((asked.action, asked.title.as_str(), asked.choices.len()), (Action::Other, title, 0), "{other}");
        }
    }

    #[test]
    fn choice_that_allows_everything_is_not_offered() {
        for always in [r#"["*"]"#, r#"["ls *","* *"]"#, "[]", "7"] {
            let request = format!(r#"{{"permission":"bash","metadata":{{"command":"ls"}},"always":{always}}}"#);
            assert_eq!(read_approval(&request).choices.len(), 0, "{always}");
        }
    }
}
