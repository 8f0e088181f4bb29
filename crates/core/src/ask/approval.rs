//! May I use this tool with this input.

use serde::{Deserialize, Serialize};

use crate::limits::{self, LimitExceeded};
use crate::raw::Raw;

/// What a tool call would do, said the same way for every agent, so that one rule fits all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Run a command line.
    Run {
        /// The line, verbatim.
        command: String,
    },
    /// Change files.
    Edit {
        /// The files, as the agent names them.
        paths: Vec<String>,
    },
    /// Read files.
    Read {
        /// The files, as the agent names them.
        paths: Vec<String>,
    },
    /// Fetch an address.
    Fetch {
        /// The address.
        url: String,
    },
    /// Use a tool of an MCP server.
    Mcp {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
    },
    /// Leave planning and start with this plan.
    Plan,
    /// Change the permission mode.
    Mode,
    /// Anything else.
    Other,
}

impl Action {
    /// The word for it.
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

/// The change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file.
    pub path: String,
    /// The change as a unified diff, verbatim.
    pub diff: String,
}

impl Approval {
    /// The directory in which its command starts, as the agent names it. `None`: the project.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        match &self.preview {
            Some(Preview::Command { cwd, .. }) => cwd.as_deref().filter(|directory| !directory.is_empty()),
            Some(Preview::Diff { .. } | Preview::Plan { .. } | Preview::Text { .. }) | None => None,
        }
    }

    /// The title, unless it is nothing but the command that is shown with it.
    #[must_use]
    pub fn own_title(&self) -> Option<&str> {
        let is_command = matches!(&self.preview, Some(Preview::Command { command, .. }) if *command == self.title);
        (!is_command).then_some(&self.title)
    }
}

/// What a person looks at before deciding. Verbatim and whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Anything else, as text.
    Text {
        /// The text.
        text: String,
    },
}

/// One of the agent's own ways to say yes ("always in this project").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// What is sent back.
    pub id: String,
    /// What a person reads; names who keeps it and where it holds.
    pub label: String,
}

/// May I use this tool with this input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The agent's own name of the tool.
    pub tool: String,
    /// What it would do.
    pub action: Action,
    /// One line that says what is wanted.
    pub title: String,
    /// The tool's input, verbatim.
    pub input: Raw,
    /// What a person looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

impl Approval {
    pub(crate) fn check_limits(&self) -> Result<(), LimitExceeded> {
        limits::check("the name of the tool", self.tool.len(), limits::NAME)?;
        limits::check("the title", self.title.len(), limits::TEXT)?;
        limits::check("the input of the tool", self.input.as_str().len(), limits::RAW)?;
        let preview = self.preview.as_ref().map_or(0, Preview::text_size);
        limits::check("the preview", preview, limits::RAW)?;
        limits::check("the command or the paths", self.action.text_size(), limits::RAW)?;
        limits::check("the number of choices", self.choices.len(), limits::OPTIONS)?;
        self.choices
            .iter()
            .try_for_each(|choice| limits::check("a choice", choice.id.len().max(choice.label.len()), limits::TEXT))
    }
}
