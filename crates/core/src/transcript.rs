//! Transcripts: the messages and tool calls of a session, as blocks.
//!
//! A transcript does not store asks again. Readers interleave the blocks with the session's asks by the position at which each
//! was committed.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use crate::id::BlockId;
use crate::raw::Raw;
use crate::time::Time;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    User,
    Assistant,
}

/// The state of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolStatus {
    Running,
    /// The call succeeded.
    Complete,
    /// The call failed or was denied.
    Error,
}

/// The content of a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BlockBody {
    Message {
        role: Role,
        text: String,
    },
    /// A tool call and its result.
    Tool {
        /// The id that the agent gave the call.
        tool_call_id: String,
        name: String,
        /// The arguments of the tool.
        input: Option<Raw>,
        /// The result of the tool.
        output: Option<String>,
        status: ToolStatus,
    },
    /// Information for people.
    Notice {
        text: String,
    },
    /// An error in the session.
    Error {
        text: String,
    },
}

/// One block. The transcript stores its JSON, and events contain it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    pub id: BlockId,
    pub at: Time,
    /// The name of the sub-agent that produced the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    #[serde(flatten)]
    pub body: BlockBody,
}

/// The stored form of a block, with the fields of all kinds in one struct. `Raw` cannot be deserialized through `flatten` or an
/// internal tag, so a derived implementation for [`Block`] could not read the input of a tool.
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
