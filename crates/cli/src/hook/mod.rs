//! `sayso hook`: called by the person's own agent when it asks, and when its work continues.
//!
//! A failing hook must never block the person and their agent. Without a server, without a token or with unexpected
//! input, the hook prints nothing and succeeds, and the agent's own dialog decides. Every decision that the hook
//! prints was made by a person or a rule.

mod claude;
mod codex;
mod server;
mod slots;
mod transcript;
mod wait;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use clap::FromArgMatches as _;
use sayso_client::{Environment, Paths};
use sayso_core::limits;
use sha2::{Digest as _, Sha256};

use crate::args::{Args, CliCommand, HookAgent};

/// The context of one hook process.
#[derive(Debug)]
struct Hooked {
    environment: Environment,
    paths: Paths,
    /// The command that started this program (`argv[0]`). Two hooks for one question differ in it.
    called: String,
}

/// Runs the hook and always exits with success. Agents would read another exit code as a decision.
pub(crate) fn main() -> ExitCode {
    let matches = match crate::args::command().try_get_matches() {
        Ok(matches) => matches,
        // Errors are printed for people who try the command. Agents get no output.
        Err(error) if std::io::stdin().is_terminal() || !error.use_stderr() => crate::args::refuse(&error),
        Err(_) => {
            read_stdin();
            return ExitCode::SUCCESS;
        }
    };
    std::panic::set_hook(Box::new(|_| {}));
    let Ok(args) = Args::from_arg_matches(&matches) else { return ExitCode::SUCCESS };
    let _ = std::panic::catch_unwind(|| run(args));
    ExitCode::SUCCESS
}

fn run(args: Args) -> Option<()> {
    let Some(CliCommand::Hook { agent, hold }) = args.command else { return None };
    let told = read_stdin();
    let environment = Environment::of_process();
    // An agent that Sayso started asks over its own protocol. This hook would create a second ask.
    if environment.get("SAYSO_AGENT_TOKEN").is_some() {
        return None;
    }
    let paths = Paths::new(&environment, args.data_dir).ok()?;
    let called = std::env::args_os().next().unwrap_or_default().to_string_lossy().into_owned();
    let (told, hooked) = (told?, Hooked { environment, paths, called });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let said = runtime.block_on(async {
        match agent {
            HookAgent::Claude => claude::run(&hooked, &told).await,
            HookAgent::Codex => codex::run(&hooked, &told, hold).await,
        }
    });
    runtime.shutdown_background();
    said
}

/// Reads all input first: an agent that cannot write everything would report a broken hook. Returns `None` if the
/// input is longer than any message of an agent.
fn read_stdin() -> Option<String> {
    let mut told = Vec::new();
    let most = u64::try_from(limits::LINE).unwrap_or(u64::MAX);
    let mut stdin = std::io::stdin().lock();
    stdin.by_ref().take(most + 1).read_to_end(&mut told).ok()?;
    if told.len() > limits::LINE {
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
        return None;
    }
    String::from_utf8(told).ok()
}

/// Prints the decision for the agent.
fn print_decision(decision: &str) -> Option<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(decision.as_bytes()).ok()?;
    out.flush().ok()
}

/// Shortens a text to 16 hexadecimal digits of its hash.
fn short_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
