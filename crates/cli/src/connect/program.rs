//! The commands with which agents start this program.

use std::path::{Path, PathBuf};

use crate::app::App;
use crate::failure::Failure;

/// This program and the location of its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Absolute path, so that the agent's `PATH` does not matter.
    path: String,
    /// Data directory, if it is not the default.
    data_dir: Option<String>,
    /// Directory of the agents' tokens.
    tokens: String,
}

impl Program {
    /// Describes the running program. Prefers the path in `PATH` to the resolved path, because updates may replace the
    /// target of a symbolic link.
    pub(crate) fn of(app: &App) -> Result<Self, Failure> {
        let real = std::env::current_exe().map_err(|error| Failure::io("Cannot find the path of this program", &error))?;
        let same = |path: &PathBuf| path.canonicalize().ok() == real.canonicalize().ok();
        let found = app.environment.get("PATH").unwrap_or_default().split(':').map(|dir| Path::new(dir).join("sayso"));
        let path = found.filter(|path| path.is_absolute()).find(same).unwrap_or_else(|| real.clone());
        let default = sayso_client::Paths::new(&without_data_dir(app), None).ok().map(|paths| paths.data_dir);
        let data_dir = (default.as_ref() != Some(&app.paths.data_dir)).then(|| text(&absolute(&app.paths.data_dir)));
        Ok(Self { path: text(&path), data_dir, tokens: text(&absolute(&app.paths.data_dir)) })
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the hook of an agent as a command for `sh`. If the program was removed, the command prints nothing and
    /// succeeds.
    pub(super) fn guarded_hook(&self, agent: &str) -> String {
        let path = quoted(&self.path);
        format!("if [ -x {path} ]; then exec {}; fi", self.hook(agent))
    }

    /// Returns the hook of an agent as a command for any shell.
    pub(super) fn hook(&self, agent: &str) -> String {
        let data_dir = self.data_dir.as_deref().map(|dir| format!(" --data-dir {}", quoted(dir))).unwrap_or_default();
        format!("{} hook {agent}{data_dir}", quoted(&self.path))
    }

    /// Returns the command line of the MCP server for an agent: the program, then its arguments.
    pub(super) fn mcp(&self, agent: &str) -> Vec<String> {
        let token = format!("{}/agent-token-{agent}", self.tokens);
        let mut words = vec![self.path.clone(), "mcp".to_owned(), "--token-file".to_owned(), token];
        if let Some(dir) = &self.data_dir {
            words.extend(["--data-dir".to_owned(), dir.clone()]);
        }
        words
    }

    #[cfg(test)]
    pub(super) fn at(path: &str) -> Self {
        Self { path: path.to_owned(), data_dir: None, tokens: "/state".to_owned() }
    }
}

/// Returns true if a command is the hook of this agent, of any version of this program.
pub(super) fn is_hook(command: &str, agent: &str) -> bool {
    command.contains("sayso") && command.contains(&format!(" hook {agent}"))
}

fn without_data_dir(app: &App) -> sayso_client::Environment {
    app.environment.without("SAYSO_DATA_DIR")
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        assert_eq!(Program::at("/usr/bin/sayso").hook("codex"), "/usr/bin/sayso hook codex");
        let odd = Program { data_dir: Some("/a b".into()), ..Program::at("/it's/sayso") };
        assert_eq!(
            odd.guarded_hook("claude"),
            r"if [ -x '/it'\''s/sayso' ]; then exec '/it'\''s/sayso' hook claude --data-dir '/a b'; fi"
        );
        assert!(is_hook(&odd.guarded_hook("claude"), "claude") && !is_hook("sayso hook codex", "claude"));
        let mcp = ["/it's/sayso", "mcp", "--token-file", "/state/agent-token-codex", "--data-dir", "/a b"];
        assert_eq!(odd.mcp("codex"), mcp);
    }
}
