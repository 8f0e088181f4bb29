//! Approvals and links as clients see them.

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
