//! Facts from the disk for a policy decision: targets of symbolic links, and configuration that changed during the session.

use std::path::Path;

use sayso_core::ask::{Action, AskBody};
use sayso_core::policy::{DiskFacts, paths_to_follow};
use sayso_core::session::ConfigSnapshot;

use super::config_snapshot::{changed_config, hash_config};
use super::followed_links::follow_links;
use crate::small_file::read_apart;

/// The session that an ask comes from, as far as disk facts depend on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskPlace<'a> {
    pub(crate) project: Option<&'a str>,
    pub(crate) home: Option<&'a str>,
    /// Hashes of the configuration at the start of the session, if they were read.
    pub(crate) config: Option<&'a ConfigSnapshot>,
}

/// Reads the facts for an ask. An unresponsive disk is reported as a fact, and the policy then asks a person.
pub(crate) async fn look_at_disk(place: AskPlace<'_>, body: &AskBody) -> DiskFacts {
    let AskBody::Approval(approval) = body else { return DiskFacts::default() };
    let paths = paths_to_follow(body, place.project, place.home);
    let runs = matches!(approval.action, Action::Run { .. });
    let config = place.config.filter(|_| runs).cloned();
    if paths.is_empty() && config.is_none() {
        return DiskFacts::default();
    }
    let (project, home) = (place.project.map(str::to_owned), place.home.map(str::to_owned));
    let look = move || {
        let roots = [project.as_deref(), home.as_deref()];
        let Some(real_paths) = real_paths(&paths, &roots) else { return DiskFacts { unknown: true, ..DiskFacts::default() } };
        let changed = match (&config, &project) {
            (Some(before), Some(project)) => {
                changed_config(before, &hash_config(Path::new(project), home.as_deref().map(Path::new)))
            }
            (Some(_) | None, _) => Vec::new(),
        };
        DiskFacts { real_paths, changed, unknown: false }
    };
    read_apart(look).await.unwrap_or_else(|| DiskFacts { unknown: true, ..DiskFacts::default() })
}

/// Resolves the paths that go through symbolic links. `None` if links form a cycle.
///
/// A project or home directory that is itself behind a link keeps its name, because rules use that name.
fn real_paths(paths: &[String], roots: &[Option<&str>]) -> Option<Vec<String>> {
    let roots: Vec<(&str, String)> =
        roots.iter().flatten().map(|root| Some((*root, text(&follow_links(Path::new(root))?)))).collect::<Option<_>>()?;
    let mut found = Vec::new();
    for path in paths {
        let real = text(&follow_links(Path::new(path))?);
        let renamed = roots.iter().find_map(|(root, behind)| {
            let rest = real.strip_prefix(behind.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
            Some(format!("{}{rest}", root.trim_end_matches('/')))
        });
        let real = renamed.unwrap_or(real);
        if real != *path && !found.contains(&real) {
            found.push(real);
        }
    }
    Some(found)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
