//! What is wrong with a policy, where, and what to write instead.

/// A policy that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(*.line, *.column))]
pub struct PolicyError {
    /// The line, counted from 1; 0 when the policy is no text of a file.
    pub line: usize,
    /// The column in characters, counted from 1; 0 when there is no line.
    pub column: usize,
    /// What is wrong and what to write.
    pub message: String,
}

impl PolicyError {
    /// An error without a place.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, message: message.into() }
    }

    /// The same error at this byte of a text.
    pub(super) fn at(self, text: &str, byte: usize) -> Self {
        let before = crate::limits::head(text, byte);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1, message: self.message }
    }
}

fn place(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!("line {line}, column {column}: ") }
}
