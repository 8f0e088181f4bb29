//! `sayso uninstall`: shows what Sayso wrote on this machine, and removes it.

use std::fs;
use std::path::{Path, PathBuf};

use super::stop;
use crate::app::App;
use crate::args::UninstallArgs;
use crate::connect::{self, AgentEntries};
use crate::failure::{Failure, no_server};
use crate::service;
use crate::terminal;
use crate::words;

/// The files to remove and to keep.
struct RemovalPlan {
    service: Option<PathBuf>,
    /// Entries of Sayso in the configuration of agents.
    entries: AgentEntries,
    remove: Vec<PathBuf>,
    keep: Vec<PathBuf>,
}

/// Lists all files and removes them after the person has confirmed. Stops the server and its agents first.
pub(crate) async fn run(app: &App, args: UninstallArgs) -> Result<(), Failure> {
    app.person_only()?;
    let plan = RemovalPlan::new(app, args.purge)?;
    let changed = plan.entries.paths();
    let left: Vec<&PathBuf> = plan.entries.left.iter().map(|(path, _)| path).collect();
    let removed: Vec<&PathBuf> = plan.service.iter().chain(&plan.remove).collect();
    let value =
        |done: bool| serde_json::json!({ "removed": removed, "changed": changed, "kept": plan.keep, "left": left, "done": done });
    if removed.is_empty() && changed.is_empty() {
        return app.out.result(&value(true), || "There is nothing to remove.".to_owned());
    }
    if !app.out.json {
        app.out.line(&plan.words(app));
    }
    if args.dry_run {
        return app.out.result(&value(false), || "Nothing was removed.".to_owned());
    }
    if !args.yes && (app.out.json || !terminal::confirm("Remove it? [y/n]: ", |question| app.out.write(question))) {
        return Err(Failure::new("Nothing was removed.").then("To remove it without this question: sayso uninstall --yes"));
    }
    stop_everything(app).await?;
    service::remove(app, false)?;
    plan.entries.remove()?;
    // A file can contain two kinds of entries, and the first call removes one kind per file.
    connect::entries(app)?.remove()?;
    for path in &plan.remove {
        let removed = if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::io(&format!("Cannot remove {}", path.display()), &error)),
        }
    }
    // Removes directories that are empty now. Other directories contain files that Sayso did not write.
    let runtime_dir = app.paths.runtime_dir();
    for directory in
        [&app.paths.data_dir.join("undo"), &app.paths.data_dir, &app.paths.config_dir, &runtime_dir.join("hooks"), runtime_dir]
    {
        let _ = fs::remove_dir(directory);
    }
    app.out.result(&value(true), || "Removed.".to_owned())
}

/// Ends the agents and the server, if it is running.
async fn stop_everything(app: &App) -> Result<(), Failure> {
    if let Ok(client) = app.client()
        && client.health().await.is_ok()
    {
        client.stop_agents().await?;
    }
    match stop::stop(app).await {
        Ok(_) => Ok(()),
        Err(failure) if failure == no_server() => Ok(()),
        Err(failure) => Err(failure),
    }
}

impl RemovalPlan {
    /// Sorts the existing files into those to remove and those to keep. Lists files by name, because a data directory
    /// that the person chose may contain other files.
    fn new(app: &App, purge: bool) -> Result<Self, Failure> {
        let paths = &app.paths;
        let data = |name: &str| paths.data_dir.join(name);
        let mut always = vec![paths.server_file(), data("program.json"), data("logs"), data("lock")];
        // The directory of sockets is shared with servers that use other data directories.
        always.extend(sayso_server::agent_sockets(&paths.data_dir, paths.runtime_dir()));
        always.extend(installed(app));
        let mut precious = vec![
            paths.database(),
            paths.token(),
            paths.agent_token(),
            data("state.key"),
            data("agents"),
            data("agent-token-claude"),
            data("agent-token-codex"),
            data("agent-token-opencode"),
            data("undo"),
            paths.config(),
            paths.policy(),
        ];
        precious.extend(database_siblings(&paths.database()));
        let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
        always.retain(is_there);
        precious.retain(is_there);
        let service = Some(service::path(app)?).filter(is_there);
        let entries = connect::entries(app)?;
        if purge {
            always.extend(precious);
            precious = Vec::new();
        }
        Ok(Self { service, entries, remove: always, keep: precious })
    }

    fn words(&self, app: &App) -> String {
        let shown = |title: &str, paths: &mut dyn Iterator<Item = &PathBuf>| {
            let lines: String =
                paths.map(|path| format!("\n  {}", words::directory(&path.to_string_lossy(), &app.out.look))).collect();
            (!lines.is_empty()).then(|| format!("{title}:{lines}"))
        };
        let changed = self.entries.paths();
        let parts = [
            shown("This will be removed", &mut self.service.iter().chain(&self.remove)),
            shown("Entries of Sayso will be removed from", &mut changed.iter()),
            shown(
                "Sayso cannot change these files safely; remove its entries yourself",
                &mut self.entries.left.iter().map(|(path, _)| path),
            ),
            shown("This will be kept (--purge removes it)", &mut self.keep.iter()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// The binary that `make install` installed.
fn installed(app: &App) -> Option<PathBuf> {
    app.environment.path("HOME").map(|home| home.join(".local/bin/sayso"))
}

/// Files next to the database: its journals, and copies made before migrations.
fn database_siblings(database: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (database.parent(), database.file_name()) else { return Vec::new() };
    let name = name.to_string_lossy();
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let entry = entry.file_name();
            let entry = entry.to_string_lossy();
            let is_journal = entry.starts_with(&format!("{name}-")) || entry.starts_with(&format!("{name}."));
            entry != name && (is_journal || is_copy_before_an_upgrade(database, &entry))
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Returns true for names such as `sayso.before-8.db`.
fn is_copy_before_an_upgrade(database: &Path, name: &str) -> bool {
    let stem = database.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    name.strip_prefix(&format!("{stem}.before-")).is_some_and(|rest| rest.ends_with(".db"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::look;
    use crate::output::Output;
    use sayso_client::{Environment, Paths};

    #[test]
    fn data_is_kept_without_purge_and_foreign_files_always() {
        let home = tempfile::tempdir().unwrap();
        let environment =
            Environment::from_pairs([("HOME", home.path().to_str().unwrap()), ("TMPDIR", home.path().to_str().unwrap())]);
        let paths = Paths::new(&environment, None).unwrap();
        let _ = paths.make_data_dir().unwrap();
        for file in [
            "sayso.db",
            "sayso.db-wal",
            "sayso.db.before-2",
            "sayso.before-8.db",
            "token",
            "state.key",
            "server.json",
            "notes.txt",
        ] {
            fs::write(paths.data_dir.join(file), "x").unwrap();
        }
        let out = Output { json: false, is_terminal: false, moves_cursor: false, look: look() };
        let app = App { environment, paths, out };
        let names = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let plan = RemovalPlan::new(&app, false).unwrap();
        assert_eq!(names(&plan.remove), ["server.json", "logs"]);
        assert_eq!(
            names(&plan.keep),
            ["sayso.db", "token", "state.key", "sayso.before-8.db", "sayso.db-wal", "sayso.db.before-2"]
        );
        let plan = RemovalPlan::new(&app, true).unwrap();
        assert_eq!((plan.remove.len(), plan.keep.len()), (8, 0));
        assert!(!names(&plan.remove).contains(&"notes.txt".to_owned()));
    }
}
