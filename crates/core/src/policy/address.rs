//! Web addresses and the patterns that name them: `https://docs.rs/*`, `docs.rs`, `*.example.com`.
//!
//! Addresses are parsed by the URL parser of the server's HTTP client, so `http://2852039166/`, `%65vil.test` and `evil。test`
//! get the host that a request would go to. Hosts that are IP addresses are compared as addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Position, Url};

use super::text_pattern::matches_wildcard;

/// The host to which a request would go.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Ip(IpAddr),
    /// A name in lower case and ASCII form, without a trailing dot.
    Name(String),
}

impl Host {
    /// Parses a name, an IPv4 address in any notation, or an IPv6 address in brackets.
    fn parse(host: &str) -> Option<Self> {
        Some(match url::Host::parse(host).ok()? {
            url::Host::Ipv4(address) => Self::Ip(address.into()),
            url::Host::Ipv6(address) => Self::Ip(address.into()),
            url::Host::Domain(name) => Self::Name(name.strip_suffix('.').unwrap_or(&name).to_owned()),
        })
    }

    fn text(&self) -> String {
        match self {
            Self::Ip(address) => address.to_string(),
            Self::Name(name) => name.clone(),
        }
    }

    /// Returns the IPv4 address inside a mapped or compatible IPv6 address, or behind the well-known NAT64 prefix.
    fn unwrapped(&self) -> Self {
        match self {
            Self::Ip(IpAddr::V6(address)) => Self::Ip(embedded(*address).map_or(IpAddr::V6(*address), IpAddr::V4)),
            Self::Ip(IpAddr::V4(_)) | Self::Name(_) => self.clone(),
        }
    }
}

fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let [[first, second], [third, fourth]] = [high.to_be_bytes(), low.to_be_bytes()];
    let wraps = match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => true,
        // `::` and `::1` are IPv6 addresses and wrap nothing.
        [0, 0, 0, 0, 0, 0] => high != 0,
        _ => false,
    };
    wraps.then_some(Ipv4Addr::new(first, second, third, fourth))
}

/// A parsed address.
#[derive(Debug)]
struct Address {
    url: Url,
    host: Host,
    /// Whether the text is the parser's own notation of the address. The slash of an empty path can be missing.
    unchanged: bool,
}

impl Address {
    fn read(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        // The parser normalises hosts only for web schemes, so other schemes are parsed here.
        let written = url.host_str().filter(|host| !host.is_empty())?;
        let host = Host::parse(written)?;
        let without_slash = || format!("{}{}", &url[..Position::BeforePath], &url[Position::AfterPath..]);
        let same_host = written.trim_start_matches('[').trim_end_matches([']', '.']) == host.text();
        let unchanged = same_host && (url.as_str() == text || (url.path() == "/" && without_slash() == text));
        Some(Self { url, host, unchanged })
    }

    /// Returns all addresses that a text can mean, also without a scheme.
    fn parse_all(text: &str) -> Vec<Self> {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        [text.to_owned(), format!("http://{rest}")].iter().filter_map(|text| Self::read(text)).collect()
    }

    fn has_user(&self) -> bool {
        !self.url.username().is_empty() || self.url.password().is_some()
    }
}

/// Whether a text can mean an address.
pub(super) fn is_readable(text: &str) -> bool {
    !Address::parse_all(text).is_empty()
}

/// A pattern for addresses, matched strictly by `allow` rules and broadly by `ask` and `deny` rules.
#[derive(Debug, Clone)]
pub(super) struct AddressPattern {
    scheme: Option<String>,
    host: HostPattern,
    port: Option<u16>,
    /// The path. `None` matches any path.
    path: Option<String>,
}

#[derive(Debug, Clone)]
enum HostPattern {
    Exact(Host),
    /// A name with wildcards, in lower case.
    Wild(String),
}

impl HostPattern {
    fn compile(host: &str) -> Result<Self, String> {
        if !host.contains('*') {
            return Host::parse(host).map(Self::Exact).ok_or_else(|| format!("`{host}` is not a host"));
        }
        let bare = host.trim_start_matches('[').trim_end_matches([']', '.']);
        let labels = bare.split('.').map(|label| match (label.is_ascii(), label.contains('*')) {
            (true, _) => Ok(label.to_ascii_lowercase()),
            (false, false) => Host::parse(label).map(|host| host.text()).ok_or_else(|| format!("`{label}` is not a host")),
            (false, true) => Err(format!("`{label}`: next to a * write the name in its ASCII form, xn--…")),
        });
        Ok(Self::Wild(labels.collect::<Result<Vec<_>, _>>()?.join(".")))
    }

    fn is(&self, host: &Host) -> bool {
        match self {
            Self::Exact(exact) => exact == host,
            Self::Wild(pattern) => matches_wildcard(pattern, &host.text()),
        }
    }

    /// Whether the host is the same address in any notation, the same name, or a subdomain.
    fn may_be(&self, host: &Host) -> bool {
        let host = host.unwrapped();
        match (self, &host) {
            (Self::Exact(Host::Name(name)), Host::Name(other)) => {
                name == other || other.strip_suffix(name.as_str()).is_some_and(|before| before.ends_with('.'))
            }
            (Self::Exact(exact), host) => exact.unwrapped() == *host,
            (Self::Wild(pattern), host) => {
                let text = host.text();
                matches_wildcard(pattern, &text) || matches_wildcard(&format!("*.{pattern}"), &text)
            }
        }
    }

    /// Returns the text of the pattern, to compare it with texts that parsers interpret differently.
    fn letters(&self) -> String {
        match self {
            Self::Exact(host) => host.text(),
            Self::Wild(pattern) => pattern.trim_matches('*').trim_matches('.').to_owned(),
        }
    }
}

impl AddressPattern {
    pub(super) fn compile(written: &str) -> Result<Self, String> {
        let text = written.trim();
        let wrong = || format!("`{text}` is not an address: write a host such as \"docs.rs\" or \"https://docs.rs/*\"");
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '\\' | '%')) {
            return Err(wrong());
        }
        let (scheme, rest) =
            text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme.to_ascii_lowercase()), rest));
        let is_scheme = |scheme: &String| {
            !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') || scheme.as_ref().is_some_and(|scheme| !is_scheme(scheme)) {
            return Err(wrong());
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port).filter(|port| !port.is_empty())),
            Some(_) | None => (authority, None),
        };
        let port = port.map(|port| port.parse::<u16>().map_err(|_| wrong())).transpose()?;
        let default = match scheme.as_deref() {
            Some("http") => Some(80),
            Some("https") => Some(443),
            Some(_) | None => None,
        };
        let host = HostPattern::compile(host).map_err(|_| wrong())?;
        let path = Some(path.to_owned()).filter(|path| !path.is_empty() && path != "/*");
        Ok(Self { scheme, host, port: port.filter(|port| Some(*port) != default), path })
    }

    /// Whether the pattern certainly means this address. False in case of doubt.
    pub(super) fn matches_strictly(&self, text: &str) -> bool {
        let Some(address) = Address::read(text) else { return false };
        let (scheme, path) = (address.url.scheme(), &address.url[Position::BeforePath..]);
        let web = matches!(scheme, "http" | "https");
        let lowered = path.to_ascii_lowercase();
        let climbs = lowered.contains("..") || lowered.contains("%2e");
        let port = match self.port {
            Some(port) => address.url.port_or_known_default() == Some(port),
            None => address.url.port().is_none(),
        };
        address.unchanged
            && !address.has_user()
            && self.scheme.as_ref().map_or(web, |wanted| wanted == scheme)
            && self.host.is(&address.host)
            && port
            && self.path.as_ref().is_none_or(|pattern| !climbs && matches_wildcard(pattern, path))
    }

    /// Whether the pattern may mean this address: in any notation, on any port, also as a subdomain. True in case of doubt: a
    /// text that is not an address matches every pattern.
    pub(super) fn matches_broadly(&self, text: &str) -> bool {
        let readings = Address::parse_all(text);
        // Parsers disagree about these characters.
        let ambiguous =
            text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') || text.matches('@').count() > 1;
        readings.is_empty()
            || readings.iter().any(|address| self.host.may_be(&address.host) && self.may_be_path(&address.url))
            || (ambiguous && text.to_lowercase().contains(&self.host.letters()))
    }

    fn may_be_path(&self, url: &Url) -> bool {
        let path = &url[Position::BeforePath..];
        self.path.as_ref().is_none_or(|pattern| path.contains('%') || path.contains("..") || matches_wildcard(pattern, path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_real_host_counts() {
        let matches_strictly = |pattern: &str, url: &str| AddressPattern::compile(pattern).unwrap().matches_strictly(url);
        for url in
            ["https://docs.rs/serde", "https://docs.rs", "https://docs.rs./x", "https://docs.rs/?q=1", "https://docs.rs?q=1"]
        {
            assert!(matches_strictly("https://docs.rs/*", url) && matches_strictly("docs.rs", url), "{url}");
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
            "https://DOCS.rs/",
            "HTTPS://docs.rs/",
            "https://docs.rs:443/x",
            "https://docs.rs//../x",
            "https://%64ocs.rs/",
            "https://docs。rs/",
            " https://docs.rs/",
            "https://docs\t.rs/",
            "https:/docs.rs/",
            "https:\\\\docs.rs/",
        ] {
            assert!(!matches_strictly("https://docs.rs/*", url), "{url}");
        }
        assert!(
            matches_strictly("*.example.com", "https://a.example.com/")
                && !matches_strictly("*.example.com", "https://example.com/")
                && !matches_strictly("docs.rs", "ftp://docs.rs/")
        );
        assert!(
            matches_strictly("https://docs.rs/serde/*", "https://docs.rs/serde/x")
                && !matches_strictly("https://docs.rs/serde/*", "https://docs.rs/serde/../evil")
        );
        assert!(
            matches_strictly("http://localhost:3000", "http://localhost:3000/x")
                && !matches_strictly("http://localhost:3000", "http://localhost/x")
        );
    }

    #[test]
    fn denied_address_matches_in_any_notation() {
        let pattern = AddressPattern::compile("evil.com").unwrap();
        for url in ["https://evil.com/", "http://a.evil.com:81/x", "https://good@evil.com/", "evil.com", "https://EVIL.com."] {
            assert!(pattern.matches_broadly(url), "{url}");
        }
        assert!(!pattern.matches_broadly("https://good.com/evil.com"));
        assert!(!pattern.matches_broadly("https://xevil.com/"));
        for wrong in ["", "https://", "a b", "https://u@h/", "h:99999", "h:x", "%65vil.com", "[::1", "*.mü*.de"] {
            assert!(AddressPattern::compile(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn invalid_address_patterns_are_refused() {
        for wrong in [
            "docs.rs/a b",
            "docs.rs/a\u{7}",
            "docs.rs/%41",
            "docs.rs/a\\b",
            "a_b://docs.rs",
            "://docs.rs",
            "*@docs.rs",
            "https://*@docs.rs/",
        ] {
            assert!(AddressPattern::compile(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pattern_text_is_searched_only_in_ambiguous_texts() {
        for pattern in ["evil.test", "*.evil.test"] {
            let pattern = AddressPattern::compile(pattern).unwrap();
            for url in [
                "http://good.test/\u{1}x.evil.test",
                "http://good.test/ x.evil.test",
                "http://good.test/\\x.EVIL.test",
                "http://x.evil.test@b@good.test/",
            ] {
                assert!(pattern.matches_broadly(url), "{url:?}");
            }
            for url in
                ["http://good.test/x.evil.test", "http://u@good.test/x.evil.test", "http://good.test/ x", "http://a@b@good.test/"]
            {
                assert!(!pattern.matches_broadly(url), "{url:?}");
            }
        }
    }
}
