//! Errors in the text of a policy.

/// An invalid policy: the place of the error, and how to correct it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(*.line, *.column))]
pub struct PolicyError {
    /// The line, counted from 1. It is 0 if the policy does not come from a file.
    pub line: usize,
    /// The column in characters, counted from 1. It is 0 if there is no line.
    pub column: usize,
    /// The error and the correction.
    pub message: String,
}

impl PolicyError {
    /// Creates an error without a place.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, message: message.into() }
    }

    /// Sets the place to this byte of a text.
    pub(super) fn at(self, text: &str, byte: usize) -> Self {
        let before = crate::limits::head(text, byte);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1, message: self.message }
    }
}

fn place(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!("line {line}, column {column}: ") }
}
