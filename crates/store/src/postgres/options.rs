//! The address and options of a PostgreSQL database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::hosts::{HostConfig, Hosts};
use super::password_file::PasswordFile;
use super::secret_key::SecretKey;
use super::tls::{self, TlsMode};
use crate::error::OpenError;

/// The default timeout for connecting to one host.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection is considered lost when sent data is not acknowledged for this long.
const UNACKNOWLEDGED: Duration = Duration::from_secs(10);
const DEFAULT_PORT: u16 = 5432;
const PREFIXES: [&str; 2] = ["postgres://", "postgresql://"];

/// The address and options of a PostgreSQL database.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    pub(super) hosts: Hosts,
    pub(super) secret_key: Arc<SecretKey>,
    /// The largest number of concurrent queries.
    pub readers: usize,
    /// The timeout of replies. After it, the transaction and its connection are dropped.
    pub reply_timeout: Duration,
}

/// The parameters of an address that `tokio_postgres` does not know.
#[derive(Default)]
struct OwnParameters {
    ssl_mode: TlsMode,
    root_certificates: Option<PathBuf>,
    password_file: Option<PathBuf>,
}

impl PostgresOptions {
    /// Parses a URL of the form `postgres://user@host:port/database?…`. It can name several hosts, separated by commas. They are
    /// tried in order until one accepts writes. The parameters are those of libpq that `tokio_postgres` supports, and `sslmode`
    /// (`disable`, `prefer`, `require`, `verify-ca` or `verify-full`), `sslrootcert` and `passfile`.
    ///
    /// `default_password_file` is used if the URL contains neither a password nor `passfile`. It may be missing.
    ///
    /// # Errors
    /// When the URL is invalid, or the file of `sslrootcert` cannot be used.
    pub fn parse(url: &str, secret_key: SecretKey, default_password_file: Option<PathBuf>) -> Result<Self, OpenError> {
        let (url, own) = split_parameters(url)?;
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let source = std::error::Error::source(&error).map_or_else(String::new, |source| format!(": {source}"));
            invalid(format!("{error}{source}"))
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
        config.ssl_mode(own.ssl_mode.negotiation());
        let password_file = match own.password_file {
            Some(path) => Some(PasswordFile { path, is_required: true }),
            None => default_password_file.map(|path| PasswordFile { path, is_required: false }),
        };
        let password_file = password_file.filter(|_| config.get_password().is_none());
        let tls = tls::client_config(own.ssl_mode, own.root_certificates.as_deref())?;
        let hosts = Hosts::new(split_hosts(&config)?, tls, password_file);
        Ok(Self { hosts, secret_key: Arc::new(secret_key), readers: 8, reply_timeout: Duration::from_secs(30) })
    }
}

fn invalid(detail: impl Into<String>) -> OpenError {
    OpenError::PostgresAddress { detail: detail.into() }
}

/// Removes the parameters from a URL that `tokio_postgres` does not know.
fn split_parameters(url: &str) -> Result<(String, OwnParameters), OpenError> {
    if !PREFIXES.iter().any(|prefix| url.starts_with(prefix)) {
        return Err(invalid("it does not start with postgres://"));
    }
    let mut own = OwnParameters::default();
    // A password can contain a question mark.
    let after_credentials = url.find('@').unwrap_or(0);
    let Some(question_mark) = url[after_credentials..].find('?').map(|at| after_credentials + at) else {
        return Ok((url.to_owned(), own));
    };
    let (base, query) = (&url[..question_mark], &url[question_mark + 1..]);
    let mut others = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = || percent_decode_str(value).decode_utf8().map_err(|_| invalid(format!("{key} is not UTF-8")));
        match key {
            "sslmode" => own.ssl_mode = TlsMode::parse(&value()?).map_err(invalid)?,
            "sslrootcert" => own.root_certificates = Some(PathBuf::from(value()?.as_ref())),
            "passfile" => own.password_file = Some(PathBuf::from(value()?.as_ref())),
            _ => others.push(parameter),
        }
    }
    Ok((format!("{base}?{}", others.join("&")), own))
}

/// Returns one configuration per host, because each host has a timeout and a password of its own.
fn split_hosts(config: &Config) -> Result<Vec<HostConfig>, OpenError> {
    let (names, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    if count == 0 {
        return Err(invalid("it names no host"));
    }
    if !names.is_empty() && !addresses.is_empty() && names.len() != addresses.len() {
        return Err(invalid(format!("it has {} hosts and {} addresses of hosts", names.len(), addresses.len())));
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(invalid(format!("it has {count} hosts and {} ports", ports.len())));
    }
    let hosts = (0..count).map(|at| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
        let address = addresses.get(at).copied();
        let host = names.get(at).cloned().or_else(|| address.map(|address| Host::Tcp(address.to_string())));
        let mut one = copy_without_hosts(config);
        let name = match host {
            Some(Host::Tcp(name)) => {
                one.host(&name);
                name
            }
            Some(Host::Unix(dir)) => {
                one.host_path(&dir);
                // PostgreSQL has no TLS on Unix sockets, and libpq ignores the mode there as well.
                one.ssl_mode(SslMode::Disable);
                dir.to_string_lossy().into_owned()
            }
            None => return Err(invalid("it names no host")),
        };
        one.port(port);
        if let Some(address) = address {
            one.hostaddr(address);
        }
        Ok(HostConfig { name, port, config: one })
    });
    hosts.collect()
}

/// `tokio_postgres` can add hosts to a configuration, but not remove them.
fn copy_without_hosts(from: &Config) -> Config {
    let mut to = Config::new();
    if let Some(user) = from.get_user() {
        to.user(user);
    }
    if let Some(password) = from.get_password() {
        to.password(password);
    }
    if let Some(name) = from.get_dbname() {
        to.dbname(name);
    }
    if let Some(options) = from.get_options() {
        to.options(options);
    }
    if let Some(name) = from.get_application_name() {
        to.application_name(name);
    }
    if let Some(timeout) = from.get_connect_timeout() {
        to.connect_timeout(*timeout);
    }
    if let Some(timeout) = from.get_tcp_user_timeout() {
        to.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = from.get_keepalives_interval() {
        to.keepalives_interval(interval);
    }
    if let Some(retries) = from.get_keepalives_retries() {
        to.keepalives_retries(retries);
    }
    to.keepalives(from.get_keepalives())
        .keepalives_idle(from.get_keepalives_idle())
        .ssl_mode(from.get_ssl_mode())
        .ssl_negotiation(from.get_ssl_negotiation())
        .channel_binding(from.get_channel_binding())
        .target_session_attrs(from.get_target_session_attrs())
        .load_balance_hosts(from.get_load_balance_hosts());
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<PostgresOptions, OpenError> {
        PostgresOptions::parse(url, SecretKey::parse(&"a".repeat(64))?, None)
    }

    #[test]
    fn url_names_several_hosts() {
        let options = parse("postgres://sayso:hunter2?@one:5433,two/asks?sslmode=require&connect_timeout=2").unwrap();
        let found: Vec<_> = options.hosts.iter().map(|host| (host.name.as_str(), host.port)).collect();
        assert_eq!(found, [("one", 5433), ("two", 5432)]);
        for host in options.hosts.iter() {
            let config = &host.config;
            assert_eq!((config.get_hosts().len(), config.get_ports()), (1, &[host.port][..]));
            assert_eq!((config.get_user(), config.get_dbname()), (Some("sayso"), Some("asks")));
            assert_eq!(config.get_password(), Some(b"hunter2?".as_slice()));
            assert_eq!((config.get_ssl_mode(), config.get_connect_timeout()), (SslMode::Require, Some(&Duration::from_secs(2))));
            assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        }
        assert!(!format!("{options:?}").contains("hunter2"));
    }

    #[test]
    fn unix_socket_has_no_tls() {
        let options = parse("postgres://sayso@%2Frun%2Fpostgresql/asks?sslmode=require").unwrap();
        let host = options.hosts.iter().next().unwrap();
        assert_eq!((host.name.as_str(), host.config.get_ssl_mode()), ("/run/postgresql", SslMode::Disable));
    }

    #[test]
    fn invalid_url_is_refused_with_a_reason() {
        for (url, reason) in [
            ("postgres://host:port/db", "port"),
            ("host=one user=sayso", "it does not start with postgres://"),
            ("postgres:///db", "it names no host"),
            ("postgres://one/db?colour=blue", "unknown option `colour`"),
            ("postgres://one/db?sslmode=allow", "sslmode must be disable, prefer, require, verify-ca or verify-full"),
            ("postgres://one/db?sslmode=verify-ca", "sslmode=verify-ca needs sslrootcert"),
            ("postgres://one/db?sslrootcert=%ff", "sslrootcert is not UTF-8"),
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(error.starts_with("the address of the database cannot be read: "), "{error}");
            assert!(error.contains(reason), "{error}");
        }
        let missing = parse("postgres://one/db?sslmode=verify-full&sslrootcert=/missing/root.crt").unwrap_err();
        assert_eq!(missing.to_string(), "cannot use /missing/root.crt");
    }
}
