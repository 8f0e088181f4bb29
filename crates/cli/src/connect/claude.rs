//! Claude Code: edits its settings (hooks) and its list of MCP servers.

use std::path::{Path, PathBuf};

use sayso_client::Environment;
use serde_json::{Value, json};

use super::file::read;
use super::json::{JsonDocument, JsonItem, JsonStep};
use super::program::{Program, is_hook};
use super::{Edit, Unfit, Want, config_directory};
use crate::args::ConfigScope;
use crate::failure::Failure;

/// Name of the agent in our commands.
const NAME: &str = "claude";

/// The hook events that Sayso handles, with the timeout of the hook in seconds.
const EVENTS: [(&str, u32); 6] = [
    ("PermissionRequest", 86_400),
    ("PostToolUse", 10),
    ("PostToolUseFailure", 10),
    ("UserPromptSubmit", 10),
    ("Stop", 10),
    ("SessionEnd", 10),
];

/// Environment variable that stops Claude Code from moving a call to the background while a person thinks.
const BACKGROUND: &str = "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS";

const HOOKS: JsonStep<'_> = JsonStep::Name("hooks");
const ENV: JsonStep<'_> = JsonStep::Name("env");

/// Returns the edits of the two files.
pub(super) fn edits(
    environment: &Environment,
    home: &Path,
    here: &Path,
    scope: ConfigScope,
    program: &Program,
) -> Result<Vec<Edit>, Failure> {
    let settings_path = settings_of(environment, home, here, scope);
    let state = match environment.path("CLAUDE_CONFIG_DIR") {
        Some(dir) => dir.join(".claude.json"),
        None => home.join(".claude.json"),
    };
    let (hooks, servers) = (program.clone(), program.clone());
    let settings = Edit::new(settings_path, move |text, want| settings(text, &hooks, want));
    let project = here.to_string_lossy().into_owned();
    let mcp = match scope {
        ConfigScope::User => Edit::new(state, move |text, want| mcp(text, None, &servers, want)),
        ConfigScope::Local => Edit::new(state, move |text, want| mcp(text, Some(&project), &servers, want)),
        ConfigScope::Project => Edit::new(here.join(".mcp.json"), move |text, want| mcp(text, None, &servers, want)),
    };
    Ok(vec![settings, mcp])
}

fn settings_of(environment: &Environment, home: &Path, here: &Path, scope: ConfigScope) -> PathBuf {
    match scope {
        ConfigScope::User => config_directory(environment, "CLAUDE_CONFIG_DIR", home, ".claude").join("settings.json"),
        ConfigScope::Project => here.join(".claude/settings.json"),
        ConfigScope::Local => here.join(".claude/settings.local.json"),
    }
}

/// Returns the settings with or without our hooks.
fn settings(text: &str, program: &Program, want: Want) -> Result<String, Unfit> {
    let command = program.guarded_hook(NAME);
    let mut document = JsonDocument::parse(text)?;
    if want == Want::Connected && is_connected(&document.value(), &command) {
        return Ok(text.to_owned());
    }
    take_out(&mut document)?;
    if want == Want::Connected {
        if document.value()["env"][BACKGROUND].is_null() {
            document.add(&[ENV], BACKGROUND, &JsonItem::Plain(json!("0")))?;
        }
        for (event, seconds) in EVENTS {
            let plain = |value: Value| JsonItem::Plain(value);
            let hook = JsonItem::Fields(vec![
                ("type", plain(json!("command"))),
                ("command", plain(json!(command))),
                ("timeout", plain(json!(seconds))),
            ]);
            let matcher = takes_matcher(event).then(|| ("matcher", plain(json!(""))));
            let group = matcher.into_iter().chain([("hooks", JsonItem::List(vec![hook]))]).collect();
            document.push(&[HOOKS, JsonStep::Name(event)], &JsonItem::Fields(group))?;
        }
    }
    Ok(document.into_text())
}

fn takes_matcher(event: &str) -> bool {
    matches!(event, "PermissionRequest" | "PostToolUse" | "PostToolUseFailure")
}

/// Finds our hooks of one event: index of the group, index in the group, whether the group has only this hook, and its
/// command.
fn find_our_hooks(settings: &Value, event: &str) -> Vec<(usize, usize, bool, String)> {
    let mut found = Vec::new();
    for (group, entry) in settings["hooks"][event].as_array().into_iter().flatten().enumerate() {
        let hooks = entry["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (place, hook) in hooks.iter().enumerate() {
            if let Some(command) = hook["command"].as_str().filter(|command| is_hook(command, NAME)) {
                found.push((group, place, hooks.len() == 1, command.to_owned()));
            }
        }
    }
    found
}

fn is_connected(settings: &Value, command: &str) -> bool {
    let is_there = |event: &str| match find_our_hooks(settings, event).as_slice() {
        [(_, _, _, known)] => known == command,
        _ => false,
    };
    EVENTS.iter().all(|(event, _)| is_there(event))
}

/// Removes our entries, and containers that become empty.
fn take_out(document: &mut JsonDocument) -> Result<(), Unfit> {
    let mut changed = false;
    for (event, _) in EVENTS {
        let list = JsonStep::Name(event);
        // In reverse order, so that the indexes of the remaining hooks stay valid.
        for (group, place, alone, _) in find_our_hooks(&document.value(), event).into_iter().rev() {
            changed = true;
            let group = [HOOKS, list, JsonStep::At(group)];
            if alone {
                document.remove(&group)?;
            } else {
                document.remove(&[group[0], group[1], group[2], HOOKS, JsonStep::At(place)])?;
            }
            if document.value()["hooks"][event] == json!([]) {
                document.remove(&[HOOKS, list])?;
            }
        }
    }
    if changed && document.value()["hooks"] == json!({}) {
        document.remove(&[HOOKS])?;
    }
    if changed && document.value()["env"][BACKGROUND] == json!("0") {
        document.remove(&[ENV, JsonStep::Name(BACKGROUND)])?;
        if document.value()["env"] == json!({}) {
            document.remove(&[ENV])?;
        }
    }
    Ok(())
}

/// Returns a file of MCP servers with or without our server. With `project`, the servers are nested in that project.
fn mcp(text: &str, project: Option<&str>, program: &Program, want: Want) -> Result<String, Unfit> {
    const SERVERS: JsonStep<'_> = JsonStep::Name("mcpServers");
    let mut document = JsonDocument::parse(text)?;
    let words = program.mcp(NAME);
    let entry = json!({ "type": "stdio", "command": words[0], "args": words[1..], "timeout": 86_400_000 });
    let mut place: Vec<JsonStep<'_>> =
        project.map(|project| vec![JsonStep::Name("projects"), JsonStep::Name(project)]).unwrap_or_default();
    place.push(SERVERS);
    let servers = |document: &JsonDocument| {
        let value = document.value();
        let place = project.map_or(&value, |project| &value["projects"][project]);
        place["mcpServers"].clone()
    };
    let known = servers(&document)["sayso"].clone();
    match want {
        Want::Connected if known == entry => return Ok(text.to_owned()),
        Want::Disconnected if known.is_null() => return Ok(text.to_owned()),
        Want::Connected | Want::Disconnected => {
            let ours: Vec<JsonStep<'_>> = place.iter().copied().chain([JsonStep::Name("sayso")]).collect();
            document.remove(&ours)?;
        }
    }
    match want {
        Want::Connected => {
            let plain = |name: &'static str| (name, JsonItem::Plain(entry[name].clone()));
            let fields = vec![plain("type"), plain("command"), ("args", JsonItem::words(&words[1..])), plain("timeout")];
            document.add(&place, "sayso", &JsonItem::Fields(fields))?;
        }
        Want::Disconnected if servers(&document) == json!({}) => document.remove(&place)?,
        Want::Disconnected => {}
    }
    Ok(document.into_text())
}

/// Facts from Claude Code's settings that decide which asks reach Sayso.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClaudeSettings {
    /// Settings files that contain our hooks.
    pub(crate) connected: Vec<PathBuf>,
    pub(crate) command: Option<String>,
    /// Settings files that cannot be parsed, with the reason.
    pub(crate) broken: Vec<(PathBuf, String)>,
    /// Settings file that disables hooks.
    pub(crate) hooks_off: Option<PathBuf>,
    /// Permission mode of new sessions.
    pub(crate) mode: Option<String>,
}

/// Reads the settings that apply to this directory.
pub(crate) fn read_settings(environment: &Environment, home: &Path, here: &Path) -> ClaudeSettings {
    let mut found = ClaudeSettings::default();
    // In ascending order of precedence, so that later files override earlier ones.
    for scope in [ConfigScope::User, ConfigScope::Project, ConfigScope::Local] {
        let path = settings_of(environment, home, here, scope);
        let Ok(Some(text)) = read(&path) else { continue };
        let document = match JsonDocument::parse(&text) {
            Ok(document) => document,
            Err(unfit) => {
                found.broken.push((path, unfit.to_string()));
                continue;
            }
        };
        let value = document.value();
        if let Some((_, _, _, command)) = find_our_hooks(&value, "PermissionRequest").into_iter().next() {
            found.command = Some(command);
            found.connected.push(path.clone());
        }
        match value["disableAllHooks"].as_bool() {
            Some(true) => found.hooks_off = Some(path),
            Some(false) => found.hooks_off = None,
            None => {}
        }
        if let Some(mode) = value["permissions"]["defaultMode"].as_str() {
            found.mode = Some(mode.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        Program::at("/usr/bin/sayso")
    }

    fn connected(text: &str) -> Result<String, Unfit> {
        settings(text, &program(), Want::Connected)
    }

    fn disconnected(text: &str) -> Result<String, Unfit> {
        settings(text, &program(), Want::Disconnected)
    }

    const COMMENTS: &str = "// mine\n{\n\t\"model\" : \"opus\", /* odd */\n\n\t\"permissions\": { \"allow\": [ \"Bash(ls)\" ,\"Read\" ] },\n\t\"hooks\": {\n\t\t// sound\n\t\t\"Stop\": [{ \"hooks\": [ { \"type\": \"command\", \"command\": \"beep\" } ] }],\n\t\t\"PostToolUse\": [\n\t\t\t{ \"matcher\": \"Edit\", \"hooks\": [{\"type\":\"command\",\"command\":\"fmt\"}] }\n\t\t]\n\t}\n}\n";

    fn ours_in(text: &str) -> usize {
        let value = JsonDocument::parse(text).unwrap().value();
        EVENTS.iter().map(|(event, _)| find_our_hooks(&value, event).len()).sum()
    }

    #[test]
    fn connecting_adds_hooks_and_changes_nothing_else() {
        insta::assert_snapshot!("claude_new", connected("").unwrap());
        insta::assert_snapshot!("claude_comments", connected(COMMENTS).unwrap());
        for text in ["{}\n", "{ }", "{\"a\":1}", "{\r\n  \"a\": 1\r\n}\r\n", COMMENTS, "{\n  \"hooks\": {},\n}\n"] {
            let with = connected(text).unwrap();
            assert!(super::super::is_part(text, &with), "{with}");
            assert_eq!(connected(&with).unwrap(), with, "connecting is idempotent");
            let gone = disconnected(&with).unwrap();
            let value = |text: &str| JsonDocument::parse(text).unwrap().value();
            let empty = |text: &str| text.replace("\"hooks\": {},", "").replace("\"hooks\": {}", "");
            assert_eq!(value(&gone), value(&empty(text)), "{gone}");
        }
    }

    #[test]
    fn disconnecting_restores_settings_byte_for_byte() {
        for text in [COMMENTS, "{\n  \"a\": 1\n}\n", "{\n  \"env\": {\n    \"A\": \"b\"\n  }\n}\n"] {
            assert_eq!(disconnected(&connected(text).unwrap()).unwrap(), text);
        }
        assert_eq!(disconnected(COMMENTS).unwrap(), COMMENTS);
        let own = "{\n  \"env\": {\n    \"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS\": \"5000\"\n  }\n}\n";
        let with = connected(own).unwrap();
        assert!(with.contains("\"5000\"") && disconnected(&with).unwrap() == own, "the person's own value is kept");
    }

    #[test]
    fn hook_of_an_older_program_is_replaced() {
        let older = settings(COMMENTS, &Program::at("/old/sayso"), Want::Connected).unwrap();
        let now = connected(&older).unwrap();
        assert!(!now.contains("/old/sayso"), "{now}");
        assert_eq!(ours_in(&now), EVENTS.len());
    }

    #[test]
    fn unexpected_settings_are_refused() {
        for broken in ["{", "{\"a\":}", "{\"a\":1 \"b\":2}", "{'a':1}", "{\"a\":0x1}", "x"] {
            assert!(matches!(connected(broken), Err(Unfit::Syntax(_))), "{broken}");
        }
        for (text, what) in [
            ("[]", "the whole file"),
            ("{\"hooks\":[]}", "hooks"),
            ("{\"hooks\":{\"Stop\":{}}}", "hooks.Stop"),
            ("{\"env\":1}", "env"),
        ] {
            assert_eq!(connected(text), Err(Unfit::Shape(what.to_owned())), "{text}");
        }
    }

    #[test]
    fn mcp_server_is_added_for_all_projects_or_for_one() {
        let state = "{\n  \"numStartups\": 7,\n  \"projects\": {\n    \"/p\": {\n      \"allowedTools\": []\n    }\n  }\n}\n";
        insta::assert_snapshot!("claude_mcp", mcp(state, None, &program(), Want::Connected).unwrap());
        for project in [None, Some("/p")] {
            let with = mcp(state, project, &program(), Want::Connected).unwrap();
            assert!(with.contains("--token-file"));
            assert_eq!(mcp(&with, project, &program(), Want::Connected).unwrap(), with);
            assert_eq!(mcp(&with, project, &program(), Want::Disconnected).unwrap(), state);
        }
        assert_eq!(mcp(state, Some("/q"), &program(), Want::Disconnected).unwrap(), state);
    }

    #[test]
    fn settings_of_all_scopes_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (home, here) = (dir.path().join("home"), dir.path().join("here"));
        for dir in [home.join(".claude"), here.join(".claude")] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let environment = Environment::default();
        assert_eq!(read_settings(&environment, &home, &here), ClaudeSettings::default());
        let user = home.join(".claude/settings.json");
        let mode = "{\"permissions\":{\"defaultMode\":\"acceptEdits\"},\"disableAllHooks\":true}";
        std::fs::write(&user, connected(mode).unwrap()).unwrap();
        std::fs::write(here.join(".claude/settings.local.json"), "{").unwrap();
        let found = read_settings(&environment, &home, &here);
        assert_eq!(
            (found.connected, found.mode.as_deref(), found.hooks_off),
            (vec![user.clone()], Some("acceptEdits"), Some(user))
        );
        assert_eq!((found.broken.len(), found.command), (1, Some(program().guarded_hook("claude"))));
    }
}
