//! Addresses that begin with `https`: certificates are those that the system trusts.

use anyhow::{Context as _, Result};
use sayso_client::api::session::NewSession;
use sayso_testkit::models::{Block, MockModel, Script};
use sayso_testkit::tls::TlsFront;
use sayso_testkit::{ScriptedAgent, ServerProcess};

use crate::support::{Person, ran};

fn address(url: &str) -> Result<&str> {
    url.strip_prefix("http://").context("no plain address")
}

#[tokio::test]
async fn a_model_behind_https_is_talked_to_if_its_certificate_is_trusted() -> Result<()> {
    let model = MockModel::start(Script::turns([vec![Block::text("Hello from afar.")]])).await?;
    let front = TlsFront::start(address(model.url())?).await?;
    let dir = tempfile::tempdir()?;
    let config = format!("[agents.talk]\nprotocol = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"small\"\n", front.url());
    sayso_testkit::write_config(dir.path(), &config)?;
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, front.certificate())?;
    let roots = roots.to_str().context("a plain path")?;
    let new = NewSession { agent: "talk".to_owned(), prompt: Some("Hello".to_owned()), ..NewSession::default() };

    let mut server = ServerProcess::with_env(dir.path(), &[("SSL_CERT_FILE", roots)]).await?;
    let mut agent = ScriptedAgent::with(&server.client()?, &new).await?;
    assert_eq!(agent.finished().await?, "Hello from afar.");
    server.terminate().await?;

    // Somebody else's certificate: nothing is sent, and the person is told.
    std::fs::write(dir.path().join("roots.pem"), TlsFront::start(address(model.url())?).await?.certificate())?;
    let server = ServerProcess::with_env(dir.path(), &[("SSL_CERT_FILE", roots)]).await?;
    let mut agent = ScriptedAgent::with(&server.client()?, &new).await?;
    let told = agent.watch().until("the error", |event| event.kind == "error").await?;
    assert!(told.data.get().contains("certificate"), "{}", told.data.get());
    assert_eq!(model.records().len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_server_behind_https_is_reached_by_every_command() -> Result<()> {
    let person = Person::new().await?;
    let server = person.server.as_ref().context("a server")?;
    let front = TlsFront::start(server.address()).await?;
    let roots = person.path("roots.pem");
    std::fs::write(&roots, front.certificate())?;
    let listed = |trusted: bool| {
        let mut command = person.command(&["ls", "--json"]);
        command.env("SAYSO_URL", front.url()).env("SAYSO_TOKEN", server.token());
        if trusted {
            command.env("SSL_CERT_FILE", &roots);
        }
        command
    };
    let reached = ran(listed(true)).await?;
    assert_eq!(reached.code, Some(0), "{reached:?}");
    let refused = ran(listed(false)).await?;
    assert!(refused.code != Some(0) && refused.err.contains("certificate"), "{refused:?}");
    Ok(())
}
