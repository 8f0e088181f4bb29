//! Determines the directory in which a command starts: the project, unless the agent names another one.

use super::paths::{Places, within};
use super::words::Word;
use crate::ask::Approval;

/// The directory in which a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StartDirectory {
    /// The project.
    Project,
    /// A directory that the agent names: an absolute path without `..`.
    Named(String),
    /// An unknown directory, such as `~user`.
    Unknown,
}

impl StartDirectory {
    pub(super) fn of(approval: &Approval, places: Places<'_>) -> Self {
        match approval.directory() {
            None => Self::Project,
            Some(directory) => places.absolute(directory).map_or(Self::Unknown, Self::Named),
        }
    }

    /// Returns the directories against which relative paths are resolved. Empty if none is known.
    pub(super) fn directories(&self, places: Places<'_>) -> Vec<String> {
        let project = places.project.map(str::to_owned);
        match self {
            Self::Project => project.into_iter().collect(),
            // An agent may ignore the directory that it names, so the project counts as well.
            Self::Named(directory) => [directory.clone()].into_iter().chain(project.filter(|path| path != directory)).collect(),
            Self::Unknown => Vec::new(),
        }
    }

    /// Returns the directory if it is outside the project.
    pub(super) fn outside(&self, places: Places<'_>) -> Option<&str> {
        let project = places.absolute(places.project?)?;
        match self {
            Self::Named(directory) if !within(directory, &project) => Some(directory),
            Self::Named(_) | Self::Project | Self::Unknown => None,
        }
    }
}

/// Returns the words of the command `cd DIRECTORY`.
pub(super) fn change_to(directory: &str) -> [Word; 2] {
    [Word::read("cd"), Word::read(&format!("'{}'", directory.replace('\'', "'\\''")))]
}
