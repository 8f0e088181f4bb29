//! Notifications are sent only to public addresses unless the configuration allows others. The test re-executes itself in a
//! network namespace in which every address belongs to this machine.

use std::process::Command;

use sayso_testkit::receivers::Receiver;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::world::World;

/// Set for the inner run; names a directory.
const INSIDE: &str = "SAYSO_SERVER_TEST_NETWORK";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// An address of the internet, which belongs to this machine in the namespace.
const PUBLIC: &str = "93.184.215.14";
const PORT: u16 = 8080;

/// Whether this is the inner run. Else runs the test of this name inside and checks it.
fn inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    // Root needs no user namespace; other users become root of one.
    let root = Command::new("unshare").args(["--net", "true"]).status().is_ok_and(|status| status.success());
    let namespaces: &[&str] = if root { &["--net", "--mount"] } else { &["--map-root-user", "--net", "--mount"] };
    let mut unshare = Command::new("unshare");
    unshare.args(namespaces).arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    let output = unshare.output().unwrap_or_else(|error| panic!("unshare (of util-linux) is needed: {error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    false
}

fn ip(args: &[&str]) {
    let done = Command::new("ip").args(args).status().unwrap_or_else(|error| panic!("ip (of iproute2) is needed: {error}"));
    assert!(done.success(), "ip {args:?}");
}

/// Sends a test notification to each of these addresses and returns the results.
async fn send(urls: &[&str], more: &str) -> Vec<Value> {
    let mut config = String::new();
    for (number, url) in urls.iter().enumerate() {
        config +=
            &format!("[[notify]]\nname = \"n{number}\"\nkind = \"webhook\"\nurl = \"{url}\"\nsecret_env = \"HOOK\"\n{more}\n");
    }
    let world = World::with(|setup| {
        setup.options.environment.push(("HOOK".to_owned(), SECRET.to_owned()));
        setup.config = Some(config);
    })
    .await;
    world.admin.post("/v1/notify/test", json!({})).await.expect(200)["data"].as_array().unwrap().clone()
}

#[test]
fn notifications_reach_no_private_address() {
    if !inside("ssrf::notifications_reach_no_private_address") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let hosts = dir.path().join("hosts");
    let names = |flipping: &str| {
        format!(
            "127.0.0.1 localhost\n10.1.2.3 ten.test\n169.254.169.254 meta.test\nfd00::1 six.test\n{PUBLIC} public.test\n{flipping} flip.test\n"
        )
    };
    std::fs::write(&hosts, names(PUBLIC)).unwrap();
    assert!(Command::new("mount").args(["--bind"]).arg(&hosts).arg("/etc/hosts").status().unwrap().success());
    ip(&["link", "set", "lo", "up"]);
    for address in ["10.1.2.3/32", "169.254.169.254/32", "192.168.7.7/32", "100.64.1.1/32", &format!("{PUBLIC}/32")] {
        ip(&["addr", "add", address, "dev", "lo"]);
    }
    ip(&["-6", "addr", "add", "fd00::1/128", "dev", "lo", "nodad"]);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let listener = TcpListener::bind(("::", PORT)).await.unwrap();
        let receiver = Receiver::on(listener, |call| async move {
            use axum::response::IntoResponse as _;
            // A public receiver that redirects to a private address.
            let onwards = [("location", "http://10.1.2.3:8080/inside")];
            if call.path == "/redirect" {
                (axum::http::StatusCode::TEMPORARY_REDIRECT, onwards).into_response()
            } else {
                ().into_response()
            }
        });
        let receiver = receiver.unwrap();

        // By name: refused after the name was resolved.
        let named = ["http://localhost:8080/", "http://ten.test:8080/", "http://meta.test:8080/", "http://six.test:8080/"];
        for (told, url) in send(&named, "").await.iter().zip(named) {
            assert_eq!(told["sent"], false, "{url}: {told}");
            assert!(told["failure"].as_str().unwrap().contains("allow_private"), "{url}: {told}");
        }
        // By address: refused before the server starts.
        for url in [
            "http://127.0.0.1:8080/",
            "http://2130706433:8080/",
            "http://0177.0.0.1:8080/",
            "http://10.1.2.3:8080/",
            "http://169.254.169.254:8080/latest/meta-data/",
            "http://100.64.1.1:8080/",
            "http://[::1]:8080/",
            "http://[::ffff:10.1.2.3]:8080/",
            "http://[fd00::1]:8080/",
        ] {
            let config = format!("[[notify]]\nkind = \"webhook\"\nurl = \"{url}\"\nsecret_env = \"HOOK\"\n");
            let started = sayso_testkit::TestServer::with(|setup| {
                setup.options.environment.push(("HOOK".to_owned(), SECRET.to_owned()));
                setup.config = Some(config);
            })
            .await;
            let error = format!("{:#}", started.err().unwrap_or_else(|| panic!("{url} was taken")));
            assert!(error.contains("[[notify]] 1 (\"webhook\")") && error.contains("allow_private"), "{url}: {error}");
        }
        assert!(receiver.so_far().is_empty(), "{:?}", receiver.so_far());

        // Public addresses are reachable, but redirects from there are not followed.
        let public = ["http://public.test:8080/hook", "http://93.184.215.14:8080/hook", "http://public.test:8080/redirect"];
        let told = send(&public, "").await;
        assert_eq!(
            (&told[0]["sent"], &told[1]["sent"], &told[2]["failure"]),
            (&json!(true), &json!(true), &json!("the receiver responded with status 307"))
        );
        assert!(receiver.so_far().iter().all(|call| call.path != "/inside"));

        // A host name whose address changes between two lookups.
        let flipping = ["http://flip.test:8080/"];
        assert_eq!(send(&flipping, "").await[0]["sent"], true);
        std::fs::write(&hosts, names("10.1.2.3")).unwrap();
        let came = receiver.so_far().len();
        assert_eq!(send(&flipping, "").await[0]["sent"], false);
        assert_eq!(receiver.so_far().len(), came);

        // The configuration can allow all addresses.
        let inside = ["http://ten.test:8080/", "http://10.1.2.3:8080/", "http://[fd00::1]:8080/", "http://localhost:8080/"];
        assert!(send(&inside, "allow_private = true").await.iter().all(|told| told["sent"] == true));
    });
}
