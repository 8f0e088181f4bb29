//! Maps every error to an HTTP status, a stable code and a sentence with the next step.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::ask::{FileDiff as ApiFileDiff, Outcome as ApiOutcome};
use sayso_api::error::{ErrorCode, Problem, QuestionProblem, WorkflowFault};
use sayso_core::ask::{FileDiff, InvalidAnswers, Outcome, Refused};
use sayso_core::id::TokenId;
use sayso_core::limits::LimitExceeded;
use sayso_core::policy::PolicyError;
use sayso_core::workflow::WorkflowError;
use sayso_store::StoreError;
use sayso_store::ops::ResolveError;

use crate::service::ServiceError;

/// An error response.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Problem>);

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: ErrorCode, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem {
            type_uri: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code,
            error: None,
            outcome: None,
            own: None,
            problems: Vec::new(),
            asks: Vec::new(),
            changes: Vec::new(),
            faults: Vec::new(),
            line: None,
            column: None,
        }))
    }

    /// Returns the body of the response.
    pub(crate) const fn problem(&self) -> &Problem {
        &self.0
    }

    /// The body is not JSON, or lacks a field that a compatibility dialect requires.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::MalformedRequest, detail)
    }

    /// The body is valid JSON with invalid content.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidRequest, detail)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            ErrorCode::Unauthorized,
            "a valid bearer token is required: `Authorization: Bearer …`",
        )
    }

    /// A workflow with mistakes: the first one as the sentence, all of them as a list.
    fn workflow(errors: &[WorkflowError]) -> Self {
        let first = errors.first();
        let detail = match (first, errors.len()) {
            (Some(first), 1) => first.to_string(),
            (Some(first), several) => format!("{first} (and {} more; see `faults`)", several - 1),
            (None, _) => "the workflow cannot be used".to_owned(),
        };
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidWorkflow, detail);
        (error.0.line, error.0.column) = (first.and_then(|first| first.line), first.and_then(|first| first.column));
        let fault = |error: &WorkflowError| WorkflowFault {
            path: error.path.clone(),
            message: error.message.clone(),
            line: error.line,
            column: error.column,
        };
        error.0.faults = errors.iter().map(fault).collect();
        error
    }

    /// Repeats the code in `error`, for clients that read that field.
    fn with_error_code(mut self) -> Self {
        self.0.error = serde_json::to_value(self.0.code).ok().and_then(|code| code.as_str().map(str::to_owned));
        self
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, detail)
    }

    pub(crate) fn rate_limited() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, "too many calls; try again in a minute")
    }

    fn policy(error: &PolicyError) -> Self {
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidPolicy, error.to_string());
        problem.0.line = Some(error.line).filter(|line| *line > 0);
        problem.0.column = Some(error.column).filter(|column| *column > 0);
        problem
    }

    fn already(outcome: &Outcome, caller: TokenId) -> Self {
        let status = outcome.decision.status().as_str();
        let mut error = Self::new(
            StatusCode::CONFLICT,
            ErrorCode::AskAlreadyResolved,
            format!("the ask was already {status}; see `outcome`"),
        );
        // Shows who decided and when. The answers are only for tokens that may read the ask.
        let mut shown = ApiOutcome::of(outcome, &[]);
        shown.answers = None;
        shown.note = None;
        shown.input = None;
        error.0.outcome = Some(shown);
        error.0.own = Some(outcome.by.token() == Some(caller));
        error
    }

    /// Converts the failure to resolve an ask, from the view of this caller.
    fn not_resolved(error: ResolveError, caller: TokenId) -> Self {
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        match error {
            ResolveError::NotFound => ServiceError::AskNotFound.into(),
            // Not reached: the service compares the files and tries again.
            ResolveError::ContentUnchecked | ResolveError::SchemaUnchecked => {
                Self::new(StatusCode::CONFLICT, ErrorCode::ContentChanged, error.to_string())
            }
            ResolveError::KeyReused(_) => ServiceError::KeyReused.into(),
            ResolveError::Refused(refused) => match refused {
                Refused::AlreadyResolved(outcome) => Self::already(&outcome, caller),
                Refused::WrongKind(_) => Self::new(unprocessable, ErrorCode::WrongKind, refused.to_string()),
                Refused::InvalidAnswers(ref invalid) => {
                    let mut error = Self::new(unprocessable, ErrorCode::InvalidAnswers, refused.to_string());
                    if let InvalidAnswers::Questions(problems) = invalid {
                        error.0.problems = problems
                            .iter()
                            .map(|p| QuestionProblem { index: p.index, key: p.key.clone(), reason: p.reason.clone() })
                            .collect();
                    }
                    error
                }
                Refused::DecisionNotAllowed { .. } => {
                    Self::new(unprocessable, ErrorCode::DecisionNotAllowed, refused.to_string())
                }
                Refused::InvalidInput(_) => Self::new(unprocessable, ErrorCode::InvalidInput, refused.to_string()),
                Refused::UnknownChoice(_) | Refused::NotEditable => Self::invalid(refused.to_string()),
                Refused::Limit(limit) => limit.into(),
            },
        }
    }

    /// Repeats the sentence in `error`, for clients of the compatibility dialects.
    pub(crate) fn with_error_text(mut self) -> Self {
        self.0.error = Some(self.0.detail.clone());
        self
    }

    /// Returns only the sentence.
    pub(crate) fn into_words(self) -> String {
        self.0.detail
    }

    /// Replaces the sentence.
    pub(crate) fn saying(mut self, detail: &str) -> Self {
        detail.clone_into(&mut self.0.detail);
        self
    }
}

impl From<ServiceError> for ApiError {
    /// Assigns each error of the service layer its status and code. This is the only place that does. The sentence is the
    /// error's own.
    fn from(error: ServiceError) -> Self {
        use ErrorCode as Code;
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let refusal = |status, code| Self::new(status, code, error.to_string());
        match error {
            ServiceError::Forbidden
            | ServiceError::EnvironmentForbidden
            | ServiceError::ModeForbidden
            | ServiceError::PolicyForbidden => refusal(StatusCode::FORBIDDEN, Code::Forbidden),
            ServiceError::IdentityRefused(_) => refusal(StatusCode::FORBIDDEN, Code::IdentityRefused),
            ServiceError::TokenEnded | ServiceError::InvalidLoginCode => refusal(StatusCode::UNAUTHORIZED, Code::Unauthorized),
            ServiceError::AskNotFound => refusal(StatusCode::NOT_FOUND, Code::AskNotFound),
            ServiceError::SessionNotFound => refusal(StatusCode::NOT_FOUND, Code::SessionNotFound),
            ServiceError::RunNotFound => refusal(StatusCode::NOT_FOUND, Code::RunNotFound).with_error_code(),
            ServiceError::QuestionNotFound => refusal(StatusCode::NOT_FOUND, Code::QuestionNotFound).with_error_code(),
            ServiceError::GroupNotFound => refusal(StatusCode::NOT_FOUND, Code::GroupNotFound),
            ServiceError::GroupNotReady => refusal(StatusCode::CONFLICT, Code::GroupNotReady),
            ServiceError::GroupEnded => refusal(StatusCode::CONFLICT, Code::GroupEnded),
            ServiceError::ClaimLost => refusal(StatusCode::CONFLICT, Code::ClaimLost),
            ServiceError::StateUnreadable => refusal(StatusCode::CONFLICT, Code::StateUnreadable),
            ServiceError::InvalidSchema(_) => refusal(status, Code::InvalidSchema),
            ServiceError::UnknownCallback(_) => refusal(status, Code::UnknownCallback),
            ServiceError::NotFound(_) => refusal(StatusCode::NOT_FOUND, Code::NotFound),
            ServiceError::Invalid(_) => refusal(status, Code::InvalidRequest),
            ServiceError::Limit(_) | ServiceError::TooManyPending => refusal(status, Code::LimitExceeded),
            ServiceError::ContainsNul(_) => refusal(StatusCode::BAD_REQUEST, Code::MalformedRequest),
            ServiceError::ByteQuota => refusal(StatusCode::TOO_MANY_REQUESTS, Code::ByteQuotaExceeded),
            ServiceError::PolicyWorkerBusy => refusal(StatusCode::TOO_MANY_REQUESTS, Code::RateLimited),
            ServiceError::KeyReused | ServiceError::ApprovalDelivered => refusal(status, Code::IdempotencyKeyReused),
            ServiceError::DedupeKeyReused => refusal(StatusCode::CONFLICT, Code::DedupeKeyReused),
            ServiceError::OutcomeTaken => refusal(StatusCode::CONFLICT, Code::OutcomeTaken),
            ServiceError::UnknownAgent(_) => refusal(status, Code::UnknownAgent),
            ServiceError::AgentNotInstalled(_) => refusal(status, Code::AgentNotInstalled),
            ServiceError::AgentUnreachable(_) => refusal(status, Code::AgentUnreachable),
            ServiceError::DirectoryNotAllowed(_) => refusal(status, Code::DirectoryNotAllowed),
            ServiceError::UnknownWorkflow(_) => refusal(status, Code::InvalidWorkflow),
            ServiceError::NotDecided => refusal(StatusCode::CONFLICT, Code::NotDecided),
            ServiceError::OutcomePending => refusal(StatusCode::CONFLICT, Code::AskPending),
            ServiceError::SessionEnded => refusal(StatusCode::CONFLICT, Code::SessionEnded),
            ServiceError::ExternalSession => refusal(StatusCode::CONFLICT, Code::ExternalSession),
            ServiceError::SettingsFixed => refusal(StatusCode::CONFLICT, Code::SettingsFixed),
            ServiceError::NotResumable => refusal(StatusCode::CONFLICT, Code::NotResumable),
            ServiceError::RunEnded => refusal(StatusCode::CONFLICT, Code::RunEnded),
            ServiceError::PolicyChanged => refusal(StatusCode::CONFLICT, Code::PolicyChanged),
            ServiceError::PolicyFile { .. } | ServiceError::Internal(_) => {
                refusal(StatusCode::INTERNAL_SERVER_ERROR, Code::Internal)
            }
            ServiceError::MessageBlocked(ref asks) => {
                let mut refused = refusal(StatusCode::CONFLICT, Code::AskPending);
                refused.0.asks = asks.iter().map(ToString::to_string).collect();
                refused
            }
            ServiceError::ContentChanged(ref changed) => {
                let mut refused = refusal(StatusCode::CONFLICT, Code::ContentChanged);
                let diff = |file: &FileDiff| ApiFileDiff { path: file.path.clone(), diff: file.diff.clone() };
                refused.0.changes = changed.changes.iter().map(diff).collect();
                refused
            }
            ServiceError::NotResolved { error, caller } => Self::not_resolved(error, caller),
            ServiceError::InvalidWorkflow(faults) => Self::workflow(&faults),
            ServiceError::InvalidPolicy(error) => Self::policy(&error),
            ServiceError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Self::new(
                StatusCode::INSUFFICIENT_STORAGE,
                ErrorCode::StorageFull,
                "the disk is full; nothing changed. Free some space and try again",
            ),
            StoreError::Closed => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ShuttingDown,
                "the server is stopping; try again in a moment",
            ),
            StoreError::ContainsNul(error) => ServiceError::ContainsNul(error).into(),
            StoreError::Unreadable { .. }
            | StoreError::Database(_)
            | StoreError::Batch(_)
            | StoreError::Unavailable(_)
            | StoreError::NotLoaded { .. }
            | StoreError::Duplicate { .. } => {
                tracing::error!(%error, "the store failed");
                Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    ErrorCode::Internal,
                    "internal error; nothing changed. See the server log",
                )
            }
        }
    }
}

impl From<LimitExceeded> for ApiError {
    fn from(limit: LimitExceeded) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::LimitExceeded, limit.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self.0).unwrap_or_default();
        let mut response = (status, body).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
