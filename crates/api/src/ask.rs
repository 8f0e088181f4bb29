//! Asks as clients see them, and the calls that decide them.

use std::collections::BTreeMap;

use sayso_core::actor::Actor as CoreActor;
use sayso_core::ask as core;
use sayso_core::policy::OnTimeout as CoreOnTimeout;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// `question`, `approval` or `link`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskKind {
    /// One or more questions.
    Question,
    /// May I use this tool.
    Approval,
    /// Please open this address.
    Link,
}

/// Where an ask stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskStatus {
    /// Not decided.
    Pending,
    /// The questions have answers.
    Answered,
    /// No answer will come.
    Rejected,
    /// The tool may run.
    Approved,
    /// The tool may not run.
    Denied,
    /// Nobody needs it any more.
    Withdrawn,
}

/// Whether the agent still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// The agent waits.
    Live,
    /// The agent or caller is gone; the answer can still be used.
    Parked,
}

/// Whether the outcome has reached the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// Committed, not sent yet.
    Queued,
    /// The agent has it.
    Delivered,
    /// The agent's wire shows the effect.
    Confirmed,
    /// It cannot reach the agent any more; see `deliveryReason`.
    Undeliverable,
}

/// What happens when nobody answers in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// The question is rejected.
    Reject,
    /// The first option of every question is taken.
    AcceptFirst,
    /// The tool is denied.
    Deny,
}

impl From<CoreOnTimeout> for OnTimeout {
    fn from(then: CoreOnTimeout) -> Self {
        match then {
            CoreOnTimeout::Reject => Self::Reject,
            CoreOnTimeout::AcceptFirst => Self::AcceptFirst,
            CoreOnTimeout::Deny => Self::Deny,
        }
    }
}

/// What a question takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputKind {
    /// One of the options, or several with `multiple`, own text with `custom`.
    Choice,
    /// Free text, hidden with `secret`.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    YesNo,
}

/// One thing that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// What is sent to the agent. The label, if it is left out.
    #[serde(default)]
    pub value: Option<String>,
    /// What a person reads.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it would look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Whether the agent marks it as its favourite.
    #[serde(default)]
    pub recommended: bool,
}

const fn yes() -> bool {
    true
}

const fn choice() -> InputKind {
    InputKind::Choice
}

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What the agent calls it; its position, if it is left out.
    #[serde(default)]
    pub key: Option<String>,
    /// A short name.
    #[serde(default)]
    pub header: Option<String>,
    /// What is asked.
    pub text: String,
    /// What it takes. Without options and without this, text.
    #[serde(default = "choice")]
    pub input: InputKind,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multiple: bool,
    /// Whether text of the person's own is taken.
    #[serde(default = "yes")]
    pub custom: bool,
    /// Whether it must be answered.
    #[serde(default = "yes")]
    pub required: bool,
    /// Whether the answer is secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// The smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whole numbers only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
    /// The options, in the agent's order.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// What a rule of the person preselects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preselected: Option<Vec<String>>,
}

impl From<&core::Question> for Question {
    fn from(question: &core::Question) -> Self {
        let mut shown = Self {
            key: Some(question.key.clone()),
            header: question.header.clone(),
            text: question.text.clone(),
            input: InputKind::Text,
            multiple: false,
            custom: false,
            required: question.required,
            secret: false,
            minimum: None,
            maximum: None,
            integer: false,
            options: Vec::new(),
            preselected: None,
        };
        match &question.input {
            core::Input::Choice { options, multiple, custom } => {
                shown.input = InputKind::Choice;
                shown.multiple = *multiple;
                shown.custom = *custom;
                shown.options = options
                    .iter()
                    .map(|option| QuestionOption {
                        value: Some(option.value.clone()),
                        label: option.label.clone(),
                        description: option.description.clone(),
                        preview: option.preview.clone(),
                        recommended: option.is_recommended(),
                    })
                    .collect();
            }
            core::Input::Text { secret } => shown.secret = *secret,
            core::Input::Number { minimum, maximum, integer } => {
                shown.input = InputKind::Number;
                shown.minimum = *minimum;
                shown.maximum = *maximum;
                shown.integer = *integer;
            }
            core::Input::YesNo => shown.input = InputKind::YesNo,
        }
        shown
    }
}

impl Question {
    /// The question as the domain knows it. `index` names it when it has no key.
    #[must_use]
    pub fn into_core(self, index: usize) -> core::Question {
        let input = match self.input {
            InputKind::Choice if self.options.is_empty() => core::Input::Text { secret: self.secret },
            InputKind::Choice => core::Input::Choice {
                options: self
                    .options
                    .into_iter()
                    .map(|option| core::QuestionOption {
                        value: option.value.unwrap_or_else(|| option.label.clone()),
                        label: option.label,
                        description: option.description,
                        preview: option.preview,
                    })
                    .collect(),
                multiple: self.multiple,
                custom: self.custom,
            },
            InputKind::Text => core::Input::Text { secret: self.secret },
            InputKind::Number => core::Input::Number { minimum: self.minimum, maximum: self.maximum, integer: self.integer },
            InputKind::YesNo => core::Input::YesNo,
        };
        core::Question {
            key: self.key.unwrap_or_else(|| index.to_string()),
            header: self.header,
            text: self.text,
            input,
            required: self.required,
        }
    }
}

/// One of the agent's own ways to say yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// What is sent back.
    pub id: String,
    /// What a person reads.
    pub label: String,
}

/// The change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file.
    pub path: String,
    /// A unified diff, verbatim.
    pub diff: String,
}

/// What a person looks at before deciding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Preview {
    /// A command line.
    Command {
        /// The line.
        command: String,
        /// Where it would run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Changes to files.
    Diff {
        /// One entry per file.
        files: Vec<FileDiff>,
    },
    /// A plan, in Markdown.
    Plan {
        /// Its text.
        text: String,
    },
    /// Anything else.
    Text {
        /// The text.
        text: String,
    },
}

impl From<&core::Preview> for Preview {
    fn from(preview: &core::Preview) -> Self {
        match preview {
            core::Preview::Command { command, cwd } => Self::Command { command: command.clone(), cwd: cwd.clone() },
            core::Preview::Diff { files } => Self::Diff {
                files: files.iter().map(|file| FileDiff { path: file.path.clone(), diff: file.diff.clone() }).collect(),
            },
            core::Preview::Plan { text } => Self::Plan { text: text.clone() },
            core::Preview::Text { text } => Self::Text { text: text.clone() },
        }
    }
}

impl From<Preview> for core::Preview {
    fn from(preview: Preview) -> Self {
        match preview {
            Preview::Command { command, cwd } => Self::Command { command, cwd },
            Preview::Diff { files } => {
                Self::Diff { files: files.into_iter().map(|file| core::FileDiff { path: file.path, diff: file.diff }).collect() }
            }
            Preview::Plan { text } => Self::Plan { text },
            Preview::Text { text } => Self::Text { text },
        }
    }
}

/// What a tool call would do, said the same way for every agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ActionKind {
    /// Run a command line.
    Run,
    /// Change files.
    Edit,
    /// Read files.
    Read,
    /// Fetch an address.
    Fetch,
    /// Use a tool of an MCP server.
    Mcp,
    /// Leave planning.
    Plan,
    /// Change the permission mode.
    Mode,
    /// Anything else.
    Other,
}

/// May I use this tool with this input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The agent's own name of the tool.
    pub tool: String,
    /// What it would do.
    pub action: ActionKind,
    /// The command line, for `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The files, for `edit` and `read`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The address, for `fetch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The MCP server, for `mcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// One line that says what is wanted.
    #[serde(default)]
    pub title: String,
    /// The tool's input, verbatim.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub input: serde_json::Value,
    /// What a person looks at.
    #[serde(default)]
    pub preview: Option<Preview>,
    /// The agent's own ways to say yes.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// Whether the agent takes a changed input.
    #[serde(default)]
    pub editable: bool,
    /// Why the agent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<&core::Approval> for Approval {
    fn from(approval: &core::Approval) -> Self {
        let mut shown = Self {
            tool: approval.tool.clone(),
            action: ActionKind::Other,
            command: None,
            paths: Vec::new(),
            url: None,
            server: None,
            title: approval.title.clone(),
            input: serde_json::from_str(approval.input.as_str()).unwrap_or(serde_json::Value::Null),
            preview: approval.preview.as_ref().map(Preview::from),
            choices: approval.choices.iter().map(|c| Choice { id: c.id.clone(), label: c.label.clone() }).collect(),
            editable: approval.editable,
            reason: approval.reason.clone(),
        };
        match &approval.action {
            core::Action::Run { command } => {
                shown.action = ActionKind::Run;
                shown.command = Some(command.clone());
            }
            core::Action::Edit { paths } => {
                shown.action = ActionKind::Edit;
                shown.paths.clone_from(paths);
            }
            core::Action::Read { paths } => {
                shown.action = ActionKind::Read;
                shown.paths.clone_from(paths);
            }
            core::Action::Fetch { url } => {
                shown.action = ActionKind::Fetch;
                shown.url = Some(url.clone());
            }
            core::Action::Mcp { server, .. } => {
                shown.action = ActionKind::Mcp;
                shown.server = Some(server.clone());
            }
            core::Action::Plan => shown.action = ActionKind::Plan,
            core::Action::Mode => shown.action = ActionKind::Mode,
            core::Action::Other => {}
        }
        shown
    }
}

impl From<Approval> for core::Approval {
    fn from(wanted: Approval) -> Self {
        let action = match wanted.action {
            ActionKind::Run => core::Action::Run { command: wanted.command.unwrap_or_default() },
            ActionKind::Edit => core::Action::Edit { paths: wanted.paths },
            ActionKind::Read => core::Action::Read { paths: wanted.paths },
            ActionKind::Fetch => core::Action::Fetch { url: wanted.url.unwrap_or_default() },
            ActionKind::Mcp => core::Action::Mcp { server: wanted.server.unwrap_or_default(), tool: wanted.tool.clone() },
            ActionKind::Plan => core::Action::Plan,
            ActionKind::Mode => core::Action::Mode,
            ActionKind::Other => core::Action::Other,
        };
        let title = if wanted.title.is_empty() { default_title(&wanted.tool, &action) } else { wanted.title };
        let preview = wanted.preview.map(Into::into).or_else(|| match &action {
            core::Action::Run { command } => Some(core::Preview::Command { command: command.clone(), cwd: None }),
            _ => None,
        });
        Self {
            title,
            input: sayso_core::raw::Raw::of(&wanted.input),
            preview,
            choices: wanted.choices.into_iter().map(|c| core::Choice { id: c.id, label: c.label }).collect(),
            editable: wanted.editable,
            reason: wanted.reason,
            tool: wanted.tool,
            action,
        }
    }
}

fn default_title(tool: &str, action: &core::Action) -> String {
    match action {
        core::Action::Run { command } => command.lines().next().unwrap_or_default().to_owned(),
        core::Action::Edit { paths } if paths.len() == 1 => format!("Edit {}", paths[0]),
        core::Action::Edit { paths } => format!("Edit {} files", paths.len()),
        core::Action::Read { paths } if paths.len() == 1 => format!("Read {}", paths[0]),
        core::Action::Read { paths } => format!("Read {} files", paths.len()),
        core::Action::Fetch { url } => format!("Fetch {url}"),
        core::Action::Mcp { server, tool } => format!("Use {tool} of {server}"),
        core::Action::Plan => "Start with this plan?".to_owned(),
        core::Action::Mode | core::Action::Other => format!("Use {tool}"),
    }
}

/// Please open this address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The whole address.
    pub url: String,
    /// Why.
    #[serde(default)]
    pub message: Option<String>,
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// `person`, `policy`, `timeout`, `message` or `agent`.
    pub kind: String,
    /// The person's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The surface that was used: `terminal`, `page`, `http` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The token that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How long was waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl From<&CoreActor> for Actor {
    fn from(actor: &CoreActor) -> Self {
        let empty = |kind: &str| Self { kind: kind.to_owned(), name: None, via: None, token_id: None, rule: None, after: None };
        match actor {
            CoreActor::Person { name, via, token } => {
                Self { name: Some(name.clone()), via: Some(via.clone()), token_id: Some(token.to_string()), ..empty("person") }
            }
            CoreActor::Message { name, via, token, .. } => {
                Self { name: Some(name.clone()), via: Some(via.clone()), token_id: Some(token.to_string()), ..empty("message") }
            }
            CoreActor::Policy { rule } => Self { rule: Some(rule.clone()), ..empty("policy") },
            CoreActor::Timeout { after } => Self { after: Some(after.to_string()), ..empty("timeout") },
            CoreActor::Agent => empty("agent"),
        }
    }
}

/// One question's answer as it is shown: the entries, or that there is a secret one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ShownAnswer {
    /// The entries.
    Entries(Vec<String>),
    /// A secret was given; it is not shown.
    Secret {
        /// Always true.
        secret: bool,
    },
}

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// How.
    pub status: AskStatus,
    /// The answers, one per question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<ShownAnswer>>,
    /// What the person added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The words that the agent got with a no; the reason of a withdrawal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the agent was told to stop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Which of the agent's own ways to say yes was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The input that was approved instead of the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<serde_json::Value>,
    /// By whom.
    pub by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: sayso_core::time::Time,
}

impl Outcome {
    /// The outcome of an ask with these questions.
    #[must_use]
    pub fn of(outcome: &core::Outcome, questions: &[core::Question]) -> Self {
        let mut shown = Self {
            status: outcome.decision.status().into(),
            answers: None,
            note: None,
            message: None,
            stop: false,
            choice: None,
            input: None,
            by: Actor::from(&outcome.by),
            at: outcome.at,
        };
        match &outcome.decision {
            core::Decision::Answered { answers, note } => {
                let secret = |index: usize| questions.get(index).is_some_and(core::Question::is_secret);
                shown.answers = Some(
                    answers
                        .iter()
                        .enumerate()
                        .map(|(index, entries)| {
                            if secret(index) && !entries.is_empty() {
                                ShownAnswer::Secret { secret: true }
                            } else {
                                ShownAnswer::Entries(entries.clone())
                            }
                        })
                        .collect(),
                );
                shown.note.clone_from(note);
            }
            core::Decision::Rejected { message, stop } | core::Decision::Denied { message, stop } => {
                shown.message = Some(message.clone());
                shown.stop = *stop;
            }
            core::Decision::Approved { choice, input } => {
                shown.choice.clone_from(choice);
                shown.input = input.as_ref().and_then(|input| serde_json::from_str(input.as_str()).ok());
            }
            core::Decision::Withdrawn { reason } => shown.message = Some(reason.clone()),
        }
        shown
    }
}

impl From<core::OutcomeStatus> for AskStatus {
    fn from(status: core::OutcomeStatus) -> Self {
        match status {
            core::OutcomeStatus::Answered => Self::Answered,
            core::OutcomeStatus::Rejected => Self::Rejected,
            core::OutcomeStatus::Approved => Self::Approved,
            core::OutcomeStatus::Denied => Self::Denied,
            core::OutcomeStatus::Withdrawn => Self::Withdrawn,
        }
    }
}

/// One ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// Its id.
    pub id: String,
    /// The session, if it belongs to one.
    pub session_id: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// `question`, `approval` or `link`.
    pub kind: AskKind,
    /// Where it stands.
    pub status: AskStatus,
    /// Whether the agent still waits; absent when it is decided.
    #[serde(default)]
    pub reach: Option<Reach>,
    /// The agent's id of the tool call, else the ask's own id.
    pub tool_call_id: String,
    /// The session's title.
    pub title: String,
    /// The project directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The git branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// The sub-agent that asks.
    #[serde(default)]
    pub subagent: Option<String>,
    /// What the agent said before.
    #[serde(default)]
    pub context: Option<String>,
    /// Whether the agent waits for it.
    pub blocking: bool,
    /// When it was opened.
    #[schema(value_type = String, format = DateTime)]
    pub opened_at: sayso_core::time::Time,
    /// When it decides itself.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline_at: Option<sayso_core::time::Time>,
    /// What happens then.
    #[serde(default)]
    pub on_timeout: Option<OnTimeout>,
    /// Hidden from the inbox until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub snoozed_until: Option<sayso_core::time::Time>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// The workflow run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The step of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Why a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// The approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Whether the outcome has reached the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_reason: Option<String>,
    /// Set when a frame of the event stream left something out; the whole is at `GET /v1/asks/{id}`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The agent's request as it arrived (only when asked for with `raw=true`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub raw: Option<serde_json::Value>,
}

impl From<&core::Ask> for Ask {
    fn from(ask: &core::Ask) -> Self {
        let deadline = ask.policy.deadline;
        let mut shown = Self {
            id: ask.id.to_string(),
            session_id: ask.origin.session.map(|id| id.to_string()),
            agent: ask.context.agent.clone(),
            kind: match ask.kind() {
                core::AskKind::Question => AskKind::Question,
                core::AskKind::Approval => AskKind::Approval,
                core::AskKind::Link => AskKind::Link,
            },
            status: AskStatus::Pending,
            reach: None,
            tool_call_id: ask.tool_call_id(),
            title: ask.context.title.clone(),
            project: ask.context.project.clone(),
            branch: ask.context.branch.clone(),
            subagent: ask.context.subagent.clone(),
            context: ask.context.context.clone(),
            blocking: ask.context.blocking,
            opened_at: ask.opened_at,
            deadline_at: deadline.map(|deadline| deadline.at),
            on_timeout: deadline.map(|deadline| deadline.then.into()),
            snoozed_until: ask.snoozed_until,
            labels: ask.context.labels.clone(),
            run_id: ask.context.run.map(|id| id.to_string()),
            step_id: ask.context.step.clone(),
            why: ask.policy.why.clone(),
            questions: ask.body.questions().iter().map(Question::from).collect(),
            approval: None,
            link: None,
            outcome: None,
            delivery: None,
            delivery_reason: None,
            truncated: false,
            raw: None,
        };
        for (question, preselected) in shown.questions.iter_mut().zip(&ask.policy.preselected) {
            question.preselected.clone_from(preselected);
        }
        match &ask.body {
            core::AskBody::Question { .. } => {}
            core::AskBody::Approval(approval) => shown.approval = Some(Approval::from(approval)),
            core::AskBody::Link(link) => shown.link = Some(Link { url: link.url.clone(), message: link.message.clone() }),
        }
        match &ask.state {
            core::AskState::Pending(reach) => {
                shown.reach = Some(match reach {
                    core::Reach::Live => Reach::Live,
                    core::Reach::Parked => Reach::Parked,
                });
            }
            core::AskState::Resolved { outcome, delivery } => {
                let outcome = Outcome::of(outcome, ask.body.questions());
                shown.status = outcome.status;
                shown.outcome = Some(outcome);
                shown.delivery = Some(match delivery {
                    core::Delivery::Queued => Delivery::Queued,
                    core::Delivery::Delivered => Delivery::Delivered,
                    core::Delivery::Confirmed => Delivery::Confirmed,
                    core::Delivery::Undeliverable { reason } => {
                        shown.delivery_reason = Some(reason.clone());
                        Delivery::Undeliverable
                    }
                });
            }
        }
        shown
    }
}

/// A page of asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskPage {
    /// The asks: pending ones oldest first, others newest first.
    pub data: Vec<Ask>,
    /// Give it as `cursor` to get the next page.
    pub next_cursor: Option<String>,
    /// The feed position that this list was read at: stream from here.
    pub seq: i64,
    /// How many asks are pending in all that this token sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
}

/// What to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct AskQuery {
    /// `pending`, `resolved`, or one outcome; all if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Only asks of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only asks of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<AskKind>,
    /// Only asks with this label, as `key=value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only asks of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only the ask whose id ends like this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_ends_with: Option<String>,
    /// How many at most, 1 to 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// Where the last page ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// How to read one ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct GetAskQuery {
    /// Wait up to this long (at most 60s) for an outcome, e.g. `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Add the agent's request as it arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<bool>,
}

/// Opens an ask: either `questions`, or `approval`, or `link`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewAsk {
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Who asks; the token's name if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// One line that says what this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The project directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What a person should know first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// The approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Whether the caller waits for it (the default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
    /// Labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Two pending asks of one token with the same key are one ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    /// Give up after this long, e.g. `10m`: questions are rejected, approvals denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// Answers the questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerRequest {
    /// One list of entries per question: option values or labels, or text.
    pub answers: Vec<Vec<String>>,
    /// What to add.
    #[serde(default)]
    pub note: Option<String>,
}

/// Says no: `reject` for questions, `deny` for approvals and links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NoRequest {
    /// Why; the agent gets your words.
    pub message: Option<String>,
    /// Whether the agent shall stop.
    pub stop: bool,
}

/// Says yes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ApproveRequest {
    /// One of the agent's own ways to say yes.
    pub choice: Option<String>,
    /// Use this input instead.
    #[schema(value_type = Option<Object>)]
    pub input: Option<serde_json::Value>,
}

/// Hides the ask from the inbox for a while. Not a no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SnoozeRequest {
    /// Until when; `null` brings it back.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<sayso_core::time::Time>,
}
