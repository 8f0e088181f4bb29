//! What each role may do.

use sayso_api::token::Role;

/// The permission that a call requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Read asks, sessions and events.
    Read,
    /// Decide asks; start and message sessions.
    Answer,
    /// Open an ask and read it.
    Open,
    /// Change the policy and create tokens.
    Administer,
}

impl Permission {
    /// Returns whether a role has this permission.
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

/// Returns the name under which a role is stored.
pub(crate) const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Admin => "admin",
        Role::Answerer => "answerer",
        Role::Viewer => "viewer",
        Role::Agent => "agent",
    }
}

/// Parses the stored name of a role. Unknown names become viewers.
pub(crate) fn role_of(name: &str) -> Role {
    match name {
        "admin" => Role::Admin,
        "answerer" => Role::Answerer,
        "agent" => Role::Agent,
        _ => Role::Viewer,
    }
}
