//! Codex: adds a hook and the MCP server to `config.toml`. Both are tables, and tables can follow at the end of the
//! file, so connecting appends lines and changes no existing line.

use std::os::unix::net::UnixStream;
use std::path::Path;

use sayso_client::Environment;
use toml_edit::{DocumentMut, Item, Table};

use super::program::{Program, is_hook};
use super::{Edit, Unfit, Want, config_directory, no_scope};
use crate::args::{ConfigScope, ConnectArgs};
use crate::failure::Failure;

/// Name of the agent in our commands.
const NAME: &str = "codex";

/// Socket of the daemon that the person's terminals share, relative to Codex's home directory.
const DAEMON: &str = "app-server-control/app-server-control.sock";

/// Returns the socket of that daemon if it accepts connections.
pub(super) fn daemon(environment: &Environment) -> Option<String> {
    let home = environment.path("HOME")?;
    let socket = config_directory(environment, "CODEX_HOME", &home, ".codex").join(DAEMON);
    UnixStream::connect(&socket).ok()?;
    Some(socket.to_string_lossy().into_owned())
}

/// Returns the edit of the configuration file.
pub(super) fn edits(
    environment: &Environment,
    home: &Path,
    here: &Path,
    to: &ConnectArgs,
    program: &Program,
) -> Result<Vec<Edit>, Failure> {
    let path = match to.scope {
        ConfigScope::User => config_directory(environment, "CODEX_HOME", home, ".codex").join("config.toml"),
        ConfigScope::Project => here.join(".codex/config.toml"),
        ConfigScope::Local => return Err(no_scope("Codex", to.scope)),
    };
    let hold = to.hold.map(|hold| format!(" --hold {hold}")).unwrap_or_default();
    let (hook, mcp) = (format!("{}{hold}", program.hook(NAME)), program.mcp(NAME));
    Ok(vec![Edit::new(path, move |text, want| config(text, &hook, &mcp, want))])
}

fn block(hook: &str, mcp: &[String]) -> String {
    let quoted = |word: &String| toml_edit::Value::from(word.as_str()).to_string().trim().to_owned();
    let args: Vec<String> = mcp[1..].iter().map(quoted).collect();
    format!(
        "# sayso connect codex\n\
         [[hooks.PermissionRequest]]\nmatcher = \"*\"\n\
         [[hooks.PermissionRequest.hooks]]\ntype = \"command\"\ncommand = {}\ntimeout = 30\nstatusMessage = \"asking your rules\"\n\
         [mcp_servers.sayso]\ncommand = {}\nargs = [{}]\ntool_timeout_sec = 86400\n",
        quoted(&hook.to_owned()),
        quoted(&mcp[0]),
        args.join(", ")
    )
}

/// Returns the configuration with or without our entries.
fn config(text: &str, hook: &str, mcp: &[String], want: Want) -> Result<String, Unfit> {
    let block = block(hook, mcp);
    parse(text)?;
    let without = match text.find(&block) {
        // The block is unchanged since we wrote it, so the empty line before it is also ours.
        Some(at) => {
            let before = text[..at].strip_suffix('\n').filter(|before| before.ends_with('\n')).unwrap_or(&text[..at]);
            format!("{before}{}", &text[at + block.len()..])
        }
        None => take_out(text)?,
    };
    match want {
        Want::Disconnected => Ok(without),
        Want::Connected if text.contains(&block) => Ok(text.to_owned()),
        Want::Connected => {
            let document = parse(&without)?;
            fits(&document)?;
            let gap = match without.as_str() {
                "" => "",
                text if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            let with = format!("{without}{gap}{block}");
            parse(&with)?;
            Ok(with)
        }
    }
}

fn parse(text: &str) -> Result<DocumentMut, Unfit> {
    text.parse::<DocumentMut>().map_err(|error| Unfit::Syntax(error.to_string().trim_end().replace('\n', " ")))
}

/// Fails if tables at the end of the file would not be valid together with the existing content.
fn fits(document: &DocumentMut) -> Result<(), Unfit> {
    let table = |item: Option<&Item>| item.is_none_or(Item::is_table);
    if !table(document.get("mcp_servers")) {
        return Err(Unfit::Shape("mcp_servers".to_owned()));
    }
    if document.get("mcp_servers").and_then(|servers| servers.get("sayso")).is_some() {
        return Err(Unfit::Shape("mcp_servers.sayso".to_owned()));
    }
    if !table(document.get("hooks")) {
        return Err(Unfit::Shape("hooks".to_owned()));
    }
    let groups = document.get("hooks").and_then(|hooks| hooks.get("PermissionRequest"));
    if !groups.is_none_or(Item::is_array_of_tables) {
        return Err(Unfit::Shape("hooks.PermissionRequest".to_owned()));
    }
    Ok(())
}

/// Removes our entries even if they were reformatted.
fn take_out(text: &str) -> Result<String, Unfit> {
    let mut document = parse(text)?;
    let mut changed = false;
    if let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_mut) {
        let is_ours =
            servers.get("sayso").and_then(|server| server.get("args")).is_some_and(|args| args.to_string().contains("\"mcp\""));
        if is_ours {
            servers.remove("sayso");
            changed = true;
        }
    }
    let groups = document.get_mut("hooks").and_then(Item::as_table_mut).and_then(|hooks| hooks.get_mut("PermissionRequest"));
    if let Some(groups) = groups.and_then(Item::as_array_of_tables_mut) {
        let before = groups.len();
        groups.retain(|group| !is_ours(group));
        changed |= groups.len() != before;
    }
    Ok(if changed { document.to_string() } else { text.to_owned() })
}

/// Returns true if the group contains our hook and no other hook.
fn is_ours(group: &Table) -> bool {
    let Some(hooks) = group.get("hooks").and_then(Item::as_array_of_tables) else { return false };
    let ours = |hook: &Table| hook.get("command").and_then(Item::as_str).is_some_and(|command| is_hook(command, NAME));
    !hooks.is_empty() && hooks.iter().all(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected(text: &str) -> Result<String, Unfit> {
        let program = Program::at("/usr/bin/sayso");
        config(text, &program.hook(NAME), &program.mcp(NAME), Want::Connected)
    }

    fn disconnected(text: &str) -> Result<String, Unfit> {
        let program = Program::at("/usr/bin/sayso");
        config(text, &program.hook(NAME), &program.mcp(NAME), Want::Disconnected)
    }

    const OTHERS: &str = "# mine\nmodel = \"gpt\"   # odd   spacing\n\n[mcp_servers.other]\ncommand = 'x'\n\n[[hooks.PermissionRequest]]\nmatcher = \"Bash\"\n  [[hooks.PermissionRequest.hooks]]\n  type=\"command\"\n  command=\"/opt/mine\"\n\n[profiles.fast]\nmodel = \"mini\"\n";

    #[test]
    fn tables_are_appended_and_removed_without_a_trace() {
        insta::assert_snapshot!("codex", connected("").unwrap());
        for text in ["", "model = \"x\"\n", OTHERS, "# only a comment\n"] {
            let with = connected(text).unwrap();
            assert!(with.starts_with(text), "{with}");
            let document: toml_edit::DocumentMut = with.parse().unwrap();
            assert_eq!(document["mcp_servers"]["sayso"]["tool_timeout_sec"].as_integer(), Some(86_400));
            let groups = document["hooks"]["PermissionRequest"].as_array_of_tables().unwrap();
            assert_eq!(groups.iter().filter(|group| is_ours(group)).count(), 1);
            assert_eq!(connected(&with).unwrap(), with, "connecting is idempotent");
            assert_eq!(disconnected(&with).unwrap(), text);
        }
        // Adds the missing newline at the end of the file. `undo` remembers the exact content.
        assert_eq!(disconnected(&connected("a = 1").unwrap()).unwrap(), "a = 1\n");
        assert_eq!(disconnected(OTHERS).unwrap(), OTHERS);
    }

    #[test]
    fn entries_of_an_older_program_are_replaced() {
        let older = Program::at("/old/sayso");
        let with = config(OTHERS, &older.hook(NAME), &older.mcp(NAME), Want::Connected).unwrap();
        let now = connected(&with).unwrap();
        assert!(!now.contains("/old/sayso") && now.contains("/opt/mine") && now.contains("/usr/bin/sayso hook codex"), "{now}");
        let edited = with.replace("matcher = \"*\"", "matcher = \"Bash\"");
        let gone = disconnected(&edited).unwrap();
        assert!(!gone.contains("sayso hook") && !gone.contains("mcp_servers.sayso") && gone.contains("/opt/mine"), "{gone}");
    }

    #[test]
    fn unexpected_configuration_is_refused() {
        assert!(matches!(connected("a = ["), Err(Unfit::Syntax(_))));
        assert!(matches!(disconnected("a = = 1"), Err(Unfit::Syntax(_))));
        for (text, what) in [
            ("mcp_servers = { a = { command = \"x\" } }\n", "mcp_servers"),
            ("hooks = 7\n", "hooks"),
            ("[hooks]\nPermissionRequest = []\n", "hooks.PermissionRequest"),
            ("[mcp_servers.sayso]\ncommand = \"mine\"\n", "mcp_servers.sayso"),
        ] {
            assert_eq!(connected(text), Err(Unfit::Shape(what.to_owned())), "{text}");
        }
    }
}
