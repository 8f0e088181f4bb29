//! Finds the server and the token to use.
//!
//! `SAYSO_URL` and `SAYSO_TOKEN` take precedence over the files that a local server wrote to its data directory. A
//! process in an agent's shell never gets the user's token: there, `SAYSO_AGENT_TOKEN` is the only source.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::error::DiscoverError;
use crate::paths::Paths;

/// The file `server.json`, in which a running server describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerFile {
    /// The server's base URL.
    pub url: String,
    /// The server's process id.
    pub pid: u32,
    /// The version of the running server.
    pub version: String,
}

impl ServerFile {
    /// Reads the file; `None` if it does not exist.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    pub fn read(path: &Path) -> Result<Option<Self>, DiscoverError> {
        let Some(text) = read_optional(path)? else { return Ok(None) };
        let file = serde_json::from_str(&text)
            .map_err(|error| DiscoverError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        Ok(Some(file))
    }

    /// Whether the server's process still exists. A killed server leaves its file behind, and another program may use
    /// its port by now; that program must not receive the token.
    fn is_running(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        let exists = pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
        // A killed process is a zombie until its parent reaps it. Without `/proc`, zombies are not detected.
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        exists && !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
    }
}

/// The source of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenSource {
    /// The environment variable `SAYSO_TOKEN`.
    Variable,
    /// The environment variable `SAYSO_AGENT_TOKEN`, which holds a token of an agent.
    Agent,
    /// The admin token in the data directory.
    File,
}

/// A server and a token for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// The server's base URL.
    pub url: String,
    /// The bearer token for the server.
    pub token: String,
    /// The source of the token.
    pub source: TokenSource,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("url", &self.url).field("source", &self.source).finish_non_exhaustive()
    }
}

/// Finds the server and the token for this environment.
///
/// # Errors
/// If there is no server or token, or if an agent's shell has no agent token.
pub fn discover(environment: &Environment, paths: &Paths) -> Result<Target, DiscoverError> {
    // The token is resolved first: in an agent's shell, the user's server must not be used.
    let from_variable = match environment.agent_marker() {
        Some(marker) => match environment.get("SAYSO_AGENT_TOKEN") {
            Some(token) => Some((token.to_owned(), TokenSource::Agent)),
            None => return Err(DiscoverError::AgentShell { marker: marker.to_owned() }),
        },
        None => environment.get("SAYSO_TOKEN").map(|token| (token.to_owned(), TokenSource::Variable)),
    };
    let url = match environment.get("SAYSO_URL") {
        Some(url) => url.to_owned(),
        None => match ServerFile::read(&paths.server_file())?.filter(ServerFile::is_running) {
            Some(file) => file.url,
            None => return Err(DiscoverError::NoServer { looked_in: paths.server_file() }),
        },
    };
    let (token, source) = match from_variable {
        Some(found) => found,
        None => match read_optional(&paths.token())?.map(|text| text.trim().to_owned()) {
            Some(token) if !token.is_empty() => (token, TokenSource::File),
            Some(_) | None => return Err(DiscoverError::NoToken { looked_in: paths.token() }),
        },
    };
    Ok(Target { url, token, source })
}

fn read_optional(path: &Path) -> Result<Option<String>, DiscoverError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(DiscoverError::Unreadable { path: path.to_owned(), reason: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_dir() -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("HOME", "/home/ada")]);
        let paths = Paths::new(&environment, Some(dir.path().to_owned())).unwrap();
        write_server_file(&paths, std::process::id());
        fs::write(paths.token(), "admin-secret\n").unwrap();
        (dir, paths)
    }

    fn write_server_file(paths: &Paths, pid: u32) {
        let file = format!(r#"{{"url":"http://127.0.0.1:4517","pid":{pid},"version":"0.1.0","more":1}}"#);
        fs::write(paths.server_file(), file).unwrap();
    }

    #[test]
    fn server_file_of_a_killed_server_is_ignored() {
        let (_dir, paths) = data_dir();
        let mut killed = std::process::Command::new("true").spawn().unwrap();
        killed.wait().unwrap();
        write_server_file(&paths, killed.id());
        let refused = discover(&Environment::default(), &paths).unwrap_err();
        assert!(matches!(refused, DiscoverError::NoServer { .. }), "{refused:?}");
    }

    #[test]
    fn variables_take_precedence_over_files() {
        let (_dir, paths) = data_dir();
        let found = discover(&Environment::default(), &paths).unwrap();
        assert_eq!((found.url.as_str(), found.token.as_str()), ("http://127.0.0.1:4517", "admin-secret"));
        assert_eq!(found.source, TokenSource::File);

        let given = Environment::from_pairs([("SAYSO_URL", "http://box:1"), ("SAYSO_TOKEN", "mine")]);
        let found = discover(&given, &paths).unwrap();
        assert_eq!((found.url.as_str(), found.token.as_str(), found.source), ("http://box:1", "mine", TokenSource::Variable));
    }

    #[test]
    fn agent_shell_never_gets_the_users_token() {
        let (_dir, paths) = data_dir();
        for marker in ["CLAUDECODE", "CODEX_SANDBOX", "OPENCODE", "GEMINI_CLI"] {
            let bare = Environment::from_pairs([(marker, "1"), ("SAYSO_TOKEN", "mine")]);
            let refused = discover(&bare, &paths).unwrap_err();
            assert!(matches!(refused, DiscoverError::AgentShell { marker: found } if found == marker));

            let own = Environment::from_pairs([(marker, "1"), ("SAYSO_AGENT_TOKEN", "agents"), ("SAYSO_TOKEN", "mine")]);
            let found = discover(&own, &paths).unwrap();
            assert_eq!((found.token.as_str(), found.source), ("agents", TokenSource::Agent));
        }
    }

    #[test]
    fn missing_server_or_token_is_named_in_the_error() {
        let (_dir, paths) = data_dir();
        fs::remove_file(paths.token()).unwrap();
        assert!(matches!(discover(&Environment::default(), &paths), Err(DiscoverError::NoToken { .. })));
        fs::remove_file(paths.server_file()).unwrap();
        assert!(matches!(discover(&Environment::default(), &paths), Err(DiscoverError::NoServer { .. })));
        fs::write(paths.server_file(), "{").unwrap();
        assert!(matches!(discover(&Environment::default(), &paths), Err(DiscoverError::Unreadable { .. })));
    }

    #[test]
    fn target_debug_output_hides_its_token() {
        let target = Target { url: "http://x".into(), token: "hush".into(), source: TokenSource::File };
        assert!(!format!("{target:?}").contains("hush"));
    }
}
