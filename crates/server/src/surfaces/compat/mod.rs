//! HTTP dialects of existing clients. Each dialect maps its own request shapes to the use cases of the native API, so the first
//! answer wins on every surface.

pub(crate) mod gateway;
pub(crate) mod question_rest;
