//! The names and columns of the tables that operations write to.

/// A table that operations write to. The change log contains these numbers, so never change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Table {
    Ask = 1,
    Block = 2,
    Connection = 3,
    Event = 4,
    External = 5,
    Grant = 6,
    Idempotency = 7,
    LoginCode = 8,
    Note = 9,
    Outbox = 10,
    Push = 11,
    Run = 12,
    RunStep = 13,
    Secret = 14,
    Session = 15,
    Setting = 16,
    Token = 17,
    Trust = 18,
    RuleHit = 19,
    Group = 20,
    GroupState = 21,
}

/// The size of an array that is indexed by the number of a table.
pub(crate) const TABLES: usize = Table::ALL.len() + 1;

/// The columns of an ask that change after it was opened. They are the last columns of its row.
pub(crate) const ASK_STATE: [&str; 6] = ["status", "snoozed_ms", "outcome", "delivery", "delivery_reason", "decided_text"];

impl Table {
    pub(crate) const ALL: [Self; 21] = [
        Self::Ask,
        Self::Block,
        Self::Connection,
        Self::Event,
        Self::External,
        Self::Grant,
        Self::Group,
        Self::GroupState,
        Self::Idempotency,
        Self::LoginCode,
        Self::Note,
        Self::Outbox,
        Self::Push,
        Self::RuleHit,
        Self::Run,
        Self::RunStep,
        Self::Secret,
        Self::Session,
        Self::Setting,
        Self::Token,
        Self::Trust,
    ];

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|table| *table as u8 == number)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Block => "block",
            Self::Connection => "connection",
            Self::Event => "event",
            Self::External => "external",
            Self::Grant => "grant_rule",
            Self::Group => "ask_group",
            Self::GroupState => "group_state",
            Self::Idempotency => "idempotency",
            Self::LoginCode => "login_code",
            Self::Note => "note",
            Self::Outbox => "outbox",
            Self::Push => "push",
            Self::RuleHit => "rule_hit",
            Self::Run => "run",
            Self::RunStep => "run_step",
            Self::Secret => "secret",
            Self::Session => "session",
            Self::Setting => "setting",
            Self::Token => "token",
            Self::Trust => "trust",
        }
    }

    /// Returns all columns, those of the primary key first.
    pub(crate) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Ask => &[
                "workspace",
                "id",
                "seq",
                "session",
                "connection",
                "owner",
                "native_id",
                "opened_by",
                "kind",
                "opened_ms",
                "deadline_ms",
                "keep_ms",
                "agent",
                "project",
                "tool_call_id",
                "body",
                "context",
                "policy",
                "raw",
                "asked_text",
                "status",
                "snoozed_ms",
                "outcome",
                "delivery",
                "delivery_reason",
                "decided_text",
            ],
            Self::Block => &["workspace", "id", "session", "seq", "data"],
            Self::Connection => &["workspace", "id", "kind", "agent", "epoch", "position", "wire", "state", "wake_ms"],
            Self::Event => &["workspace", "seq", "at_ms", "kind", "session", "ask", "run", "data"],
            Self::External => &["workspace", "token", "agent", "native_id", "session"],
            Self::Grant => &["workspace", "id", "until_ms", "data"],
            Self::Group => &["workspace", "id", "name", "over", "expires_ms", "data"],
            Self::GroupState => &["workspace", "grp", "state"],
            Self::Idempotency => &["workspace", "token", "route", "key", "fingerprint", "target", "at_ms"],
            Self::LoginCode => &["workspace", "hash", "role", "actor", "expires_ms"],
            Self::Note => &["workspace", "ask", "channel", "state", "attempts", "due_ms", "message"],
            Self::Outbox => &["workspace", "id", "connection", "session", "kind", "ask", "body", "tried"],
            Self::Push => &["workspace", "token", "endpoint", "public_key", "auth"],
            Self::RuleHit => &["workspace", "rule", "at_ms", "ask"],
            Self::Run => &["workspace", "id", "seq", "over", "version", "updated_ms", "data"],
            Self::RunStep => &["workspace", "run", "position", "session", "ask", "data"],
            Self::Secret => &["workspace", "ask", "answers"],
            Self::Session => &["workspace", "id", "seq", "connection", "ended", "updated_ms", "data"],
            Self::Setting => &["workspace", "key", "value"],
            Self::Token => {
                &["workspace", "id", "hash", "role", "actor", "scope", "created_ms", "expires_ms", "revoked_ms", "device"]
            }
            Self::Trust => &["workspace", "path", "hash", "at_ms"],
        }
    }

    /// Returns the number of columns in the primary key.
    pub(crate) const fn key_width(self) -> usize {
        match self {
            Self::External | Self::Idempotency | Self::RuleHit => 4,
            Self::Note | Self::RunStep => 3,
            Self::Ask
            | Self::Block
            | Self::Connection
            | Self::Event
            | Self::Grant
            | Self::Group
            | Self::GroupState
            | Self::LoginCode
            | Self::Outbox
            | Self::Push
            | Self::Run
            | Self::Secret
            | Self::Session
            | Self::Setting
            | Self::Token
            | Self::Trust => 2,
        }
    }
}
