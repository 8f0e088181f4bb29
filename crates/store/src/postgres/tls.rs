//! How the certificate of a server is checked, by the modes of libpq.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::config::SslMode;

use crate::error::OpenError;

/// The value of `sslrootcert` for the certificates of the operating system.
const SYSTEM: &str = "system";

/// When a connection is encrypted, and how the server proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TlsMode {
    Disable,
    /// Encrypted if the server can. No protection against an attacker in between.
    #[default]
    Prefer,
    /// Encrypted. The certificate is only checked if there are root certificates, as libpq does.
    Require,
    /// The certificate has to be signed by a root certificate.
    VerifyCa,
    /// The certificate also has to contain the name of the host.
    VerifyFull,
}

impl TlsMode {
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        Ok(match name {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            other => return Err(format!("sslmode must be disable, prefer, require, verify-ca or verify-full, not `{other}`")),
        })
    }

    pub(super) const fn negotiation(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}

/// Creates the configuration of a TLS client. `roots` is the file of `sslrootcert`.
pub(super) fn client_config(mode: TlsMode, roots: Option<&Path>) -> Result<ClientConfig, OpenError> {
    let refused = |detail: &str| Err(OpenError::PostgresAddress { detail: detail.to_owned() });
    let failed = |error: Error| OpenError::PostgresAddress { detail: format!("TLS cannot be set up: {error}") };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(failed)?;
    let is_system = roots.is_some_and(|path| path == Path::new(SYSTEM));
    let (trusted, checks_name) = match (mode, roots) {
        (TlsMode::Disable | TlsMode::Prefer, Some(_)) => return refused("sslrootcert needs sslmode=verify-full"),
        (TlsMode::VerifyCa, None) => return refused("sslmode=verify-ca needs sslrootcert, the root certificate of the server"),
        // Each site with a public certificate could pretend to be the server.
        (TlsMode::Require | TlsMode::VerifyCa, Some(_)) if is_system => {
            return refused("sslrootcert=system needs sslmode=verify-full");
        }
        (TlsMode::Disable | TlsMode::Prefer | TlsMode::Require, None) => (None, false),
        (TlsMode::VerifyFull, Some(path)) if !is_system => (Some(Trusted::read(path)?), true),
        (TlsMode::Require | TlsMode::VerifyCa, Some(path)) => (Some(Trusted::read(path)?), false),
        (TlsMode::VerifyFull, _) => {
            return Ok(with_protocol(builder.with_platform_verifier().map_err(failed)?.with_no_client_auth()));
        }
    };
    let verifier = Arc::new(Verifier { trusted, checks_name, provider });
    Ok(with_protocol(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()))
}

/// Names the protocol, which PostgreSQL 17 requires with `sslnegotiation=direct`.
fn with_protocol(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    config
}

/// The certificates of a file.
#[derive(Debug)]
struct Trusted {
    certificates: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
}

impl Trusted {
    fn read(path: &Path) -> Result<Self, OpenError> {
        let unusable = |error: String| OpenError::Io { path: path.to_owned(), source: std::io::Error::other(error) };
        let text = std::fs::read(path).map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        let certificates = certificates.map_err(|error| unusable(error.to_string()))?;
        if certificates.is_empty() {
            return Err(unusable("it contains no certificate".to_owned()));
        }
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|error| unusable(error.to_string()))?;
        }
        Ok(Self { certificates, roots })
    }
}

/// Checks a certificate as libpq does: with the certificates of a file or not at all, with or without the name of the host.
#[derive(Debug)]
struct Verifier {
    trusted: Option<Trusted>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        // The file can contain the self-signed certificate of the server itself. It is usually marked as an authority, which
        // the other check refuses for the certificate of a server.
        if !trusted.certificates.contains(end_entity) {
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, &trusted.roots, intermediates, now, algorithms)?;
        }
        if self.checks_name {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
