//! `SAYSO_URL=ssh://box`: commands use the server of another machine, through a fake `ssh` that really forwards.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, Result};
use sayso_testkit::sayso_bin;
use tokio::process::Command;

use crate::support::{Person, Ran, ran};

/// The other machine is another home directory on this machine. Forwarding and the remote command are real.
const SSH: &str = r#"#!/usr/bin/env python3
import os, socket, subprocess, sys, threading
words, options = sys.argv[1:], {}
while words[0] != "--":
    option = words.pop(0)
    options[option] = None if option == "-T" else words.pop(0)
_, host, command = words
far = os.environ["FAR"]
with open(far + "/ssh.log", "a") as log:
    print(host, options.get("-p"), file=log)
if host == "nowhere":
    sys.exit(print("ssh: Could not resolve hostname nowhere", file=sys.stderr) or 255)
path, target = options["-L"].split(":", 1)
target_host, target_port = target.rsplit(":", 1)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()

def copy(source, to):
    try:
        while piece := source.recv(65536):
            to.sendall(piece)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass

def forward():
    while True:
        near, _ = listener.accept()
        try:
            there = socket.create_connection((target_host, int(target_port)))
        except OSError:
            near.close()
            continue
        for pair in ((near, there), (there, near)):
            threading.Thread(target=copy, args=pair, daemon=True).start()

threading.Thread(target=forward, daemon=True).start()
print("Welcome to " + host, flush=True)
environment = {
    "PATH": os.environ["FAR_PATH"], "HOME": far + "/home", "XDG_CONFIG_HOME": far + "/config",
    "XDG_RUNTIME_DIR": far + "/run", "SAYSO_DATA_DIR": far + "/data", "USER": "grace",
}
os._exit(subprocess.run(["sh", "-c", command], env=environment).returncode)
"#;

/// A person on this machine, and their other machine.
struct Two {
    here: Person,
    far: Person,
    path: String,
}

impl Two {
    async fn new() -> Result<Self> {
        let (here, far) = (Person::without_server()?, Person::new().await?);
        let bin = here.path("bin");
        std::fs::create_dir(&bin)?;
        std::fs::write(bin.join("ssh"), SSH)?;
        std::fs::set_permissions(bin.join("ssh"), std::fs::Permissions::from_mode(0o755))?;
        let path = format!("{}:{}", bin.display(), std::env::var("PATH")?);
        Ok(Self { here, far, path })
    }

    fn command(&self, url: &str, args: &[&str]) -> Result<Command> {
        let program = sayso_bin()?;
        let bin = program.parent().context("a directory")?;
        let mut command = self.here.command(args);
        command.env("PATH", &self.path).env("SAYSO_URL", url).env("FAR", self.far.path(""));
        command.env("FAR_PATH", format!("{}:/usr/bin:/bin", bin.display()));
        Ok(command)
    }

    async fn run(&self, url: &str, args: &[&str]) -> Result<Ran> {
        ran(self.command(url, args)?).await
    }

    fn list_ssh_calls(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.far.path("ssh.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn commands_reach_the_server_of_another_machine() -> Result<()> {
    let two = Two::new().await?;
    let (_agent, asked) = two.far.mock_asks("question").await?;
    let listed = two.run("ssh://ada@box:2222", &["ls"]).await?;
    assert!(listed.code == Some(0) && listed.out.contains("Which database"), "{listed:?}");
    // The first attempt uses the usual port, the second one the actual port.
    assert_eq!(two.list_ssh_calls(), ["ada@box 2222", "ada@box 2222"]);
    let answered = two.run("ssh://box", &["answer", &asked.id, "1"]).await?;
    assert!(answered.out.starts_with("✓ Answered by tester in the terminal: \"SQLite\"."), "{answered:?}");
    // Streams work as well.
    let started =
        two.run("ssh://box", &["start", "mock", "hello there", "--cwd", two.far.project().to_str().context("a path")?]).await?;
    assert!(started.code == Some(0) && started.out.contains("hello there"), "{started:?}");
    assert!(!two.here.data_dir().exists(), "no server is started on this machine");
    let left = std::fs::read_dir(two.here.path("run/sayso"))?.count();
    assert_eq!(left, 0, "the tunnel is removed with the command");
    Ok(())
}

#[tokio::test]
async fn remote_agent_uses_its_own_token_and_never_the_persons() -> Result<()> {
    let two = Two::new().await?;
    let token = two.far.json(&["token", "create", "bot", "--role", "agent"]).await?;
    let mut command = two.command("ssh://box", &["ask", "Which?", "--no-wait"])?;
    command.env("SAYSO_AGENT_TOKEN", token["token"].as_str().context("a token")?);
    let asked = ran(command).await?;
    assert_eq!(asked.code, Some(0), "{asked:?}");
    let before = two.list_ssh_calls();
    let mut command = two.command("ssh://box", &["ls"])?;
    command.env("CLAUDECODE", "1");
    let refused = ran(command).await?;
    assert!(refused.code == Some(1) && refused.err.contains("a person must run this"), "{refused:?}");
    assert_eq!(two.list_ssh_calls(), before, "ssh is not started");
    Ok(())
}

#[tokio::test]
async fn tunnel_errors_name_the_missing_part() -> Result<()> {
    let mut two = Two::new().await?;
    let said = |ran: Ran| {
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        ran.err
    };
    let unreachable = said(two.run("ssh://nowhere", &["ls"]).await?);
    assert!(
        unreachable.starts_with("`ssh` cannot connect to nowhere:\n  ssh: Could not resolve hostname nowhere\n"),
        "{unreachable}"
    );
    let bar = two.run("ssh://nowhere", &["status", "--line"]).await?;
    assert_eq!(bar, Ran { code: Some(0), out: String::new(), err: String::new() });
    let mut command = two.command("ssh://box", &["ls"])?;
    command.env("FAR_PATH", "/usr/bin:/bin");
    let no_program = said(ran(command).await?);
    assert!(no_program.starts_with("`sayso` is not installed on box.\n"), "{no_program}");
    let mut command = two.command("ssh://box", &["ls"])?;
    command.env("PATH", two.here.path("home"));
    let no_ssh = said(ran(command).await?);
    assert!(no_ssh.starts_with("`ssh` is not installed on this machine.\n"), "{no_ssh}");
    two.far.server.as_mut().context("a server")?.terminate().await?;
    let no_server = said(two.run("ssh://box", &["ls"]).await?);
    assert!(no_server.starts_with("No server is running on box.\nStart one with: ssh box sayso restart"), "{no_server}");
    let option = two.run("ssh://-oProxyCommand=touch", &["ls"]).await?;
    assert!(option.code == Some(2) && option.err.contains("is not a valid ssh:// address."), "{option:?}");
    Ok(())
}
