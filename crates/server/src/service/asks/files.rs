//! The files that an approved command would execute. People with permission to answer see them, and the server compares them
//! again before it accepts an approval.

use std::path::Path;
use std::sync::Arc;

use sayso_api::ask::{AskFile, AskFiles};
use sayso_core::ask::{Ask, AskState, ExecutedFiles, FileDiff, content_digest};
use sayso_core::digest::ShaDigest;
use sayso_core::limits;

use super::file_snapshots::{FileSnapshot, FileSnapshots};
use super::read::{ask_id, find};
use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, authorize};

/// Maximum size of a file on a card, in bytes.
const SHOWN: usize = 16 * 1024;

/// Reads the files of a pending ask for a caller with permission to answer.
///
/// The caller that opened an ask chose its command, and with it the files. It must not read them through the server.
/// Therefore files are read only for asks of agents that this server started: those have no permission to answer.
pub(crate) async fn read_files(services: &Services, caller: &Caller, id: &str) -> Result<AskFiles, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let ask = find(services, caller, ask_id(id)?).await?;
    let Some(executed) = &ask.context.executes else {
        return Ok(AskFiles { digest: None, files: Vec::new(), unlisted: false });
    };
    let now = match ask.state {
        AskState::Pending(_) => services.snapshots.read_for(&ask).await,
        AskState::Resolved { .. } => None,
    };
    Ok(match now {
        Some(now) => AskFiles {
            digest: Some(now.digest.to_string()),
            files: now.files.iter().filter(|file| !is_other_place(file, &now)).map(to_api).collect(),
            unlisted: executed.unlisted,
        },
        None => AskFiles {
            digest: None,
            files: executed.files.iter().map(|file| unread(&file.path)).collect(),
            unlisted: executed.unlisted,
        },
    })
}

/// Returns true if the file is missing, but one of the same name exists in a directory that the command may change to.
fn is_other_place(file: &FileSnapshot, all: &FileSnapshots) -> bool {
    let name = |file: &FileSnapshot| Path::new(&file.file.path).file_name().map(ToOwned::to_owned);
    file.bytes.is_none() && all.files.iter().any(|other| other.bytes.is_some() && name(other) == name(file))
}

fn unread(path: &str) -> AskFile {
    AskFile { path: path.to_owned(), text: None, truncated: false, size: None, digest: None }
}

fn to_api(file: &FileSnapshot) -> AskFile {
    let Some(bytes) = &file.bytes else { return unread(&file.file.path) };
    let text = std::str::from_utf8(bytes).ok();
    let head = text.map(|text| limits::head(text, SHOWN));
    AskFile {
        path: file.file.path.clone(),
        text: head.map(str::to_owned),
        truncated: head.is_some_and(|head| head.len() < bytes.len()),
        size: Some(bytes.len() as u64),
        digest: file.file.digest.map(|digest| digest.to_string()),
    }
}

/// Reads the files of an ask that is about to be opened, and stores their digests in it. Does nothing if this server did not
/// start the session.
pub(crate) async fn note_files(services: &Services, ask: &mut Ask) {
    let Some(executed) = ask.context.executes.as_ref().filter(|_| matches!(ask.state, AskState::Pending(_))) else { return };
    let Some(project) = ask.context.project.as_deref().filter(|_| !executed.files.is_empty()) else { return };
    let Some(now) = services.snapshots.read(ask.id, project, executed).await else { return };
    let files = now.files.iter().map(|snapshot| snapshot.file.clone()).collect();
    let noted = ExecutedFiles { files, unlisted: executed.unlisted, readable: true };
    Arc::make_mut(&mut ask.context).executes = Some(noted);
}

/// The files differ from those that the person saw.
#[derive(Debug)]
pub(crate) struct ContentChanged {
    /// Empty if the server no longer knows what the person saw.
    pub(crate) changes: Vec<FileDiff>,
}

/// Compares the files of an ask with the version `shown`; without it, with the version when the ask was opened. Returns their
/// digest.
pub(super) async fn compare_files(services: &Services, ask: &Ask, shown: Option<ShaDigest>) -> Result<ShaDigest, ContentChanged> {
    let at_opening = ask.context.executes.as_ref().map(|executed| content_digest(&executed.files));
    let Some(expected) = shown.or(at_opening) else { return Err(ContentChanged { changes: Vec::new() }) };
    let seen = services.snapshots.find(ask.id, Some(expected));
    let now = services.snapshots.read_for(ask).await;
    match (now, seen) {
        (Some(now), _) if now.digest == expected => Ok(expected),
        (Some(now), Some(seen)) => Err(ContentChanged { changes: now.changes_since(&seen) }),
        (Some(_), None) | (None, _) => Err(ContentChanged { changes: Vec::new() }),
    }
}

/// Returns true if the files are still those that the approval was given for.
pub(crate) async fn is_as_approved(services: &Services, ask: &Ask) -> bool {
    let Some(approved) = ask.outcome().and_then(|outcome| outcome.content) else { return true };
    services.snapshots.read_for(ask).await.is_some_and(|now| now.digest == approved)
}
