//! Every route, with its place in the OpenAPI document.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sayso_api::error::ErrorCode;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{
    ApiError, agents, asks, decide, events, external, gate, health, listeners, login, notices, page, policy, runs, sessions,
    tokens, transcript,
};
use crate::app::App;
use crate::doors::{gateway, mcp, question_rest};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Sayso",
        description = "Questions and approvals of coding agents: list, stream, decide. Errors are application/problem+json with a stable code.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(
        sayso_api::error::Problem,
        sayso_api::doors::GatewayEvent,
        sayso_api::doors::QuestionEventData,
        sayso_api::run::QuestionAsked,
        sayso_api::run::QuestionAnswered,
        sayso_api::run::StepNews,
        sayso_api::run::RunNews
    ))
)]
struct Document;

fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(asks::list, asks::open))
        .routes(routes!(asks::get, asks::withdraw))
        .routes(routes!(asks::receipt))
        .routes(routes!(external::tell))
        .routes(routes!(notices::create))
        .routes(routes!(decide::answer))
        .routes(routes!(decide::reject))
        .routes(routes!(decide::approve))
        .routes(routes!(decide::deny))
        .routes(routes!(decide::snooze))
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(sessions::get, sessions::close))
        .routes(routes!(sessions::message))
        .routes(routes!(sessions::interrupt))
        .routes(routes!(sessions::resume))
        .routes(routes!(transcript::get))
        .routes(routes!(runs::list, runs::create))
        .routes(routes!(runs::get))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::answer))
        .routes(routes!(events::all))
        .routes(routes!(events::of_session))
        .routes(routes!(agents::list))
        .routes(routes!(agents::stop))
        .routes(routes!(policy::get, policy::set))
        .routes(routes!(policy::explain))
        .routes(routes!(policy::grant))
        .routes(routes!(policy::revoke))
        .routes(routes!(policy::profile))
        .routes(routes!(policy::trust))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        .routes(routes!(listeners::list, listeners::open))
        .routes(routes!(listeners::close))
        .routes(routes!(login::code))
        .routes(routes!(login::redeem))
        .routes(routes!(question_rest::reply))
        .routes(routes!(question_rest::reject))
        .routes(routes!(gateway::submit_answers))
        .routes(routes!(gateway::approve))
        .routes(routes!(gateway::deny))
        .routes(routes!(gateway::stream))
}

fn finish(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let bearer = SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_with(Default::default).add_security_scheme("token", bearer);
    name_operations(&mut document);
    document
}

/// Handlers are called by their verb; in the document the name has to be the only one, so its area stands before it.
fn name_operations(document: &mut utoipa::openapi::OpenApi) {
    for item in document.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten() {
            if let (Some(area), Some(verb)) = (operation.tags.as_ref().and_then(|tags| tags.first()), &operation.operation_id) {
                operation.operation_id = Some(format!("{area}_{verb}"));
            }
        }
    }
}

/// The OpenAPI document, generated from the code.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    finish(routes().split_for_parts().1)
}

/// The whole interface.
pub(crate) fn router(app: Arc<App>) -> Router {
    let (router, document) = routes().split_for_parts();
    let document: Arc<str> = finish(document).to_json().unwrap_or_default().into();
    router
        .route("/", get(page::root))
        .route("/mcp", mcp::route(&app))
        .route("/openapi.json", get(move || async move { json_text(&document) }))
        .fallback(page::file)
        .method_not_allowed_fallback(no_method)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), gate::gate))
        .with_state(app)
}

fn json_text(text: &str) -> Response {
    ([(axum::http::header::CONTENT_TYPE, "application/json")], text.to_owned()).into_response()
}

async fn no_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::MethodNotAllowed,
        "this method is not for this route; see /openapi.json",
    )
}
