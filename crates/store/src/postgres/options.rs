//! The address of a PostgreSQL database.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;

use crate::error::OpenError;

/// The timeout for connecting to one host.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection is considered lost when sent data is not acknowledged for this long.
const UNACKNOWLEDGED: Duration = Duration::from_secs(10);

/// The address and options of a PostgreSQL database.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    pub(super) config: Config,
    /// The largest number of concurrent queries.
    pub readers: usize,
}

impl PostgresOptions {
    /// Parses an address of the form `postgres://user@host/database?…` or `host=… user=…`. Several hosts are tried in order.
    ///
    /// # Errors
    /// When the address is invalid.
    pub fn parse(address: &str) -> Result<Self, OpenError> {
        let mut config: Config = address.parse().map_err(|error: tokio_postgres::Error| {
            let source = std::error::Error::source(&error).map_or_else(String::new, |source| format!(": {source}"));
            OpenError::PostgresAddress { detail: format!("{error}{source}") }
        })?;
        if config.get_application_name().is_none() {
            config.application_name("sayso");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        // Skips standbys, which accept no writes.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self { config, readers: 8 })
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::Host;

    use super::*;

    #[test]
    fn address_names_several_hosts() {
        let options = PostgresOptions::parse("postgres://sayso:secret@one:5433,two/asks").unwrap();
        let config = &options.config;
        assert_eq!(config.get_hosts(), [Host::Tcp("one".to_owned()), Host::Tcp("two".to_owned())]);
        assert_eq!(config.get_ports(), [5433, 5432]);
        assert_eq!((config.get_user(), config.get_dbname()), (Some("sayso"), Some("asks")));
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn invalid_address_is_refused_with_a_reason() {
        let error = PostgresOptions::parse("postgres://host:port/db").unwrap_err();
        assert!(error.to_string().starts_with("the address of the database cannot be read"), "{error}");
    }
}
