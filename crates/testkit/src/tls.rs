//! A TLS proxy for a server that speaks plain HTTP.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::SelfSignedCertificate;

/// Accepts TLS connections on a free port of the loopback interface and forwards their data. It stops when it is
/// dropped.
#[derive(Debug)]
pub struct TlsFront {
    url: String,
    server: JoinHandle<()>,
}

impl TlsFront {
    /// Starts a proxy for the server at this address, for example `127.0.0.1:4517`.
    ///
    /// # Errors
    /// If the certificate is unusable or no port is available.
    pub async fn start(address: &str, own: &SelfSignedCertificate) -> Result<Self> {
        sayso_net::install_tls();
        let certificate = CertificateDer::from_pem_file(&own.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&own.key)?;
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port for TLS")?;
        let url = format!("https://localhost:{}", listener.local_addr()?.port());
        let address = address.to_owned();
        let server = tokio::spawn(async move {
            // The task ends by being aborted; an error of one connection does not end it.
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, address) = (acceptor.clone(), address.clone());
                tokio::spawn(async move {
                    let mut outside = acceptor.accept(socket).await?;
                    let mut inside = TcpStream::connect(address).await?;
                    copy_bidirectional(&mut outside, &mut inside).await
                });
            }
        });
        Ok(Self { url, server })
    }

    /// The URL for clients.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.server.abort();
    }
}
