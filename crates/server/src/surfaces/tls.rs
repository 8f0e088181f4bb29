//! The person's own certificate. It is reloaded when its files change, so renewed certificates need no restart.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use sayso_api::listener::Certificate;
use sayso_core::time::Time;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::reach::TlsFiles;

/// Why certificate files cannot be used. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", .path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The cause of the error.
        source: std::io::Error,
    },
    /// The file contains no certificate.
    #[error("{} has no certificate in PEM; it begins with -----BEGIN CERTIFICATE-----", .path.display())]
    NoCertificate {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file contains no private key.
    #[error("{} has no private key in PEM; it begins with -----BEGIN PRIVATE KEY-----", .path.display())]
    NoKey {
        /// The path of the file.
        path: PathBuf,
    },
    /// Certificate and key do not match, or have an unsupported type.
    #[error("{} and {} cannot be used together: {reason}", .certificate.display(), .key.display())]
    Unfit {
        /// The path of the certificate.
        certificate: PathBuf,
        /// The path of the key.
        key: PathBuf,
        /// The cause of the error.
        reason: String,
    },
}

/// The certificate that was loaded last.
#[derive(Debug)]
struct LoadedCertificate {
    config: Arc<ServerConfig>,
    expires_at: Option<Time>,
}

/// The modification time and size of a file.
type Stamp = Option<(SystemTime, u64)>;

/// The certificate in use.
#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    state: RwLock<TlsState>,
}

#[derive(Debug)]
struct TlsState {
    loaded: LoadedCertificate,
    stamps: [Stamp; 2],
    /// Why the current files cannot be loaded.
    problem: Option<String>,
}

impl Tls {
    /// Loads the files.
    pub(crate) fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let stamps = stamps(&files);
        let loaded = read(&files)?;
        Ok(Self { files, state: RwLock::new(TlsState { loaded, stamps, problem: None }) })
    }

    /// Reloads the files if they have changed. If they are invalid, the loaded certificate stays in use.
    pub(crate) fn reload(&self) {
        let stamps = stamps(&self.files);
        if self.state.read().unwrap_or_else(PoisonError::into_inner).stamps == stamps {
            return;
        }
        let read = read(&self.files);
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.stamps = stamps;
        match read {
            Ok(loaded) => {
                tracing::info!("certificate reloaded");
                state.loaded = loaded;
                state.problem = None;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot reload the certificate; keeping the current one");
                state.problem = Some(error.to_string());
            }
        }
    }

    /// Returns the acceptor for the next connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner).loaded.config))
    }

    /// Describes the certificate for clients.
    pub(crate) fn to_api(&self) -> Certificate {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        Certificate {
            file: self.files.certificate.to_string_lossy().into_owned(),
            expires_at: state.loaded.expires_at,
            problem: state.problem.clone(),
        }
    }
}

fn stamps(files: &TlsFiles) -> [Stamp; 2] {
    let stamp = |path: &Path| fs::metadata(path).ok().and_then(|data| Some((data.modified().ok()?, data.len())));
    [stamp(&files.certificate), stamp(&files.key)]
}

fn read(files: &TlsFiles) -> Result<LoadedCertificate, TlsError> {
    sayso_net::install_tls();
    let bytes = |path: &Path| fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source });
    let no_certificate = || TlsError::NoCertificate { path: files.certificate.clone() };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes(&files.certificate)?)
        .map(|found| found.map(CertificateDer::into_owned))
        .collect::<Result<_, _>>()
        .map_err(|_| no_certificate())?;
    let first = chain.first().ok_or_else(no_certificate)?;
    let expires_at = not_after(first);
    let key = PrivateKeyDer::from_pem_slice(&bytes(&files.key)?).map_err(|_| TlsError::NoKey { path: files.key.clone() })?;
    let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).map_err(|error| {
        TlsError::Unfit { certificate: files.certificate.clone(), key: files.key.clone(), reason: error.to_string() }
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(LoadedCertificate { config: Arc::new(config), expires_at })
}

/// Reads the expiry of a certificate from its DER encoding: the second time in the fifth field of the signed part.
fn not_after(certificate: &[u8]) -> Option<Time> {
    let inside = |bytes, tag| element(bytes).filter(|found| found.tag == tag);
    let mut fields = inside(inside(certificate, 0x30)?.content, 0x30)?.content;
    // Old certificates omit the version.
    if let Some(version) = inside(fields, 0xa0) {
        fields = version.rest;
    }
    for tag in [0x02, 0x30, 0x30] {
        fields = inside(fields, tag)?.rest;
    }
    let end = element(element(inside(fields, 0x30)?.content)?.rest)?;
    let digits = std::str::from_utf8(end.content).ok()?.strip_suffix('Z')?;
    let digits = match end.tag {
        // Years have two digits; those below 50 are after 2000.
        0x17 if digits.starts_with(['0', '1', '2', '3', '4']) => format!("20{digits}"),
        0x17 => format!("19{digits}"),
        0x18 => digits.to_owned(),
        _ => return None,
    };
    let part = |from: usize, to: usize| digits.get(from..to);
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, second) = (part(8, 10)?, part(10, 12)?, part(12, 14)?);
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()
}

/// One DER element, and the bytes after it.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    rest: &'a [u8],
}

fn element(bytes: &[u8]) -> Option<Element<'_>> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // The number of bytes of the length. Certificates never need more than four, and zero is invalid.
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        0x80 | 0x85.. => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some(Element { tag, content, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_certificates_have_no_expiry() {
        assert_eq!(not_after(b""), None);
        for bytes in [&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff][..], &[0x30, 0x80], &[0x30, 0x82, 0x01], &[0x30, 0x02, 0x30, 0x7f]] {
            assert_eq!(not_after(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn error_names_the_invalid_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let files = TlsFiles { certificate: path("c.pem"), key: path("k.pem") };
        let said = || Tls::load(files.clone()).unwrap_err().to_string();
        assert!(said().contains("c.pem cannot be read"), "{}", said());
        fs::write(&files.certificate, "hello").unwrap();
        assert!(said().contains("c.pem has no certificate in PEM"), "{}", said());
        fs::write(&files.certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
        assert!(said().contains("k.pem cannot be read"), "{}", said());
        fs::write(&files.key, "hello").unwrap();
        assert!(said().contains("k.pem has no private key in PEM"), "{}", said());
    }
}
