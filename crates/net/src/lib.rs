//! Outgoing HTTP. All HTTP clients of Sayso are created here, so that the whole program uses one TLS provider, and all
//! event streams are parsed here.

mod public;
mod sse;

use std::sync::Once;
use std::time::Duration;

pub use public::{AllowedAddresses, Refused, client_within, is_public};
pub use sse::{SseFrame, SseReader, SseTooLarge};

/// Installs `ring` as the TLS provider of this process. Call it before you use TLS without [`client`]. Repeated calls
/// have no effect.
pub fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A program that embeds Sayso may have installed a provider before; it is kept.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// How long an idle connection is kept for reuse. Sayso's server closes idle connections after 30 seconds. A longer
/// time would send requests over connections that the server is closing, and those requests fail.
const IDLE_CONNECTION: Duration = Duration::from_secs(10);

/// Creates a client for this URL. It follows no redirects, so that a token is only sent to the intended server.
///
/// The system's certificates are only loaded for `https`: loading them takes longer than the rest of a command's start,
/// and plain HTTP does not need them.
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
    fn certificates_are_loaded_only_for_https() {
        for url in ["https://box", "HTTPS://box", " https://box"] {
            assert!(is_https(url), "{url}");
        }
        for url in ["", "http://box", "httpsx", "https", "ssh://box", "h\u{fc}tps://"] {
            assert!(!is_https(url), "{url}");
        }
    }

    #[test]
    fn client_is_created_for_every_scheme() {
        for url in ["https://box", "http://127.0.0.1:1", ""] {
            assert!(client(url).build().is_ok(), "{url}");
        }
    }
}
