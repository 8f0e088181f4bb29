//! The prompt: an ask is drawn ([`render`]), a line is understood ([`parse`]), and [`run`] stands
//! between them and the terminal. The first two are pure.

pub(crate) mod parse;
pub(crate) mod render;
mod run;

pub(crate) use run::{Ended, Prompt, announce};
