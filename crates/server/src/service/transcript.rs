//! The transcript of a session.

use sayso_api::session::TranscriptQuery;
use sayso_store::read::{Page, ReadTranscript, TranscriptEntry};

use super::{ServiceError, Services, authorize, listing, sessions};
use crate::auth::{Caller, Permission};

/// Reads a page of messages, tool calls and asks, in order.
pub(crate) async fn read_transcript(
    services: &Services,
    caller: &Caller,
    session: &str,
    query: TranscriptQuery,
) -> Result<Page<TranscriptEntry>, ServiceError> {
    authorize(caller, Permission::Read)?;
    let session = sessions::find(services, caller, session).await?.session.id;
    let read = ReadTranscript {
        session,
        workspace: caller.workspace,
        after: listing::cursor(query.cursor.as_deref())?.unwrap_or(0),
        limit: listing::page_size(query.limit)?,
    };
    Ok(services.store.read(read).await?)
}
