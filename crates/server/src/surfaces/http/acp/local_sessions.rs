//! The sessions of one caller of this server, for the ACP conversation.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use sayso_api::ask::Ask;
use sayso_api::error::ErrorCode;
use sayso_api::session::{ChangeSession, IfPending, MessageRequest, Session, SessionQuery, TranscriptQuery};
use sayso_core::ask::Decision;
use sayso_store::ops::SessionCommand;
use tokio::sync::mpsc;

use crate::app::App;
use crate::runtime::feed::{Batch, Values};
use crate::service::asks::{self, DecisionRequest};
use crate::service::{sessions, transcript};
use crate::surfaces::acp::{Heard, Refusal, Reply, SessionCall, Sessions, Verdict};
use crate::surfaces::http::sessions::{accepted, detail, page};
use crate::surfaces::http::transcript::to_api as transcript_to_api;
use crate::surfaces::http::{ApiError, Authorized};

/// The name of this surface in outcomes.
const VIA: &str = "acp";
/// The page size of session lists.
const PAGE: u32 = 100;

/// The sessions that a caller can see.
#[derive(Debug, Clone)]
pub(super) struct LocalSessions {
    app: Arc<App>,
    authorized: Authorized,
}

impl LocalSessions {
    pub(super) const fn new(app: Arc<App>, authorized: Authorized) -> Self {
        Self { app, authorized }
    }

    async fn carry_out(&self, call: SessionCall) -> Result<Reply, ApiError> {
        if !self.authorized.caller.is_valid(self.app.services.clock.now()) {
            return Err(ApiError::unauthorized());
        }
        let (services, caller) = (&self.app.services, &*self.authorized.caller);
        Ok(match call {
            SessionCall::Create(new) => {
                let session = sessions::start(services, caller, *new, None).await?;
                Reply::Session(Box::new(Session::of(&session, 0)))
            }
            SessionCall::Look { session } => Reply::Session(Box::new(detail(&sessions::get(services, caller, &session).await?))),
            SessionCall::Interrupt { session } => self.command(&session, SessionCommand::Interrupt).await?,
            SessionCall::SetMode { session, mode } => {
                let change = ChangeSession { permission_mode: Some(mode), model: None };
                let (session, pending) = sessions::configure(services, caller, &session, change).await?;
                Reply::Session(Box::new(Session::of(&session, pending)))
            }
            SessionCall::Resume { session } => self.command(&session, SessionCommand::Resume).await?,
            SessionCall::Transcript { session, cursor } => {
                let query = TranscriptQuery { cursor, ..TranscriptQuery::default() };
                let page = transcript::read_transcript(services, caller, &session, query).await?;
                Reply::Transcript(transcript_to_api(&page))
            }
            SessionCall::List { cursor } => {
                let query = SessionQuery { cursor, limit: Some(PAGE), ..SessionQuery::default() };
                Reply::Sessions(page(&sessions::list(services, caller, query).await?))
            }
            SessionCall::Message { session, text } => {
                let message = MessageRequest { text, if_pending: IfPending::Refuse };
                let delivered = sessions::send_message(services, caller, VIA, &session, message, None).await?;
                Reply::Said(Box::new(accepted(&delivered)))
            }
            SessionCall::Whole { ask } => {
                let ask = asks::find(services, caller, asks::ask_id(&ask)?).await?;
                Reply::Ask(Box::new(Ask::from(&ask)))
            }
            SessionCall::Decide { ask, verdict } => {
                let decision = decision(verdict);
                let resolution =
                    DecisionRequest { ask: asks::ask_id(&ask)?, session: None, decision, via: VIA, key: None, content: None };
                let ask = asks::resolve(services, caller, resolution).await?;
                Reply::Ask(Box::new(Ask::from(&*ask)))
            }
        })
    }

    async fn command(&self, session: &str, kind: SessionCommand) -> Result<Reply, ApiError> {
        let (session, pending) = sessions::command(&self.app.services, &self.authorized.caller, session, kind).await?;
        Ok(Reply::Session(Box::new(Session::of(&session, pending))))
    }

    /// Forwards events until the receiver is dropped. An error says why the stream cannot continue.
    async fn forward_events(&self, session: &str, since: i64, tell: &mpsc::Sender<(String, Heard)>) -> Result<(), ApiError> {
        let caller = &self.authorized.caller;
        let found = sessions::get(&self.app.services, caller, session).await?;
        let mut allowed = self.authorized.still_allowed(&self.app);
        let mut cursor = self.app.runtime.stream_session(caller, &found, Some(since), Values);
        loop {
            let next = poll_fn(|cx| match allowed.poll_end(cx) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => cursor.poll_batch(cx).map(Some),
            });
            let events = match next.await.ok_or_else(ApiError::unauthorized)? {
                Batch::Frames(events) => events,
                Batch::Reset { .. } => {
                    if tell.send((session.to_owned(), Heard::Gap)).await.is_err() {
                        return Ok(());
                    }
                    continue;
                }
                Batch::Quiet => continue,
                Batch::Closed => return Ok(()),
            };
            for event in events {
                if !allowed.is_valid() {
                    return Err(ApiError::unauthorized());
                }
                if tell.send((session.to_owned(), Heard::Event(Box::new(event)))).await.is_err() {
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

impl Sessions for LocalSessions {
    async fn call(&self, call: SessionCall) -> Result<Reply, Refusal> {
        self.carry_out(call).await.map_err(|error| {
            let problem = error.problem();
            Refusal { code: Some(problem.code), message: problem.detail.clone() }
        })
    }

    async fn follow(&self, session: String, since: i64, tell: mpsc::Sender<(String, Heard)>) {
        if let Err(error) = self.forward_events(&session, since, &tell).await {
            let reason = match error.problem().code {
                ErrorCode::Unauthorized => "the token is no longer valid".to_owned(),
                _ => error.problem().detail.clone(),
            };
            // If the receiver is gone, the reason is not needed.
            let _ = tell.send((session, Heard::Over(reason))).await;
        }
    }
}
