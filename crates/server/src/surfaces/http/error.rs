//! Every error that reaches a client, in one place: a status, a stable code, and what to do.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::ask::Outcome as ApiOutcome;
use sayso_api::error::{ErrorCode, Problem, QuestionProblem, WorkflowFault};
use sayso_core::ask::{InvalidAnswers, Outcome, Refused};
use sayso_core::id::{AskId, TokenId};
use sayso_core::limits::LimitExceeded;
use sayso_core::policy::PolicyError;
use sayso_core::texts;
use sayso_core::workflow::WorkflowError;
use sayso_store::StoreError;
use sayso_store::write::ResolveError;

/// An error that a client sees.
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
            faults: Vec::new(),
            line: None,
            column: None,
        }))
    }

    /// What the client is told.
    pub(crate) const fn problem(&self) -> &Problem {
        &self.0
    }

    /// The body is not JSON, or a door misses a field.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::MalformedRequest, detail)
    }

    /// The body is JSON but does not fit.
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

    pub(crate) fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, "this token may not do this")
    }

    pub(crate) fn no_ask() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::AskNotFound, "no such ask")
    }

    pub(crate) fn no_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::SessionNotFound, "no such session")
    }

    pub(crate) fn no_run() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::RunNotFound, "no such run").named()
    }

    pub(crate) fn no_question() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::QuestionNotFound, "no such question of this run").named()
    }

    pub(crate) fn run_ended() -> Self {
        Self::new(StatusCode::CONFLICT, ErrorCode::RunEnded, "the run is over")
    }

    /// A workflow that cannot be used: the first thing that is wrong in words, all of them as a list.
    pub(crate) fn workflow(errors: &[WorkflowError]) -> Self {
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

    /// The same with the code also under `error`, for clients that look for it there.
    fn named(mut self) -> Self {
        self.0.error = serde_json::to_value(self.0.code).ok().and_then(|code| code.as_str().map(str::to_owned));
        self
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, detail)
    }

    pub(crate) fn key_reused() -> Self {
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::IdempotencyKeyReused,
            "this Idempotency-Key was used with another body; take a new key for a new call",
        )
    }

    pub(crate) fn rate_limited() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, "too many calls; try again in a minute")
    }

    pub(crate) fn session_ended() -> Self {
        Self::new(StatusCode::CONFLICT, ErrorCode::SessionEnded, "the session is over")
    }

    pub(crate) fn not_decided() -> Self {
        Self::new(StatusCode::CONFLICT, ErrorCode::NotDecided, "the policy leaves this to a person; nothing was opened")
    }

    pub(crate) fn external() -> Self {
        Self::new(StatusCode::CONFLICT, ErrorCode::ExternalSession, texts::EXTERNAL)
    }

    pub(crate) fn pending(asks: &[AskId]) -> Self {
        let mut error = Self::new(
            StatusCode::CONFLICT,
            ErrorCode::AskPending,
            "the agent waits for a decision that a message does not give; decide it, or send with ifPending \"queue\"",
        );
        error.0.asks = asks.iter().map(ToString::to_string).collect();
        error
    }

    fn already(outcome: &Outcome, caller: TokenId) -> Self {
        let status = outcome.decision.status().as_str();
        let mut error = Self::new(
            StatusCode::CONFLICT,
            ErrorCode::AskAlreadyResolved,
            format!("the ask was already {status}; see `outcome`"),
        );
        // Who and when; what was said stays with those who read the ask itself.
        let mut shown = ApiOutcome::of(outcome, &[]);
        shown.answers = None;
        shown.note = None;
        shown.input = None;
        error.0.outcome = Some(shown);
        error.0.own = Some(outcome.by.token() == Some(caller));
        error
    }

    /// Why an ask was not decided, as this caller sees it.
    pub(crate) fn resolve(error: ResolveError, caller: TokenId) -> Self {
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        match error {
            ResolveError::NotFound => Self::no_ask(),
            ResolveError::KeyReused(_) => Self::key_reused(),
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
                Refused::UnknownChoice(_) | Refused::NotEditable => Self::invalid(refused.to_string()),
                Refused::Limit(limit) => limit.into(),
            },
        }
    }

    /// The same, with the text also under `error`, for clients of a door.
    pub(crate) fn for_door(mut self) -> Self {
        self.0.error = Some(self.0.detail.clone());
        self
    }

    /// The words alone.
    pub(crate) fn into_words(self) -> String {
        self.0.detail
    }

    /// The same, with other words.
    pub(crate) fn saying(mut self, detail: &str) -> Self {
        detail.clone_into(&mut self.0.detail);
        self
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Self::new(
                StatusCode::INSUFFICIENT_STORAGE,
                ErrorCode::StorageFull,
                "the disk is full; nothing changed. Make room and try again",
            ),
            StoreError::Closed => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ShuttingDown,
                "the server is stopping; try again in a moment",
            ),
            StoreError::Unreadable { .. } | StoreError::Sqlite(_) | StoreError::Batch(_) => {
                tracing::error!(%error, "the store failed");
                Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    ErrorCode::Internal,
                    "a fault of the server; nothing changed. The log says more",
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

impl From<PolicyError> for ApiError {
    fn from(error: PolicyError) -> Self {
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidPolicy, error.to_string());
        problem.0.line = Some(error.line).filter(|line| *line > 0);
        problem.0.column = Some(error.column).filter(|column| *column > 0);
        problem
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
