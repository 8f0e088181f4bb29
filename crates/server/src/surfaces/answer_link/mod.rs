//! The page of an answer link, with which one person decides one ask. Opening the page changes nothing; only its buttons decide.
//!
//! The page has no scripts and needs no login: the link is the credential, and it permits only to decide this ask. A link that was
//! sent to a browser works only as long as the token of the browser is valid.

mod html;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::error::ErrorCode;
use sayso_core::ask::{Answers, Ask, AskState, Decision, Refused};
use sayso_store::ops::ResolveError;

use crate::app::App;
use crate::config::language::Language;
use crate::runtime::notify::{self, ConfiguredChannel, LinkTarget};
use crate::service::answer_links::BadLink;
use crate::service::asks::{self, ChannelDecider, ChannelRefusal};
use crate::service::notes::{self, Press};
use crate::surfaces::http::body::{BodyLimits, read_body};
use crate::surfaces::http::{ApiError, Peer};

/// The content security policy: no external resources, and forms only to this server.
const CSP: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// An error with its text for the person.
struct LinkRefusal {
    status: StatusCode,
    code: ErrorCode,
    words: String,
}

impl LinkRefusal {
    fn new(status: StatusCode, code: ErrorCode, words: impl Into<String>) -> Self {
        Self { status, code, words: words.into() }
    }

    /// The text in Chinese, by code. The details of a refused answer are in English only.
    const fn chinese(&self) -> &str {
        match self.code {
            ErrorCode::InvalidLink => "此链接无效。请使用最新的链接，或打开 Sayso。",
            ErrorCode::LinkExpired => "此链接已过期。请打开 Sayso 回答。",
            ErrorCode::RateLimited => "你的网络打开了过多无效链接。请一分钟后重试。",
            ErrorCode::TooLarge => "回答过长。请缩短后重新发送。",
            ErrorCode::RequestTimeout => "回答未能及时送达。请重新发送。",
            ErrorCode::InvalidRequest => "此回答不适用于该询问。请返回并另选一个。",
            ErrorCode::Internal => "服务器出错了。请稍后重试。",
            ErrorCode::ContentChanged => "此命令将执行的文件已更改。请打开 Sayso 查看。",
            _ => self.words.as_str(),
        }
    }

    fn wrong() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::InvalidLink, "This link is invalid. Use the newest link, or open Sayso.")
    }

    fn unread(error: &ApiError) -> Self {
        let problem = error.problem();
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
        let words = match problem.code {
            ErrorCode::TooLarge => "The answer is too long. Shorten it and send it again.",
            _ => "The answer did not arrive in time. Send it again.",
        };
        Self::new(status, problem.code, words)
    }

    fn nonsense() -> Self {
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::InvalidRequest,
            "This answer does not fit the ask. Go back and choose another one.",
        )
    }
}

impl From<sayso_store::StoreError> for LinkRefusal {
    fn from(error: sayso_store::StoreError) -> Self {
        tracing::error!(%error, "cannot read or write the database");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::Internal,
            "Something went wrong on the server. Try again in a moment.",
        )
    }
}

/// Shows the ask.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Peer(from): Peer,
    headers: HeaderMap,
    Path(code): Path<String>,
) -> Response {
    let language = accepted_language(&headers);
    let shown = match opened(&app, from, &code).await {
        Ok(OpenedLink { ask, .. }) => Ok(if matches!(ask.state, AskState::Pending(_)) {
            html::ask(language, &ask)
        } else {
            html::message(language, &notes::describe_outcome(&ask, language))
        }),
        Err(refusal) => Err(refusal),
    };
    // A pending ask is always shown as a page, whatever the client accepts.
    reply(language, shown.is_ok() || is_browser(&headers), shown)
}

/// Decides the ask.
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Peer(from): Peer,
    headers: HeaderMap,
    Path(code): Path<String>,
    body: Body,
) -> Response {
    let language = accepted_language(&headers);
    let decided = async {
        let OpenedLink { ask, entry, decider } = opened(&app, from, &code).await?;
        let form = read_body(body, BodyLimits::ANSWER_FORM).await.map_err(|error| LinkRefusal::unread(&error))?;
        let decision = decision_from_form(&ask, &form).ok_or_else(LinkRefusal::nonsense)?;
        resolve(&app, entry, &decider, &ask, decision, language).await?;
        Ok(html::message(language, language.pick("Done. You can close this page.", "已完成。你可以关闭此页面。")))
    };
    let decided: Result<String, LinkRefusal> = decided.await;
    if let Err(refusal) = &decided {
        tracing::info!(status = refusal.status.as_u16(), code = ?refusal.code, "answer link refused");
    }
    reply(language, is_browser(&headers), decided)
}

/// The ask of a verified link, and the channel of the link.
struct OpenedLink<'a> {
    ask: Ask,
    /// The channel that sent the link.
    entry: &'a ConfiguredChannel,
    decider: ChannelDecider,
}

async fn opened<'a>(app: &'a App, from: std::net::IpAddr, code: &str) -> Result<OpenedLink<'a>, LinkRefusal> {
    let LinkTarget { ask, entry, decider } = match notify::read_answer_link(&app.runtime, code) {
        Ok(target) => target,
        Err(BadLink::Expired) => {
            return Err(LinkRefusal::new(
                StatusCode::GONE,
                ErrorCode::LinkExpired,
                "This link has expired. Open Sayso to answer.",
            ));
        }
        Err(BadLink::Wrong) if app.limits.bad_token(from, app.services.clock.now()) => return Err(LinkRefusal::wrong()),
        Err(BadLink::Wrong) => {
            let words = "Too many invalid links were opened from your network. Try again in a minute.";
            return Err(LinkRefusal::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, words));
        }
    };
    let ask = asks::ask_in_channel(&app.services, &decider, ask).await?.ok_or_else(LinkRefusal::wrong)?;
    Ok(OpenedLink { ask, entry, decider })
}

/// Parses a form. Secret answers are not accepted here, because links are less private than the inbox.
fn decision_from_form(ask: &Ask, form: &[u8]) -> Option<Decision> {
    let mut address: reqwest::Url = "http://form/".parse().ok()?;
    address.set_query(Some(std::str::from_utf8(form).ok()?));
    let fields: Vec<(String, String)> =
        address.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let press = fields.iter().find(|(name, _)| name == "press").map(|(_, value)| value.as_str())?;
    match press {
        "reject" => Some(Decision::Rejected { message: String::new(), stop: false }),
        "answer" if !ask.body.is_secret() => {
            let entries = |index: usize| {
                let name = format!("q{index}");
                fields.iter().filter(|(field, _)| *field == name).map(|(_, value)| value.clone()).collect()
            };
            let answers: Answers = (0..ask.body.questions().len()).map(entries).collect();
            Some(Decision::Answered { answers, note: None })
        }
        _ => Press::parse(press)?.decision(ask),
    }
}

async fn resolve(
    app: &App,
    entry: &ConfiguredChannel,
    decider: &ChannelDecider,
    ask: &Ask,
    decision: Decision,
    language: Language,
) -> Result<(), LinkRefusal> {
    let services = &app.services;
    let refused = match asks::resolve_in_channel(services, entry.channel(), decider, ask.id, decision).await {
        Ok(_) => return Ok(()),
        Err(ChannelRefusal::TokenEnded) => return Err(LinkRefusal::wrong()),
        Err(ChannelRefusal::Store(error)) => return Err(error.into()),
        Err(ChannelRefusal::ContentChanged) => {
            let words = "A file that this command executes has changed. Open Sayso to review it.";
            return Err(LinkRefusal::new(StatusCode::CONFLICT, ErrorCode::ContentChanged, words));
        }
        Err(ChannelRefusal::Refused(refused)) => refused,
    };
    let code = match &refused {
        ResolveError::NotFound => return Err(LinkRefusal::wrong()),
        ResolveError::Refused(Refused::AlreadyResolved(_)) => {
            let found = asks::ask_in_channel(services, decider, ask.id).await?;
            let closed = || language.pick("No longer waiting", "已不再等待").to_owned();
            let words = found.map_or_else(closed, |ask| notes::describe_outcome(&ask, language));
            return Err(LinkRefusal::new(StatusCode::CONFLICT, ErrorCode::AskAlreadyResolved, words));
        }
        ResolveError::Refused(Refused::WrongKind(_)) => ErrorCode::WrongKind,
        ResolveError::Refused(Refused::InvalidAnswers(_)) => ErrorCode::InvalidAnswers,
        ResolveError::Refused(Refused::DecisionNotAllowed { .. }) => ErrorCode::DecisionNotAllowed,
        ResolveError::Refused(Refused::InvalidInput(_)) => ErrorCode::InvalidInput,
        ResolveError::Refused(Refused::UnknownChoice(_) | Refused::NotEditable | Refused::Limit(_))
        | ResolveError::KeyReused(_)
        | ResolveError::ContentUnchecked
        | ResolveError::SchemaUnchecked => ErrorCode::InvalidRequest,
    };
    Err(LinkRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, code, refused.to_string()))
}

/// The language of the person. Other programs get English.
fn accepted_language(headers: &HeaderMap) -> Language {
    let header = headers.get(header::ACCEPT_LANGUAGE).filter(|_| is_browser(headers));
    header.and_then(|value| value.to_str().ok()).map(Language::accepted_by).unwrap_or_default()
}

fn is_browser(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).iter().any(|value| value.to_str().is_ok_and(|value| value.contains("text/html")))
}

/// Renders a page for browsers. Other clients get an empty reply, or the error as JSON.
fn reply(language: Language, is_browser: bool, result: Result<String, LinkRefusal>) -> Response {
    let mut response = match (result, is_browser) {
        (Ok(page), true) => page_of(StatusCode::OK, page),
        (Ok(_), false) => StatusCode::NO_CONTENT.into_response(),
        (Err(refusal), true) => {
            page_of(refusal.status, html::message(language, language.pick(&refusal.words, refusal.chinese())))
        }
        (Err(refusal), false) => ApiError::new(refusal.status, refusal.code, refusal.words).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // With `no-referrer`, browsers would omit the origin when they send the form.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn page_of(status: StatusCode, page: String) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))], page).into_response()
}
