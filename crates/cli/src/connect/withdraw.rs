//! Finds all entries that `connect` wrote for this user and this project, and removes them when Sayso is uninstalled.

use std::path::PathBuf;

use super::file::FileChange;
use super::{Program, Want, edits, undo};
use crate::app::App;
use crate::args::{ConfigScope, ConnectAgent, ConnectArgs};
use crate::failure::Failure;

/// Our entries in the configuration of the person's agents.
#[derive(Debug)]
pub(crate) struct AgentEntries {
    changes: Vec<FileChange>,
    undo: PathBuf,
    /// Files that may contain our entries but cannot be changed safely, with the reason.
    pub(crate) left: Vec<(PathBuf, String)>,
}

/// Finds the entries of this user and of the project in this directory.
pub(crate) fn entries(app: &App) -> Result<AgentEntries, Failure> {
    let program = Program::of(app)?;
    let undo = app.paths.data_dir.join("undo");
    let mut found = AgentEntries { changes: Vec::new(), undo, left: Vec::new() };
    for agent in [ConnectAgent::Claude, ConnectAgent::Codex, ConnectAgent::Opencode] {
        for scope in [ConfigScope::User, ConfigScope::Project, ConfigScope::Local] {
            let to = ConnectArgs { scope, yes: true, dry_run: false, hold: None };
            // Some agents lack some scopes.
            for edit in edits(app, agent, &to, &program).unwrap_or_default() {
                let known = found.changes.iter().any(|change| change.path == edit.path);
                match edit.change(Want::Disconnected, &found.undo) {
                    Ok(Some(change)) if !known => found.changes.push(change),
                    Ok(_) => {}
                    Err(failure) => found.left.push((edit.path.clone(), failure.what)),
                }
            }
        }
    }
    Ok(found)
}

impl AgentEntries {
    /// Returns the files to change.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.changes.iter().map(|change| change.path.clone()).collect()
    }

    pub(crate) fn remove(&self) -> Result<(), Failure> {
        for change in &self.changes {
            change.write()?;
            undo::keep(&self.undo, &change.path, None)?;
        }
        Ok(())
    }
}
