//! Starting a run.

use std::collections::BTreeMap;

use sayso_api::run::NewRun;
use sayso_core::id::RunId;
use sayso_core::limits;
use sayso_core::run::{NewRun as CoreRun, Run};
use sayso_core::workflow::{Source, Surroundings, Workflow};
use sayso_store::ops::{CreateRun, IdempotencyKey, IdempotentResult};
use serde_json::Value;

use super::transition::begin_run;
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::project::allowed_directory;
use crate::service::sessions::{agent_environment, scoped_labels};
use crate::service::{ServiceError, Services, authorize};

/// Maximum size of one input of a run, in bytes.
const INPUT: usize = 64 * 1024;
/// Maximum number of inputs of a run.
const INPUTS: usize = 64;

/// Starts a run of a workflow.
pub(crate) async fn create(
    services: &Services,
    caller: &Caller,
    new: NewRun,
    key: Option<IdempotencyKey>,
) -> Result<Run, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let (mut workflow, source) = read_workflow(services, &new.workflow).await?;
    let given = input_texts(new.input)?;
    let agents: Vec<String> = services.agents.all().iter().map(|agent| agent.name.clone()).collect();
    let errors = workflow.check(&source, Surroundings { agents: Some(&agents), input: Some(&given) });
    if !errors.is_empty() {
        return Err(ServiceError::InvalidWorkflow(errors));
    }
    let labels = scoped_labels(caller, new.labels)?;
    let variables = agent_environment(caller, new.environment.unwrap_or_default())?;
    check_installed(services, &workflow, &variables)?;
    // Check all directories with the caller's permissions now, because later steps start without the caller.
    let resolved = async |wanted: Option<&str>| -> Result<String, ServiceError> {
        Ok(allowed_directory(services, caller, wanted).await?.to_string_lossy().into_owned())
    };
    let directory = resolved(new.directory.as_deref().or(workflow.directory.as_deref())).await?;
    for step in workflow.leaves_mut() {
        if let Some(wanted) = &step.directory {
            step.directory = Some(resolved(Some(wanted)).await?);
        }
    }
    let now = services.clock.now();
    let id = RunId::new(now, entropy::id());
    let input = workflow.complete_input(&given);
    let run = Run::new(CoreRun { id, workflow, input, directory, labels, opened_by: caller.token }, now);
    services.environment.keep_for_run(id, variables);
    let first = begin_run(services, &run).await;
    let created = services.store.write(CreateRun { first, key }).await;
    if !matches!(created, Ok(IdempotentResult::Done(_))) {
        services.environment.forget_run(id);
    }
    match created? {
        IdempotentResult::Done(run) | IdempotentResult::Repeated(run) => Ok(*run),
        IdempotentResult::Reused => Err(ServiceError::KeyReused),
    }
}

/// Reads the workflow of a request: the workflow itself as JSON, or the name of a file in the configuration directory.
async fn read_workflow(services: &Services, given: &Value) -> Result<(Workflow, Source), ServiceError> {
    let Value::String(name) = given else {
        return Workflow::parse_json(&given.to_string()).map_err(|mut error| {
            // Omit line numbers: they refer to the JSON that was rendered here, not to the caller's text.
            (error.line, error.column) = (None, None);
            ServiceError::InvalidWorkflow(vec![error])
        });
    };
    let good =
        !name.is_empty() && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let path = services.policies.path().with_file_name("workflows").join(format!("{name}.toml"));
    let text = if good { tokio::fs::read_to_string(&path).await.ok() } else { None };
    let Some(text) = text else {
        let detail =
            format!("there is no workflow `{}` in the directory `workflows` of the configuration", limits::head(name, 80));
        return Err(ServiceError::UnknownWorkflow(detail));
    };
    Workflow::parse_toml(&text).map_err(|error| ServiceError::InvalidWorkflow(vec![error]))
}

/// Converts the inputs to text.
fn input_texts(input: BTreeMap<String, Value>) -> Result<BTreeMap<String, String>, ServiceError> {
    limits::check("the number of inputs", input.len(), INPUTS)?;
    let mut texts = BTreeMap::new();
    for (name, value) in input {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(yes) => yes.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                let shown = limits::head(&name, 80);
                return Err(ServiceError::invalid(format!("the input `{shown}` must be text, a number, true or false")));
            }
        };
        limits::check("an input", text.len(), INPUT)?;
        texts.insert(name, text);
    }
    Ok(texts)
}

/// Refuses a workflow before any step begins if one of its agents is not installed.
fn check_installed(services: &Services, workflow: &Workflow, variables: &BTreeMap<String, String>) -> Result<(), ServiceError> {
    let path = services.environment.search_path(variables);
    for agent in workflow.leaves().filter_map(|step| services.agents.get(step.agent.as_deref()?)) {
        if let Some(program) = agent.program.as_ref().filter(|program| program.find(path).is_none()) {
            let detail = program.missing(&agent.name);
            return Err(ServiceError::AgentNotInstalled(detail));
        }
    }
    Ok(())
}
