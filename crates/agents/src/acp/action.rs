//! Normalizes tool calls of all ACP agents into an [`Action`], and builds the preview that people review.

use sayso_core::ask::{Action, FileDiff, Preview};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde_json::value::RawValue;

use super::diff::unified;
use super::tool_call::ToolCallInfo;
use crate::json::{Object, list, text};
use crate::mcp;

impl ToolCallInfo {
    /// The agent's own explanation of the call.
    pub(super) fn reason(&self) -> Option<String> {
        if self.cut {
            return Some("The call was too large to store; parts of it are not shown.".to_owned());
        }
        let fields = self.fields();
        let said = ["reason", "justification", "description"].into_iter().find_map(|name| fields.non_blank_text(name));
        let said = said.or_else(|| {
            let shown = matches!(self.action(), Action::Run { .. }).then(|| self.texts()).flatten();
            shown.filter(|text| Some(text) != self.command_line().as_ref())
        })?;
        Some(limits::head(&said, limits::TEXT).to_owned())
    }

    fn fields(&self) -> Object<'_> {
        self.input.as_ref().and_then(|input| Object::parse(input.as_str())).unwrap_or_default()
    }

    /// The questions in the call's input, if the tool is a question tool.
    pub(super) fn questions(&self) -> Option<Vec<&RawValue>> {
        self.fields().list("questions").filter(|questions| !questions.is_empty())
    }

    /// The command line from the input: a string, a list of words, or a program with its arguments.
    pub(super) fn command_line(&self) -> Option<String> {
        let fields = self.fields();
        let Some(raw) = ["command", "cmd"].into_iter().find_map(|name| fields.get(name)) else { return self.command.clone() };
        let line = text(raw).or_else(|| quoted(&list(raw)?)).filter(|line| !line.trim().is_empty())?;
        match ["args", "arguments"].into_iter().find_map(|name| fields.get(name)) {
            Some(words) => {
                list(words).and_then(|words| quoted(&words)).map(|words| format!("{line} {words}").trim_end().to_owned())
            }
            None => Some(line),
        }
    }

    /// The files that the call names, without duplicates.
    fn paths(&self) -> Vec<String> {
        let fields = self.fields();
        let named = ["file_path", "filePath", "path", "notebook_path", "abs_path", "absolute_path", "source", "destination"];
        let in_input = named.into_iter().filter_map(|name| fields.non_blank_text(name));
        let locations = self.locations.as_ref().map(entries).unwrap_or_default();
        let at = locations.iter().filter_map(|location| location.non_blank_text("path"));
        let mut paths: Vec<String> = Vec::new();
        for path in self.diffs().into_iter().map(|diff| diff.path).chain(at).chain(in_input) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    fn diffs(&self) -> Vec<FileDiff> {
        let content = self.content.as_ref().map(entries).unwrap_or_default();
        let diffs = content.iter().filter(|entry| entry.text("type").as_deref() == Some("diff"));
        diffs
            .filter_map(|entry| {
                let path = entry.non_blank_text("path")?;
                let diff = unified(&path, entry.text("oldText").as_deref(), entry.text("newText").as_deref());
                Some(FileDiff { path, diff })
            })
            .collect()
    }

    /// The text blocks of the call's content.
    pub(super) fn texts(&self) -> Option<String> {
        let content = self.content.as_ref()?;
        Some(entries_texts(&entries(content))).filter(|text| !text.trim().is_empty())
    }

    fn plan(&self) -> Option<String> {
        self.fields().non_blank_text("plan").or_else(|| self.texts())
    }

    /// The action that policy rules match. A command takes precedence over the kind, because some agents report a
    /// command that reads files as `read`.
    pub(super) fn action(&self) -> Action {
        let kind = self.kind.as_deref().unwrap_or_default();
        if kind == "switch_mode" {
            return if self.plan().is_some() { Action::Plan } else { Action::Mode };
        }
        let paths = || self.paths();
        let edits = matches!(kind, "edit" | "delete" | "move");
        if let Some(command) = self.command_line() {
            // The `command` of an editor tool can be the name of an edit operation.
            let of_editor = matches!(command.as_str(), "view" | "create" | "str_replace" | "insert" | "undo_edit");
            if !(edits && of_editor) {
                return Action::Run { command };
            }
        }
        if let Some((server, tool)) = self.mcp() {
            return Action::Mcp { server, tool };
        }
        match kind {
            "execute" => match self.title.as_deref().map(str::trim).filter(|_| self.has_command_only_in_title()) {
                // A truncated title is not a command.
                Some(title) if !title.ends_with('…') && !title.ends_with("...") => Action::Run { command: title.to_owned() },
                Some(_) | None => Action::Other,
            },
            "edit" | "delete" | "move" => Action::Edit { paths: paths() },
            "read" | "search" => Action::Read { paths: paths() },
            "fetch" => match self.fields().non_blank_text("url") {
                Some(url) => Action::Fetch { url },
                None => Action::Other,
            },
            _ if !self.diffs().is_empty() => Action::Edit { paths: paths() },
            _ => Action::Other,
        }
    }

    /// Whether the title is the only source of the command: Gemini reports commands nowhere else. If the input has a
    /// command that cannot be parsed, the title must not replace it.
    fn has_command_only_in_title(&self) -> bool {
        !self.cut && self.input.as_ref().is_none_or(|input| input.as_str() == "{}")
    }

    fn mcp(&self) -> Option<(String, String)> {
        let name = self.name.as_deref().unwrap_or_default();
        if name.starts_with("mcp__") {
            return mcp::server_and_tool(name, self.server.as_deref());
        }
        let fields = self.fields();
        let untold = matches!(self.kind.as_deref(), None | Some("other"));
        untold.then(|| Some((fields.non_blank_text("server")?, fields.non_blank_text("tool")?))).flatten()
    }

    /// The URL of a `fetch` call that is a link for the person to open.
    pub(super) fn link(&self) -> Option<String> {
        if self.kind.as_deref() != Some("fetch") || !self.id.starts_with("elicitation-") {
            return None;
        }
        let shown = self.texts().unwrap_or_default();
        let named = || shown.split_whitespace().find(|word| word.starts_with("https://") || word.starts_with("http://"));
        self.fields().non_blank_text("url").or_else(|| named().map(str::to_owned))
    }

    /// The preview that people review before they decide.
    pub(super) fn preview(&self) -> Option<Preview> {
        let diffs = self.diffs();
        match self.action() {
            Action::Run { command } => {
                let fields = self.fields();
                let cwd = ["cwd", "workdir", "directory", "dir_path", "working_directory"]
                    .into_iter()
                    .find_map(|name| fields.non_blank_text(name));
                Some(Preview::Command { command, cwd })
            }
            Action::Plan => self.plan().map(|text| Preview::Plan { text }),
            _ if !diffs.is_empty() => Some(Preview::Diff { files: diffs }),
            _ => self.texts().map(|text| Preview::Text { text }),
        }
    }
}

fn entries(raw: &Raw) -> Vec<Object<'_>> {
    serde_json::from_str::<&RawValue>(raw.as_str())
        .ok()
        .and_then(list)
        .unwrap_or_default()
        .into_iter()
        .filter_map(Object::of)
        .collect()
}

pub(super) fn texts(content: &RawValue) -> String {
    let entries: Vec<Object<'_>> = list(content).unwrap_or_default().into_iter().filter_map(Object::of).collect();
    entries_texts(&entries)
}

fn entries_texts(entries: &[Object<'_>]) -> String {
    let texts = entries.iter().filter_map(|entry| entry.object("content")?.non_blank_text("text"));
    texts.collect::<Vec<_>>().join("\n")
}

/// Joins words into one command line that a shell parses back into the same words.
fn quoted(words: &[&RawValue]) -> Option<String> {
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&b));
    let words: Option<Vec<String>> = words
        .iter()
        .map(|word| text(word).map(|word| if plain(&word) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }))
        .collect();
    words.map(|words| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::tool_call::tests::call;

    fn action(json: &str) -> String {
        format!("{:?}", call(json).action())
    }

    #[test]
    fn every_tool_kind_maps_to_one_action() {
        for (json, wanted) in [
            (r#"{"kind":"execute","rawInput":{"command":"ls -l"}}"#, r#"Run { command: "ls -l" }"#),
            (
                r#"{"kind":"read","rawInput":{"command":["/bin/bash","-lc","cat a; rm 'b'"]}}"#,
                r#"Run { command: "/bin/bash -lc 'cat a; rm '\\''b'\\'''" }"#,
            ),
            (r#"{"rawInput":{"command":"ls"}}"#, r#"Run { command: "ls" }"#),
            (r#"{"kind":"execute","title":"touch x"}"#, r#"Run { command: "touch x" }"#),
            (r#"{"kind":"execute","title":"cargo test…"}"#, "Other"),
            (r#"{"kind":"execute","title":"ls","rawInput":{"command":{"program":"rm"}}}"#, "Other"),
            (r#"{"kind":"execute","rawInput":{"command":"npm","args":["run","a b"]}}"#, r#"Run { command: "npm run 'a b'" }"#),
            (r#"{"kind":"execute","title":"ls","rawInput":{"command":"npm","args":[7]}}"#, "Other"),
            (r#"{"kind":"execute","_meta":{"cognition.ai/editableCommand":"make"}}"#, r#"Run { command: "make" }"#),
            (r#"{"kind":"edit","rawInput":{"command":"create","path":"/a"}}"#, r#"Edit { paths: ["/a"] }"#),
            (r#"{"kind":"edit","rawInput":{"command":"rm -rf /","path":"/a"}}"#, r#"Run { command: "rm -rf /" }"#),
            (
                r#"{"kind":"move","locations":[{"path":"/a"},{"path":"/b"}],"rawInput":{"source":"/a"}}"#,
                r#"Edit { paths: ["/a", "/b"] }"#,
            ),
            (r#"{"content":[{"type":"diff","path":"/d","newText":"x"}]}"#, r#"Edit { paths: ["/d"] }"#),
            (r#"{"kind":"search","rawInput":{"path":"/s"}}"#, r#"Read { paths: ["/s"] }"#),
            (r#"{"kind":"fetch","rawInput":{"url":"https://e.org"}}"#, r#"Fetch { url: "https://e.org" }"#),
            (r#"{"kind":"fetch","rawInput":{"query":"x"}}"#, "Other"),
            (r#"{"kind":"switch_mode","rawInput":{"plan":"1. x"}}"#, "Plan"),
            (r#"{"kind":"switch_mode"}"#, "Mode"),
            (r#"{"kind":"other","name":"mcp__ask__deploy"}"#, r#"Mcp { server: "ask", tool: "deploy" }"#),
            (
                r#"{"name":"mcp__a__b__c","_meta":{"claudeCode":{"mcpServer":{"name":"a__b"}}}}"#,
                r#"Mcp { server: "a__b", tool: "c" }"#,
            ),
            (r#"{"title":"Tool: demo/ask","rawInput":{"server":"demo","tool":"ask"}}"#, r#"Mcp { server: "demo", tool: "ask" }"#),
            (r#"{"kind":"think"}"#, "Other"),
            (r#"{"kind":"teleport","rawInput":[1]}"#, "Other"),
        ] {
            assert_eq!(action(json), wanted, "{json}");
        }
    }
}
