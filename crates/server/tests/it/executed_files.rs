//! Files that a command executes: who can read them, and what happens if they change before the agent gets its approval.

use std::fs;
use std::path::PathBuf;

use sayso_api::session::NewSession;
use sayso_core::actor::Actor;
use sayso_core::ask::Decision;
use sayso_core::digest::{FileHash, ShaDigest};
use sayso_core::id::{AskId, TokenId};
use sayso_core::scope::Scope;
use sayso_store::ops::ResolveAsk;
use sayso_store::{Store, StoreOptions, WorkspaceId};
use sayso_testkit::ScriptedAgent;
use serde_json::{Value, json};

use crate::world::{World, id};

const SCRIPT: &str = "#!/bin/sh\necho to staging\n";

/// A project with `deploy.sh`, and the mock that wants to run it.
struct Deployment {
    world: World,
    project: PathBuf,
    agent: ScriptedAgent,
    ask: String,
}

impl Deployment {
    async fn start() -> Self {
        Self::with(|project| fs::write(project.join("deploy.sh"), SCRIPT).unwrap()).await
    }

    async fn with(prepare: impl FnOnce(&PathBuf)) -> Self {
        let world = World::start().await;
        let project = world.server.project().canonicalize().unwrap();
        prepare(&project);
        let cwd = Some(project.to_str().unwrap().to_owned());
        let new = NewSession { agent: "mock".to_owned(), prompt: Some("deploy".to_owned()), cwd, ..NewSession::default() };
        let mut agent = ScriptedAgent::with(&world.server.client(), &new).await.unwrap();
        let ask = agent.asks().await.unwrap().id;
        Self { world, project, agent, ask }
    }

    fn write(&self, text: &str) {
        fs::write(self.project.join("deploy.sh"), text).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.project.join(name).to_str().unwrap().to_owned()
    }

    async fn files(&self) -> Value {
        self.world.admin.get(&format!("/v1/asks/{}/files", self.ask)).await.expect(200)
    }

    async fn approve(&self, digest: &Value) -> crate::world::Reply {
        self.world.admin.post(&format!("/v1/asks/{}/approve", self.ask), json!({ "contentDigest": digest })).await
    }
}

#[tokio::test]
async fn answerers_see_the_files_that_a_command_executes() {
    let deployment = Deployment::start().await;
    let Deployment { world, ask, .. } = &deployment;
    let shown = deployment.files().await;
    let digest = FileHash::of_bytes(SCRIPT.as_bytes()).to_string();
    let file = json!({ "path": deployment.path("deploy.sh"), "text": SCRIPT, "truncated": false, "size": SCRIPT.len(), "digest": digest });
    assert_eq!(shown["digest"].as_str().map(str::len), Some(64));
    assert_eq!(shown, json!({ "digest": shown["digest"], "files": [file], "unlisted": false }));
    let answerer = world.role("answerer").await;
    assert_eq!(answerer.get(&format!("/v1/asks/{ask}/files")).await.expect(200), shown);

    for role in ["viewer", "agent"] {
        world.role(role).await.get(&format!("/v1/asks/{ask}/files")).await.problem(403, "forbidden");
    }
    // No other response contains the content of the files.
    let asked = world.ask(ask).await;
    let listed = json!({ "files": [deployment.path("deploy.sh")], "unlisted": false, "readable": true });
    assert_eq!(asked["executes"], listed);
    let session = asked["sessionId"].as_str().unwrap();
    for path in ["/v1/asks", &format!("/v1/asks/{ask}?raw=true"), &format!("/v1/sessions/{session}/transcript")] {
        let said = world.admin.get(path).await;
        assert!(said.text.contains("deploy.sh") && !said.text.contains("to staging"), "{path}: {}", said.text);
    }
    let mut stream = world.admin.stream(&format!("/v1/sessions/{session}/events"), Some("0")).await;
    let requested = stream.until("approval.requested").await.to_string();
    assert!(requested.contains("deploy.sh") && !requested.contains("to staging"), "{requested}");

    // Files of decided asks are not read any more.
    deployment.approve(&shown["digest"]).await.expect(200);
    let unread = json!({ "path": deployment.path("deploy.sh"), "truncated": false });
    assert_eq!(deployment.files().await, json!({ "files": [unread], "unlisted": false }));
}

#[tokio::test]
async fn asks_of_callers_read_no_files() {
    let deployment = Deployment::start().await;
    let Deployment { world, project, ask, .. } = &deployment;
    let session = world.ask(ask).await["sessionId"].clone();
    let approval = json!({ "tool": "Bash", "action": "run", "command": "bash deploy.sh && make" });
    for named in [json!({ "project": project }), json!({ "sessionId": session, "project": project })] {
        let mut wanted = named;
        wanted["approval"] = approval.clone();
        let mine = world.open_ask(wanted).await;
        let listed = json!({ "files": [deployment.path("deploy.sh")], "unlisted": true, "readable": false });
        assert_eq!(mine["executes"], listed);
        let read = world.admin.get(&format!("/v1/asks/{}/files", id(&mine))).await.expect(200);
        let unread = json!({ "path": deployment.path("deploy.sh"), "truncated": false });
        assert_eq!(read, json!({ "files": [unread], "unlisted": true }));
        world.admin.post(&format!("/v1/asks/{}/approve", id(&mine)), json!({})).await.expect(200);
    }
}

#[tokio::test]
async fn links_and_large_files_are_not_available() {
    let secret = "the secret of another directory";
    for prepare in [
        (|project: &PathBuf| {
            fs::write(project.parent().unwrap().join("secret"), "the secret of another directory").unwrap();
            std::os::unix::fs::symlink("../secret", project.join("deploy.sh")).unwrap();
        }) as fn(&PathBuf),
        |project| fs::write(project.join("deploy.sh"), vec![b'x'; 1024 * 1024 + 1]).unwrap(),
        |_| {},
    ] {
        let deployment = Deployment::with(prepare).await;
        let shown = deployment.files().await;
        assert_eq!(shown["files"], json!([{ "path": deployment.path("deploy.sh"), "truncated": false }]));
        assert!(!shown.to_string().contains(secret));
        deployment.approve(&shown["digest"]).await.expect(200);
    }
}

#[tokio::test]
async fn long_files_are_shown_in_part_and_compared_whole() {
    let long = format!("{}é\n", "# line\n".repeat(4000));
    let deployment = Deployment::with(|project| fs::write(project.join("deploy.sh"), &long).unwrap()).await;
    let shown = deployment.files().await;
    let file = &shown["files"][0];
    let text = file["text"].as_str().unwrap();
    assert_eq!(
        (text.len(), file["truncated"].as_bool(), file["size"].as_u64()),
        (16 * 1024, Some(true), Some(long.len() as u64))
    );
    deployment.write(&format!("{}e\n", "# line\n".repeat(4000)));
    deployment.approve(&shown["digest"]).await.problem(409, "content_changed");
}

#[tokio::test]
async fn changed_file_is_approved_only_after_another_look() {
    let mut deployment = Deployment::start().await;
    let shown = deployment.files().await;
    deployment.write("#!/bin/sh\necho to production\n");
    let refused = deployment.approve(&shown["digest"]).await.problem(409, "content_changed");
    let diff = "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo to staging\n+echo to production\n";
    assert_eq!(refused["changes"], json!([{ "path": deployment.path("deploy.sh"), "diff": diff }]));
    assert_eq!(deployment.world.ask(&deployment.ask).await["status"], "pending");
    // A client that does not show files approves the content from when the ask was opened.
    let path = format!("/v1/asks/{}/approve", deployment.ask);
    let refused = deployment.world.admin.post(&path, json!({})).await.problem(409, "content_changed");
    assert_eq!(refused["changes"], json!([{ "path": deployment.path("deploy.sh"), "diff": diff }]));
    deployment.world.admin.post(&path, json!({ "contentDigest": "no digest" })).await.problem(422, "invalid_request");

    let again = deployment.files().await;
    assert_ne!(again["digest"], shown["digest"]);
    let approved = deployment.approve(&again["digest"]).await.expect(200);
    assert_eq!(approved["status"], "approved");
    assert_eq!(deployment.agent.finished().await.unwrap(), "Approved: ./deploy.sh");
}

#[tokio::test]
async fn unchanged_file_is_approved_without_a_digest_and_after_a_restart() {
    let mut deployment = Deployment::start().await;
    deployment.world.server.restart().await.unwrap();
    let path = format!("/v1/asks/{}/approve", deployment.ask);
    deployment.world.admin.post(&path, json!({})).await.expect(200);
    assert_eq!(deployment.agent.finished().await.unwrap(), "Approved: ./deploy.sh");

    let mut deployment = Deployment::start().await;
    let shown = deployment.files().await;
    deployment.world.server.restart().await.unwrap();
    deployment.write("#!/bin/sh\n");
    let refused = deployment.approve(&shown["digest"]).await.problem(409, "content_changed");
    assert_eq!(refused["changes"], Value::Null, "the earlier content was lost in the restart");
    let denied = json!({ "message": "Not like this." });
    deployment.world.admin.post(&format!("/v1/asks/{}/deny", deployment.ask), denied).await.expect(200);
    assert_eq!(deployment.agent.finished().await.unwrap(), "Denied: Not like this.");
}

#[tokio::test]
async fn file_that_changes_after_the_decision_withholds_the_approval() {
    for (changed, delivery, said) in [
        (None, "delivered", "Approved: ./deploy.sh"),
        (
            Some("#!/bin/sh\necho to production\n"),
            "withheld",
            "Denied: A file that this command executes changed after the user approved it, so the approval does not apply. Ask again.",
        ),
    ] {
        let mut deployment = Deployment::start().await;
        let shown = deployment.files().await;
        let content: ShaDigest = shown["digest"].as_str().unwrap().parse().unwrap();
        let (ask, script): (AskId, _) = (deployment.ask.parse().unwrap(), deployment.project.join("deploy.sh"));
        // The outcome is committed, and the server ends before it can send anything.
        let decide = async |data: &std::path::Path| {
            let store = Store::open(&StoreOptions::new(data.join("sayso.db")), sayso_client::now, |_| {})?;
            let by = Actor::Person { name: "ada".to_owned(), via: "page".to_owned(), token: TokenId::from_bytes([7; 16]) };
            let decision = Decision::Approved { choice: None, input: None };
            let (workspace, scope, content) = (WorkspaceId::MAIN, Scope::All, Some(content));
            store
                .write(ResolveAsk { workspace, ask, scope, session: None, decision, by, key: None, content, fits_schemas: true })
                .await?
                .unwrap();
            store.close().await;
            if let Some(text) = changed {
                fs::write(&script, text)?;
            }
            Ok(())
        };
        deployment.world.server.restart_after(decide).await.unwrap();
        assert_eq!(deployment.agent.finished().await.unwrap(), said);
        let ask = deployment.world.ask(&deployment.ask).await;
        assert_eq!((&ask["status"], &ask["delivery"]), (&json!("approved"), &json!(delivery)), "{ask}");
        let reason = changed.map(|_| sayso_core::texts::WITHHELD);
        assert_eq!(ask["deliveryReason"].as_str(), reason);
    }
}
