//! Facts about files that an ask names. The policy does not read files: the server follows links, compares configuration, and
//! passes the facts to the policy.

use serde_json::Value;

use super::command_line::CommandLine;
use super::guard::paths_of_line;
use super::paths::Places;
use super::start_directory::StartDirectory;
use crate::ask::{Action, AskBody};
use crate::raw::Raw;

/// The largest number of paths of one ask that are followed.
const PATHS: usize = 256;
/// The longest path in bytes. Linux refuses longer ones.
const PATH_LENGTH: usize = 4096;

/// Facts about the paths of an ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskFacts {
    /// The absolute targets of those [`paths_to_follow`] that contain links.
    pub real_paths: Vec<String>,
    /// The watched configuration that changed since the start of the session.
    pub changed: Vec<String>,
    /// Whether the file system did not respond in time.
    pub unknown: bool,
}

/// Returns the absolute paths of an ask whose links the server has to follow.
#[must_use]
pub fn paths_to_follow(body: &AskBody, project: Option<&str>, home: Option<&str>) -> Vec<String> {
    let AskBody::Approval(approval) = body else { return Vec::new() };
    let places = Places { project, home };
    let absolute = |paths: &[String]| -> Vec<String> {
        paths.iter().filter(|path| path.len() <= PATH_LENGTH).filter_map(|path| places.joined(path)).take(PATHS).collect()
    };
    match &approval.action {
        Action::Run { command } => {
            paths_of_line(&CommandLine::read(command), places, &StartDirectory::of(approval, places), PATHS)
        }
        Action::Edit { paths } | Action::Read { paths } if !paths.is_empty() => absolute(paths),
        Action::Edit { .. } | Action::Mcp { .. } | Action::Other => absolute(&path_arguments(&approval.input)),
        Action::Read { .. } | Action::Fetch { .. } | Action::Plan | Action::Mode => Vec::new(),
    }
}

/// Returns the texts in the arguments of a tool, values and names, that may be paths.
pub(super) fn path_arguments(input: &Raw) -> Vec<String> {
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::from_str(input.as_str()) {
        collect(&value, &mut texts);
    }
    texts
}

fn collect(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => push(text, into),
        Value::Array(values) => values.iter().for_each(|value| collect(value, into)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if name.contains(['/', '.']) {
                    push(name, into);
                }
                collect(value, into);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Adds a text that may be a path. `HEAD` alone is a revision of git.
fn push(text: &str, into: &mut Vec<String>) {
    if text.len() > PATH_LENGTH || text == "HEAD" {
        return;
    }
    into.push(match text.strip_prefix("file://") {
        Some(address) => percent_decoded(address),
        None => text.to_owned(),
    });
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Approval;

    #[test]
    fn every_text_among_arguments_may_be_a_path() {
        let input = Raw::parse(r#"{"a":["x/y",{".git/config":1}],"b":"file:///p/%2egit/x%","head":"HEAD"}"#.to_owned()).unwrap();
        assert_eq!(path_arguments(&input), ["x/y", ".git/config", "/p/.git/x%"]);
    }

    fn to_follow(action: Action, input: &str) -> Vec<String> {
        let body = AskBody::Approval(Approval {
            tool: "T".to_owned(),
            action,
            title: "t".to_owned(),
            input: Raw::parse(input.to_owned()).unwrap(),
            preview: None,
            choices: vec![],
            editable: false,
            allowed_decisions: None,
            input_schema: None,
            reason: None,
        });
        paths_to_follow(&body, Some("/p"), Some("/home/u"))
    }

    #[test]
    fn all_paths_of_an_ask_are_followed_through_links() {
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let input = r#"{"path":"in/put"}"#;
        assert_eq!(to_follow(Action::Run { command: "cat a".to_owned() }, input), ["/p/cat", "/p/a"]);
        let named = paths(&["a/../b", "~/c", "/d", "~other/e", ""]);
        let absolute = ["/p/a/../b", "/home/u/c", "/d"];
        assert_eq!(to_follow(Action::Edit { paths: named.clone() }, input), absolute);
        assert_eq!(to_follow(Action::Read { paths: named }, input), absolute);
        let mcp = Action::Mcp { server: "s".to_owned(), tool: "t".to_owned() };
        for action in [Action::Edit { paths: vec![] }, mcp, Action::Other] {
            assert_eq!(to_follow(action, input), ["/p/in/put"]);
        }
        let fetch = Action::Fetch { url: "https://example.test/".to_owned() };
        for action in [Action::Read { paths: vec![] }, fetch, Action::Plan, Action::Mode] {
            assert_eq!(to_follow(action, input), [""; 0]);
        }
        assert_eq!(paths_to_follow(&AskBody::Question { questions: vec![] }, Some("/p"), None), [""; 0]);
    }

    #[test]
    fn paths_are_limited_in_number_and_length() {
        let long = |length: usize| "x".repeat(length);
        let edit = |paths: Vec<String>| to_follow(Action::Edit { paths }, "null").len();
        assert_eq!(edit(vec![long(PATH_LENGTH), long(PATH_LENGTH + 1)]), 1);
        assert_eq!(edit(vec!["x".to_owned(); PATHS + 1]), PATHS);
        let argument = |length: usize| path_arguments(&Raw::of(&long(length))).len();
        assert_eq!((argument(PATH_LENGTH), argument(PATH_LENGTH + 1)), (1, 0));
    }

    #[test]
    fn file_addresses_are_decoded() {
        for (address, path) in [
            ("file:///a%20b", "/a b"),
            ("file:///%2Egit", "/.git"),
            ("file:///100%", "/100%"),
            ("file:///%zz%4", "/%zz%4"),
            ("file:///%C3%A9", "/é"),
            ("a%20b", "a%20b"),
            ("HEAD/x", "HEAD/x"),
        ] {
            assert_eq!(path_arguments(&Raw::of(&address)), [path], "{address}");
        }
        assert_eq!(path_arguments(&Raw::of(&"HEAD")), [""; 0]);
        // Field names count if they look like paths.
        let input = Raw::parse(r#"{"a":1,"b.c":2,"d/e":[null,true,"f"]}"#.to_owned()).unwrap();
        assert_eq!(path_arguments(&input), ["b.c", "d/e", "f"]);
    }
}
