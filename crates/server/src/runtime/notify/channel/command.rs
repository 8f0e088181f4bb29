//! The channel `command`: runs a program of the person, which gets the note as JSON on stdin.

use super::{ChannelVariables, SendFailure, SendResult, Wire, program};
use crate::service::notes::Note;

#[derive(Debug)]
pub(crate) struct CommandChannel {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) variables: ChannelVariables,
}

impl CommandChannel {
    pub(super) async fn send_note(&self, note: &Note) -> SendResult {
        let input = serde_json::to_vec(&Wire::from(note)).map_err(|error| SendFailure::never(error.to_string()))?;
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        program::run(&self.program, &args, &input, &self.variables).await.map(|_| None)
    }
}
