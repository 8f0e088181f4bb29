//! Finds all mistakes in a workflow before any of its steps starts.

use std::collections::{BTreeMap, BTreeSet};

use super::checkpoint::CheckpointInput;
use super::model::{Kind, Step, Workflow};
use super::places::{Place, Source, WorkflowError};
use super::template::{Template, Variable, is_name};
use crate::ask::AskBody;
use crate::limits;
use crate::plain_text;
use crate::policy::{OnTimeout, QuestionPolicy, Rule, SessionPolicy};

/// Maximum number of steps in a workflow, including the steps of groups.
const STEPS: usize = 200;
/// Maximum bytes of a prompt before variables are filled in.
const PROMPT: usize = 256 * 1024;

/// The facts that a workflow is checked against.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The names of the configured agents. `None` if they are not known; then every name is accepted.
    pub agents: Option<&'a [String]>,
    /// The inputs of the run. `None` if they are not known yet.
    pub input: Option<&'a BTreeMap<String, String>>,
}

impl Workflow {
    /// Returns all mistakes, in the order of the file. An empty list means that the workflow is valid.
    #[must_use]
    pub fn check(&self, source: &Source, around: Surroundings<'_>) -> Vec<WorkflowError> {
        let mut check = Check { workflow: self, source, around, errors: Vec::new(), before: BTreeSet::new() };
        check.whole();
        check.steps();
        check.errors.sort_by_key(|error| (error.line, error.column));
        check.errors
    }

    /// Returns the input names of a run with their defaults. If the workflow declares no inputs, the names come from its
    /// templates.
    #[must_use]
    pub fn input_defaults(&self) -> BTreeMap<String, Option<String>> {
        if !self.inputs.is_empty() {
            return self.inputs.iter().map(|(name, spec)| (name.clone(), spec.default.clone())).collect();
        }
        let texts = self.leaves().flat_map(texts).filter_map(|(_, text)| Template::parse(text).ok());
        let variables = texts.flat_map(|template| template.variables().cloned().collect::<Vec<_>>());
        variables
            .filter_map(|variable| match variable {
                Variable::Input(name) => Some((name, None)),
                Variable::Output(_) => None,
            })
            .collect()
    }

    /// Adds the defaults of inputs that were not given.
    #[must_use]
    pub fn complete_input(&self, given: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = given.clone();
        for (name, default) in self.input_defaults() {
            if let Some(default) = default {
                all.entry(name).or_insert(default);
            }
        }
        all
    }
}

/// Returns the templates of a step with their keys.
fn texts(step: &Step) -> Vec<(&'static str, &str)> {
    let prompt = step.prompt.as_deref().map(|prompt| ("prompt", prompt));
    let question = step.checkpoint.as_ref().map(|checkpoint| ("checkpoint", checkpoint.question.as_str()));
    prompt.into_iter().chain(question).collect()
}

struct Check<'a> {
    workflow: &'a Workflow,
    source: &'a Source,
    around: Surroundings<'a>,
    errors: Vec<WorkflowError>,
    /// Ids of the steps whose output is available when the current step starts.
    before: BTreeSet<&'a str>,
}

impl<'a> Check<'a> {
    fn wrong(&mut self, place: &Place, message: impl Into<String>) {
        self.errors.push(self.source.error(place, message.into()));
    }

    fn whole(&mut self) {
        let key = |key| Place { key, ..Place::default() };
        if self.workflow.name.trim().is_empty() || self.workflow.name.len() > limits::NAME {
            self.wrong(&key("name"), format!("a workflow has a name of 1 to {} bytes", limits::NAME));
        }
        if let Err(error) = plain_text::check("the name", &self.workflow.name) {
            self.wrong(&key("name"), error.to_string());
        }
        self.directory(&key("directory"), self.workflow.directory.as_deref());
        if let Some(name) = self.workflow.inputs.keys().find(|name| !is_name(name)) {
            self.wrong(&key("inputs"), format!("`{}` is not a valid name: use letters, digits, - and _", limits::head(name, 80)));
        }
        let count = self.workflow.leaves().count();
        if self.workflow.steps.is_empty() || count == 0 {
            self.wrong(&key("steps"), "a workflow has at least one step");
        } else if count > STEPS {
            self.wrong(&key("steps"), format!("{count} steps, the limit is {STEPS}"));
        }
        let Some(given) = self.around.input else { return };
        let wanted = self.workflow.input_defaults();
        if let Some(strange) = given.keys().find(|name| !wanted.contains_key(*name)) {
            let known = wanted.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none".to_owned() } else { known };
            self.wrong(
                &key("inputs"),
                format!("the workflow has no input `{}`; its inputs are: {known}", limits::head(strange, 80)),
            );
        }
        let missing = wanted.iter().find(|(name, default)| default.is_none() && !given.contains_key(*name));
        if let Some((name, _)) = missing {
            self.wrong(&key("inputs"), format!("the input `{name}` is missing: set {name}=VALUE"));
        }
    }

    fn steps(&mut self) {
        let mut seen: BTreeSet<&'a str> = BTreeSet::new();
        for (index, step) in self.workflow.steps.iter().enumerate() {
            let place = Place { step: Some((index, None)), ..Place::default() };
            self.name(&place, step, &mut seen);
            let Some(members) = &step.parallel else {
                self.step(&place, step, Within::Row);
                self.before.insert(&step.id);
                continue;
            };
            self.step(&place, step, Within::Row);
            for (member, inner) in members.iter().enumerate() {
                let place = Place { step: Some((index, Some(member))), ..Place::default() };
                self.name(&place, inner, &mut seen);
                self.step(&place, inner, Within::Group);
            }
            self.before.extend(members.iter().map(|member| member.id.as_str()));
        }
    }

    fn name(&mut self, place: &Place, step: &'a Step, seen: &mut BTreeSet<&'a str>) {
        let place = Place { key: "id", ..place.clone() };
        if !is_name(&step.id) {
            let shown = limits::head(&step.id, 80);
            self.wrong(&place, format!("`{shown}` is not a valid step id: use letters, digits, - and _"));
        } else if !seen.insert(&step.id) {
            self.wrong(&place, format!("two steps have the id `{}`: give each step its own id", step.id));
        }
    }

    fn step(&mut self, place: &Place, step: &Step, within: Within) {
        let at = |key| Place { key, ..place.clone() };
        match (step.kind(), within) {
            (Kind::Agent { agent, prompt }, _) => {
                let known = self.around.agents.filter(|known| known.iter().all(|name| name != agent));
                if let Some(known) = known {
                    let shown = limits::head(agent, 80);
                    self.wrong(&at("agent"), format!("there is no agent `{shown}`; there are: {}", known.join(", ")));
                }
                if prompt.trim().is_empty() {
                    self.wrong(&at("prompt"), "an agent needs a prompt");
                } else if prompt.len() > PROMPT {
                    self.wrong(&at("prompt"), format!("the prompt has {} bytes, the limit is {PROMPT}", prompt.len()));
                }
                self.directory(&at("directory"), step.directory.as_deref());
                for (key, text) in [("model", &step.model), ("permission_mode", &step.permission_mode)] {
                    if text.as_ref().is_some_and(|text| text.is_empty() || text.len() > limits::NAME) {
                        self.wrong(&at(key), format!("it has 1 to {} bytes", limits::NAME));
                    }
                }
                self.policy(place, step);
            }
            (Kind::Parallel(_), Within::Group) => self.wrong(&at("parallel"), "a group contains agents, not other groups"),
            (Kind::Checkpoint(_), Within::Group) => {
                self.wrong(&at("checkpoint"), "a checkpoint pauses the run, so it cannot be in a group");
            }
            (Kind::Parallel([]), Within::Row) => self.wrong(&at("parallel"), "a group has at least one step"),
            (Kind::Parallel(_), Within::Row) => {}
            (Kind::Checkpoint(_), Within::Row) => self.checkpoint(&at("checkpoint"), step),
            (Kind::Unclear, _) => {
                self.wrong(&at(""), "a step has one of these: an agent with a prompt, parallel, or a checkpoint");
            }
        }
        for (key, what) in find_foreign_keys(step) {
            self.wrong(&at(key), what);
        }
        for (key, text) in texts(step) {
            self.template(&at(key), &step.id, text);
        }
    }

    fn template(&mut self, place: &Place, own: &str, text: &str) {
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(message) => return self.wrong(place, message),
        };
        let variables: BTreeSet<&Variable> = template.variables().collect();
        for variable in variables {
            match variable {
                Variable::Input(name) => {
                    if !self.workflow.inputs.is_empty() && !self.workflow.inputs.contains_key(name) {
                        self.wrong(place, format!("{variable} is not declared: add {name} to [inputs]"));
                    }
                }
                Variable::Output(step) if self.before.contains(step.as_str()) => {}
                Variable::Output(step) if step == own => {
                    self.wrong(place, format!("{variable} is the step's own output: it would wait for itself"));
                }
                Variable::Output(step) => {
                    let group = self.workflow.steps.iter().any(|other| other.id == *step && other.parallel.is_some());
                    let known = self.workflow.leaves().any(|other| other.id == *step);
                    let message = match (group, known) {
                        (true, _) => format!("{variable}: `{step}` is a group; name one of its steps"),
                        (false, true) => format!("{variable}: `{step}` does not end before this step begins"),
                        (false, false) => format!("{variable}: there is no step `{step}`"),
                    };
                    self.wrong(place, message);
                }
            }
        }
    }

    fn policy(&mut self, place: &Place, step: &Step) {
        let at = |key| Place { key, ..place.clone() };
        let before = self.errors.len();
        match (step.question_timeout, step.questions) {
            (Some(_), Some(QuestionPolicy::Forward)) | (None, _) => {}
            (Some(_), other) => {
                let other = other.unwrap_or(QuestionPolicy::Reject).as_str();
                let message = format!("only forwarded questions wait: write questions = \"forward\" instead of \"{other}\"");
                self.wrong(&at("question_timeout"), message);
            }
        }
        match (step.on_timeout, step.question_timeout) {
            (Some(OnTimeout::Deny), _) => {
                self.wrong(&at("on_timeout"), "questions are not denied: write \"reject\" or \"accept-first\"");
            }
            (Some(OnTimeout::Reject | OnTimeout::AcceptFirst), None) => {
                self.wrong(&at("on_timeout"), "on_timeout without question_timeout: also write question_timeout = \"30s\"");
            }
            (Some(OnTimeout::Reject | OnTimeout::AcceptFirst), Some(_)) | (None, _) => {}
        }
        for (index, rule) in step.rules.iter().enumerate() {
            if let Err(error) = Rule::new(rule.clone()) {
                self.wrong(&Place { rule: Some(index), ..place.clone() }, error.message);
            }
        }
        if self.errors.len() == before {
            let policy = step.policy();
            let questions = SessionPolicy { approvals: Default::default(), ..policy.clone() };
            if let Err(error) = questions.check_step() {
                self.wrong(&at("question_timeout"), error.message);
            } else if let Err(error) = policy.check_step() {
                self.wrong(&at("approvals"), error.message);
            }
        }
    }

    fn checkpoint(&mut self, place: &Place, step: &Step) {
        let Some(checkpoint) = &step.checkpoint else { return };
        if checkpoint.question.trim().is_empty() {
            self.wrong(place, "a checkpoint needs a question: write question = \"…\"");
        }
        match (checkpoint.takes(), checkpoint.options.is_empty()) {
            (CheckpointInput::Choice, true) => self.wrong(place, "a choice needs options"),
            (CheckpointInput::Choice, false) | (_, true) => {}
            (CheckpointInput::Text | CheckpointInput::Number | CheckpointInput::YesNo, false) => {
                self.wrong(place, "options are for a choice: leave them out, or leave input out");
            }
        }
        let body = AskBody::Question { questions: vec![checkpoint.to_question(checkpoint.question.clone())] };
        if let Err(limit) = body.check_limits() {
            self.wrong(place, limit.to_string());
        }
    }

    fn directory(&mut self, place: &Place, directory: Option<&str>) {
        if let Some(path) = directory.filter(|path| !path.starts_with('/') && *path != "~" && !path.starts_with("~/")) {
            let shown = limits::head(path, 200);
            self.wrong(place, format!("`{shown}` is not absolute: begin it with / or ~/"));
        }
    }
}

/// The kind of list that contains a step.
#[derive(Debug, Clone, Copy)]
enum Within {
    Row,
    Group,
}

/// Returns the keys of a step that belong to another kind of step, with the kind that they belong to.
fn find_foreign_keys(step: &Step) -> Vec<(&'static str, &'static str)> {
    let of_agent = [
        ("prompt", step.prompt.is_some()),
        ("directory", step.directory.is_some()),
        ("model", step.model.is_some()),
        ("permission_mode", step.permission_mode.is_some()),
        ("questions", step.questions.is_some()),
        ("question_timeout", step.question_timeout.is_some()),
        ("on_timeout", step.on_timeout.is_some()),
        ("message", step.message.is_some()),
        ("approvals", step.approvals.is_some()),
        ("rules", !step.rules.is_empty()),
        ("if_agent_dies", step.if_agent_dies.is_some()),
    ];
    let mut found = Vec::new();
    match step.kind() {
        Kind::Agent { .. } | Kind::Parallel(_) | Kind::Checkpoint(_) => {}
        Kind::Unclear => return found,
    }
    if step.agent.is_none() {
        found.extend(
            of_agent.iter().filter(|(_, said)| *said).map(|(key, _)| (*key, "only a step with an agent can have this key")),
        );
    }
    if step.parallel.is_none() && step.on_failure.is_some() {
        found.push(("on_failure", "only a group can have this key"));
    }
    found
}
