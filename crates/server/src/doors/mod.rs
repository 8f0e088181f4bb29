//! Doors that other clients already speak. Thin: each turns its own shapes into the same decisions,
//! and the first answer wins everywhere.

pub mod acp;
pub(crate) mod gateway;
pub mod mcp;
pub(crate) mod question_rest;
