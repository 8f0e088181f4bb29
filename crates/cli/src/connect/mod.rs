//! `sayso connect` and `sayso disconnect`: edit the configuration of the person's own agent so that it reports its
//! asks to Sayso. The person sees a diff and confirms it. Everything else in the file stays the same, byte for byte,
//! and disconnecting restores the file.

mod claude;
mod codex;
mod file;
mod json;
mod opencode;
mod program;
mod server;
mod undo;
mod withdraw;

use std::path::{Path, PathBuf};

use sayso_client::api::token::{NewToken, Role};
use sayso_client::{Client, Environment};

pub(crate) use claude::ClaudeSettings;
pub(crate) use claude::read_settings as read_claude_settings;
pub(crate) use program::Program;
pub(crate) use server::{OwnServer, attach};
pub(crate) use withdraw::{AgentEntries, entries};

use self::file::FileChange;
use crate::app::App;
use crate::args::{ConfigScope, ConnectAgent, ConnectArgs};
use crate::failure::{Failure, exit};
use crate::{autostart, install, sanitize, terminal, words};

/// The wanted content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// The file contains our entries.
    Connected,
    /// The file does not contain our entries.
    Disconnected,
}

/// Why a file cannot be changed safely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Unfit {
    /// The agent itself could not parse the file.
    #[error("cannot parse it: {0}")]
    Syntax(String),
    /// The place of our entries contains another kind of value.
    #[error("unexpected value at `{0}`")]
    Shape(String),
}

/// One file and the function that edits it.
struct Edit {
    path: PathBuf,
    edit: Editor,
}

/// Adds our entries to a text, or removes them.
type Editor = Box<dyn Fn(&str, Want) -> Result<String, Unfit>>;

impl Edit {
    fn new(path: PathBuf, edit: impl Fn(&str, Want) -> Result<String, Unfit> + 'static) -> Self {
        Self { path, edit: Box::new(edit) }
    }

    /// Returns the text with or without our entries.
    fn apply(&self, text: &str, want: Want) -> Result<String, Unfit> {
        // An empty file has none of our entries. Leave it as it is.
        if want == Want::Disconnected && text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        (self.edit)(text, want)
    }

    /// Computes the change of the file; `None` if nothing changes.
    fn change(&self, want: Want, undo: &Path) -> Result<Option<FileChange>, Failure> {
        let refused = |unfit: Unfit| {
            Failure::new(format!("Cannot change {}: {unfit}.", self.path.display()))
                .then("Fix the file, or add the entries by hand as described in docs/connect.md")
        };
        let before = file::read(&self.path)?;
        if want == Want::Disconnected
            && let Some(exactly) = undo::take_back(undo, &self.path, before.as_deref())
        {
            return Ok(FileChange::of(&self.path, before, exactly));
        }
        let text = before.clone().unwrap_or_default();
        let after = self.apply(&text, want).map_err(refused)?;
        // An edit may only add or remove our entries. Check that nothing else is lost or added.
        let without = self.apply(&text, Want::Disconnected).map_err(refused)?;
        if !is_part(&without, &text) || !is_part(&without, &after) {
            return Err(Failure::new(format!("{} would lose content, so it was not changed.", self.path.display())));
        }
        if want == Want::Disconnected && before.is_none() {
            return Ok(None);
        }
        Ok(FileChange::of(&self.path, before, Some(after)))
    }

    /// Returns what must be remembered to restore the file exactly; `None` if removing our entries is enough.
    fn remember(&self, change: &FileChange, undo: &Path) -> Option<undo::Undo> {
        let after = change.after.as_deref()?;
        let without = |text: &str| self.apply(text, Want::Disconnected).ok();
        // If the entries are only updated, the original file is the one from before the first change.
        let first = match (undo::take_back(undo, &self.path, change.before.as_deref()), &change.before) {
            (Some(first), _) => first,
            (None, Some(before)) => without(before),
            (None, None) => None,
        };
        (without(after) != first).then(|| undo::Undo::of(&self.path, after, first))
    }
}

/// Returns true if `part` can be made from `whole` by cutting pieces out.
fn is_part(part: &str, whole: &str) -> bool {
    let mut rest = whole.bytes();
    part.bytes().all(|byte| rest.any(|other| other == byte))
}

/// Returns the edits of an agent's files.
fn edits(app: &App, agent: ConnectAgent, to: &ConnectArgs, program: &Program) -> Result<Vec<Edit>, Failure> {
    let home = app.environment.path("HOME").ok_or_else(|| Failure::new("HOME is not set."))?;
    let here = std::env::current_dir().map_err(|error| Failure::io("Cannot use this directory", &error))?;
    match agent {
        ConnectAgent::Claude => claude::edits(&app.environment, &home, &here, to.scope, program),
        ConnectAgent::Codex => codex::edits(&app.environment, &home, &here, to, program),
        ConnectAgent::Opencode => opencode::edits(&app.environment, &home, &here, to.scope, program),
    }
}

/// Lists connected agents other than Claude Code for this directory, with their configuration files.
pub(crate) fn others(app: &App) -> Vec<(ConnectAgent, PathBuf)> {
    let Ok(program) = Program::of(app) else { return Vec::new() };
    let mut found = Vec::new();
    for agent in [ConnectAgent::Codex, ConnectAgent::Opencode] {
        for scope in [ConfigScope::User, ConfigScope::Project] {
            let to = ConnectArgs { scope, yes: false, dry_run: true, hold: None };
            for edit in edits(app, agent, &to, &program).unwrap_or_default() {
                let text = file::read(&edit.path).ok().flatten().unwrap_or_default();
                if edit.apply(&text, Want::Disconnected).is_ok_and(|without| without != text) {
                    found.push((agent, edit.path));
                }
            }
        }
    }
    found
}

/// Adds our entries to the configuration of an agent.
///
/// All terminals of Codex share a daemon. If it is running, Sayso connects to it instead, and no file changes.
pub(crate) async fn connect(app: &App, agent: ConnectAgent, to: &ConnectArgs) -> Result<(), Failure> {
    app.person_only()?;
    if agent == ConnectAgent::Codex
        && to.scope == ConfigScope::User
        && to.hold.is_none()
        && let Some(place) = codex::daemon(&app.environment)
    {
        return attach(app, agent, OwnServer { place, password_env: None, user: None }, to).await;
    }
    install::require_lasting_program(app, "The entries in your agent's configuration")?;
    let program = Program::of(app)?;
    change(app, agent, to, &program, Want::Connected, &[]).await
}

/// Removes our entries and disconnects from all servers of the agent. With `place`, disconnects from that server only.
pub(crate) async fn disconnect(app: &App, agent: ConnectAgent, place: Option<&str>, to: &ConnectArgs) -> Result<(), Failure> {
    app.person_only()?;
    let left = server::detach(app, agent, place, to).await?;
    if place.is_some() {
        return server::said_left(app, &left, to);
    }
    let program = Program::of(app)?;
    change(app, agent, to, &program, Want::Disconnected, &left).await
}

async fn change(
    app: &App,
    agent: ConnectAgent,
    to: &ConnectArgs,
    program: &Program,
    want: Want,
    left: &[String],
) -> Result<(), Failure> {
    let undo = app.paths.data_dir.join("undo");
    let edits = edits(app, agent, to, program)?;
    let mut changes = Vec::new();
    for edit in &edits {
        if let Some(change) = edit.change(want, &undo)? {
            changes.push((edit, change));
        }
    }
    let diffs: Vec<String> = changes.iter().map(|(_, change)| change.diff()).collect();
    let shown: Vec<_> =
        changes.iter().zip(&diffs).map(|((_, change), diff)| serde_json::json!({ "path": change.path, "diff": diff })).collect();
    if changes.is_empty() && !left.is_empty() {
        return server::said_left(app, left, to);
    }
    if changes.is_empty() {
        if want == Want::Connected {
            token(app, agent).await?;
        }
        let words = match want {
            Want::Connected => "Already connected. Nothing was changed.",
            Want::Disconnected => "Not connected. Nothing was changed.",
        };
        return app.out.result(&serde_json::json!({ "changes": [], "written": false }), || words.to_owned());
    }
    if !app.out.json {
        for diff in &diffs {
            app.out.line(&sanitize::text(diff));
        }
    }
    if to.dry_run {
        let value = serde_json::json!({ "changes": shown, "written": false, "servers": left });
        return app.out.result(&value, || "Nothing was changed.".to_owned());
    }
    if !to.yes && (app.out.json || !terminal::confirm("Apply this change? [y/n]: ", |question| app.out.write(question))) {
        let next = "To apply it without this question, add --yes";
        return Err(Failure { exit: exit::ERROR, ..Failure::new("Nothing was changed.").then(next) });
    }
    if want == Want::Connected {
        token(app, agent).await?;
    }
    for (edit, change) in &changes {
        if want == Want::Connected {
            undo::keep(&undo, &change.path, edit.remember(change, &undo))?;
        }
        change.write()?;
        if want == Want::Disconnected {
            undo::keep(&undo, &change.path, None)?;
        }
    }
    app.out.result(&serde_json::json!({ "changes": shown, "written": true, "servers": left }), || {
        let what = words::count(changes.len(), "file was", "files were");
        match want {
            Want::Connected => format!("{what} changed.\n{}", next(agent)),
            Want::Disconnected => format!("{what} restored. Restart running agents to apply the change."),
        }
    })
}

/// What the person has to do or know after connecting.
const fn next(agent: ConnectAgent) -> &'static str {
    match agent {
        ConnectAgent::Claude => {
            "Restart Claude Code to apply the change. You can then answer its asks here or in its terminal; the first answer counts.\nTest the connection with: sayso doctor"
        }
        ConnectAgent::Codex => {
            "Codex runs a new hook only after you trust it: start codex and open /hooks. Your rules then decide before Codex asks you;\nquestions arrive through the tool ask_user."
        }
        ConnectAgent::Opencode => "Restart OpenCode to apply the change. It then has the tool ask_user.",
    }
}

/// Creates the token of one of the person's own agents, unless a valid token exists. The token can open asks of this
/// agent, and decide none.
async fn token(app: &App, agent: ConnectAgent) -> Result<(), Failure> {
    let client = autostart::client(app).await?;
    let name = server::name(agent);
    let path = app.paths.agent_token_of(name);
    if let Some(known) = file::read(&path)?
        && works(&client, known.trim()).await
    {
        return Ok(());
    }
    let wanted = NewToken {
        role: Role::Agent,
        actor: name.to_owned(),
        session_id: None,
        labels: Default::default(),
        agent: Some(name.to_owned()),
        project: None,
        expires_in: None,
    };
    let made = client.create_token(&wanted).await?;
    let secret = made.token.ok_or_else(|| Failure::new("The server created a token but did not return its secret."))?;
    file::write_private(&path, &format!("{secret}\n"))
}

/// Returns true if the token is valid on this server.
async fn works(client: &Client, token: &str) -> bool {
    let query = sayso_client::api::ask::AskQuery { limit: Some(1), ..Default::default() };
    match Client::new(client.url(), token) {
        Ok(client) => client.asks(&query).await.is_ok(),
        Err(_) => false,
    }
}

/// Returns the agent's configuration directory: from its environment variable, or the default.
fn config_directory(environment: &Environment, variable: &str, home: &Path, default: &str) -> PathBuf {
    environment.path(variable).unwrap_or_else(|| home.join(default))
}

/// The error for a scope that the agent does not have.
fn no_scope(agent: &str, scope: ConfigScope) -> Failure {
    let scope = match scope {
        ConfigScope::User => "user",
        ConfigScope::Project => "project",
        ConfigScope::Local => "local",
    };
    Failure::usage(format!("{agent} has no configuration with scope `{scope}`."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_is_the_whole_with_pieces_cut_out() {
        assert!(is_part("", "") && is_part("", "a") && is_part("ac", "abc") && is_part("abc", "abc"));
        assert!(!is_part("a", "") && !is_part("ca", "abc") && !is_part("aa", "a"));
    }
}
