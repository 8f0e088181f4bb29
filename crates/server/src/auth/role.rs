//! What each role may do.

use sayso_api::token::Role;

/// What a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Look at asks, sessions and events.
    Read,
    /// Decide asks, start and talk to sessions.
    Answer,
    /// Open an ask, and read it back.
    Open,
    /// Change the policy, make tokens.
    Administer,
}

impl Permission {
    /// Whether a role has it.
    pub(crate) const fn granted_to(self, role: Role) -> bool {
        match (self, role) {
            (_, Role::Admin)
            | (Self::Read | Self::Answer, Role::Answerer)
            | (Self::Read, Role::Viewer)
            | (Self::Open, Role::Agent) => true,
            (Self::Administer, Role::Answerer | Role::Viewer | Role::Agent)
            | (Self::Answer | Self::Open, Role::Viewer)
            | (Self::Open, Role::Answerer)
            | (Self::Read | Self::Answer, Role::Agent) => false,
        }
    }
}

/// The name a role is stored under.
pub(crate) const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Admin => "admin",
        Role::Answerer => "answerer",
        Role::Viewer => "viewer",
        Role::Agent => "agent",
    }
}

/// The role of a stored name. An unknown name may only look.
pub(crate) fn role_of(name: &str) -> Role {
    match name {
        "admin" => Role::Admin,
        "answerer" => Role::Answerer,
        "agent" => Role::Agent,
        _ => Role::Viewer,
    }
}
