//! `sayso`: the binary and its terminal UI.
//!
//! `args` is parsed once; `cmd` has one file per command or small family; `prompt` shows an ask and
//! takes a decision; `inbox` shows them all. All agent text passes `sanitize` before it is printed. This crate deliberately
//! knows nothing of the database and of agents' protocols: apart from `serve` and `backup` it is a
//! client of the HTTP API like any other. `hook` lets the translators' crate read and write what the
//! agents that run it say.

mod app;
mod args;
mod autostart;
mod cmd;
mod completion;
mod connect;
mod editor;
mod failure;
mod files;
#[cfg(test)]
mod fixtures;
mod follow;
mod git;
mod hook;
mod inbox;
mod install;
mod line;
mod log;
mod order;
mod output;
mod prompt;
mod qr;
mod sanitize;
mod service;
mod sys;
mod terminal;
mod trace;
mod tunnel;
mod watchdog;
mod words;

use std::process::ExitCode;

use anyhow::Context as _;
use sayso_client::{Environment, Paths};

use crate::app::App;
use crate::args::{Args, CliCommand};
use crate::failure::Failure;
use crate::output::{Format, Output};

fn main() -> ExitCode {
    sayso_supervisor::unblock_signals();
    // A supervisor is this program too, but nothing of it: no runtime, no configuration, no threads.
    let mut given = std::env::args_os().skip(1);
    match given.next() {
        Some(command) if command == "supervise" => return supervise(given),
        // Neither is a hook: its exit code means something to the agent, so it never fails.
        Some(command) if command == "hook" => return hook::main(),
        Some(_) | None => {}
    }
    completion::answer_shell();
    let args = args::parse();
    let environment = Environment::of_process();
    let out = Output::of_process(&environment, if args.json { Format::Json } else { Format::Text });
    match run(args, environment, out.clone()) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => report(&out, &failure),
        Err(internal) => report(&out, &Failure::new(format!("Internal error: {internal:#}."))),
    }
}

fn supervise(given: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    match sayso_supervisor::Spec::parse(given) {
        Ok(spec) => sayso_supervisor::run(spec),
        Err(problem) => {
            let out = Output::of_process(&Environment::of_process(), Format::Text);
            out.note(&format!("sayso supervise is started by the server: {problem}."));
            ExitCode::from(2)
        }
    }
}

/// The outer error is ours, the inner one is for the person.
fn run(args: Args, environment: Environment, out: Output) -> anyhow::Result<Result<(), Failure>> {
    let paths = match Paths::new(&environment, args.data_dir) {
        Ok(paths) => paths,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut app = App { environment, paths, out };
    // A client does one thing at a time and starts faster with one thread; the server uses them all.
    let mut builder = match args.command {
        Some(CliCommand::Serve(_)) => tokio::runtime::Builder::new_multi_thread(),
        Some(_) | None => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build().context("the runtime cannot be built")?;
    let result = runtime.block_on(async {
        // It lives as long as the command does.
        let tunnel = match args.command.as_ref().is_none_or(CliCommand::calls_a_server) {
            true => tunnel::open(&mut app).await,
            false => Ok(None),
        };
        let _tunnel = match (tunnel, &args.command) {
            // A status bar says nothing where there is no server.
            (Err(_), Some(CliCommand::Status { line: true })) => return Ok(()),
            (tunnel, _) => tunnel?,
        };
        cmd::run(&app, args.command).await
    });
    // A blocked read of the keyboard cannot be called off, and nothing else is under way.
    runtime.shutdown_background();
    Ok(result)
}

fn report(out: &Output, failure: &Failure) -> ExitCode {
    if out.json {
        let error = serde_json::json!({ "error": failure.what, "next": failure.next, "code": failure.code });
        out.note(&error.to_string());
    } else {
        // An argument can stand in it, which may have been copied from anywhere.
        out.note(&sanitize::text(&failure.to_string()));
    }
    ExitCode::from(failure.exit)
}
