//! Dependencies point down: between the crates of the workspace, and between the layers of this crate.
//!
//! The layers are the folders of `src`; ARCHITECTURE.md draws them. A module may use its own layer and the layers below.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The allowed dependencies of each crate. A crate that is missing here fails the test.
const CRATES: [(&str, &[&str]); 14] = [
    ("sayso-core", &[]),
    ("sayso-net", &[]),
    ("sayso-supervisor", &[]),
    ("sayso-agents", &["sayso-core"]),
    ("sayso-api", &["sayso-core"]),
    ("sayso-store", &["sayso-core"]),
    ("sayso-client", &["sayso-api", "sayso-core", "sayso-net"]),
    ("sayso-server", &["sayso-agents", "sayso-api", "sayso-core", "sayso-net", "sayso-store", "sayso-supervisor"]),
    (
        "sayso",
        &[
            "sayso-agents",
            "sayso-api",
            "sayso-client",
            "sayso-core",
            "sayso-net",
            "sayso-server",
            "sayso-store",
            "sayso-supervisor",
            "sayso-workspace-hack",
        ],
    ),
    // Only in tests.
    (
        "sayso-testkit",
        &[
            "sayso-agents",
            "sayso-api",
            "sayso-client",
            "sayso-core",
            "sayso-net",
            "sayso-server",
            "sayso-store",
            "sayso-supervisor",
            "sayso-workspace-hack",
        ],
    ),
    ("sayso-examples", &["sayso-client"]),
    // Only Cargo uses these: features, and a replacement for a dependency.
    ("sayso-workspace-hack", &[]),
    ("cached", &["cached-passthrough"]),
    ("cached-passthrough", &[]),
];

/// The layers of this crate that the modules below a path may use. The first matching path applies.
const MODULES: [(&str, &[&str]); 12] = [
    // The sayso program also uses MCP and ACP, without a server.
    ("surfaces/mcp", &["surfaces::mcp"]),
    ("surfaces/acp", &["surfaces::acp"]),
    ("surfaces", &["app", "surfaces", "runtime", "service", "auth", "config", "clock", "entropy", "small_file"]),
    ("runtime", &["runtime", "service", "auth", "config", "clock", "entropy", "small_file"]),
    ("service", &["service", "auth", "config", "clock", "entropy", "small_file"]),
    ("auth", &["auth", "clock", "entropy"]),
    ("config", &["config", "clock", "entropy"]),
    ("clock", &[]),
    ("entropy", &[]),
    ("small_file", &[]),
    // These wire the layers together.
    ("app", &["surfaces", "runtime", "service", "auth", "config", "clock", "entropy", "small_file"]),
    ("server", &["server", "app", "surfaces", "runtime", "service", "auth", "config", "clock", "entropy", "small_file"]),
];

/// The workspace crates that each workspace crate depends on, without development dependencies.
fn crate_dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let dependencies = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        all.filter(|dependency| dependency["kind"].is_null()).map(name).filter(|name| ours.contains(name)).collect()
    };
    packages.iter().map(|package| (name(package), dependencies(package))).collect()
}

#[test]
fn crates_depend_only_on_crates_below() {
    let allowed: BTreeMap<&str, &[&str]> = CRATES.into();
    for (name, dependencies) in crate_dependencies() {
        let below = allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} has no place in the layers; see CRATES"));
        let above: Vec<_> = dependencies.iter().filter(|dependency| !below.contains(&dependency.as_str())).collect();
        assert!(above.is_empty(), "{name} depends on {above:?}, which is not below it");
    }
}

/// The module of a file below `src`: `service/asks/mod.rs` is `service`, `asks`.
fn module_of(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> = file.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// The paths of this crate that a source names, absolute: after `crate::`, and after enough `super::` to leave the layer.
fn named_paths(module: &[String], source: &str) -> Vec<Vec<String>> {
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for (at, _) in
        code.match_indices("crate::").filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    {
        found.extend(tree(&code[at + "crate::".len()..]));
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("super::")) {
        let mut rest = &code[at..];
        let mut up = 0;
        while let Some(next) = rest.strip_prefix("super::") {
            (rest, up) = (next, up + 1);
        }
        let base = &module[..module.len().saturating_sub(up)];
        found.extend(tree(rest).into_iter().map(|path| base.iter().cloned().chain(path).collect()));
    }
    found
}

/// The first two names of each path of a use tree: `a::b::c`, or `{a::b, c::{d, e}}`.
fn tree(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    let Some(inside) = text.strip_prefix('{') else {
        let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let rest = &text[name.len()..];
        return match rest.strip_prefix("::") {
            Some(rest) => tree(rest).into_iter().map(|path| [vec![name.clone()], path].concat()).collect(),
            None => vec![vec![name]],
        };
    };
    let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                paths.extend(tree(&inside[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    paths
}

/// Returns the uses in a file that its layer does not permit.
fn violations(file: &Path, source: &str) -> Vec<String> {
    let module = module_of(file);
    let place = module.join("/");
    let Some((_, below)) = MODULES.iter().find(|(layer, _)| place == *layer || place.starts_with(&format!("{layer}/"))) else {
        return if place == "lib" { Vec::new() } else { vec![format!("{} is in no layer; see MODULES", file.display())] };
    };
    // Names of modules; others are items that lib.rs exports for users of the crate.
    let modules: BTreeSet<&str> = MODULES.iter().filter_map(|(layer, _)| layer.split('/').next()).collect();
    let is_allowed = |path: &str| below.iter().any(|allowed| path == *allowed || path.starts_with(&format!("{allowed}::")));
    let named = named_paths(&module, source).into_iter().filter(|path| modules.contains(path[0].as_str()));
    let above: BTreeSet<String> = named.map(|path| path.join("::")).filter(|path| !is_allowed(path)).collect();
    above.into_iter().map(|path| format!("{} uses {path}", file.display())).collect()
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            sources(&entry.path(), found);
        } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
            found.push(entry.path());
        }
    }
}

#[test]
fn modules_use_only_layers_below() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 100, "only {} files in {}", files.len(), root.display());
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| violations(file.strip_prefix(&root).unwrap(), &std::fs::read_to_string(file).unwrap()))
        .collect();
    assert!(found.is_empty(), "dependencies point down only:\n{}", found.join("\n"));
}

#[test]
fn violations_are_found_in_every_way_of_writing_a_path() {
    let found = |file: &str, source: &str| violations(Path::new(file), source);
    for (file, source) in [
        ("service/asks/open.rs", "use crate::runtime::feed::Feed;"),
        ("service/mod.rs", "fn f() { crate::surfaces::http::router() }"),
        ("runtime/runs/owner.rs", "use crate::{\n    clock::Clock,\n    surfaces::{http, mcp},\n};"),
        ("runtime/runs/owner.rs", "use super::super::super::app::App;"),
        ("runtime/mod.rs", "use super::app::App;"),
        ("auth/token.rs", "use crate::config::Config;"),
        ("surfaces/mcp/tools.rs", "use crate::app::App;"),
        ("surfaces/acp/serve.rs", "use super::super::http::ApiError;"),
        ("broker.rs", ""),
    ] {
        assert!(!found(file, source).is_empty(), "{file}: {source}");
    }
    for (file, source) in [
        (
            "service/asks/open.rs",
            "// use crate::runtime::feed::Feed;\nuse crate::auth::Caller;\nuse super::super::policies::Policies;",
        ),
        ("runtime/mod.rs", "use super::*;\nuse crate::service::Services;"),
        ("runtime/keeper.rs", "let clock = crate::FakeClock::at(now);"),
        ("surfaces/http/acp/mod.rs", "use crate::app::App;\nuse super::super::acp::serve;"),
        ("surfaces/acp/serve.rs", "use super::call::Call;"),
    ] {
        assert_eq!(found(file, source), Vec::<String>::new(), "{file}: {source}");
    }
}
