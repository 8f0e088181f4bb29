//! How much an agent or a caller may send. Over a limit there is a refusal that names it.

/// Questions in one ask.
pub const QUESTIONS: usize = 16;
/// Options of one question.
pub const OPTIONS: usize = 64;
/// Bytes of a question's text, of an option's label or description.
pub const TEXT: usize = 8 * 1024;
/// Bytes of a raw payload: plans, diffs, commands.
pub const RAW: usize = 4 * 1024 * 1024;
/// Pending asks of one session.
pub const PENDING: usize = 200;
/// Bytes of one line from an agent.
pub const LINE: usize = 16 * 1024 * 1024;
/// Bytes of the agent's last words that travel with an ask.
pub const CONTEXT: usize = 4 * 1024;
/// Bytes of one answer entry, of a note or of a reason.
pub const ANSWER: usize = 64 * 1024;
/// Bytes of what a workflow's step said last, as later steps get it.
pub const OUTPUT: usize = 64 * 1024;
/// Labels of a session or an ask, and the bytes of each key and value.
pub const LABELS: usize = 32;
/// Bytes of a label's key or value.
pub const LABEL: usize = 256;
/// Bytes of names and titles: agents, tools, choices, people.
pub const NAME: usize = 256;

/// Bytes of a path that a caller reports.
pub const PATH: usize = 4 * 1024;

/// A limit that was exceeded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("too much: {what} is {actual}, the limit is {limit}")]
pub struct LimitExceeded {
    /// What was too large or too many, in words.
    pub what: String,
    /// The limit.
    pub limit: usize,
    /// What arrived.
    pub actual: usize,
}

/// Checks one amount.
///
/// # Errors
/// When `actual` exceeds `limit`.
pub fn check(what: &str, actual: usize, limit: usize) -> Result<(), LimitExceeded> {
    if actual > limit {
        return Err(LimitExceeded { what: what.to_owned(), limit, actual });
    }
    Ok(())
}

/// The beginning of a text that fits into `limit` bytes, cut between characters.
#[must_use]
pub fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// The end of a text that fits into `limit` bytes, cut between characters.
#[must_use]
pub fn tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}
