//! Settings for access from other devices. Surfaces apply them.

use std::path::PathBuf;

use serde::Deserialize;

/// Command-line options, which take precedence over `config.toml`.
#[derive(Debug, Clone, Default)]
pub struct ReachOptions {
    /// The URL that other devices use.
    pub public_url: Option<String>,
    /// Host names in addition to the loopback names.
    pub allow_hosts: Vec<String>,
    /// The person's own certificate.
    pub tls: Option<TlsFiles>,
}

/// `[server]` of `config.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSettings {
    pub(crate) public_url: Option<String>,
    pub(crate) tls_cert: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
}

/// The files of a certificate, both in PEM format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by its intermediate certificates.
    pub certificate: PathBuf,
    pub key: PathBuf,
}
