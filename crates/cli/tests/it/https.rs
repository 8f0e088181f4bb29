//! Models behind `https`: certificates are those that the system trusts.

use anyhow::{Context as _, Result};
use sayso_client::api::session::NewSession;
use sayso_testkit::models::{MockModel, ModelBlock, ModelScript};
use sayso_testkit::{ScriptedAgent, SelfSignedCertificate, ServerProcess, TlsFront};

#[tokio::test]
async fn a_model_behind_https_is_talked_to_if_its_certificate_is_trusted() -> Result<()> {
    let model = MockModel::start(ModelScript::turns([vec![ModelBlock::text("Hello from afar.")]])).await?;
    let dir = tempfile::tempdir()?;
    let own = SelfSignedCertificate::until(2101, dir.path())?;
    let front = TlsFront::start(model.url().strip_prefix("http://").context("a plain address")?, &own).await?;
    let config = format!("[agents.talk]\nprotocol = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"small\"\n", front.url());
    sayso_testkit::write_config(dir.path(), &config)?;
    let roots = own.certificate.to_str().context("a plain path")?;
    let new = NewSession { agent: "talk".to_owned(), prompt: Some("Hello".to_owned()), ..NewSession::default() };

    let mut server = ServerProcess::with_env(dir.path(), &[("SSL_CERT_FILE", roots)]).await?;
    let mut agent = ScriptedAgent::with(&server.client()?, &new).await?;
    assert_eq!(agent.finished().await?, "Hello from afar.");
    server.terminate().await?;

    // Somebody else's certificate is trusted: nothing is sent, and the person is told.
    SelfSignedCertificate::until(2102, dir.path())?;
    let server = ServerProcess::with_env(dir.path(), &[("SSL_CERT_FILE", roots)]).await?;
    let mut agent = ScriptedAgent::with(&server.client()?, &new).await?;
    let told = agent.watch().until("the error", |event| event.name() == "error").await?;
    assert!(told.event.data_json().contains("certificate"), "{}", told.event.data_json());
    assert_eq!(model.records().len(), 1);
    Ok(())
}
