//! The schemas and allowed decisions of an ask: checked when it is opened, applied before a decision is committed.

use std::sync::Arc;

use sayso_core::ask::{ApprovalDecision, AskBody, Decision, InvalidAnswers, Question, QuestionProblem, Refused};
use sayso_core::raw::Raw;
use tokio::sync::Semaphore;

use crate::service::ServiceError;
use crate::service::json_schema::Schema;

/// Maximum number of schemas that are compiled at once. Their cost is limited, so every caller gets its turn.
static TURNS: Semaphore = Semaphore::const_new(2);

const INPUT_SCHEMA: &str = "inputSchema";
const RESPONSE_SCHEMA: &str = "responseSchema";

/// Runs work that compiles schemas on a blocking thread. `None` if it panicked; the log has the details.
async fn compile_apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    // The semaphore is never closed.
    let _turn = TURNS.acquire().await.ok()?;
    tokio::task::spawn_blocking(work).await.ok()
}

/// Checks that people can decide the ask as its caller wants, and that its schemas can be used.
pub(super) async fn check_terms(body: &AskBody) -> Result<(), ServiceError> {
    let schemas: Vec<(&'static str, Raw)> = match body {
        AskBody::Approval(approval) => {
            if let Some(allowed) = &approval.allowed_decisions {
                if allowed.is_empty() {
                    return Err(ServiceError::invalid(
                        "allowedDecisions is empty; list at least one decision, or omit the field",
                    ));
                }
                if approval.editable && !allowed.contains(&ApprovalDecision::Edit) {
                    return Err(ServiceError::invalid(
                        "editable is true, but allowedDecisions has no \"edit\"; add it, or omit editable",
                    ));
                }
            }
            approval.input_schema.iter().map(|schema| (INPUT_SCHEMA, schema.clone())).collect()
        }
        AskBody::Question { questions } => {
            let with_schema = || questions.iter().filter(|question| question.response_schema.is_some());
            if with_schema().any(|question| !question.takes_text()) {
                return Err(ServiceError::invalid(
                    "responseSchema is only for questions that accept text: input \"text\", or options with custom",
                ));
            }
            with_schema()
                .filter_map(|question| question.response_schema.clone())
                .map(|schema| (RESPONSE_SCHEMA, schema))
                .collect()
        }
        AskBody::Link(_) => Vec::new(),
    };
    if schemas.is_empty() {
        return Ok(());
    }
    body.check_limits()?;
    let checked = compile_apart(move || schemas.iter().try_for_each(|(field, raw)| Schema::parse(field, raw).map(drop))).await;
    Ok(checked.ok_or(ServiceError::Internal("the schema could not be compiled; the log says why"))??)
}

/// Validates the values of a decision against the schemas of the ask.
pub(super) async fn check_fits(body: &Arc<AskBody>, decision: &Decision) -> Result<(), Refused> {
    if !body.has_schema_for(decision) {
        return Ok(());
    }
    let (body, decision) = (Arc::clone(body), decision.clone());
    let checked = compile_apart(move || match (&*body, &decision) {
        (AskBody::Approval(approval), Decision::Approved { input: Some(input), .. }) => {
            approval.input_schema.as_ref().map_or(Ok(()), |schema| input_fits(schema, input))
        }
        (AskBody::Question { questions }, Decision::Answered { answers, .. }) => answers_fit(questions, answers),
        (AskBody::Approval(_) | AskBody::Question { .. } | AskBody::Link(_), _) => Ok(()),
    });
    checked.await.unwrap_or_else(|| Err(Refused::InvalidInput("it could not be validated".to_owned())))
}

fn input_fits(schema: &Raw, input: &Raw) -> Result<(), Refused> {
    // The schema was valid when the ask was opened.
    let schema = Schema::parse(INPUT_SCHEMA, schema).map_err(|error| Refused::InvalidInput(error.to_string()))?;
    schema.validate_json(input.as_str()).map_err(Refused::InvalidInput)
}

fn answers_fit(questions: &[Question], answers: &[Vec<String>]) -> Result<(), Refused> {
    let problem = |(index, (question, answer)): (usize, (&Question, &Vec<String>))| {
        let schema = question.response_schema.as_ref()?;
        let text = question.own_text(answer)?;
        let fits = Schema::parse(RESPONSE_SCHEMA, schema).map_err(|error| error.to_string());
        let mismatch = fits.and_then(|schema| schema.validate_text(text)).err()?;
        // A mismatch can contain a key of the answer.
        let shown = if question.is_secret() { "the text does not fit the schema of the question".to_owned() } else { mismatch };
        Some(QuestionProblem { index, key: question.key.clone(), reason: format!("does not fit: {shown}") })
    };
    let problems: Vec<QuestionProblem> = questions.iter().zip(answers).enumerate().filter_map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(InvalidAnswers::Questions(problems).into()) }
}
