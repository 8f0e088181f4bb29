//! Embeds the text of `sayso --version`: the version, and in release builds the commit and its date.
//!
//! `SAYSO_COMMIT` and `SAYSO_COMMIT_DATE` take precedence over git, because a source archive has no repository. Without them and
//! without git, a release build has the version alone. Debug builds don't run git and don't watch the repository: otherwise each
//! commit would recompile the CLI.

use std::process::Command;
use std::{env, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["SAYSO_COMMIT", "SAYSO_COMMIT_DATE", "SAYSO_PUBLISHED"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let text = match commit_and_date(is_release) {
        Some((commit, date)) => format!("{version} ({commit} {date})"),
        None if is_release => version,
        None => format!("{version} (development build)"),
    };
    println!("cargo::rustc-env=SAYSO_VERSION={text}");
    if is_release {
        link_at_a_fixed_address();
    }
}

/// The loader of a position-independent program writes addresses into 0.7 MiB of its data, and these pages then belong to the
/// process. A supervisor runs for every agent and needs 0.2 MiB without them. Stack, heap and libraries keep random addresses.
fn link_at_a_fixed_address() {
    let is = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    let is_static = env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|features| features.split(',').any(|one| one == "crt-static"));
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Reads the commit and its date from the environment and, if `use_git`, from the repository.
fn commit_and_date(use_git: bool) -> Option<(String, String)> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let commit = variable("SAYSO_COMMIT");
    let date = variable("SAYSO_COMMIT_DATE");
    if !use_git {
        return commit.zip(date);
    }
    // Git appends a line to this file whenever HEAD moves. Cargo reruns the script on every build if a watched file is missing.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = commit.or_else(|| git(&["rev-parse", "--short=12", "HEAD"]))?;
    let date = date.or_else(|| git(&["show", "--no-patch", "--format=%cs", "HEAD"]))?;
    Some((commit, date))
}

/// Returns the output of git without the last newline, or `None` outside a repository.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}
