//! `sayso phone`, and servers for other devices: codes, networks, certificates.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, Result};
use sayso_testkit::{SelfSignedCertificate, http};
use serde_json::{Value, json};

use crate::support::{Person, ends_well, ran};

/// Redeems the code in an address as the page does.
async fn sign_in(url: &str, device: &str) -> Result<(u16, Value)> {
    let (base, code) = url.split_once("/#code=").context("no code")?;
    let reply = http().post(format!("{base}/v1/login")).json(&json!({ "code": code, "device": device })).send().await?;
    Ok((reply.status().as_u16(), reply.json().await?))
}

async fn status(url: &str) -> Option<u16> {
    http().get(url).send().await.ok().map(|reply| reply.status().as_u16())
}

#[tokio::test]
async fn phone_signs_in_answers_and_is_signed_out() -> Result<()> {
    let person = Person::without_server()?;
    person.ok(&["restart"]).await?;
    let (_agent, asked) = person.mock_asks("question").await?;
    let shown = person.json(&["phone", "--address", "127.0.0.2", "--yes"]).await?;
    let url = shown["url"].as_str().context("no address")?;
    assert!(url.starts_with("http://127.0.0.2:") && shown["secure"] == false, "{shown}");
    let (status_code, phone) = sign_in(url, "Safari iPhone").await?;
    assert_eq!((status_code, &phone["role"]), (201, &json!("answerer")), "{phone}");
    assert_eq!(sign_in(url, "thief").await?.0, 401, "a code works once");

    let mut answer = person.command(&["answer", &asked.id, "1"]);
    answer.env("SAYSO_TOKEN", phone["token"].as_str().context("no token")?);
    assert_eq!(ran(answer).await?.out, "✓ Answered by tester in the terminal: \"SQLite\".\n");
    let listed = person.ok(&["token", "list"]).await?;
    assert!(listed.contains("answerer  tester, Safari iPhone"), "{listed}");
    let doctor = person.ok(&["doctor"]).await?;
    assert!(doctor.contains("✓ Network    open to the network at http://127.0.0.2:"), "{doctor}");

    // A restart by the person keeps the network open and the phone signed in.
    person.ok(&["restart"]).await?;
    let base = shown["address"].as_str().context("no address")?;
    let asks = || http().get(format!("{base}/v1/asks")).bearer_auth(phone["token"].as_str().unwrap()).send();
    assert_eq!(asks().await?.status(), 200);
    person.ok(&["token", "revoke", phone["id"].as_str().context("no id")?]).await?;
    assert_eq!(asks().await?.status(), 401);

    let closed = person.ok(&["phone", "--close"]).await?;
    assert!(closed.starts_with("Closed: 127.0.0.2:"), "{closed}");
    assert_eq!(status(&format!("{base}/v1/health")).await, None);
    assert_eq!(person.ok(&["phone", "--close"]).await?, "The server is not open to the network.");
    Ok(())
}

#[tokio::test]
async fn network_is_opened_only_after_confirmation() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["phone", "--address", "127.0.0.2"])?;
    let asked = terminal.expect("Open it? [y/n]: ").await?;
    assert!(
        asked.contains("This opens Sayso to the network at 127.0.0.2, over plain http, which others on that network can read."),
        "{asked}"
    );
    terminal.line("n").await?;
    terminal.expect("Nothing was opened.").await?;
    assert_eq!(terminal.end().await?.code(), Some(1));
    assert_eq!(person.client()?.listeners().await?.data.len(), 1);
    let piped = person.run(&["phone", "--address", "127.0.0.2", "--json"]).await?;
    assert!(piped.code == Some(1) && piped.err.contains("Nothing was opened."), "{piped:?}");

    let mut terminal = person.terminal(&["phone", "--address", "127.0.0.2"])?;
    terminal.expect("Open it? [y/n]: ").await?;
    terminal.line("y").await?;
    let shown = terminal.expect("This code signs one phone in, until ").await?;
    assert!(shown.contains('▀') && shown.contains("http://127.0.0.2:") && shown.contains("/#code="), "{shown}");
    terminal.expect("Over plain http there are no notifications, the app can't be installed, and others on the network can read the traffic.").await?;
    ends_well(&mut terminal).await?;
    // Agents must not open the network.
    let mut agent = person.command(&["phone", "--yes"]);
    agent.env("CLAUDECODE", "1");
    assert!(ran(agent).await?.err.contains("a person must run this"));
    Ok(())
}

#[tokio::test]
async fn public_address_needs_no_open_network() -> Result<()> {
    let person = Person::without_server()?;
    person.write_config("[server]\npublic_url = \"https://box.example\"\n")?;
    person.ok(&["restart"]).await?;
    let shown = person.json(&["phone"]).await?;
    assert!(shown["url"].as_str().is_some_and(|url| url.starts_with("https://box.example/#code=")), "{shown}");
    assert_eq!(person.client()?.listeners().await?.data.len(), 1);
    let text = person.ok(&["phone"]).await?;
    assert!(text.contains('█') && !text.contains("plain http") && !text.contains("--close"), "{text}");
    let opened = person.ok(&["phone", "--address", "127.0.0.2", "--yes"]).await?;
    assert!(opened.contains("To close the server to the network: sayso phone --close"), "{opened}");
    let login = person.ok(&["login"]).await?;
    assert!(login.starts_with("https://box.example/#code="), "{login}");
    Ok(())
}

#[tokio::test]
async fn commands_use_https_with_the_persons_certificate() -> Result<()> {
    let person = Person::without_server()?;
    let made = SelfSignedCertificate::until(2101, &person.path("home"))?;
    let settings = |certificate: &str| {
        person.write_config(&format!("[server]\ntls_cert = {certificate:?}\ntls_key = {:?}\n", made.key.to_str().unwrap()))
    };
    settings("/nowhere.pem")?;
    let refused = person.run(&["restart"]).await?;
    assert!(refused.code == Some(1) && refused.err.contains("/nowhere.pem cannot be read"), "{refused:?}");
    settings(made.key.to_str().context("a path")?)?;
    let refused = person.run(&["restart"]).await?;
    assert!(refused.code == Some(1) && refused.err.contains("key.pem has no certificate in PEM"), "{refused:?}");
    settings(made.certificate.to_str().context("a path")?)?;
    person.ok(&["restart"]).await?;
    let doctor = person.ok(&["doctor"]).await?;
    assert!(doctor.contains("✓ TLS        ") && doctor.contains("cert.pem is valid until "), "{doctor}");

    std::fs::set_permissions(&made.key, std::fs::Permissions::from_mode(0o644))?;
    let open = person.run(&["doctor"]).await?;
    assert!(open.code == Some(1) && open.out.contains("x Files      other users can read "), "{open:?}");

    let port = person.server_file()?.url.rsplit_once(':').context("a port")?.1.to_owned();
    let token = std::fs::read_to_string(person.data_dir().join("token"))?;
    let over_tls = |trust: &'static str| {
        let mut command = person.command(&["status", "--json"]);
        command.env("SAYSO_URL", format!("https://localhost:{port}")).env("SAYSO_TOKEN", token.trim());
        command.env(trust, &made.certificate);
        ran(command)
    };
    let reached = over_tls("SSL_CERT_FILE").await?;
    assert!(reached.code == Some(0) && reached.out.contains("\"https://localhost:"), "{reached:?}");
    let refused = over_tls("NOTHING").await?;
    assert!(refused.code == Some(1) && refused.err.contains("Cannot reach the server at https://localhost:"), "{refused:?}");
    assert!(refused.err.contains("certificate"), "{refused:?}");
    Ok(())
}
