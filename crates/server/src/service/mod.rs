//! The service layer: what Sayso can do, independent of the surface that asks for it.

pub(crate) mod buttons;
pub(crate) mod links;
pub(crate) mod notes;
pub(crate) mod open;
pub(crate) mod policies;
