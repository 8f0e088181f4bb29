//! Environment variables as a value, which makes code that depends on them testable, and the detection of agents'
//! shells.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Variables that agents set for the commands that they run.
const MARKERS: &[&str] = &[
    "SAYSO_AGENT_TOKEN",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "OPENCODE",
    "GEMINI_CLI",
    "QWEN_CODE",
    "CURSOR_AGENT",
    "GOOSE_TERMINAL",
    "CLINE_ACTIVE",
    "AUGMENT_AGENT",
];

/// Codex sets several variables with this prefix for its commands.
const CODEX: &str = "CODEX_";

/// Variables with that prefix that users set themselves, so they do not indicate an agent's shell.
const CODEX_SETTINGS: &[&str] = &["CODEX_HOME", "CODEX_SQLITE_HOME", "CODEX_API_KEY", "CODEX_CA_CERTIFICATE"];

/// A snapshot of environment variables.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables of this process. Variables that are not Unicode are omitted.
    #[must_use]
    pub fn of_process() -> Self {
        Self(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect(),
        )
    }

    /// Creates an environment with only these variables.
    #[must_use]
    pub fn from_pairs<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// A copy without this variable.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut rest = self.0.clone();
        rest.remove(name);
        Self(rest)
    }

    /// A copy with this variable.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut all = self.0.clone();
        all.insert(name.to_owned(), value.to_owned());
        Self(all)
    }

    /// The value of a variable, if it is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a variable that holds an absolute path. The XDG specification requires that relative paths are
    /// ignored.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The name of the variable which shows that an agent runs this process, if there is one.
    #[must_use]
    pub fn agent_marker(&self) -> Option<&str> {
        let known = MARKERS.iter().copied().find(|name| self.get(name).is_some());
        known.or_else(|| {
            self.0
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, _)| name.as_str())
                .find(|name| name.starts_with(CODEX) && !CODEX_SETTINGS.contains(name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_shell_is_detected_by_its_variables() {
        for (name, marks) in [
            ("CLAUDECODE", true),
            ("CLAUDE_CODE_ENTRYPOINT", true),
            ("CODEX_SANDBOX", true),
            ("CODEX_SANDBOX_NETWORK_DISABLED", true),
            ("CODEX_THREAD_ID", true),
            ("OPENCODE", true),
            ("GEMINI_CLI", true),
            ("SAYSO_AGENT_TOKEN", true),
            ("CODEX_HOME", false),
            ("OPENCODE_CONFIG", false),
            ("SAYSO_TOKEN", false),
            ("PATH", false),
        ] {
            let environment = Environment::from_pairs([(name, "1")]);
            assert_eq!(environment.agent_marker(), marks.then_some(name), "{name}");
        }
        assert_eq!(Environment::from_pairs([("CLAUDECODE", "")]).agent_marker(), None);
    }
}
