//! What was said and done in a session, as blocks.
//!
//! Asks are not stored a second time: a transcript interleaves the blocks with the session's asks by
//! the position at which each was committed.

use serde::de::Error as _;
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

/// One block. Its JSON is stored in the transcript and sent in events.
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

/// A block as it is stored: the fields of every kind side by side. `Raw` cannot be read through `flatten` or an internal tag,
/// so the derive for [`Block`] could not read the input of a tool.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredBlock {
    id: BlockId,
    at: Time,
    subagent: Option<String>,
    #[serde(rename = "type")]
    kind: BlockKind,
    role: Option<Role>,
    text: Option<String>,
    tool_call_id: Option<String>,
    name: Option<String>,
    input: Option<Raw>,
    output: Option<String>,
    status: Option<ToolStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum BlockKind {
    Message,
    Tool,
    Notice,
    Error,
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let stored = StoredBlock::deserialize(d)?;
        let missing = D::Error::missing_field;
        let body = match stored.kind {
            BlockKind::Message => BlockBody::Message {
                role: stored.role.ok_or_else(|| missing("role"))?,
                text: stored.text.ok_or_else(|| missing("text"))?,
            },
            BlockKind::Tool => BlockBody::Tool {
                tool_call_id: stored.tool_call_id.ok_or_else(|| missing("toolCallId"))?,
                name: stored.name.ok_or_else(|| missing("name"))?,
                input: stored.input,
                output: stored.output,
                status: stored.status.ok_or_else(|| missing("status"))?,
            },
            BlockKind::Notice => BlockBody::Notice { text: stored.text.ok_or_else(|| missing("text"))? },
            BlockKind::Error => BlockBody::Error { text: stored.text.ok_or_else(|| missing("text"))? },
        };
        Ok(Self { id: stored.id, at: stored.at, subagent: stored.subagent, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_blocks_read_back_and_keep_the_bytes_of_a_tool_input() {
        for text in [
            r#"{"id":"blk_00000000000000000000000000000000","at":"1970-01-01T00:00:00.001Z","type":"message","role":"user","text":"hi"}"#,
            r#"{"id":"blk_00000000000000000000000000000000","at":"1970-01-01T00:00:00.001Z","subagent":"s","type":"tool","toolCallId":"t","name":"Bash","input":{"b":1.00,"a": [ 1 ]},"output":null,"status":"running"}"#,
            r#"{"id":"blk_00000000000000000000000000000000","at":"1970-01-01T00:00:00.001Z","type":"tool","toolCallId":"t","name":"Bash","input":null,"output":"done","status":"complete"}"#,
            r#"{"id":"blk_00000000000000000000000000000000","at":"1970-01-01T00:00:00.001Z","type":"notice","text":"n"}"#,
            r#"{"id":"blk_00000000000000000000000000000000","at":"1970-01-01T00:00:00.001Z","type":"error","text":"e"}"#,
        ] {
            let block: Block = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&block).unwrap(), text);
        }
    }
}
