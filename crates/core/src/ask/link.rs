//! Links: an agent asks a person to open a web address.

use serde::{Deserialize, Serialize};

use crate::limits::{self, LimitExceeded};

/// A web address that the agent asks a person to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    pub url: String,
    /// The agent's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The schemes that are always permitted, because they open a page in a browser. Other schemes can start programs.
const WEB_SCHEMES: [&str; 2] = ["http", "https"];

/// The scheme of a link is not permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a link must begin with http:// or https://, or with a scheme that `link_schemes` of config.toml lists")]
pub struct LinkSchemeRefused;

impl Link {
    /// Checks that the scheme of the address is `http`, `https` or a configured one.
    ///
    /// # Errors
    /// When the scheme is not permitted.
    pub fn check_scheme(&self, configured: &[String]) -> Result<(), LinkSchemeRefused> {
        let (scheme, rest) = self.url.split_once(':').ok_or(LinkSchemeRefused)?;
        let named = |known: &str| scheme.eq_ignore_ascii_case(known);
        let is_web = WEB_SCHEMES.into_iter().any(named) && rest.starts_with("//");
        if is_web || configured.iter().any(|known| named(known)) { Ok(()) } else { Err(LinkSchemeRefused) }
    }

    pub(crate) fn check_limits(&self) -> Result<(), LimitExceeded> {
        limits::check("the address", self.url.len(), limits::TEXT)?;
        limits::check("the message", self.message.as_ref().map_or(0, String::len), limits::TEXT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_a_web_scheme_or_a_configured_one() {
        let check = |url: &str| Link { url: url.to_owned(), message: None }.check_scheme(&["vscode".to_owned()]).is_ok();
        for url in ["https://example.com/a?b#c", "HTTP://example.com", "vscode://file/x", "VSCODE:x"] {
            assert!(check(url), "{url}");
        }
        for url in [
            "",
            "example.com",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ssh://host",
            "vscode-insiders://x",
            "http:javascript",
            " https://example.com",
            "java\tscript:x",
            "https\n://example.com",
            ":https://example.com",
        ] {
            assert!(!check(url), "{url:?}");
        }
    }
}
