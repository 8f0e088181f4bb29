//! Authentication: tokens with roles and scopes, browser logins, and the guard against pages of other origins. There are no
//! cookies, so browsers never send credentials on their own.

mod guard;
pub(crate) mod rate;
mod role;
mod token;

pub(crate) use guard::{Foreign, RequestGuard};
pub(crate) use role::{Permission, role_name};
pub(crate) use token::{Caller, SECRET_PREFIX, Tokens, hash};
