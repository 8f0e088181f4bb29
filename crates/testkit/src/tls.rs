//! TLS in front of a server that speaks plain HTTP, with a certificate of its own.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// Takes TLS connections on a free port of the loopback interface and passes on what it hears. It stops when it is
/// dropped.
#[derive(Debug)]
pub struct TlsFront {
    url: String,
    certificate: String,
    server: JoinHandle<()>,
}

impl TlsFront {
    /// Starts it before the server at this address, `127.0.0.1:4517` say.
    ///
    /// # Errors
    /// When no port or no certificate can be had.
    pub async fn start(address: &str) -> Result<Self> {
        sayso_net::install_tls();
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).map_err(anyhow::Error::msg)?;
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port for TLS")?;
        let url = format!("https://localhost:{}", listener.local_addr()?.port());
        let address = address.to_owned();
        let server = tokio::spawn(async move {
            // It ends by being aborted; an error of one connection does not end it.
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, address) = (acceptor.clone(), address.clone());
                tokio::spawn(async move {
                    let mut outside = acceptor.accept(socket).await?;
                    let mut inside = TcpStream::connect(address).await?;
                    copy_bidirectional(&mut outside, &mut inside).await
                });
            }
        });
        Ok(Self { url, certificate: own.cert.pem(), server })
    }

    /// The address to give to clients.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its certificate in PEM. Whoever trusts it connects: `SSL_CERT_FILE` names a file of such.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.server.abort();
    }
}
