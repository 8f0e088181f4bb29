//! `sayso connect` and `disconnect`: the entries in the configuration of somebody's own agent by which it
//! tells Sayso what it asks. The change is shown, agreed to, and written; everything else in the file stays
//! as it is, byte for byte, and disconnecting takes the change back.

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
pub(crate) use claude::look as look_at_claude;
pub(crate) use program::Program;
pub(crate) use server::{OwnServer, attach};
pub(crate) use withdraw::{AgentEntries, entries};

use self::file::FileChange;
use crate::app::App;
use crate::args::{ConfigScope, ConnectAgent, ConnectArgs};
use crate::failure::{Failure, exit};
use crate::{autostart, install, sanitize, terminal, words};

/// What a file shall say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Our entries are in it.
    Connected,
    /// They are not.
    Disconnected,
}

/// A file that cannot be changed without guessing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Unfit {
    /// It is not what the agent would read.
    #[error("it cannot be read: {0}")]
    Syntax(String),
    /// Something else stands where our entries belong.
    #[error("`{0}` is not what was expected there")]
    Shape(String),
}

/// One file, and what it shall say.
struct Edit {
    path: PathBuf,
    /// What stands there instead.
    edit: Editor,
}

/// Puts our entries into a text, or takes them out.
type Editor = Box<dyn Fn(&str, Want) -> Result<String, Unfit>>;

impl Edit {
    fn new(path: PathBuf, edit: impl Fn(&str, Want) -> Result<String, Unfit> + 'static) -> Self {
        Self { path, edit: Box::new(edit) }
    }

    /// The text with our entries in it, or without.
    fn apply(&self, text: &str, want: Want) -> Result<String, Unfit> {
        // An empty file has nothing of ours, and need not become anything else.
        if want == Want::Disconnected && text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        (self.edit)(text, want)
    }

    /// The change that this is, if it is one.
    fn change(&self, want: Want, undo: &Path) -> Result<Option<FileChange>, Failure> {
        let refused = |unfit: Unfit| {
            Failure::new(format!("{} is left as it is: {unfit}.", self.path.display()))
                .then("Correct it, or write the entries by hand: see docs/connect.md")
        };
        let before = file::read(&self.path)?;
        if want == Want::Disconnected
            && let Some(exactly) = undo::take_back(undo, &self.path, before.as_deref())
        {
            return Ok(FileChange::of(&self.path, before, exactly));
        }
        let text = before.clone().unwrap_or_default();
        let after = self.apply(&text, want).map_err(refused)?;
        // Entries are put in or taken out; nothing else may be lost or gained.
        let without = self.apply(&text, Want::Disconnected).map_err(refused)?;
        if !is_part(&without, &text) || !is_part(&without, &after) {
            return Err(Failure::new(format!("{} would lose something, so it is left as it is.", self.path.display())));
        }
        if want == Want::Disconnected && before.is_none() {
            return Ok(None);
        }
        Ok(FileChange::of(&self.path, before, Some(after)))
    }

    /// What has to be remembered to take a change back exactly: nothing, if taking the entries out does.
    fn remember(&self, change: &FileChange, undo: &Path) -> Option<undo::Undo> {
        let after = change.after.as_deref()?;
        let without = |text: &str| self.apply(text, Want::Disconnected).ok();
        // Entries that are only renewed are not what was there at first.
        let first = match (undo::take_back(undo, &self.path, change.before.as_deref()), &change.before) {
            (Some(first), _) => first,
            (None, Some(before)) => without(before),
            (None, None) => None,
        };
        (without(after) != first).then(|| undo::Undo::of(&self.path, after, first))
    }
}

/// Whether one text is what is left of the other when pieces are cut out.
fn is_part(part: &str, whole: &str) -> bool {
    let mut rest = whole.bytes();
    part.bytes().all(|byte| rest.any(|other| other == byte))
}

/// The files of an agent.
fn edits(app: &App, agent: ConnectAgent, to: &ConnectArgs, program: &Program) -> Result<Vec<Edit>, Failure> {
    let home = app.environment.path("HOME").ok_or_else(|| Failure::new("HOME is not set."))?;
    let here = std::env::current_dir().map_err(|error| Failure::io("This directory cannot be used", &error))?;
    match agent {
        ConnectAgent::Claude => claude::edits(&app.environment, &home, &here, to.scope, program),
        ConnectAgent::Codex => codex::edits(&app.environment, &home, &here, to, program),
        ConnectAgent::Opencode => opencode::edits(&app.environment, &home, &here, to.scope, program),
    }
}

/// Which agents besides Claude Code are connected for this directory, and where that stands.
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

/// Writes our entries into an agent's configuration.
///
/// The terminals of Codex share a daemon; where it listens, all they ask comes from there and no entry is needed.
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

/// Takes them out again, and listens to none of the agent's servers any more. Given one, only that.
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
            Want::Connected => "It is connected already; nothing was changed.",
            Want::Disconnected => "It is not connected; nothing was changed.",
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
    if !to.yes && (app.out.json || !terminal::confirm("Write this? [y/n]: ", |question| app.out.write(question))) {
        let next = "Without a question: add --yes";
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
            Want::Disconnected => format!("{what} changed back. Agents that run now keep what they read when they started."),
        }
    })
}

/// What a person has to know then.
const fn next(agent: ConnectAgent) -> &'static str {
    match agent {
        ConnectAgent::Claude => {
            "Claude Code tells Sayso what it asks from its next start on; whoever answers first wins.\nTry it all with: sayso doctor"
        }
        ConnectAgent::Codex => {
            "Codex runs a new hook only when you trust it: start codex and look at /hooks. Your rules decide before it asks you;\nquestions come by the tool ask_user."
        }
        ConnectAgent::Opencode => "OpenCode has the tool ask_user from its next start on.",
    }
}

/// The token of one of the person's own agents: it opens asks of this agent and decides none. One that works stays.
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
    let secret = made.token.ok_or_else(|| Failure::new("The server made a token and did not tell it."))?;
    file::write_private(&path, &format!("{secret}\n"))
}

/// Whether a token opens asks on this server.
async fn works(client: &Client, token: &str) -> bool {
    let query = sayso_client::api::ask::AskQuery { limit: Some(1), ..Default::default() };
    match Client::new(client.url(), token) {
        Ok(client) => client.asks(&query).await.is_ok(),
        Err(_) => false,
    }
}

/// The agent's own directory, if it is told one.
fn own(environment: &Environment, variable: &str, home: &Path, default: &str) -> PathBuf {
    environment.path(variable).unwrap_or_else(|| home.join(default))
}

/// There is no such place for this agent.
fn no_scope(agent: &str, scope: ConfigScope) -> Failure {
    let scope = match scope {
        ConfigScope::User => "user",
        ConfigScope::Project => "project",
        ConfigScope::Local => "local",
    };
    Failure::usage(format!("{agent} has no configuration of the kind `{scope}`."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_may_be_cut_out_and_nothing_else() {
        assert!(is_part("", "") && is_part("", "a") && is_part("ac", "abc") && is_part("abc", "abc"));
        assert!(!is_part("a", "") && !is_part("ca", "abc") && !is_part("aa", "a"));
    }
}
