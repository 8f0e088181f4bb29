//! Surfaces: how clients reach the server. Each surface parses requests, calls the layers below and renders replies. A surface
//! contains no business rules.

pub mod acp;
pub(crate) mod answer_link;
pub(crate) mod compat;
pub(crate) mod http;
pub(crate) mod listener;
pub(crate) mod listeners;
pub mod mcp;
pub(crate) mod reach;
pub(crate) mod tls;
