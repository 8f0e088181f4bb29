//! `sayso`: the binary and its terminal UI.
//!
//! `args` parses the command line; `cmd` has one file per command or small family of commands; `prompt` shows one ask
//! and reads a decision; `inbox` shows all asks. All agent text passes through `sanitize` before it is printed. Apart
//! from `serve` and `backup`, this crate is a client of the HTTP API and deliberately does not use the database or
//! agent protocols. `hook` uses the translator crate to read and write the messages of agents.

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

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sayso_supervisor::unblock_signals();
    // A supervisor must stay small, so it starts before the runtime, the configuration and any threads.
    let mut given = std::env::args_os().skip(1);
    match given.next() {
        Some(command) if command == "supervise" => return supervise(given),
        // Agents interpret the exit code of a hook, so hooks are handled before anything can fail.
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

/// The outer error is an internal error; the inner one is printed for the person.
fn run(args: Args, environment: Environment, out: Output) -> anyhow::Result<Result<(), Failure>> {
    let paths = match Paths::new(&environment, args.data_dir) {
        Ok(paths) => paths,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut app = App { environment, paths, out };
    // One thread is enough for a client and starts faster. The server uses all cores.
    let mut builder = match args.command {
        Some(CliCommand::Serve(_)) => tokio::runtime::Builder::new_multi_thread(),
        Some(_) | None => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build().context("cannot build the runtime")?;
    let result = runtime.block_on(async {
        // Must stay open until the command is done.
        let tunnel = match args.command.as_ref().is_none_or(CliCommand::calls_a_server) {
            true => tunnel::open(&mut app).await,
            false => Ok(None),
        };
        let _tunnel = match (tunnel, &args.command) {
            // A status bar stays empty if no server can be reached.
            (Err(_), Some(CliCommand::Status { line: true })) => return Ok(()),
            (tunnel, _) => tunnel?,
        };
        cmd::run(&app, args.command).await
    });
    // A blocking read of the keyboard cannot be cancelled, and no other task is running.
    runtime.shutdown_background();
    Ok(result)
}

fn report(out: &Output, failure: &Failure) -> ExitCode {
    if out.json {
        let error = serde_json::json!({ "error": failure.what, "next": failure.next, "code": failure.code });
        out.note(&error.to_string());
    } else {
        // The error may contain an argument, which may have been pasted from anywhere.
        out.note(&sanitize::text(&failure.to_string()));
    }
    ExitCode::from(failure.exit)
}
