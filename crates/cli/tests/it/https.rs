//! Models behind `https` must have a certificate that the system trusts.

use anyhow::{Context as _, Result};
use sayso_client::api::session::NewSession;
use sayso_testkit::models::{MockModel, ModelBlock, ModelScript};
use sayso_testkit::{ScriptedAgent, SelfSignedCertificate, ServerProcess, TlsFront};

#[tokio::test]
async fn model_behind_https_is_used_only_with_a_trusted_certificate() -> Result<()> {
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

    // With another trusted certificate, nothing is sent to the model and the person sees an error.
    SelfSignedCertificate::until(2102, dir.path())?;
    let server = ServerProcess::with_env(dir.path(), &[("SSL_CERT_FILE", roots)]).await?;
    let mut agent = ScriptedAgent::with(&server.client()?, &new).await?;
    let told = agent.watch().until("the error", |event| event.name() == "error").await?;
    assert!(told.event.data_json().contains("certificate"), "{}", told.event.data_json());
    assert_eq!(model.records().len(), 1);
    Ok(())
}
