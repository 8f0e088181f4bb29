//! Outgoing HTTP: every client of Sayso is made here, so that the whole program has one TLS provider, and every event stream is
//! read here.

mod public;
mod sse;

use std::sync::Once;
use std::time::Duration;

pub use public::{AllowedAddresses, Refused, client_within, is_public};
pub use sse::{SseFrame, SseReader, SseTooLarge};

/// Makes `ring` the TLS provider of this program. Whoever makes a TLS connection by other means than
/// [`client`] calls it first; more than once does no harm.
pub fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Only a program that embeds Sayso can have chosen one before; then that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// How long a connection without a request is kept for the next one. Sayso's server closes such a connection after 30
/// seconds. A client that keeps it longer sends requests into connections that the server is closing, and those fail.
const IDLE_CONNECTION: Duration = Duration::from_secs(10);

/// A client for this address. It follows no redirect: a token goes where it was meant to go, or nowhere.
///
/// The certificates of the system are read for `https` alone: that takes longer than all else at the start of a
/// command, and an address without TLS needs none.
pub fn client(url: &str) -> reqwest::ClientBuilder {
    install_tls();
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).pool_idle_timeout(IDLE_CONNECTION);
    if is_https(url) { builder } else { builder.tls_certs_only([]) }
}

fn is_https(url: &str) -> bool {
    url.trim_start().get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_needs_certificates() {
        for url in ["https://box", "HTTPS://box", " https://box"] {
            assert!(is_https(url), "{url}");
        }
        for url in ["", "http://box", "httpsx", "https", "ssh://box", "h\u{fc}tps://"] {
            assert!(!is_https(url), "{url}");
        }
    }

    #[test]
    fn a_client_is_made_for_every_address() {
        for url in ["https://box", "http://127.0.0.1:1", ""] {
            assert!(client(url).build().is_ok(), "{url}");
        }
    }
}
