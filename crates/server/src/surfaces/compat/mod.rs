//! HTTP dialects that existing clients already speak. Each translates its own shapes to the same use cases as the
//! native API, so the first answer wins on every surface.

pub(crate) mod gateway;
pub(crate) mod question_rest;
