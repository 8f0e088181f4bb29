//! `replay` of every recording: no errors, and one event per request for a person.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

fn recordings(protocol: &str) -> Result<Vec<PathBuf>> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/fixtures").join(protocol)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// How many times an agent asked a person in a recording.
fn count_asks(file: &Path, is_ask: impl Fn(&Value) -> bool) -> Result<usize> {
    let text = std::fs::read_to_string(file)?;
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(lines.filter(|line| line["dir"] == "out" && is_ask(&line["msg"])).count())
}

fn replayed(protocol: &str, file: &Path) -> Result<usize> {
    let output = Command::new(env!("CARGO_BIN_EXE_replay")).arg(protocol).arg(file).output()?;
    ensure!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    let mut requested = 0;
    for line in String::from_utf8(output.stdout)?.lines() {
        let event: Value = serde_json::from_str(line)?;
        let name = event["type"].as_str().context("an event has a type")?;
        requested += usize::from(name.ends_with(".requested"));
    }
    Ok(requested)
}

#[test]
fn every_request_of_claude_code_is_an_ask() -> Result<()> {
    let files = recordings("claude")?;
    ensure!(files.len() > 80, "the recordings are gone");
    for file in files {
        let wanted = count_asks(&file, |message| {
            let kind = &message["request"]["subtype"];
            message["type"] == "control_request" && (kind == "can_use_tool" || kind == "elicitation")
        })?;
        assert_eq!(replayed("claude", &file)?, wanted, "{}", file.display());
    }
    Ok(())
}

/// If several hosts share one Codex, each receives the request with the same id.
#[test]
fn every_request_of_codex_is_an_ask() -> Result<()> {
    let files = recordings("codex")?;
    ensure!(files.len() > 50, "the recordings are gone");
    for file in files {
        let told = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let wanted = count_asks(&file, |message| match message["method"].as_str() {
            Some("item/completed") => message["params"]["item"]["questions"].is_array(),
            Some(method) => {
                let asks = method.ends_with("/requestApproval") || method.ends_with("/requestUserInput");
                (asks || method == "mcpServer/elicitation/request") && told.borrow_mut().insert(message["id"].to_string())
            }
            None => false,
        })?;
        assert_eq!(replayed("codex", &file)?, wanted, "{}", file.display());
    }
    Ok(())
}

#[test]
fn every_request_over_acp_is_an_ask() -> Result<()> {
    let files = recordings("acp")?;
    ensure!(files.len() > 20, "the recordings are gone");
    let methods = ["session/request_permission", "elicitation/create", "_sandboxagent/session/request_question"];
    for file in files {
        let wanted = count_asks(&file, |message| {
            message["id"] != Value::Null && methods.iter().any(|method| message["method"] == *method)
        })?;
        assert_eq!(replayed("acp", &file)?, wanted, "{}", file.display());
    }
    Ok(())
}

/// Both event streams report the same request; it counts once.
#[test]
fn every_request_of_opencode_is_an_ask() -> Result<()> {
    let files = recordings("opencode")?;
    ensure!(files.len() > 40, "the recordings are gone");
    let mut all = 0;
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        let mut wanted = std::collections::BTreeSet::new();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let event = if line["data"]["payload"].is_object() { &line["data"]["payload"] } else { &line["data"] };
            let asked = event["type"] == "question.asked" || event["type"] == "permission.asked";
            // A request without questions is answered immediately.
            if asked && event["properties"]["questions"] != serde_json::json!([]) {
                wanted.insert(event["properties"]["id"].to_string());
            }
        }
        assert_eq!(replayed("opencode", &file)?, wanted.len(), "{}", file.display());
        all += wanted.len();
    }
    ensure!(all > 40, "only {all} requests were found");
    Ok(())
}
