//! What was said and done in a session, as blocks.
//!
//! Asks are not stored a second time: a transcript interleaves the blocks with the session's asks by
//! the position at which each was committed.

use serde::{Deserialize, Serialize};

use crate::id::BlockId;
use crate::raw::Raw;
use crate::time::Time;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// How a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolStatus {
    /// Announced or running.
    Running,
    /// Ended well.
    Complete,
    /// Ended badly, or was not allowed.
    Error,
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BlockBody {
    /// Words.
    Message {
        /// Whose.
        role: Role,
        /// The text.
        text: String,
    },
    /// A tool call and what came of it.
    Tool {
        /// The agent's id of the call.
        tool_call_id: String,
        /// The tool's name.
        name: String,
        /// What it was called with.
        input: Option<Raw>,
        /// What it gave.
        output: Option<String>,
        /// How it stands.
        status: ToolStatus,
    },
    /// Something the person should know.
    Notice {
        /// The text.
        text: String,
    },
    /// Something went wrong.
    Error {
        /// The text.
        text: String,
    },
}

/// One block, in the shape in which it is kept and shown. It is written and passed on, never read back.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Its id.
    pub id: BlockId,
    /// When it was written.
    pub at: Time,
    /// The sub-agent it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// What it holds.
    #[serde(flatten)]
    pub body: BlockBody,
}
