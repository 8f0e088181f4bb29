//! How other devices reach the server: host names, public URL and certificate.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;

use crate::config::Config;
use crate::config::reach::{ReachOptions, TlsFiles};
use crate::surfaces::tls::{Tls, TlsError};

/// Why a setting is invalid. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// The public URL is invalid.
    #[error("{url} cannot be the public address: {reason}")]
    PublicUrl {
        /// The configured value.
        url: String,
        /// Why the value is invalid.
        reason: &'static str,
    },
    /// One of the two certificate files is missing.
    #[error("a certificate has two files: give both --tls-cert and --tls-key, or tls_cert and tls_key in [server]")]
    OneFile,
    /// The certificate is invalid.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// The validated and loaded settings for access from other devices.
#[derive(Debug)]
pub(crate) struct NetworkAccess {
    /// The public URL, without a slash at the end.
    pub(crate) public_url: Option<String>,
    /// Host names in lower case, without port.
    pub(crate) hosts: Vec<String>,
    pub(crate) tls: Option<Arc<Tls>>,
}

impl NetworkAccess {
    /// Combines command-line options and configuration.
    pub(crate) fn new(options: ReachOptions, config: &Config) -> Result<Self, ReachError> {
        let settings = config.server.clone();
        let public = options.public_url.or(settings.public_url).map(|url| public(&url)).transpose()?;
        let files = match (options.tls, settings.tls_cert, settings.tls_key) {
            (Some(files), _, _) => Some(files),
            (None, Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None, None) => None,
            (None, Some(_), None) | (None, None, Some(_)) => return Err(ReachError::OneFile),
        };
        let tls = files.map(Tls::load).transpose()?.map(Arc::new);
        let (public_url, host) = public.unzip();
        let named = config.allow_hosts.iter().chain(&options.allow_hosts).map(|host| host.to_ascii_lowercase());
        Ok(Self { public_url, hosts: named.chain(host).collect(), tls })
    }
}

/// Returns the URL without a slash at the end, and its host name.
fn public(given: &str) -> Result<(String, String), ReachError> {
    let bad = |reason| ReachError::PublicUrl { url: given.to_owned(), reason };
    let url: Url = given.parse().map_err(|_| bad("it must look like https://box.example"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it must begin with https:// or http://"));
    }
    let host = url.host_str().ok_or_else(|| bad("it names no host"))?.to_owned();
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return Err(bad("the page is at the root of a host; omit the path"));
    }
    Ok((url.as_str().trim_end_matches('/').to_owned(), host))
}

/// Returns the URL for programs on this machine.
pub(crate) fn local_url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_address_must_be_a_host() {
        let good = |url: &str| public(url).unwrap();
        assert_eq!(good("https://Box.Example/"), ("https://box.example".to_owned(), "box.example".to_owned()));
        assert_eq!(good("http://192.0.2.7:4517").1, "192.0.2.7");
        assert_eq!(good("https://[2001:db8::7]:1").1, "[2001:db8::7]");
        for bad in
            ["", "box", "ftp://box", "https://box/sayso", "https://box/?a", "https://box/#a", "https://me@box", "file:///x"]
        {
            assert!(public(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn local_url_of_a_wildcard_address_is_loopback() {
        let called = |address: &str| local_url(address.parse().unwrap());
        assert_eq!(called("0.0.0.0:4517"), "http://127.0.0.1:4517");
        assert_eq!(called("[::]:1"), "http://[::1]:1");
        assert_eq!(called("192.0.2.7:1"), "http://192.0.2.7:1");
    }
}
