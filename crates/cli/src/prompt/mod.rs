//! The prompt for one ask. [`render`] draws the ask and [`parse`] parses the typed line; both are pure. [`run`]
//! connects them to the terminal and the server.

pub(crate) mod parse;
pub(crate) mod render;
mod run;

pub(crate) use run::{Ended, Prompt, announce};
