//! Passes the commit and its date to the compiler, for `sayso --version`.
//!
//! `SAYSO_COMMIT` and `SAYSO_COMMIT_DATE` come first: a source archive has no repository. Without them and without git, the
//! version is printed alone.

use std::process::Command;
use std::{env, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SAYSO_COMMIT");
    println!("cargo::rerun-if-env-changed=SAYSO_COMMIT_DATE");
    println!("cargo::rerun-if-env-changed=SAYSO_PUBLISHED");
    // Git appends a line to this file whenever HEAD moves. Cargo would rerun the script every time if the file did not exist.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    let given = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let commit = given("SAYSO_COMMIT").or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    let date = given("SAYSO_COMMIT_DATE").or_else(|| git(&["show", "--no-patch", "--format=%cs", "HEAD"]));
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = match (commit, date) {
        (Some(commit), Some(date)) => format!("{version} ({commit} {date})"),
        (Some(_) | None, _) => version,
    };
    println!("cargo::rustc-env=SAYSO_VERSION={shown}");
}

/// The output of git, without the last newline. `None` outside a repository.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}
