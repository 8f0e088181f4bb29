//! Runs the examples as a user does, each against a server of its own.

use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Result, ensure};
use sayso_testkit::{Answerer, TestServer, inherited};

/// Runs a program with the address and the token of the server, and returns what it printed.
async fn run(program: impl AsRef<Path>, server: &TestServer) -> Result<String> {
    let mut command = Command::new(program.as_ref());
    command.env_clear().envs(inherited()).env("HOME", server.project());
    command.env("SAYSO_URL", server.url()).env("SAYSO_TOKEN", server.token());
    let Output { status, stdout, stderr } = tokio::task::spawn_blocking(move || command.output()).await??;
    ensure!(status.success(), "{}: {status}: {}", program.as_ref().display(), String::from_utf8_lossy(&stderr));
    Ok(String::from_utf8(stdout)?)
}

async fn backup_is_asked_for(program: impl AsRef<Path>) -> Result<()> {
    let server = TestServer::start().await?;
    let person = Answerer::new().on("Where should the backup go?", &["NAS"])?.run(server.client());
    assert_eq!(run(program, &server).await?, "Backing up to NAS\n");
    drop(person);
    Ok(())
}

#[tokio::test]
async fn rust_program_asks_and_prints_the_answer() -> Result<()> {
    backup_is_asked_for(env!("CARGO_BIN_EXE_ask")).await
}

#[tokio::test]
async fn shell_script_asks_and_prints_the_answer() -> Result<()> {
    backup_is_asked_for(concat!(env!("CARGO_MANIFEST_DIR"), "/../curl/ask.sh")).await
}

#[tokio::test]
async fn rust_program_answers_questions_and_denies_approvals() -> Result<()> {
    let server = TestServer::start().await?;
    let printed = run(env!("CARGO_BIN_EXE_answer"), &server).await?;
    let mut outcomes: Vec<_> = printed.lines().collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["Answered", "Answered", "Denied"]);
    Ok(())
}
