//! `sayso connect` and `disconnect`: the written change equals the shown diff, and disconnecting restores all files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use sayso_testkit::{FakeCodex, FakeOpenCode, ReplyMode};
use serde_json::Value;

use crate::support::Person;

/// The files that each agent reads, relative to the home directory or the project.
const FILES: [(&str, &str, &[&str]); 7] = [
    ("claude", "user", &["home/.claude/settings.json", "home/.claude.json"]),
    ("claude", "project", &["home/project/.claude/settings.json", "home/project/.mcp.json"]),
    ("claude", "local", &["home/project/.claude/settings.local.json", "home/.claude.json"]),
    ("codex", "user", &["home/.codex/config.toml"]),
    ("codex", "project", &["home/project/.codex/config.toml"]),
    ("opencode", "user", &["config/opencode/opencode.json"]),
    ("opencode", "project", &["home/project/opencode.json"]),
];

fn samples(path: &str) -> Vec<Option<&'static str>> {
    if path.ends_with(".toml") {
        return vec![
            None,
            Some(""),
            Some("model = \"x\""),
            Some(
                "# mine\nmodel=\"x\"  # odd\n\n[mcp_servers.other]\ncommand='y'\n[[hooks.PermissionRequest]]\nmatcher=\"Bash\"\n  [[hooks.PermissionRequest.hooks]]\n  type=\"command\"\n  command=\"/opt/mine\"\n",
            ),
        ];
    }
    vec![
        None,
        Some(""),
        Some("{}"),
        Some("{ \"hooks\": {}, \"mcp\": {}, \"mcpServers\": { } }\n"),
        Some(
            "// mine\n{\n\t\"model\" : \"opus\", /* odd */\n\n\t\"env\": { \"A\": \"b\" },\n\t\"hooks\": { \"Stop\": [{ \"hooks\": [ { \"type\": \"command\", \"command\": \"beep\" } ] }], },\n\t\"mcp\": { \"other\": {\"type\":\"remote\"} },\r\n\t\"mcpServers\": {\"other\":{}},\n}\n",
        ),
    ]
}

fn read(path: &PathBuf) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[tokio::test]
async fn disconnecting_restores_files_byte_for_byte() -> Result<()> {
    let person = Person::new().await?;
    for (agent, scope, files) in FILES {
        for (number, _) in samples(files[0]).iter().enumerate() {
            let mut before = Vec::new();
            for name in files {
                let (path, sample) = (person.path(name), samples(name)[number]);
                let _ = std::fs::remove_file(&path);
                if let Some(text) = sample {
                    std::fs::create_dir_all(path.parent().context("a parent")?)?;
                    std::fs::write(&path, text)?;
                }
                before.push(sample.map(str::to_owned));
            }
            let now = || files.iter().map(|name| read(&person.path(name))).collect::<Vec<_>>();
            let case = format!("{agent} {scope} {number}");

            let shown = person.json(&["connect", agent, "--scope", scope, "--dry-run"]).await?;
            assert_eq!(
                (shown["changes"].as_array().unwrap().len(), &shown["written"]),
                (files.len(), &Value::Bool(false)),
                "{case}"
            );
            assert_eq!(now(), before, "a dry run changes nothing: {case}");
            person.ok(&["connect", agent, "--scope", scope, "--yes"]).await?;
            let connected = now();
            assert!(connected.iter().flatten().all(|text| text.contains("sayso")), "{case}: {connected:?}");
            let again = person.json(&["connect", agent, "--scope", scope, "--yes"]).await?;
            assert_eq!(again["changes"], serde_json::json!([]), "{case}");
            person.ok(&["disconnect", agent, "--scope", scope, "--yes"]).await?;
            assert_eq!(now(), before, "{case}");
            assert!(person.ok(&["disconnect", agent, "--scope", scope, "--yes"]).await?.contains("Not connected"), "{case}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn disconnecting_keeps_later_edits() -> Result<()> {
    let person = Person::new().await?;
    let path = person.path("home/.claude/settings.json");
    std::fs::create_dir_all(path.parent().context("a parent")?)?;
    std::fs::write(&path, "{\n  \"hooks\": {}\n}\n")?;
    person.ok(&["connect", "claude", "--yes"]).await?;
    let edited = std::fs::read_to_string(&path)?.replacen('{', "{\n  \"model\": \"opus\",", 1);
    std::fs::write(&path, edited)?;
    person.ok(&["disconnect", "claude", "--yes"]).await?;
    let left: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    assert_eq!(left, serde_json::json!({ "model": "opus" }));
    Ok(())
}

#[tokio::test]
async fn declined_change_is_not_written() -> Result<()> {
    let person = Person::new().await?;
    let path = person.path("home/.codex/config.toml");
    let mut terminal = person.terminal(&["connect", "codex"])?;
    let shown = terminal.expect("Apply this change? [y/n]: ").await?;
    assert!(
        shown.contains("+++ ") && shown.contains("+[mcp_servers.sayso]") && shown.contains("+tool_timeout_sec = 86400"),
        "{shown}"
    );
    terminal.line("n").await?;
    terminal.expect("Nothing was changed.").await?;
    assert_eq!(terminal.end().await?.code(), Some(1));
    assert!(!path.exists() && !person.data_dir().join("agent-token-codex").exists());

    let mut terminal = person.terminal(&["connect", "codex", "--hold", "15s"])?;
    terminal.expect("Apply this change? [y/n]: ").await?;
    terminal.line("y").await?;
    terminal.expect("/hooks").await?;
    assert!(terminal.end().await?.success());
    assert!(std::fs::read_to_string(&path)?.contains("hook codex"), "the hook is written");
    assert!(std::fs::read_to_string(&path)?.contains("--hold 15s"));
    let mode = std::fs::metadata(person.data_dir().join("agent-token-codex"))?.permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    Ok(())
}

#[tokio::test]
async fn unreadable_configuration_is_refused() -> Result<()> {
    let person = Person::new().await?;
    for (agent, name, text) in [
        ("claude", "home/.claude/settings.json", "{ \"hooks\": "),
        ("claude", "home/.claude/settings.json", "[]"),
        ("claude", "home/.claude/settings.json", "{ \"hooks\": { \"Stop\": 7 } }"),
        ("claude", "home/.claude.json", "{ 'a': 1 }"),
        ("codex", "home/.codex/config.toml", "a = = 1\n"),
        ("codex", "home/.codex/config.toml", "mcp_servers = {}\n"),
        ("opencode", "config/opencode/opencode.json", "{ \"mcp\": [] }"),
    ] {
        let path = person.path(name);
        std::fs::create_dir_all(path.parent().context("a parent")?)?;
        std::fs::write(&path, text)?;
        let ran = person.run(&["connect", agent, "--yes"]).await?;
        assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
        assert!(ran.err.contains("Cannot change") && ran.err.contains("docs/connect.md"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&path)?, text);
        std::fs::remove_file(&path)?;
    }
    std::fs::create_dir_all(person.path("home/.claude"))?;
    std::fs::write(person.path("home/.claude/settings.json"), [0xff, 0xfe])?;
    assert!(person.run(&["connect", "claude", "--yes"]).await?.err.contains("is not a text file"));
    assert!(!person.data_dir().join("agent-token-claude").exists(), "no token was created");
    let ran = person.run(&["connect", "codex", "--scope", "local", "--yes"]).await?;
    assert_eq!(ran.code, Some(2), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn agent_cannot_connect_itself() -> Result<()> {
    let person = Person::new().await?;
    for command in ["connect", "disconnect"] {
        let mut call = person.command(&[command, "claude", "--yes"]);
        let ran = crate::support::ran({
            call.env("CLAUDECODE", "1");
            call
        })
        .await?;
        assert!(ran.code == Some(1) && ran.err.contains("a person must run this"), "{ran:?}");
    }
    assert!(!person.path("home/.claude/settings.json").exists());
    Ok(())
}

#[tokio::test]
async fn doctor_tests_the_hook_with_a_trial_ask() -> Result<()> {
    let person = Person::new().await?;
    let checks = |doctor: &Value| {
        let all = doctor.as_array().unwrap().iter().filter(|check| check["name"] == "Claude");
        all.map(|check| (check["ok"].as_bool().unwrap(), check["found"].as_str().unwrap().to_owned())).collect::<Vec<_>>()
    };
    std::fs::set_permissions(person.data_dir(), std::fs::Permissions::from_mode(0o700))?;
    assert_eq!(checks(&person.json(&["doctor"]).await?), [], "nothing is connected");
    person.ok(&["connect", "claude", "--yes"]).await?;
    let found = checks(&person.json(&["doctor"]).await?);
    assert_eq!(found[0], (true, "connected; a trial ask arrived and its decision went back".to_owned()));
    assert!(found.len() == 4 && found.iter().all(|(ok, _)| *ok), "{found:?}");
    assert!(person.client()?.pending_asks().await?.data.is_empty());

    std::fs::write(person.data_dir().join("agent-token-claude"), "wrong\n")?;
    let ran = person.run(&["doctor", "--json"]).await?;
    let found = checks(&serde_json::from_str(&ran.out)?);
    assert_eq!((ran.code, &found[0]), (Some(1), &(false, "its hook returned no decision".to_owned())));
    // Connecting again creates a valid token and changes nothing else.
    person.ok(&["connect", "claude", "--yes"]).await?;
    assert!(checks(&person.json(&["doctor"]).await?)[0].0);
    // Agents that cannot be tested are listed as connected.
    person.ok(&["connect", "codex", "--yes"]).await?;
    person.ok(&["connect", "opencode", "--scope", "project", "--yes"]).await?;
    let said = person.ok(&["doctor"]).await?;
    assert!(said.contains("once you trust the hook") && said.contains("opencode.json; questions arrive with ask_user"), "{said}");
    Ok(())
}

#[tokio::test]
async fn connecting_to_a_server_prompts_for_its_password() -> Result<()> {
    let person = Person::new().await?;
    let theirs = FakeOpenCode::start().await?;
    let url = theirs.url();
    let said = person.ok(&["connect", "opencode", &url, "--dry-run"]).await?;
    assert!(said.contains("would connect to") && said.contains("Nothing was changed"), "{said}");
    assert!(!person.ok(&["status"]).await?.contains(&url));

    // opencode:correct horse
    theirs.set_reply_mode(ReplyMode::Password("b3BlbmNvZGU6Y29ycmVjdCBob3JzZQ==".to_owned()));
    let refused = person.run(&["connect", "opencode", &url]).await?;
    assert!(
        refused.code == Some(1) && refused.err.contains("status 401") && refused.err.contains("Sayso is not connected"),
        "{refused:?}"
    );
    let unset = person.run(&["connect", "opencode", &url, "--password-env", "NO_SUCH_VARIABLE"]).await?;
    assert!(unset.code == Some(2) && unset.err.contains("NO_SUCH_VARIABLE is not set"), "{unset:?}");
    let mut terminal = person.terminal(&["connect", "opencode", &url])?;
    terminal.expect("(not shown): ").await?;
    terminal.line("correct horse").await?;
    let shown = terminal.expect("Sayso is connected to opencode (version 1.18.33)").await?;
    assert!(!shown.contains("correct horse"), "{shown}");
    assert!(terminal.end().await?.success());

    for command in ["status", "agents"] {
        let said = person.ok(&[command]).await?;
        assert!(said.contains(&format!("opencode at {url}, connected")), "{said}");
    }
    assert_eq!(person.json(&["status"]).await?["attached"][0]["state"], "connected");
    let doctor = person.run(&["doctor"]).await?;
    assert!(doctor.out.contains(&format!("opencode at {url}, connected")), "{doctor:?}");
    let said = person.ok(&["disconnect", "opencode"]).await?;
    assert!(said.contains(&format!("has disconnected from {url}")), "{said}");
    assert!(person.ok(&["disconnect", "opencode", &url]).await?.contains("is not connected to this server"));
    Ok(())
}

#[tokio::test]
async fn connecting_codex_uses_its_running_daemon() -> Result<()> {
    let person = Person::new().await?;
    let socket = person.path("home/.codex/app-server-control/app-server-control.sock");
    std::fs::create_dir_all(socket.parent().context("a parent")?)?;
    let theirs = FakeCodex::start(&socket)?;
    let said = person.ok(&["connect", "codex"]).await?;
    assert!(said.contains("Sayso is connected to codex (version 0.166.0)"), "{said}");
    assert!(!person.path("home/.codex/config.toml").exists(), "no file was changed");
    let said = person.ok(&["disconnect", "codex"]).await?;
    assert!(said.contains("The agent keeps running."), "{said}");

    // Without a daemon, connecting writes the hook and the tools.
    drop(theirs);
    assert!(person.ok(&["connect", "codex", "--yes"]).await?.contains("/hooks"));
    assert!(person.path("home/.codex/config.toml").exists());
    Ok(())
}
