//! Tool calls as an agent tells of them, piece by piece, and what a call would do.

use std::collections::VecDeque;

use sayso_core::ask::{Action, FileDiff, Preview};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::transcript::ToolStatus;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::diff::unified;
use crate::json_rpc::{Object, list, text};

/// Tool calls that are remembered. The oldest makes room.
const CALLS: usize = 64;
/// Bytes of all that is remembered of them. They are saved with every line.
const KEPT: usize = 1024 * 1024;
/// Bytes of what a tool gave that go into the transcript.
const OUTPUT: usize = 256 * 1024;
/// Bytes of a title: it names the call, the preview shows it whole.
const TITLE: usize = 512;

/// What was told of one call so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Call {
    pub(super) id: String,
    name: Option<String>,
    title: Option<String>,
    kind: Option<String>,
    input: Option<Raw>,
    content: Option<Raw>,
    locations: Option<Raw>,
    /// A command that the person could edit (Devin).
    command: Option<String>,
    /// Its MCP server.
    server: Option<String>,
    status: Status,
    /// Parts of it were too large to be kept.
    cut: bool,
}

/// How a call stands, in the protocol's own steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    #[default]
    Pending,
    Running,
    Completed,
    Failed,
}

impl Status {
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "pending" => Some(Self::Pending),
            "in_progress" => Some(Self::Running),
            "completed" => Some(Self::Completed),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }

    pub(super) const fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    pub(super) const fn shown(self) -> ToolStatus {
        match self {
            Self::Pending | Self::Running => ToolStatus::Running,
            Self::Completed => ToolStatus::Complete,
            Self::Failed => ToolStatus::Error,
        }
    }
}

/// The calls of the running turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Calls(VecDeque<Call>);

impl Calls {
    /// What was told of this call before.
    pub(super) fn get(&self, id: &str) -> Option<&Call> {
        self.0.iter().find(|call| call.id == id)
    }

    /// Remembers a call as it stands now. Of one that has ended only the name stays, so that what is
    /// saved does not grow with the turn.
    pub(super) fn keep(&mut self, mut call: Call) {
        self.0.retain(|known| known.id != call.id);
        if call.status.has_ended() {
            call = Call { id: call.id, name: call.name, status: call.status, ..Call::default() };
        }
        call.shrink_to(KEPT);
        self.0.push_back(call);
        while self.0.len() > CALLS || self.0.iter().map(Call::size).sum::<usize>() > KEPT {
            self.0.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Call {
    /// This call after an update: what the update does not name stays as it was.
    pub(super) fn merged(known: Option<&Self>, id: String, update: &Object<'_>) -> Self {
        let mut call = known.cloned().unwrap_or_else(|| Self { id, ..Self::default() });
        let meta = update.object("_meta").unwrap_or_default();
        let claude = meta.object("claudeCode").unwrap_or_default();
        let raw = |name: &str| update.get(name).map(|raw| Raw::of(&raw));
        let name = update.words("name").or_else(|| claude.words("toolName")).or_else(|| meta.words("toolName"));
        call.title = update.words("title").or(call.title);
        call.kind = update.words("kind").or(call.kind);
        call.input = raw("rawInput").or(call.input);
        call.content = raw("content").filter(|content| content.as_str() != "[]").or(call.content);
        call.locations = raw("locations").filter(|locations| locations.as_str() != "[]").or(call.locations);
        call.command = meta.words("cognition.ai/editableCommand").or(call.command);
        call.server = claude.object("mcpServer").and_then(|server| server.words("name")).or(call.server);
        call.status = update.text("status").and_then(|word| Status::of(&word)).unwrap_or(call.status);
        call.name = name.or(call.name.take());
        if call.name.is_none() {
            // Most agents do not name the tool. Some begin its id with the name, or take it for the first title.
            let title = call.title.as_deref().filter(|title| is_name(title) && call.command_line().as_deref() != Some(*title));
            let prefix = call.id.rsplit_once("__").map(|(prefix, _)| prefix).filter(|prefix| is_name(prefix));
            call.name = prefix.or(title).map(str::to_owned);
        }
        call
    }

    fn size(&self) -> usize {
        let short = [&self.name, &self.title, &self.kind, &self.command, &self.server];
        let long = [&self.input, &self.content, &self.locations];
        self.id.len()
            + short.into_iter().flatten().map(String::len).sum::<usize>()
            + long.into_iter().flatten().map(|raw| raw.as_str().len()).sum::<usize>()
    }

    fn shrink_to(&mut self, limit: usize) {
        if self.size() > limit {
            let id = limits::head(&self.id, limits::TEXT).to_owned();
            let short = |text: &Option<String>| text.as_deref().map(|text| limits::head(text, limits::NAME).to_owned());
            *self = Self {
                id,
                name: short(&self.name),
                title: short(&self.title),
                kind: short(&self.kind),
                status: self.status,
                cut: true,
                ..Self::default()
            };
        }
    }

    pub(super) const fn status(&self) -> Status {
        self.status
    }

    pub(super) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The agent's name of the tool, as far as it is known.
    pub(super) fn tool(&self) -> String {
        let name = self.name.as_deref().or(self.kind.as_deref()).unwrap_or("tool");
        limits::head(name, limits::NAME).to_owned()
    }

    /// One line that says what is wanted.
    pub(super) fn title(&self) -> String {
        let title = self.title.as_deref().or(self.name.as_deref()).unwrap_or("Use a tool").trim();
        let line = title.lines().next().unwrap_or_default();
        let head = limits::head(line, TITLE);
        if head.len() < title.len() { format!("{head}…") } else { head.to_owned() }
    }

    /// What it is called with.
    pub(super) fn input(&self) -> Option<&Raw> {
        self.input.as_ref()
    }

    /// What it gave, when it has ended.
    pub(super) fn output(&self, update: &Object<'_>) -> Option<String> {
        if !self.status.has_ended() {
            return None;
        }
        let raw = update.get("rawOutput");
        let said = raw.and_then(text).or_else(|| {
            let object = raw.and_then(Object::of)?;
            ["formatted_output", "output", "text", "stdout", "error"].into_iter().find_map(|name| object.text(name))
        });
        let said = said.or_else(|| update.get("content").map(texts).filter(|text| !text.is_empty()));
        let said = said.or_else(|| raw.map(|raw| raw.get().to_owned()))?;
        let head = limits::head(&said, OUTPUT);
        Some(if head.len() < said.len() { format!("{head}…") } else { said })
    }

    /// Why the agent wants it, in its own words.
    pub(super) fn reason(&self) -> Option<String> {
        if self.cut {
            return Some("The call was too large to be kept; what is shown is not all of it.".to_owned());
        }
        let fields = self.fields();
        let said = ["reason", "justification", "description"].into_iter().find_map(|name| fields.words(name));
        let said = said.or_else(|| {
            let shown = matches!(self.action(), Action::Run { .. }).then(|| self.texts()).flatten();
            shown.filter(|text| Some(text) != self.command_line().as_ref())
        })?;
        Some(limits::head(&said, limits::TEXT).to_owned())
    }

    fn fields(&self) -> Object<'_> {
        self.input.as_ref().and_then(|input| Object::parse(input.as_str())).unwrap_or_default()
    }

    /// The questions that it asks, if it is a tool for that.
    pub(super) fn questions(&self) -> Option<Vec<&RawValue>> {
        self.fields().list("questions").filter(|questions| !questions.is_empty())
    }

    /// The command line, if the input has one.
    fn command_line(&self) -> Option<String> {
        let fields = self.fields();
        let raw = ["command", "cmd"].into_iter().find_map(|name| fields.get(name));
        let written = raw.and_then(|raw| text(raw).or_else(|| quoted(&list(raw)?)));
        written.filter(|line| !line.trim().is_empty()).or_else(|| self.command.clone())
    }

    /// The files it names, each once.
    fn paths(&self) -> Vec<String> {
        let fields = self.fields();
        let named = ["file_path", "filePath", "path", "notebook_path", "abs_path", "absolute_path", "source", "destination"];
        let in_input = named.into_iter().filter_map(|name| fields.words(name));
        let locations = self.locations.as_ref().map(entries).unwrap_or_default();
        let at = locations.iter().filter_map(|location| location.words("path"));
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
                let path = entry.words("path")?;
                let diff = unified(&path, entry.text("oldText").as_deref(), entry.text("newText").as_deref());
                Some(FileDiff { path, diff })
            })
            .collect()
    }

    /// The words among what it shows.
    pub(super) fn texts(&self) -> Option<String> {
        let content = self.content.as_ref()?;
        Some(entries_texts(&entries(content))).filter(|text| !text.trim().is_empty())
    }

    fn plan(&self) -> Option<String> {
        self.fields().words("plan").or_else(|| self.texts())
    }

    /// What it would do. A command counts more than the kind, because some agents call a command
    /// that reads files a reading.
    pub(super) fn action(&self) -> Action {
        let kind = self.kind.as_deref().unwrap_or_default();
        if kind == "switch_mode" {
            return if self.plan().is_some() { Action::Plan } else { Action::Mode };
        }
        let paths = || self.paths();
        let edits = matches!(kind, "edit" | "delete" | "move");
        if let Some(command) = self.command_line() {
            // An editor's tool may have a `command` that is the name of an edit.
            let of_editor = matches!(command.as_str(), "view" | "create" | "str_replace" | "insert" | "undo_edit");
            if !(edits && of_editor) {
                return Action::Run { command };
            }
        }
        if let Some((server, tool)) = self.mcp() {
            return Action::Mcp { server, tool };
        }
        match kind {
            "execute" => match self.title.as_deref().map(str::trim) {
                // Gemini shows the command only as the title. One that is cut short is no command.
                Some(title) if !title.ends_with('…') && !title.ends_with("...") => Action::Run { command: title.to_owned() },
                Some(_) | None => Action::Other,
            },
            "edit" | "delete" | "move" => Action::Edit { paths: paths() },
            "read" | "search" => Action::Read { paths: paths() },
            "fetch" => match self.fields().words("url") {
                Some(url) => Action::Fetch { url },
                None => Action::Other,
            },
            _ if !self.diffs().is_empty() => Action::Edit { paths: paths() },
            _ => Action::Other,
        }
    }

    fn mcp(&self) -> Option<(String, String)> {
        let name = self.name.as_deref().unwrap_or_default();
        if let Some(rest) = name.strip_prefix("mcp__") {
            let by_server =
                self.server.as_deref().and_then(|server| Some((server, rest.strip_prefix(server)?.strip_prefix("__")?)));
            let (server, tool) = by_server.or_else(|| rest.split_once("__"))?;
            return Some((server.to_owned(), tool.to_owned()));
        }
        let fields = self.fields();
        let untold = matches!(self.kind.as_deref(), None | Some("other"));
        untold.then(|| Some((fields.words("server")?, fields.words("tool")?))).flatten()
    }

    /// An address that a call of kind `fetch` is about, where the call stands for a link to open.
    pub(super) fn link(&self) -> Option<String> {
        if self.kind.as_deref() != Some("fetch") || !self.id.starts_with("elicitation-") {
            return None;
        }
        let shown = self.texts().unwrap_or_default();
        let named = || shown.split_whitespace().find(|word| word.starts_with("https://") || word.starts_with("http://"));
        self.fields().words("url").or_else(|| named().map(str::to_owned))
    }

    /// What a person looks at.
    pub(super) fn preview(&self) -> Option<Preview> {
        let diffs = self.diffs();
        match self.action() {
            Action::Run { command } => {
                let fields = self.fields();
                let cwd = ["cwd", "workdir", "directory", "working_directory"].into_iter().find_map(|name| fields.words(name));
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

fn texts(content: &RawValue) -> String {
    let entries: Vec<Object<'_>> = list(content).unwrap_or_default().into_iter().filter_map(Object::of).collect();
    entries_texts(&entries)
}

fn entries_texts(entries: &[Object<'_>]) -> String {
    let texts = entries.iter().filter_map(|entry| entry.object("content")?.words("text"));
    texts.collect::<Vec<_>>().join("\n")
}

/// Words as one command line that a shell reads back as these words.
fn quoted(words: &[&RawValue]) -> Option<String> {
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&b));
    let words: Option<Vec<String>> = words
        .iter()
        .map(|word| text(word).map(|word| if plain(&word) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }))
        .collect();
    words.map(|words| words.join(" "))
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(json: &str) -> Call {
        let object = Object::parse(json).unwrap();
        Call::merged(None, object.text("toolCallId").unwrap_or_default(), &object)
    }

    fn action(json: &str) -> String {
        format!("{:?}", call(json).action())
    }

    #[test]
    fn every_kind_is_one_action() {
        for (json, wanted) in [
            (r#"{"kind":"execute","rawInput":{"command":"ls -l"}}"#, r#"Run { command: "ls -l" }"#),
            (
                r#"{"kind":"read","rawInput":{"command":["/bin/bash","-lc","cat a; rm 'b'"]}}"#,
                r#"Run { command: "/bin/bash -lc 'cat a; rm '\\''b'\\'''" }"#,
            ),
            (r#"{"rawInput":{"command":"ls"}}"#, r#"Run { command: "ls" }"#),
            (r#"{"kind":"execute","title":"touch x"}"#, r#"Run { command: "touch x" }"#),
            (r#"{"kind":"execute","title":"cargo test…"}"#, "Other"),
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

    #[test]
    fn a_tool_has_a_name() {
        assert_eq!(call(r#"{"toolCallId":"write_file__call_1","title":"Writing to a"}"#).tool(), "write_file");
        assert_eq!(call(r#"{"toolCallId":"t","title":"bash","kind":"execute"}"#).tool(), "bash");
        assert_eq!(call(r#"{"toolCallId":"t","title":"ls","kind":"execute","rawInput":{"command":"ls"}}"#).tool(), "execute");
        assert_eq!(call(r#"{"title":"x y","_meta":{"toolName":"ask"}}"#).tool(), "ask");
        assert_eq!(call("{}").tool(), "tool");
        assert_eq!(call(r#"{"title":"one\ntwo"}"#).title(), "one…");
    }

    #[test]
    fn an_update_keeps_what_it_does_not_name() {
        let first = call(
            r#"{"toolCallId":"t","name":"Bash","title":"Terminal","kind":"execute","rawInput":{"command":"ls"},"content":[]}"#,
        );
        let update = Object::parse(r#"{"toolCallId":"t","title":"ls","status":"in_progress","content":[]}"#).unwrap();
        let merged = Call::merged(Some(&first), "t".into(), &update);
        assert_eq!((merged.tool().as_str(), merged.title().as_str(), merged.status), ("Bash", "ls", Status::Running));
        assert_eq!(merged.action(), Action::Run { command: "ls".into() });
    }

    #[test]
    fn what_is_kept_stays_small() {
        let mut calls = Calls::default();
        let big = "x".repeat(300 * 1024);
        for n in 0..200 {
            calls.keep(call(&format!(r#"{{"toolCallId":"{n}","rawInput":{{"command":"{big}"}}}}"#)));
        }
        assert!(calls.0.len() < 4 && calls.get("199").is_some());
        calls.keep(call(&format!(
            r#"{{"toolCallId":"huge","name":"Write","rawInput":{{"content":"{}"}}}}"#,
            "y".repeat(2 * KEPT)
        )));
        let huge = calls.get("huge").unwrap();
        assert!(huge.cut && huge.input().is_none() && huge.tool() == "Write" && huge.reason().is_some());
        calls.keep(call(r#"{"toolCallId":"199","status":"completed","rawInput":{"command":"ls"}}"#));
        assert!(calls.get("199").unwrap().input().is_none());
        for n in 0..200 {
            calls.keep(call(&format!(r#"{{"toolCallId":"{n}"}}"#)));
        }
        assert_eq!(calls.0.len(), CALLS);
    }
}
