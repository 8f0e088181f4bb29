//! `sayso uninstall`: removes what Sayso wrote on this machine, after showing it.

use std::fs;
use std::path::{Path, PathBuf};

use sayso_client::{Client, ServerFile};

use crate::app::App;
use crate::failure::Failure;
use crate::terminal;
use crate::words;

/// Lists everything and removes it after a yes.
pub(crate) async fn run(app: &App, purge: bool, yes: bool) -> Result<(), Failure> {
    app.person_only()?;
    if let Some(server) = ServerFile::read(&app.paths.server_file()).ok().flatten()
        && Client::new(&server.url, "")?.health().await.is_ok()
    {
        return Err(Failure::new("The server is running.").then("Stop it first: sayso stop"));
    }
    let (remove, keep) = plan(app, purge);
    let shown = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| format!("  {}", words::directory(&path.to_string_lossy(), &app.out.look)))
            .collect::<Vec<_>>()
            .join("\n")
    };
    if remove.is_empty() {
        return app.out.result(&serde_json::json!({ "removed": [], "kept": keep }), || "There is nothing to remove.".to_owned());
    }
    if !app.out.json {
        app.out.line(&format!("This will be removed:\n{}", shown(&remove)));
        if !keep.is_empty() {
            app.out.line(&format!("This stays (--purge removes it, too):\n{}", shown(&keep)));
        }
    }
    if !yes && (app.out.json || !terminal::confirm("Remove it? [y/n]: ", |question| app.out.write(question))) {
        return Err(Failure::new("Nothing was removed.").then("Without a question: sayso uninstall --yes"));
    }
    for path in &remove {
        let removed = if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::io(&format!("{} cannot be removed", path.display()), &error)),
        }
    }
    // Directories that are empty now go, too. Others hold something that is not ours.
    for directory in [&app.paths.data_dir, &app.paths.config_dir] {
        let _ = fs::remove_dir(directory);
    }
    app.out.result(&serde_json::json!({ "removed": remove, "kept": keep }), || "Removed.".to_owned())
}

/// What is removed and what stays, of what is there. The files are named one by one: a data directory
/// that somebody chose may hold other things.
fn plan(app: &App, purge: bool) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let paths = &app.paths;
    let mut always =
        vec![paths.server_file(), paths.data_dir.join("logs"), paths.data_dir.join("lock"), paths.runtime_dir().to_owned()];
    always.extend(installed(app));
    let mut precious =
        vec![paths.database(), paths.token(), paths.agent_token(), paths.data_dir.join("undo"), paths.config(), paths.policy()];
    precious.extend(beside_database(&paths.database()));
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    always.retain(is_there);
    precious.retain(is_there);
    if purge {
        always.extend(precious);
        (always, Vec::new())
    } else {
        (always, precious)
    }
}

/// The binary that `make install` put there.
fn installed(app: &App) -> Option<PathBuf> {
    app.environment.path("HOME").map(|home| home.join(".local/bin/sayso"))
}

/// The database's journals and the copies made before migrations.
fn beside_database(database: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (database.parent(), database.file_name()) else { return Vec::new() };
    let name = name.to_string_lossy();
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let entry = entry.file_name();
            let entry = entry.to_string_lossy();
            entry != name && (entry.starts_with(&format!("{name}-")) || entry.starts_with(&format!("{name}.")))
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::look;
    use crate::output::Output;
    use sayso_client::{Environment, Paths};

    #[test]
    fn data_stays_unless_it_is_purged_and_strangers_always_do() {
        let home = tempfile::tempdir().unwrap();
        let environment =
            Environment::from_pairs([("HOME", home.path().to_str().unwrap()), ("TMPDIR", home.path().to_str().unwrap())]);
        let paths = Paths::new(&environment, None).unwrap();
        paths.make_data_dir().unwrap();
        for file in ["sayso.db", "sayso.db-wal", "sayso.db.before-2", "token", "server.json", "notes.txt"] {
            fs::write(paths.data_dir.join(file), "x").unwrap();
        }
        let out = Output { json: false, is_terminal: false, look: look() };
        let app = App { environment, paths, out };
        let names = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let (remove, keep) = plan(&app, false);
        assert_eq!(names(&remove), ["server.json", "logs"]);
        assert_eq!(names(&keep), ["sayso.db", "token", "sayso.db-wal", "sayso.db.before-2"]);
        let (remove, keep) = plan(&app, true);
        assert_eq!((remove.len(), keep.len()), (6, 0));
        assert!(!names(&remove).contains(&"notes.txt".to_owned()));
    }
}
