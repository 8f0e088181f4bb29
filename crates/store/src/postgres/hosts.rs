//! The hosts of a database, and how to connect to the first one that accepts writes.

use rustls::ClientConfig;
use tokio::time::timeout;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::describe;
use super::password_file::PasswordFile;
use crate::error::StoreError;

/// The configuration of one host.
#[derive(Debug, Clone)]
pub(super) struct HostConfig {
    /// The host name or the directory of the socket, for messages and the password file.
    pub(super) name: String,
    pub(super) port: u16,
    pub(super) config: Config,
}

#[derive(Debug, Clone)]
pub(super) struct Hosts {
    hosts: Vec<HostConfig>,
    tls: ClientConfig,
    password_file: Option<PasswordFile>,
}

impl Hosts {
    pub(super) const fn new(hosts: Vec<HostConfig>, tls: ClientConfig, password_file: Option<PasswordFile>) -> Self {
        Self { hosts, tls, password_file }
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &HostConfig> {
        self.hosts.iter()
    }

    /// Connects to the first host that accepts writes. The error has the reasons of all hosts.
    pub(super) async fn connect(
        &self,
    ) -> Result<(Client, Connection<Socket, impl tokio_postgres::tls::TlsStream + Unpin + Send + 'static + use<>>), StoreError>
    {
        let mut reasons = Vec::new();
        for host in &self.hosts {
            match self.connect_to(host).await {
                Ok(connected) => return Ok(connected),
                Err(reason) => reasons.push(format!("{}:{}: {reason}", host.name, host.port)),
            }
        }
        Err(StoreError::Unavailable(reasons.join("; ")))
    }

    async fn connect_to(
        &self,
        host: &HostConfig,
    ) -> Result<(Client, Connection<Socket, impl tokio_postgres::tls::TlsStream + Unpin + Send + 'static + use<>>), String> {
        let mut config = host.config.clone();
        if let Some(file) = &self.password_file
            && let Some(password) = file.find(host).await?
        {
            config.password(password);
        }
        let connecting = config.connect(MakeRustlsConnect::new(self.tls.clone()));
        // The timeout of the configuration is for the TCP connection. A server that does not respond accepts that, but does not
        // reply. Twice the timeout leaves time for a second address of the same name.
        let limit = config.get_connect_timeout().copied().unwrap_or_default() * 2;
        match timeout(limit, connecting).await {
            Ok(Ok(connected)) => Ok(connected),
            Ok(Err(error)) => Err(describe(&error)),
            Err(_) => Err("no reply".to_owned()),
        }
    }
}
