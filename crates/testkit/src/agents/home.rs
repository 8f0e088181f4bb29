//! A home directory for agents.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;
use tempfile::TempDir;

/// The API key in configurations. The mock model accepts any key.
const KEY: &str = "not-a-key-only-a-mock-model-takes-it";

/// A temporary home directory with the settings that agents need to work with a mock model, and the environment to
/// start them in. It is deleted when the value is dropped.
#[derive(Debug)]
pub struct Home {
    dir: TempDir,
}

impl Home {
    /// Creates a home directory.
    ///
    /// # Errors
    /// If files cannot be written.
    pub fn new() -> Result<Self> {
        let home = Self { dir: TempDir::with_prefix("sayso-home-").context("no home directory")? };
        for name in ["project", "tmp", ".gemini"] {
            std::fs::create_dir(home.path().join(name))?;
        }
        // Answers to the dialogs of Claude Code's first interactive start.
        let project = home.project().display().to_string();
        let key_end: String = KEY.chars().skip(KEY.len() - 20).collect();
        let claude = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [key_end], "rejected": []},
            "projects": {project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
        });
        home.write(".claude.json", &claude)?;
        let gemini = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false},
        });
        home.write(".gemini/settings.json", &gemini)?;
        Ok(home)
    }

    fn write(&self, name: &str, content: &serde_json::Value) -> Result<()> {
        let path = self.path().join(name);
        std::fs::write(&path, content.to_string()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A directory in it for an agent to work in. It is empty and not a repository.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    /// The complete environment of Claude Code for the mock model at this URL.
    #[must_use]
    pub fn claude(&self, model: &str) -> Vec<(String, String)> {
        self.with(&[
            ("ANTHROPIC_BASE_URL", model),
            ("ANTHROPIC_API_KEY", KEY),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            // Without this variable, permissions cannot be bypassed as root, which is the user in a namespace.
            ("IS_SANDBOX", "1"),
        ])
    }

    /// The complete environment of claude-agent-acp for the mock model at this URL.
    #[must_use]
    pub fn claude_acp(&self, model: &str) -> Vec<(String, String)> {
        self.claude(model)
    }

    /// The complete environment of Gemini CLI for the mock model at this URL.
    #[must_use]
    pub fn gemini(&self, model: &str) -> Vec<(String, String)> {
        self.with(&[
            ("GOOGLE_GEMINI_BASE_URL", model),
            ("GEMINI_API_KEY", KEY),
            // Without this variable, it restarts itself with another heap size.
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ])
    }

    /// The complete environment of Codex for the mock model at this URL, which is written to Codex's configuration.
    ///
    /// # Errors
    /// If the configuration cannot be written.
    pub fn codex(&self, model: &str) -> Result<Vec<(String, String)>> {
        let dir = self.path().join(".codex");
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("config.toml"), codex_config(model)).context("cannot write the configuration of Codex")?;
        Ok(self.codex_environment())
    }

    /// The environment of Codex without writing its configuration, for a configuration that the test changed.
    #[must_use]
    pub fn codex_environment(&self) -> Vec<(String, String)> {
        self.with(&[("MOCK_KEY", KEY)])
    }

    /// The complete environment of OpenCode for the mock model at this URL, which is written to OpenCode's
    /// configuration.
    ///
    /// # Errors
    /// If the configuration cannot be written.
    pub fn opencode(&self, model: &str) -> Result<Vec<(String, String)>> {
        let mock = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {"baseURL": format!("{model}/v1"), "apiKey": KEY},
            "models": {"mock-1": {"name": "Mock 1", "tool_call": true, "limit": {"context": 100_000, "output": 4_000}}},
        });
        let config = json!({
            "model": "mock/mock-1", "small_model": "mock/mock-1", "share": "disabled", "autoupdate": false,
            "provider": {"mock": mock},
        });
        std::fs::create_dir_all(self.path().join(".config/opencode"))?;
        self.write(".config/opencode/opencode.json", &config)?;
        Ok(self.with(&[("OPENCODE_DISABLE_MODELS_FETCH", "1"), ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")]))
    }

    /// The variables of every agent, plus `more`.
    fn with(&self, more: &[(&str, &str)]) -> Vec<(String, String)> {
        let below = |name: &str| self.path().join(name).display().to_string();
        let mut all = vec![
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("HOME".to_owned(), self.path().display().to_string()),
            ("XDG_CACHE_HOME".to_owned(), below(".cache")),
            ("XDG_CONFIG_HOME".to_owned(), below(".config")),
            ("XDG_DATA_HOME".to_owned(), below(".local/share")),
            ("XDG_STATE_HOME".to_owned(), below(".local/state")),
            ("TMPDIR".to_owned(), below("tmp")),
            ("USER".to_owned(), "tester".to_owned()),
            ("SHELL".to_owned(), "/bin/bash".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("TERM".to_owned(), "dumb".to_owned()),
        ];
        all.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        all
    }
}

/// A configuration that asks before commands leave the sandbox, and never retries requests.
fn codex_config(model: &str) -> String {
    format!(
        r#"model = "gpt-5.5"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
"#
    )
}
