//! How other devices reach the server: the settings. Surfaces apply them.

use std::path::PathBuf;

use serde::Deserialize;

/// What the command line says about it. It comes before `config.toml`.
#[derive(Debug, Clone, Default)]
pub struct ReachOptions {
    /// The address that other devices use.
    pub public_url: Option<String>,
    /// Host names beside the loopback ones.
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

/// The files of a certificate, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, with those that lead to its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}
