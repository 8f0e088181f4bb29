//! The guard in front of every handler. It accepts only the host names of this server and pages of allowed origins, which stops
//! DNS rebinding and requests from pages of other sites.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, Uri, header};

/// Why the guard refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// A host name that this server does not serve.
    Host,
    /// A page of another origin.
    Origin,
}

/// The allowed hosts and origins.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestGuard {
    /// Host names in addition to the loopback names, in lower case and without port.
    pub(crate) hosts: Vec<String>,
    /// Origins whose pages may call, in addition to the server's own.
    pub(crate) origins: Vec<String>,
}

impl RequestGuard {
    /// Checks a request that arrived at this local address. It must have exactly one `Host` header, and a target in absolute
    /// form must name the same host. Otherwise a proxy and this server could read different hosts from one request.
    pub(crate) fn check(&self, target: &Uri, headers: &HeaderMap, local: Option<IpAddr>) -> Result<(), Foreign> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else {
            return Err(Foreign::Host);
        };
        let other_target = target.authority().is_some_and(|named| !named.as_str().eq_ignore_ascii_case(host));
        if other_target || !self.is_our_host(host, local) {
            return Err(Foreign::Host);
        }
        match headers.get(header::ORIGIN) {
            None => Ok(()),
            Some(origin) if self.is_our_origin(origin, host) => Ok(()),
            Some(_) => Err(Foreign::Origin),
        }
    }

    /// Returns the origin header if the configuration allows this origin, so that the response needs CORS headers.
    pub(crate) fn allowed_origin<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        let text = origin.to_str().ok()?;
        self.origins.iter().any(|ours| ours == text).then_some(origin)
    }

    /// An IP address is accepted if the request arrived at it, because DNS rebinding needs a name.
    fn is_our_host(&self, host: &str, local: Option<IpAddr>) -> bool {
        let Some(name) = without_port(host).map(str::to_ascii_lowercase) else { return false };
        let name = name.strip_suffix('.').unwrap_or(&name);
        let number = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(number) => number.parse().ok().map(IpAddr::V6),
            None => name.parse().ok().map(IpAddr::V4),
        };
        is_loopback(name)
            || number.is_some_and(|number| Some(number) == local.map(|local| local.to_canonical()))
            || self.hosts.iter().any(|ours| ours == name)
    }

    fn is_our_origin(&self, origin: &HeaderValue, host: &str) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        if self.origins.iter().any(|ours| ours == origin) {
            return true;
        }
        // The server's own page has the host and port that the request was sent to.
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    }
}

/// Returns the name or address of a host. `None` if it is followed by anything but a port.
fn without_port(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, port) = host.split_at(end);
    let is_port = |port: &str| port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    (port.is_empty() || is_port(port)).then_some(name)
}

fn is_loopback(name: &str) -> bool {
    name == "localhost" || name == "[::1]" || name.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_request(host: &str, origin: Option<&str>) -> Result<(), Foreign> {
        let guard = RequestGuard { hosts: vec!["sayso.test".to_owned()], origins: vec!["https://app.test".to_owned()] };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        guard.check(&Uri::from_static("/v1/asks"), &headers, Some("192.0.2.7".parse().unwrap()))
    }

    #[test]
    fn request_must_name_exactly_one_host() {
        let check = |target: &'static str, hosts: &[&str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().unwrap());
            }
            RequestGuard::default().check(&Uri::from_static(target), &headers, None)
        };
        assert_eq!(check("/", &["localhost:1"]), Ok(()));
        assert_eq!(check("http://LOCALHOST:1/", &["localhost:1"]), Ok(()));
        for (target, hosts) in [
            ("/", &["localhost", "evil.test"][..]),
            ("/", &["localhost", "localhost"]),
            ("/", &[]),
            ("http://evil.test/", &["localhost"]),
            ("http://localhost/", &["evil.test"]),
            ("http://localhost:2/", &["localhost:1"]),
            ("http://user@localhost/", &["user@localhost"]),
        ] {
            assert_eq!(check(target, hosts), Err(Foreign::Host), "{target} {hosts:?}");
        }
    }

    #[test]
    fn only_allowed_hosts_and_origins_pass() {
        for host in [
            "127.0.0.1:4517",
            "localhost",
            "LOCALHOST:1",
            "[::1]:4517",
            "127.8.8.8",
            "sayso.test:80",
            "localhost.",
            "192.0.2.7:4517",
        ] {
            assert_eq!(check_request(host, None), Ok(()), "{host}");
        }
        for host in [
            "evil.test",
            "",
            "127.0.0.1.evil.test",
            "0.0.0.0",
            "localhost.evil.test",
            "[::ffff:127.0.0.1]",
            "2130706433",
            "192.0.2.8",
            "192.0.2.7.evil.test",
            "[::1].evil.test",
            "[::1]evil.test:80",
            "[::1]:80.evil.test",
            "[::1",
            "[127.0.0.1]",
            "localhost:80.evil.test",
            "localhost:evil",
            "localhost:1:2",
            "user@localhost",
        ] {
            assert_eq!(check_request(host, None), Err(Foreign::Host), "{host}");
        }
        assert_eq!(check_request("127.0.0.1:4517", Some("http://127.0.0.1:4517")), Ok(()));
        assert_eq!(check_request("127.0.0.1:4517", Some("https://app.test")), Ok(()));
        for origin in ["null", "http://evil.test", "http://127.0.0.1:4518", "http://127.0.0.1", "http://127.0.0.1:4517.evil.test"]
        {
            assert_eq!(check_request("127.0.0.1:4517", Some(origin)), Err(Foreign::Origin), "{origin}");
        }
    }
}
