//! Connections over TCP: TLS, passwords, and several hosts.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use sayso_core::scope::Scope;
use sayso_store::read::ListAsks;
use sayso_store::{Commit, OpenError, PostgresOptions, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};

use super::cluster::{Cluster, write_private};
use crate::world::{MAIN, entropy};

/// The name in the server's certificate.
const NAME: &str = "db.example";
const PORT: u16 = 15432;

/// A server with TLS and passwords.
struct NetworkServer {
    cluster: Cluster,
    address: Ipv4Addr,
    /// The authority that signed the server's certificate.
    authority: PathBuf,
    /// Another authority, which the client must not accept for this server.
    stranger: PathBuf,
    certificate: PathBuf,
}

impl NetworkServer {
    /// Returns the server that these tests share. The first call starts it.
    fn shared() -> &'static Self {
        static SHARED: OnceLock<NetworkServer> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    fn start() -> Self {
        // Each process has an address of its own, so that test binaries that run at the same time do not compete for a port.
        let [.., a, b] = std::process::id().to_be_bytes();
        let address = Ipv4Addr::new(127, 77, a, b);
        let cluster = Cluster::start(PORT, |data| {
            let (authority, issuer) = new_authority();
            let (stranger, _) = new_authority();
            let key = KeyPair::generate().unwrap();
            let certificate = CertificateParams::new(vec![NAME.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
            write_private(&data.join("server.key"), &key.serialize_pem());
            write_private(&data.join("server.crt"), &certificate.pem());
            fs::write(data.join("authority.crt"), authority).unwrap();
            fs::write(data.join("stranger.crt"), stranger).unwrap();
            fs::write(data.join("pg_hba.conf"), "local all all trust\nhost all all 127.0.0.0/8 scram-sha-256\n").unwrap();
            vec![format!("listen_addresses = '{address}'"), "ssl = on".to_owned()]
        });
        let data = cluster.dir().join("data");
        let [authority, stranger, certificate] = ["authority.crt", "stranger.crt", "server.crt"].map(|name| data.join(name));
        Self { cluster, address, authority, stranger, certificate }
    }

    /// Connects as the administrator through the Unix socket.
    async fn admin(&self) -> Client {
        let address = format!("host={} port={PORT} user=sayso dbname=postgres", self.cluster.dir().display());
        let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Creates a user with a database of the same name.
    async fn user(&self, password: &str) -> String {
        let name = format!("user_{}", u64::from_be_bytes(entropy()[2..].try_into().unwrap()));
        let admin = self.admin().await;
        admin.batch_execute(&format!("CREATE ROLE {name} LOGIN PASSWORD '{password}'")).await.unwrap();
        admin.batch_execute(&format!("CREATE DATABASE {name} OWNER {name}")).await.unwrap();
        name
    }

    /// Returns the URL of a user's database. The server appears under this host name.
    fn url(&self, user: &str, host: &str, parameters: &str) -> String {
        format!("postgres://{user}@{host}:{PORT}/{user}?hostaddr={}&{parameters}", self.address)
    }
}

/// Creates a certificate of an authority. All have the same name, so that only their keys differ.
fn new_authority() -> (String, Issuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = params.self_signed(&key).unwrap().pem();
    (pem, Issuer::new(params, key))
}

async fn connect(url: &str, passwords: Option<PathBuf>) -> Result<Store, OpenError> {
    Store::connect(PostgresOptions::parse(url, super::key("a"), passwords)?, |_: Commit| {}).await
}

async fn error_of(url: &str, passwords: Option<PathBuf>) -> String {
    connect(url, passwords).await.unwrap_err().to_string()
}

fn write_passwords(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn certificate_is_checked_as_the_tls_mode_says() {
    let server = NetworkServer::shared();
    let user = server.user("secret").await;
    let admin = server.admin().await;
    let [authority, stranger, certificate] =
        [&server.authority, &server.stranger, &server.certificate].map(|path| format!("sslrootcert={}", path.display()));
    let cases = [
        (NAME, "sslmode=disable".to_owned(), Ok(false)),
        (NAME, String::new(), Ok(true)),
        (NAME, "sslmode=require".to_owned(), Ok(true)),
        (NAME, "sslmode=require&channel_binding=require".to_owned(), Ok(true)),
        (NAME, format!("sslmode=require&{authority}"), Ok(true)),
        (NAME, format!("sslmode=require&{stranger}"), Err("invalid peer certificate")),
        ("wrong.example", format!("sslmode=verify-ca&{authority}"), Ok(true)),
        (NAME, format!("sslmode=verify-ca&{stranger}"), Err("invalid peer certificate")),
        (NAME, format!("sslmode=verify-full&{authority}"), Ok(true)),
        (NAME, format!("sslmode=verify-full&{certificate}"), Ok(true)),
        ("wrong.example", format!("sslmode=verify-full&{authority}"), Err("not valid for name")),
        ("wrong.example", format!("sslmode=verify-full&{certificate}"), Err("not valid for name")),
        (NAME, format!("sslmode=verify-full&{stranger}"), Err("invalid peer certificate")),
        // The certificates of the system.
        (NAME, "sslmode=verify-full".to_owned(), Err("certificate")),
        (NAME, "sslmode=verify-full&sslrootcert=system".to_owned(), Err("certificate")),
    ];
    for (number, (host, parameters, expected)) in cases.into_iter().enumerate() {
        let name = format!("case {number}");
        let url = server.url(&user, host, &format!("password=secret&application_name=case%20{number}&{parameters}"));
        match (connect(&url, None).await, expected) {
            (Ok(store), Ok(is_encrypted)) => {
                let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1";
                let found: Option<bool> = admin.query_typed_one(sql, &[(&name, Type::TEXT)]).await.unwrap().get(0);
                assert_eq!(found, Some(is_encrypted), "{parameters}");
                store.close().await;
            }
            (Err(error), Err(reason)) => assert!(error.to_string().contains(reason), "{parameters}: {error}"),
            (found, expected) => panic!("{host} {parameters}: {found:?} instead of {expected:?}"),
        }
    }
}

/// A server without TLS, or an attacker that claims to be one.
#[tokio::test]
async fn required_tls_is_not_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        client.read_exact(&mut [0; 8]).await.unwrap();
        client.write_all(b"N").await.unwrap();
        client.read_to_end(&mut Vec::new()).await.unwrap()
    });
    let error = error_of(&format!("postgres://sayso@127.0.0.1:{port}/asks?sslmode=require"), None).await;
    assert!(error.contains("server does not support TLS"), "{error}");
    assert_eq!(server.await.unwrap(), 0, "nothing was sent in plain text");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_password_is_read_from_its_file_again() {
    let server = NetworkServer::shared();
    let (user, other) = (server.user("one:1").await, server.user("other").await);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("passwords");
    let lines = |password: &str| format!("{NAME}:{PORT}:*:{other}:other\n{NAME}:*:{user}:{user}:{password}\n");
    write_passwords(&file, &lines("one\\:1"));
    let store = connect(&server.url(&user, NAME, ""), Some(file.clone())).await.unwrap();
    let admin = server.admin().await;
    admin.batch_execute(&format!("ALTER ROLE {user} PASSWORD 'two'")).await.unwrap();
    write_passwords(&file, &lines("two"));
    let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = $1";
    admin.query_typed(end, &[(&user, Type::TEXT)]).await.unwrap();
    let pending = store.read(ListAsks::pending(MAIN, Scope::All, 10)).await.unwrap();
    assert!(pending.rows.is_empty());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_password_is_reported_with_the_reason() {
    let server = NetworkServer::shared();
    let user = server.user("secret").await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("passwords");
    let passfile = format!("passfile={}", file.display());
    let error = error_of(&server.url(&user, NAME, &passfile), None).await;
    assert!(error.contains("cannot use the password file") && error.contains("No such file"), "{error}");
    fs::write(&file, format!("*:*:*:{user}:secret\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let error = error_of(&server.url(&user, NAME, &passfile), None).await;
    assert!(error.contains("other users can read it; run `chmod 600` on it"), "{error}");
    // A default file that cannot be used is ignored.
    let error = error_of(&server.url(&user, NAME, ""), Some(file.clone())).await;
    assert!(error.contains("password"), "{error}");
    let error = error_of(&server.url(&user, NAME, "password=wrong"), Some(file)).await;
    assert!(error.contains("password authentication failed"), "{error}");
    assert!(!error.contains("wrong"), "{error}");
}

/// One host accepts connections and does not reply, one refuses connections.
#[tokio::test(flavor = "multi_thread")]
async fn hosts_are_tried_until_one_accepts_writes() {
    let server = NetworkServer::shared();
    let user = server.user("secret").await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_address = silent.local_addr().unwrap();
    let (good, closed) = (SocketAddr::from((server.address, PORT)), SocketAddr::from((server.address, PORT + 1)));
    let down = format!("{silent_address},{closed}");
    connect(&format!("postgres://{user}:secret@{down},{good}/{user}"), None).await.unwrap().close().await;
    let error = error_of(&format!("postgres://{user}:secret@{down}/{user}?connect_timeout=1"), None).await;
    assert!(error.contains(&format!("{silent_address}: no reply; {closed}: ")), "{error}");
    assert!(error.contains("Connection refused"), "{error}");
    let read_only = format!("postgres://{user}:secret@{good}/{user}?options=-c%20default_transaction_read_only%3Don");
    let error = error_of(&read_only, None).await;
    assert!(error.contains("database does not allow writes"), "{error}");
}

/// Since PostgreSQL 15, only owners may create tables in the schema of a database.
#[tokio::test(flavor = "multi_thread")]
async fn missing_privilege_is_reported_with_the_next_step() {
    let server = NetworkServer::shared();
    let user = server.user("secret").await;
    let url = format!("postgres://{user}:secret@{}/postgres", SocketAddr::from((server.address, PORT)));
    let refused = connect(&url, None).await;
    let Err(OpenError::PostgresPrivilege { detail }) = &refused else { panic!("{refused:?}") };
    assert_eq!(detail, "permission denied for schema public (42501)");
}
