//! Selects the environment variables of a person that an agent receives.

/// Variables that programs need to work at all.
const NEEDED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "EDITOR",
    "SSH_AUTH_SOCK",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "GH_TOKEN",
    "GITHUB_TOKEN",
];
/// Name prefixes of variables for paths, locales, and the settings and keys of agents and model providers.
const BEGINNINGS: &[&str] = &[
    "LC_",
    "XDG_",
    "ANTHROPIC_",
    "CLAUDE_",
    "OPENAI_",
    "CODEX_",
    "OPENCODE_",
    "GEMINI_",
    "GOOGLE_",
    "QWEN_",
    "DASHSCOPE_",
    "AWS_",
    "AZURE_",
    "VERTEX_",
    "OPENROUTER_",
    "OLLAMA_",
    "MISTRAL_",
    "GROQ_",
    "XAI_",
    "DEEPSEEK_",
    "MOONSHOT_",
    "KIMI_",
    "CURSOR_",
    "AMP_",
];
/// Name suffixes of variables that hold keys or the URLs of models.
const ENDS: &[&str] = &["_API_KEY", "_AUTH_TOKEN", "_BASE_URL"];
/// Variables that an agent sets for its child processes. Agents that Sayso starts do not run inside another agent, so these are
/// removed.
const OF_AN_AGENT: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"];

/// The maximum number of variables that a caller may send.
pub const MAX_VARIABLES: usize = 256;
/// The maximum length of one value, in bytes.
pub const MAX_VALUE_BYTES: usize = 32 * 1024;

/// Returns whether an agent receives the variable with this name. Variables of Sayso itself are never passed on, because a
/// token in them would let the agent answer its own asks.
#[must_use]
pub fn passes(name: &str) -> bool {
    if name.starts_with("SAYSO_") || OF_AN_AGENT.contains(&name) {
        return false;
    }
    NEEDED.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_sayso_are_removed_from_the_environment() {
        for name in ["PATH", "LC_ALL", "ANTHROPIC_API_KEY", "FOO_API_KEY", "OPENAI_BASE_URL", "XDG_CONFIG_HOME", "https_proxy"] {
            assert!(passes(name), "{name}");
        }
        for name in
            ["SAYSO_TOKEN", "SAYSO_API_KEY", "CLAUDECODE", "LD_PRELOAD", "NODE_OPTIONS", "DATABASE_PASSWORD", "BASH_ENV", ""]
        {
            assert!(!passes(name), "{name}");
        }
    }
}
