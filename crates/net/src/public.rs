//! HTTP calls to URLs from files or untrusted sources, which must not reach this machine or its networks.
//!
//! Names are resolved here, and the connection uses exactly the addresses that were checked. A name that resolves
//! differently a moment later (DNS rebinding) cannot bypass the check.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The addresses that a client may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedAddresses {
    /// Only public internet addresses.
    Public,
    /// Any address, because the user allowed it for this URL.
    Anywhere,
}

/// The reason why no client was created.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The URL is invalid.
    #[error("it must begin with http:// or https://, without a user in it")]
    Address,
    /// The URL names this machine or a private network.
    #[error("it is an address of this machine or of a private network; allow_private = true allows it")]
    Private,
    /// The HTTP client could not be initialized.
    #[error("cannot create an HTTP client")]
    Client(#[source] reqwest::Error),
}

/// All addresses of the name are private.
#[derive(Debug, thiserror::Error)]
#[error("the name resolves to an address of this machine or of a private network; allow_private = true allows it")]
struct NoPublicAddress;

/// Creates a client for this URL only. It follows no redirects and uses no proxy.
///
/// # Errors
/// If the URL is invalid, or if its address is not allowed.
pub fn client_within(url: &str, reach: AllowedAddresses) -> Result<reqwest::Client, Refused> {
    let parsed: reqwest::Url = url.parse().map_err(|_| Refused::Address)?;
    let is_web = matches!(parsed.scheme(), "http" | "https") && parsed.host_str().is_some_and(|host| !host.is_empty());
    if !is_web || !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(Refused::Address);
    }
    let builder = crate::client(url).no_proxy();
    let builder = match reach {
        AllowedAddresses::Anywhere => builder,
        AllowedAddresses::Public => {
            if literal_address(&parsed).is_some_and(|address| !is_public(address)) {
                return Err(Refused::Private);
            }
            builder.dns_resolver(PublicResolver)
        }
    };
    builder.build().map_err(Refused::Client)
}

/// The IP address in a URL, if its host is one. The parser normalizes `0x7f.1` and `2130706433` like a browser.
fn literal_address(url: &reqwest::Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    inner.parse().ok()
}

/// A resolver that only returns public addresses.
#[derive(Debug)]
struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let public: Vec<SocketAddr> = found.into_iter().filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(NoPublicAddress.into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is a public internet address: not loopback, private, link-local, shared, documentation, multicast
/// or reserved, and not an address that embeds another address.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224..=255, _, _)
    )
}

/// Only global unicast addresses, without the ranges for tunnels, tests and documentation.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let global = a & 0xe000 == 0x2000;
    let special = (a == 0x2001 && (b < 0x0200 || b == 0x0db8)) || a == 0x2002 || (a == 0x3fff && b < 0x1000);
    global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_special_addresses_are_not_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "2001:4860:4860::8888",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2001:10::1",
            "2002:7f00:1::1",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    /// The resolved address decides, whatever notation the host uses.
    #[test]
    fn addresses_are_normalized_like_in_a_browser() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://0x7f.1/",
            "http://127.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]:80/x",
            "http://0/",
            "http://169.254.169.254/latest",
            "http://10.1/",
            "https://192.168.0.1:8443/",
            "http://%31%32%37.0.0.1/",
            "http://127.0.0.1./",
            "http://\u{ff11}27.0.0.1/",
        ] {
            assert!(matches!(client_within(url, AllowedAddresses::Public), Err(Refused::Private)), "{url}");
            assert!(client_within(url, AllowedAddresses::Anywhere).is_ok(), "{url}");
        }
        for url in [
            "",
            "nonsense",
            "ftp://1.1.1.1/",
            "file:///etc/passwd",
            "http://",
            "http://user@1.1.1.1/",
            "http://u:p@host/",
            "//host/",
        ] {
            assert!(matches!(client_within(url, AllowedAddresses::Public), Err(Refused::Address)), "{url}");
        }
        assert!(client_within("https://1.1.1.1/hook", AllowedAddresses::Public).is_ok());
        assert!(client_within("https://hooks.example.com/x", AllowedAddresses::Public).is_ok());
    }

    #[tokio::test]
    async fn name_of_this_machine_is_refused() {
        let client = client_within("http://localhost:9/", AllowedAddresses::Public).unwrap();
        let error = client.get("http://localhost:9/").send().await.unwrap_err();
        assert!(error.is_connect(), "{error:?}");
        assert!(format!("{error:?}").contains("NoPublicAddress"), "{error:?}");
    }
}
