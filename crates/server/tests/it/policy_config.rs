//! Before the policy decides, links are followed and configuration is compared with the start of the session.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use sayso_testkit::ScriptedAgent;
use serde_json::{Value, json};

use crate::world::{World, id};

const RULES: &str = "[[rules]]\ndo = \"allow\"\nedit = \"**\"\n[[rules]]\ndo = \"allow\"\nread = \"**\"\n\
                     [[rules]]\ndo = \"allow\"\nrun = [\"git status\", \"cargo test *\", \"cat *\"]\n";

async fn world() -> (World, PathBuf) {
    let world = World::with_policy(RULES).await;
    let project = world.server.project().canonicalize().unwrap();
    (world, project)
}

fn of(project: &Path, approval: Value) -> Value {
    json!({ "approval": approval, "external": { "agent": "claude", "sessionId": "s-1", "cwd": project, "title": "x" } })
}

fn edit(path: &str) -> Value {
    json!({ "tool": "Edit", "action": "edit", "paths": [path], "input": {} })
}

fn run(command: &str) -> Value {
    json!({ "tool": "Bash", "action": "run", "command": command, "input": {} })
}

/// The status of a new ask, and why a person decides.
async fn decided(world: &World, project: &Path, approval: Value) -> (String, Option<String>) {
    let ask = world.open_ask(of(project, approval)).await;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (text(&ask["status"]).unwrap(), text(&ask["why"]))
}

async fn started(world: &World, project: &Path, prompt: &str) -> ScriptedAgent {
    let new = json!({ "agent": "mock", "cwd": project, "prompt": prompt });
    ScriptedAgent::with(&world.server.client(), &serde_json::from_value(new).unwrap()).await.unwrap()
}

fn approved() -> (String, Option<String>) {
    ("approved".to_owned(), None)
}

fn pending(why: &str) -> (String, Option<String>) {
    ("pending".to_owned(), Some(why.to_owned()))
}

#[tokio::test]
async fn symbolic_links_are_followed_before_the_policy_decides() {
    let (world, project) = world().await;
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::create_dir_all(project.join("docs")).unwrap();
    symlink("../.git/config", project.join("docs/notes")).unwrap();
    symlink("/etc", project.join("docs/etc")).unwrap();
    symlink("../src", project.join("docs/src")).unwrap();
    let shown = project.to_string_lossy();
    assert_eq!(decided(&world, &project, edit("docs/x")).await, approved());
    assert_eq!(decided(&world, &project, edit("docs/src/x")).await, approved());
    assert_eq!(
        decided(&world, &project, edit("docs/notes")).await,
        pending(&format!("no rule names `{shown}/.git/config`, which is configuration of version control"))
    );
    assert_eq!(decided(&world, &project, edit("docs/etc/new")).await, pending("no rule allows `docs/etc/new, /etc/new`"));

    let data = world.server.data_dir().canonicalize().unwrap();
    symlink(data.join("token"), project.join("docs/token")).unwrap();
    let own_files = pending("built in: sayso itself: it touches Sayso's own files");
    assert_eq!(decided(&world, &project, run("cat docs/token")).await, own_files);
    let read = json!({ "tool": "Read", "action": "read", "paths": ["docs/token"], "input": {} });
    assert_eq!(decided(&world, &project, read).await, own_files);
}

#[tokio::test]
async fn rules_ask_again_after_configuration_changed_in_the_session() {
    let (world, project) = world().await;
    fs::create_dir_all(project.join(".git/hooks")).unwrap();
    fs::write(project.join(".git/config"), "[core]\n\tbare = false\n").unwrap();
    assert_eq!(decided(&world, &project, run("git status")).await, approved());

    fs::write(project.join(".git/config"), "[core]\n\tbare = false\n\tfsmonitor = ./x\n").unwrap();
    let why = format!("`{}/.git/config` changed since the session began, and git reads it", project.to_string_lossy());
    let ask = world.open_ask(of(&project, run("git status"))).await;
    assert_eq!((&ask["status"], &ask["why"]), (&json!("pending"), &json!(why)));
    assert_eq!(decided(&world, &project, run("cargo test")).await, approved());
    let explained = world.admin.post("/v1/policy/explain", json!({ "askId": id(&ask) })).await.expect(200);
    let explained = &explained["data"][0];
    assert_eq!((&explained["verdict"], &explained["because"]), (&json!("ask"), &json!(why)), "{explained}");

    // Tracking a branch does not change what runs, and restoring the file is not a change.
    fs::write(project.join(".git/config"), "[core]\n\tbare = false\n[branch \"x\"]\n\tremote = origin\n").unwrap();
    assert_eq!(decided(&world, &project, run("git status")).await, approved());
}

#[tokio::test]
async fn sessions_that_sayso_starts_are_compared_with_their_start() {
    let (world, project) = world().await;
    let mut agent = started(&world, &project, "hello").await;
    agent.finished().await.unwrap();
    fs::create_dir_all(project.join(".cargo")).unwrap();
    fs::write(project.join(".cargo/config.toml"), "[build]\nrustc-wrapper = \"./x\"\n").unwrap();
    let message = format!("/v1/sessions/{}/messages", agent.session());
    world.admin.post(&message, json!({ "text": "approve" })).await.expect(202);
    let ask = agent.asks().await.unwrap();
    let ask = world.ask(&ask.id).await;
    let why = format!("`{}/.cargo/config.toml` changed since the session began, and cargo reads it", project.to_string_lossy());
    assert_eq!((&ask["status"], &ask["why"]), (&json!("pending"), &json!(why)));

    // A session that starts now has this configuration from the beginning.
    let mut agent = started(&world, &project, "approve").await;
    assert!(agent.finished().await.unwrap().starts_with("Approved: "));
}

/// Claude Code reports where its shell is with every call.
#[tokio::test]
async fn command_starts_in_the_directory_that_the_agent_reports_with_it() {
    let (world, project) = world().await;
    let data = world.server.data_dir().canonicalize().unwrap();
    fs::create_dir_all(project.join("src")).unwrap();
    symlink(&project, project.parent().unwrap().join("link")).unwrap();
    let cat = |directory: &Path| {
        let mut ask = of(&project, run("cat t*"));
        ask["external"]["cwd"] = json!(directory);
        ask
    };
    world.open_ask(of(&project, run("cat x"))).await;
    for inside in [project.clone(), project.join("src"), project.parent().unwrap().join("link")] {
        assert_eq!(world.open_ask(cat(&inside)).await["status"], "approved", "{inside:?}");
    }
    let ask = world.open_ask(cat(&data)).await;
    let own_files = "built in: sayso itself: it touches Sayso's own files";
    assert_eq!((&ask["status"], &ask["why"]), (&json!("pending"), &json!(own_files)));
    assert_eq!(ask["approval"]["preview"]["cwd"], json!(data));
    let ask = world.open_ask(cat(Path::new("/etc"))).await;
    assert_eq!((&ask["status"], &ask["why"]), (&json!("pending"), &json!("no rule allows `cd /etc`, where it starts")));
}
