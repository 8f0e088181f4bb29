//! The operations. Each file contains the request, the result and the implementation of [`Operation`](crate::Operation), whose
//! module explains how to write one.

pub(crate) mod advance_connection;
mod advance_run;
mod announce;
mod attach;
mod claim_group;
mod collect_outcome;
mod command_session;
mod configure_session;
mod create_session;
pub(crate) mod decide;
pub(crate) mod external_sessions;
mod grants;
mod load_connection;
mod message;
pub(crate) mod notifications;
mod open_ask;
mod open_group;
pub(crate) mod push_subscriptions;
mod read_steps;
mod refresh_group;
mod resolve_ask;
pub(crate) mod session_rows;
mod set_reach;
mod settings;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;

pub use advance_connection::{AdvanceConnection, AdvanceResult, ConnectionChange, ProcessChange, SentInput};
pub use advance_run::{AdvanceRun, CreateRun, RunEvent};
pub use announce::{AnnouncePolicy, NoticeSource, PostNotice};
pub use attach::{AttachConnection, DetachConnection};
pub use claim_group::{ClaimGroup, ClaimReport, ClaimedAsk, ClaimedGroup, GroupRefused, ReportClaim};
pub use collect_outcome::{ClaimOutcome, ClaimOutcomeResult, CollectOutcome};
pub use command_session::{CommandSession, SessionCommandResult};
pub use configure_session::ConfigureSession;
pub use create_session::CreateSession;
pub use external_sessions::{EnsureExternalSession, ExternalActivity, ExternalSessionKey, ReportExternalActivity};
pub use grants::{AddGrant, RemoveGrant};
pub use load_connection::{LoadConnection, LoadedConnection};
pub use message::{SendMessage, SendMessageResult};
pub use notifications::{DeleteNotification, NotificationRow, NotificationState, PutNotification};
pub use open_ask::{OpenAsk, OpenAskResult};
pub use open_group::{OpenGroup, OpenGroupResult};
pub use push_subscriptions::{DeletePushSubscription, PushSubscriptionRow, PutPushSubscription};
pub use read_steps::{ReadSteps, StepSessionState, StepStates};
pub use refresh_group::{RESUME_AGAIN, RecordCallback, RefreshGroup, WithdrawGroup};
pub use resolve_ask::{ExpireAsk, ExpireAskResult, ResolveAsk, ResolveError, SnoozeAsk, WithdrawAsk, WithdrawByRequest};
pub use set_reach::SetReach;
pub use settings::{PutSetting, TrustProject};
pub use tokens::{CreateLoginCode, CreateToken, RedeemLoginCode, RevokeToken, TokenRow};

pub use sayso_core::session_lifecycle::SessionCommand;

pub use crate::operation::{IdempotencyKey, IdempotentResult, KeyReused};
