//! The operations, one file each: the request, its result, and how it changes rows.

pub(crate) mod advance;
mod advance_run;
mod announce;
mod attach;
mod claim_group;
mod collect_outcome;
mod command_session;
mod configure_session;
mod create_session;
pub(crate) mod decide;
pub(crate) mod external;
mod grants;
mod load_connection;
mod look_at_steps;
mod message;
pub(crate) mod notes;
mod open_ask;
mod open_group;
pub(crate) mod pushes;
mod resolve_ask;
pub(crate) mod session_rows;
mod set_reach;
mod settings;
mod tend_group;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;

pub use advance::{Advance, Advanced, Change, Process, SentInput};
pub use advance_run::{AdvanceRun, CreateRun, RunEvent};
pub use announce::{AnnouncePolicy, NoticeFrom, SayNotice};
pub use attach::{AttachConnection, DetachConnection};
pub use claim_group::{ClaimGroup, ClaimReport, ClaimedAsk, ClaimedGroup, GroupRefused, ReportClaim};
pub use collect_outcome::{CallerHasOutcome, TakeOutcome, Taken};
pub use command_session::{CommandSession, Commanded};
pub use configure_session::ConfigureSession;
pub use create_session::CreateSession;
pub use external::{EnsureExternal, ExternalKey, ExternalNews, TellExternal};
pub use grants::{AddGrant, RemoveGrant};
pub use load_connection::{LoadConnection, LoadedConnection};
pub use look_at_steps::{LookAtSteps, SessionLook, StepsLook};
pub use message::{MessageSent, SendMessage};
pub use notes::{DropNote, NoteRow, NoteState, PutNote};
pub use open_ask::{OpenAsk, Opened};
pub use open_group::{GroupOpened, OpenGroup};
pub use pushes::{DropPush, PushRow, PutPush};
pub use resolve_ask::{ExpireAsk, Expired, ResolveAsk, ResolveError, SnoozeAsk, WithdrawAsk, WithdrawByRequest};
pub use set_reach::SetReach;
pub use settings::{PutSetting, TrustProject};
pub use tend_group::{CalledBack, RESUME_AGAIN, TendGroup, WithdrawGroup};
pub use tokens::{CreateLoginCode, CreateToken, RedeemLoginCode, RevokeToken, TokenRow};

pub use sayso_core::session_lifecycle::SessionCommand;

pub use crate::operation::{IdempotencyKey, KeyReused, Once};
