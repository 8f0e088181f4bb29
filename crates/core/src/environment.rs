//! Which of a person's variables an agent gets.

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
/// Beginnings of names: places, languages, and the settings and keys of agents and model providers.
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
/// Ends of names that hold keys or say where a model is.
const ENDS: &[&str] = &["_API_KEY", "_AUTH_TOKEN", "_BASE_URL"];
/// What an agent sets for the programs that it starts: one that is started by us is not inside it.
const OF_AN_AGENT: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"];

/// How many variables a caller may hand over.
pub const MOST: usize = 256;
/// Bytes of one value.
pub const VALUE: usize = 32 * 1024;

/// Whether an agent gets the variable of this name. Nothing of Sayso's own ever passes: a token in
/// there would let the agent decide for the person.
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
    fn keys_and_places_pass_and_nothing_of_ours() {
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
