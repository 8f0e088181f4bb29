//! Who may call: tokens with roles and scopes, the login of a browser, and the guard against pages
//! of other origins. There are no cookies: nothing is sent by a browser on its own.

mod guard;
pub(crate) mod rate;
mod role;
mod token;

pub(crate) use guard::{Foreign, RequestGuard};
pub(crate) use role::{Permission, role_name};
pub(crate) use token::{Caller, SECRET_PREFIX, Tokens, hash};
