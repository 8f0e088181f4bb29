//! All routes, and the OpenAPI document.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use sayso_api::error::ErrorCode;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{OpenApi, Path as _};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::{PathItemExt as _, routes};

use super::{
    ApiError, acp, agents, asks, attachments, compress, decide, events, external, gate, groups, health, listeners, login, mcp,
    notices, notify, page, policy, policy_form, push, runs, sessions, tokens, transcript,
};
use crate::app::App;
use crate::surfaces::answer_link;
use crate::surfaces::compat::{gateway, question_rest};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Sayso",
        description = "Questions and approvals of coding agents: list, stream, decide. Errors are application/problem+json with a stable code.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(
        sayso_api::error::Problem,
        sayso_api::compat::GatewayEvent,
        sayso_api::compat::QuestionEventData,
        sayso_api::run::QuestionAsked,
        sayso_api::run::QuestionAnswered,
        sayso_api::run::StepNews,
        sayso_api::run::RunNews
    ))
)]
struct OpenApiDocument;

/// Passes the list of all documented routes to a macro.
macro_rules! with_every_route {
    ($make:ident) => {
        $make! {
            health::health;
            health::metrics;
            asks::list, asks::open, asks::withdraw_by_key;
            asks::get, asks::withdraw;
            asks::receipt;
            asks::files;
            policy_form::precedents;
            groups::open;
            groups::ready;
            groups::claim;
            groups::get, groups::withdraw;
            groups::renew;
            groups::ack;
            groups::release;
            external::tell;
            notices::create;
            decide::answer;
            decide::reject;
            decide::approve;
            decide::deny;
            decide::snooze;
            sessions::list, sessions::create;
            sessions::get, sessions::close, sessions::change;
            sessions::message;
            sessions::interrupt;
            sessions::resume;
            transcript::get;
            runs::list, runs::create;
            runs::get;
            runs::cancel;
            runs::answer;
            events::all;
            events::outcomes;
            events::of_session;
            agents::list;
            agents::stop;
            policy::get, policy::set;
            policy::explain;
            policy_form::edit;
            policy_form::hits;
            policy::grant;
            policy::revoke;
            policy::profile;
            policy::trust;
            tokens::list, tokens::create;
            tokens::revoke;
            login::code;
            login::redeem;
            notify::list;
            notify::test;
            push::key, push::wake, push::forget;
            attachments::create;
            attachments::remove;
            listeners::list, listeners::open;
            listeners::close;
            question_rest::reply;
            question_rest::reject;
            gateway::submit_answers;
            gateway::approve;
            gateway::deny;
            gateway::stream;
        }
    };
}

/// Builds the router without the OpenAPI document. A starting server does not need the document, and building it takes as much
/// time and memory as the rest of the start.
fn served() -> Router<Arc<App>> {
    macro_rules! serve {
        ($($($area:ident::$handler:ident),+;)+) => {
            utoipa_axum::paste! {{
                let router = Router::new();
                $($(
                    let methods = <$area::[<__path_ $handler>]>::methods();
                    let methods = methods.iter().fold(MethodRouter::new(), |router, method| {
                        router.on(method.to_method_filter(), $area::$handler)
                    });
                    let router = router.route(&<$area::[<__path_ $handler>]>::path(), methods);
                )+)+
                router
            }}
        };
    }
    with_every_route!(serve)
}

/// The OpenAPI document, generated from the code.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    macro_rules! describe {
        ($($($area:ident::$handler:ident),+;)+) => {
            OpenApiRouter::<Arc<App>>::with_openapi(OpenApiDocument::openapi())$(.routes(routes!($($area::$handler),+)))+
        };
    }
    finish(with_every_route!(describe).into_openapi())
}

fn finish(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let bearer = SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_with(Default::default).add_security_scheme("token", bearer);
    name_operations(&mut document);
    document
}

/// Makes operation names unique. Handlers are named by their verb only, so the document prefixes them with their module.
fn name_operations(document: &mut utoipa::openapi::OpenApi) {
    for item in document.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch].into_iter().flatten() {
            if let (Some(area), Some(verb)) = (operation.tags.as_ref().and_then(|tags| tags.first()), &operation.operation_id) {
                operation.operation_id = Some(format!("{area}_{verb}"));
            }
        }
    }
}

/// Builds the complete router.
pub(crate) fn router(app: Arc<App>) -> Router {
    served()
        .route_layer(axum::middleware::from_fn(gate::to_the_end))
        .route_layer(axum::middleware::from_fn(compress::compress))
        .route("/", get(page::root))
        .route("/mcp", mcp::route(&app))
        .route("/acp", acp::route())
        .route("/a/{code}", get(answer_link::show).post(answer_link::decide))
        .route("/openapi.json", get(description))
        .fallback(page::file)
        .method_not_allowed_fallback(no_method)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), gate::gate))
        .with_state(app)
}

async fn description() -> Response {
    let text = openapi().to_json().unwrap_or_default();
    ([(axum::http::header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn no_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::MethodNotAllowed,
        "this route does not support the method; see /openapi.json",
    )
}
