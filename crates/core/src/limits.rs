//! Size limits for input from agents and callers. Input over a limit is refused with an error that names the limit.

/// Maximum number of questions in one ask.
pub const QUESTIONS: usize = 16;
/// Maximum number of options of one question.
pub const OPTIONS: usize = 64;
/// Maximum bytes of a question's text, or of an option's label or description.
pub const TEXT: usize = 8 * 1024;
/// Maximum bytes of a raw payload, such as a plan, diff or command.
pub const RAW: usize = 4 * 1024 * 1024;
/// Maximum number of pending asks of one session.
pub const PENDING: usize = 200;
/// Maximum bytes of one line from an agent.
pub const LINE: usize = 16 * 1024 * 1024;
/// Maximum bytes of the agent's last message that an ask carries as context.
pub const CONTEXT: usize = 4 * 1024;
/// Maximum bytes of one answer entry, note or reason.
pub const ANSWER: usize = 64 * 1024;
/// Maximum bytes of a step's output that later steps of a workflow receive.
pub const OUTPUT: usize = 64 * 1024;
/// Maximum number of labels of a session or an ask.
pub const LABELS: usize = 32;
/// Maximum bytes of a label's key or value.
pub const LABEL: usize = 256;
/// Maximum bytes of a name or title of an agent, tool, choice or person.
pub const NAME: usize = 256;

/// Maximum bytes of a JSON Schema.
pub const SCHEMA: usize = 32 * 1024;

/// Maximum bytes of a path that a caller reports.
pub const PATH: usize = 4 * 1024;

/// The error for input that exceeds a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("too much: {what} is {actual}, the limit is {limit}")]
pub struct LimitExceeded {
    /// The thing that was too large or too many, for error messages.
    pub what: String,
    pub limit: usize,
    /// The size or number that arrived.
    pub actual: usize,
}

/// Checks one size or number.
///
/// # Errors
/// If `actual` exceeds `limit`.
pub fn check(what: &str, actual: usize, limit: usize) -> Result<(), LimitExceeded> {
    if actual > limit {
        return Err(LimitExceeded { what: what.to_owned(), limit, actual });
    }
    Ok(())
}

/// Returns the longest prefix of a text that fits into `limit` bytes, cut at a character boundary.
#[must_use]
pub fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Returns the longest suffix of a text that fits into `limit` bytes, cut at a character boundary.
#[must_use]
pub fn tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}
