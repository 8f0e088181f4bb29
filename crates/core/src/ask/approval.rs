//! Approvals: an agent asks whether it can use a tool with an input.

use serde::{Deserialize, Serialize};

use crate::limits::{self, LimitExceeded};
use crate::raw::Raw;

/// The effect of a tool call, in the same terms for every agent, so that one policy rule matches all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Runs a command line.
    Run {
        /// Verbatim.
        command: String,
    },
    /// Changes files.
    Edit {
        /// The paths as the agent wrote them.
        paths: Vec<String>,
    },
    /// Reads files.
    Read {
        /// The paths as the agent wrote them.
        paths: Vec<String>,
    },
    /// Fetches a web address.
    Fetch {
        url: String,
    },
    /// Uses a tool of an MCP server.
    Mcp {
        server: String,
        tool: String,
    },
    /// Leaves plan mode and starts with the plan.
    Plan,
    /// Changes the permission mode.
    Mode,
    Other,
}

impl Action {
    /// The name on the wire and in policies.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Run { .. } => "run",
            Self::Edit { .. } => "edit",
            Self::Read { .. } => "read",
            Self::Fetch { .. } => "fetch",
            Self::Mcp { .. } => "mcp",
            Self::Plan => "plan",
            Self::Mode => "mode",
            Self::Other => "other",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    pub path: String,
    /// The change as a unified diff.
    pub diff: String,
}

impl Approval {
    /// The directory in which the command starts, as the agent wrote it. `None` if that is the project.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        match &self.preview {
            Some(Preview::Command { cwd, .. }) => cwd.as_deref().filter(|directory| !directory.is_empty()),
            Some(Preview::Diff { .. } | Preview::Plan { .. } | Preview::Text { .. }) | None => None,
        }
    }

    /// The title, or `None` if it only repeats the command.
    #[must_use]
    pub fn own_title(&self) -> Option<&str> {
        let is_command = matches!(&self.preview, Some(Preview::Command { command, .. }) if *command == self.title);
        (!is_command).then_some(&self.title)
    }
}

/// The content that a person checks before deciding. It is verbatim and complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Preview {
    Command {
        command: String,
        /// The directory in which it would run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    Diff {
        files: Vec<FileDiff>,
    },
    /// A plan in Markdown.
    Plan {
        text: String,
    },
    /// Other content as plain text.
    Text {
        text: String,
    },
}

/// One of the agent's own ways to approve, for example "always in this project".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// The id that is sent to the agent.
    pub id: String,
    /// The text on the button. It says who remembers the choice, and for what it applies.
    pub label: String,
}

/// A decision that a person can make about an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalDecision {
    /// Approves the input as it is, also with one of the agent's choices.
    Approve,
    /// Approves a changed input.
    Edit,
    Deny,
}

impl ApprovalDecision {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Deny => "deny",
        }
    }
}

/// Approvals: an agent asks whether it can use a tool with an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The agent's name of the tool.
    pub tool: String,
    pub action: Action,
    /// One line that describes the request.
    pub title: String,
    /// The input of the tool, verbatim.
    pub input: Raw,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The agent's own ways to approve.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// Whether the agent accepts a changed input.
    #[serde(default)]
    pub editable: bool,
    /// The decisions that people can make; `None` permits all, and `Edit` only if the input is `editable`. Rules, deadlines and
    /// withdrawals can always end an approval without running the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_decisions: Option<Box<[ApprovalDecision]>>,
    /// The JSON Schema of a changed input. This crate does not interpret it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Raw>,
    /// The agent's reason for asking.
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

    pub(crate) fn check_limits(&self) -> Result<(), LimitExceeded> {
        limits::check("the name of the tool", self.tool.len(), limits::NAME)?;
        limits::check("the title", self.title.len(), limits::TEXT)?;
        limits::check("the input of the tool", self.input.as_str().len(), limits::RAW)?;
        let preview = self.preview.as_ref().map_or(0, Preview::text_size);
        limits::check("the preview", preview, limits::RAW)?;
        limits::check("the command or the paths", self.action.text_size(), limits::RAW)?;
        limits::check("the inputSchema", self.input_schema.as_ref().map_or(0, |schema| schema.as_str().len()), limits::SCHEMA)?;
        limits::check("the number of choices", self.choices.len(), limits::OPTIONS)?;
        self.choices
            .iter()
            .try_for_each(|choice| limits::check("a choice", choice.id.len().max(choice.label.len()), limits::TEXT))
    }
}
