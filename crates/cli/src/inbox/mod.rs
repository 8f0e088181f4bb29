//! `sayso inbox`: everything that waits, live, with the keys of the page.
//!
//! `model` is the state: events in, effects out, no I/O; `keys` is what each key does to it. `view` draws
//! it. `run` owns the terminal and does what the model wants done. Whatever an agent wrote is cleaned
//! where it is laid out, and once more in `text::write`, the only way to the screen.

mod asks;
mod body;
mod card;
mod draft;
mod event;
mod feed;
mod field;
mod form_view;
mod keys;
mod list;
mod list_view;
mod model;
mod rule;
mod run;
mod screen;
mod start;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod tmux;
mod view;

pub(crate) use model::Mode;
pub(crate) use run::run;
