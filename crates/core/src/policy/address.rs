//! Web addresses and the patterns that name them: `https://docs.rs/*`, `docs.rs`, `*.example.com`.

use super::text_pattern::wildcard;

/// An address, taken apart by hand: what decides is the host that a browser would really go to.
#[derive(Debug, PartialEq, Eq)]
struct Address<'a> {
    scheme: String,
    host: String,
    port: Option<&'a str>,
    path: &'a str,
    /// Whether a user stands before the host, which is how addresses lie about it.
    user: bool,
}

fn take_apart(url: &str) -> Option<Address<'_>> {
    if url.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme.is_empty() || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, host) = authority.rsplit_once('@').map_or((false, authority), |(_, host)| (true, host));
    let (host, port) = match host.strip_prefix('[') {
        Some(v6) => {
            let (inside, after) = v6.split_once(']')?;
            (inside, after.strip_prefix(':'))
        }
        None => host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port))),
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if host.is_empty() || port.is_some_and(|port| !port.chars().all(|c| c.is_ascii_digit())) {
        return None;
    }
    let default = match scheme.as_str() {
        "http" => "80",
        "https" => "443",
        _ => "",
    };
    let port = port.filter(|port| !port.is_empty() && *port != default);
    Some(Address { scheme, host, port, path, user })
}

/// One pattern for addresses.
#[derive(Debug, Clone)]
pub(super) struct AddressPattern {
    scheme: Option<String>,
    host: String,
    port: Option<String>,
    /// Nothing: any path.
    path: Option<String>,
}

impl AddressPattern {
    pub(super) fn compile(written: &str) -> Result<Self, String> {
        let text = written.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("any://{text}") };
        let address = take_apart(&whole)
            .filter(|address| !address.user)
            .ok_or_else(|| format!("`{text}` is not an address: write a host such as \"docs.rs\" or \"https://docs.rs/*\""))?;
        let scheme = Some(address.scheme).filter(|scheme| scheme != "any");
        let path = Some(address.path.to_owned()).filter(|path| !path.is_empty() && path != "/*");
        Ok(Self { scheme, host: address.host, port: address.port.map(str::to_owned), path })
    }

    /// Whether the pattern certainly means this address.
    pub(super) fn allows(&self, url: &str) -> bool {
        let Some(address) = take_apart(url) else { return false };
        let web = matches!(address.scheme.as_str(), "http" | "https");
        let lowered = address.path.to_ascii_lowercase();
        let climbs = lowered.contains("..") || lowered.contains("%2e");
        !address.user
            && address.host.is_ascii()
            && self.scheme.as_ref().map_or(web, |scheme| *scheme == address.scheme)
            && wildcard(&self.host, &address.host)
            && self.port.as_deref() == address.port
            && self
                .path
                .as_ref()
                .is_none_or(|path| !climbs && wildcard(path, if address.path.is_empty() { "/" } else { address.path }))
    }

    /// Whether the pattern may mean this address: its subdomains too, on any port, by any way.
    pub(super) fn catches(&self, url: &str) -> bool {
        let Some(address) = take_apart(url) else {
            return url.to_lowercase().contains(self.host.trim_matches('*').trim_matches('.'));
        };
        let host = wildcard(&self.host, &address.host) || wildcard(&format!("*.{}", self.host), &address.host);
        host && self
            .path
            .as_ref()
            .is_none_or(|path| address.path.contains('%') || address.path.contains("..") || wildcard(path, address.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_real_host_counts() {
        let allows = |pattern: &str, url: &str| AddressPattern::compile(pattern).unwrap().allows(url);
        for url in [
            "https://docs.rs/serde",
            "https://DOCS.rs/",
            "https://docs.rs",
            "https://docs.rs:443/x",
            "https://docs.rs./x",
            "https://docs.rs/?q=1",
        ] {
            assert!(allows("https://docs.rs/*", url) && allows("docs.rs", url), "{url}");
        }
        for url in [
            "https://docs.rs@evil.com/",
            "https://docs.rs:x@evil.com/",
            "https://evil.com/docs.rs",
            "https://docs.rs.evil.com/",
            "https://evil.com#docs.rs",
            "https://evil.com?docs.rs",
            "http://docs.rs/x",
            "https://docs.rs:8443/",
            "https://evil.com\\@docs.rs/",
            "https://xdocs.rs/",
            "docs.rs",
            "//docs.rs/",
            "file://docs.rs/etc/passwd",
            "https://docs.rs\n@evil.com",
            "https://user@docs.rs/",
            "https:///docs.rs",
            "https://docs.rs:99x/",
            "javascript:docs.rs",
            "https://ⅾocs.rs/",
        ] {
            assert!(!allows("https://docs.rs/*", url), "{url}");
        }
        assert!(
            allows("*.example.com", "https://a.example.com/")
                && !allows("*.example.com", "https://example.com/")
                && !allows("docs.rs", "ftp://docs.rs/")
        );
        assert!(
            allows("https://docs.rs/serde/*", "https://docs.rs/serde/x")
                && !allows("https://docs.rs/serde/*", "https://docs.rs/serde/../evil")
        );
        assert!(
            allows("http://localhost:3000", "http://localhost:3000/x") && !allows("http://localhost:3000", "http://localhost/x")
        );
    }

    #[test]
    fn what_is_denied_is_denied_by_any_way() {
        let pattern = AddressPattern::compile("evil.com").unwrap();
        for url in ["https://evil.com/", "http://a.evil.com:81/x", "https://good@evil.com/", "evil.com", "https://EVIL.com."] {
            assert!(pattern.catches(url), "{url}");
        }
        assert!(!pattern.catches("https://good.com/evil.com"));
        for wrong in ["", "https://", "a b", "https://u@h/"] {
            assert!(AddressPattern::compile(wrong).is_err(), "{wrong}");
        }
    }
}
