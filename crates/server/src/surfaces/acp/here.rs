//! The sessions of one caller of this server.

use std::borrow::Cow;
use std::future::poll_fn;
use std::sync::Arc;

use axum::extract::{Path, State};
use bytes::Bytes;
use sayso_api::ask::GetAskQuery;
use sayso_api::error::ErrorCode;
use sayso_api::event::Event;
use sayso_api::session::{IfPending, MessageRequest, SessionQuery, TranscriptQuery};
use sayso_core::ask::Decision;
use sayso_core::scope::Scope;
use tokio::sync::mpsc;

use super::call::{Call, Refusal, Reply, Verdict};
use super::conversation::Heard;
use super::serve::Sessions;
use crate::app::{App, shown};
use crate::auth::Permission;
use crate::runtime::feed::{Batch, Frame, Render, Selection};
use crate::surfaces::http::decide::{Decide, decide};
use crate::surfaces::http::{ApiError, Authorized, Params, asks, sessions, transcript};

/// How the outcome says where a person decided.
const VIA: &str = "acp";
/// Sessions on a page of the list.
const PAGE: u32 = 100;

/// The sessions that a caller sees.
#[derive(Debug, Clone)]
pub(super) struct Here {
    app: Arc<App>,
    authorized: Authorized,
}

impl Here {
    pub(super) const fn new(app: Arc<App>, authorized: Authorized) -> Self {
        Self { app, authorized }
    }

    async fn made(&self, call: Call) -> Result<Reply, ApiError> {
        if !self.authorized.still_allowed(&self.app)() {
            return Err(ApiError::unauthorized());
        }
        let (app, authorized) = (State(Arc::clone(&self.app)), self.authorized.clone());
        let session = |session| Reply::Session(Box::new(session));
        Ok(match call {
            Call::Create(new) => session(sessions::start(&self.app, &authorized, *new, None).await?),
            Call::Look { session: id } => session(sessions::get(app, authorized, Path(id)).await?.0),
            Call::Interrupt { session: id } => session(sessions::interrupt(app, authorized, Path(id)).await?.0),
            Call::Resume { session: id } => session(sessions::resume(app, authorized, Path(id)).await?.0),
            Call::Transcript { session, cursor } => {
                let query = TranscriptQuery { cursor, ..TranscriptQuery::default() };
                Reply::Transcript(transcript::get(app, authorized, Path(session), Params(query)).await?.0)
            }
            Call::List { cursor } => {
                let query = SessionQuery { cursor, limit: Some(PAGE), ..SessionQuery::default() };
                Reply::Sessions(sessions::list(app, authorized, Params(query)).await?.0)
            }
            Call::Message { session, text } => {
                let message = MessageRequest { text, if_pending: IfPending::Refuse };
                Reply::Said(Box::new(sessions::say(&self.app, &authorized, VIA, &session, message, None).await?))
            }
            Call::Whole { ask } => {
                Reply::Ask(Box::new(asks::get(app, authorized, Path(ask), Params(GetAskQuery::default())).await?.0))
            }
            Call::Decide { ask, verdict } => {
                let ask = asks::ask_id(&ask)?;
                let by = authorized.person_via(VIA);
                let wanted = Decide { ask, session: None, decision: decision(verdict), by, key: None };
                let decided = decide(&self.app, &authorized, wanted).await?;
                Reply::Ask(Box::new(shown(&decided)))
            }
        })
    }

    /// Follows until somebody stops listening, or why it cannot go on.
    async fn told(&self, session: &str, since: i64, tell: &mpsc::Sender<(String, Heard)>) -> Result<(), ApiError> {
        let caller = self.authorized.may(Permission::Read)?;
        let found = sessions::find(&self.app, caller, session).await?.session.id;
        let allowed = self.authorized.still_allowed(&self.app);
        // What belongs to a visible session is visible.
        let selection = Selection { workspace: caller.workspace, session: Some(found), scope: Scope::All, since: Some(since) };
        let mut cursor = self.app.feed.cursor(selection, self.app.past(), Lines);
        loop {
            let bytes = match poll_fn(|cx| cursor.poll_batch(cx)).await {
                Batch::Frames(bytes) => bytes,
                Batch::Reset { .. } => {
                    if tell.send((session.to_owned(), Heard::Gap)).await.is_err() {
                        return Ok(());
                    }
                    continue;
                }
                Batch::Quiet if allowed() => continue,
                Batch::Quiet => return Err(ApiError::unauthorized()),
                Batch::Closed => return Ok(()),
            };
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                if !allowed() {
                    return Err(ApiError::unauthorized());
                }
                let Ok(event) = serde_json::from_slice::<Event<'_>>(line) else { continue };
                let (kind, data) = (Cow::Owned(event.kind.into_owned()), Cow::Owned(event.data.into_owned()));
                let event = Event { seq: event.seq, at: event.at, kind, session_id: event.session_id, data };
                if tell.send((session.to_owned(), Heard::Event(event))).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

fn decision(verdict: Verdict) -> Decision {
    match verdict {
        Verdict::Answer(answers) => Decision::Answered { answers, note: None },
        Verdict::Reject => Decision::Rejected { message: String::new(), stop: false },
        Verdict::Approve { choice } => Decision::Approved { choice, input: None },
        Verdict::Deny => Decision::Denied { message: String::new(), stop: false },
    }
}

impl Sessions for Here {
    async fn call(&self, call: Call) -> Result<Reply, Refusal> {
        self.made(call).await.map_err(|error| {
            let problem = error.problem();
            Refusal { code: Some(problem.code), message: problem.detail.clone() }
        })
    }

    async fn follow(&self, session: String, since: i64, tell: mpsc::Sender<(String, Heard)>) {
        if let Err(error) = self.told(&session, since, &tell).await {
            let reason = match error.problem().code {
                ErrorCode::Unauthorized => "the token is not valid any more".to_owned(),
                _ => error.problem().detail.clone(),
            };
            // Nobody listens: then nobody needs to know.
            let _ = tell.send((session, Heard::Over(reason))).await;
        }
    }
}

/// Events as lines of JSON.
#[derive(Debug)]
struct Lines;

impl Render for Lines {
    fn frame(&mut self, frame: &Frame) -> Bytes {
        // The rendering that all streams share holds the event as its line of data, which ends as a line does.
        let native = frame.native();
        let data = native.windows(6).position(|bytes| bytes == b"data: ").map(|at| at + 6);
        data.map(|at| native.slice(at..)).unwrap_or_default()
    }

    fn reset(&mut self, _: i64) -> Bytes {
        Bytes::new()
    }
}
