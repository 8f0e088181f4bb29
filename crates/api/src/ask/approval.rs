//! Approvals and links, and conversions from and to the types of `sayso-core`.

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A way of approving that the agent offers, such as "Allow for this session".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// The value to send as `choice` of an approval.
    pub id: String,
    /// The text to display.
    pub label: String,
}

/// The change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The path of the file, as the agent sent it.
    pub path: String,
    /// A unified diff, exactly as the agent sent it.
    pub diff: String,
}

/// What a person should see before deciding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Preview {
    /// A command line that the tool would run.
    Command {
        /// The command line, exactly as the agent sent it.
        command: String,
        /// The directory in which the command would run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Changes that the tool would make to files.
    Diff {
        /// One entry per changed file.
        files: Vec<FileDiff>,
    },
    /// A plan that the agent proposes.
    Plan {
        /// The plan, in Markdown.
        text: String,
    },
    /// Any other description of the action.
    Text {
        /// Plain text, which must not be rendered as markup.
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

/// What a tool call would do, in categories that are the same for all agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ActionKind {
    /// Run a command line, in `command`.
    Run,
    /// Change the files in `paths`.
    Edit,
    /// Read the files in `paths`.
    Read,
    /// Fetch the address in `url`.
    Fetch,
    /// Call a tool of the MCP server in `server`.
    Mcp,
    /// Leave plan mode and start with the plan.
    Plan,
    /// Change the agent's permission mode.
    Mode,
    /// Any action without a category of its own.
    Other,
}

/// A decision that a person can make about an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalDecision {
    /// Approve the input as it is, also with one of the `choices`.
    Approve,
    /// Approve with a changed input.
    Edit,
    /// Deny.
    Deny,
}

impl From<core::ApprovalDecision> for ApprovalDecision {
    fn from(decision: core::ApprovalDecision) -> Self {
        match decision {
            core::ApprovalDecision::Approve => Self::Approve,
            core::ApprovalDecision::Edit => Self::Edit,
            core::ApprovalDecision::Deny => Self::Deny,
        }
    }
}

impl From<ApprovalDecision> for core::ApprovalDecision {
    fn from(decision: ApprovalDecision) -> Self {
        match decision {
            ApprovalDecision::Approve => Self::Approve,
            ApprovalDecision::Edit => Self::Edit,
            ApprovalDecision::Deny => Self::Deny,
        }
    }
}

/// A request to use a tool with the given input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The name of the tool, as the agent calls it.
    pub tool: String,
    /// The category of the action.
    pub action: ActionKind,
    /// For `run`: the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// For `edit` and `read`: the paths of the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// For `fetch`: the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// For `mcp`: the name of the MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// A one-line description of the action. Generated from the action if empty.
    #[serde(default)]
    pub title: String,
    /// The input of the tool, as the agent sent it.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub input: serde_json::Value,
    /// What a person should see before deciding. Defaults to the command line for `run`.
    #[serde(default)]
    pub preview: Option<Preview>,
    /// Ways of approving that the agent offers. Empty if there is only one.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// Whether the agent accepts a different `input` with the approval.
    #[serde(default)]
    pub editable: bool,
    /// The decisions that people can make. Defaults to `approve` and `deny`, and `edit` if `editable` is set. With `edit` in the
    /// list, `editable` is set. Rules and deadlines can always deny.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_decisions: Option<Vec<ApprovalDecision>>,
    /// A JSON Schema that a changed `input` has to fit, at most 32 KiB and without references to other documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input_schema: Option<serde_json::Value>,
    /// The agent's explanation of why it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Approval {
    /// Whether people can make this decision.
    #[must_use]
    pub fn allows(&self, decision: ApprovalDecision) -> bool {
        let listed = self.allowed_decisions.as_ref().is_none_or(|allowed| allowed.contains(&decision));
        listed && (self.editable || decision != ApprovalDecision::Edit)
    }
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
            allowed_decisions: approval.allowed_decisions.as_ref().map(|allowed| allowed.iter().map(|d| (*d).into()).collect()),
            input_schema: approval.input_schema.as_ref().and_then(|schema| serde_json::from_str(schema.as_str()).ok()),
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
        let allowed: Option<Box<[core::ApprovalDecision]>> =
            wanted.allowed_decisions.map(|allowed| allowed.into_iter().map(Into::into).collect());
        Self {
            title,
            input: sayso_core::raw::Raw::of(&wanted.input),
            preview,
            choices: wanted.choices.into_iter().map(|c| core::Choice { id: c.id, label: c.label }).collect(),
            editable: wanted.editable || allowed.as_ref().is_some_and(|allowed| allowed.contains(&core::ApprovalDecision::Edit)),
            allowed_decisions: allowed,
            input_schema: wanted.input_schema.as_ref().map(sayso_core::raw::Raw::of),
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

/// A request to open a URL in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The complete URL.
    pub url: String,
    /// The agent's explanation of why the URL should be opened.
    #[serde(default)]
    pub message: Option<String>,
}
