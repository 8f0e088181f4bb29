//! A self-signed certificate for tests of TLS.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};

/// The files of a certificate for `localhost` and the loopback address.
#[derive(Debug, Clone)]
pub struct SelfSignedCertificate {
    /// The certificate, which is also the trust anchor.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl SelfSignedCertificate {
    /// Creates a certificate that expires at the start of this year, and writes it to a directory.
    ///
    /// # Errors
    /// If it cannot be created or written.
    pub fn until(year: i32, dir: &Path) -> Result<Self> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        params.not_after = date_time_ymd(year, 1, 1);
        let made = Self { certificate: dir.join("cert.pem"), key: dir.join("key.pem") };
        std::fs::write(&made.certificate, params.self_signed(&key)?.pem())?;
        std::fs::write(&made.key, key.serialize_pem())?;
        std::fs::set_permissions(&made.key, std::fs::Permissions::from_mode(0o600))?;
        Ok(made)
    }

    /// A client that only trusts this certificate.
    ///
    /// # Errors
    /// If the certificate cannot be read.
    pub fn client(&self) -> Result<reqwest::Client> {
        let trusted = reqwest::Certificate::from_pem(&std::fs::read(&self.certificate)?)?;
        Ok(sayso_net::client("https:").tls_certs_only([trusted]).build()?)
    }
}
