//! `sayso inbox`: everything that waits, live, with the keys of the page.
//!
//! `model` is the state: events in, effects out, no I/O. `incoming` takes what comes from the server, `sending` holds decisions
//! until they are sent, `decide` makes them. `keys` says what each key does; `card_keys`, `question_keys` and `typing` do it.
//! `view` draws the model. `run` owns the terminal and does what the model wants done. Whatever an agent wrote is cleaned
//! where it is laid out, and once more in `text::write`, the only way to the screen.

mod asks;
mod body;
mod card;
mod card_keys;
mod decide;
mod draft;
mod event;
mod feed;
mod field;
mod form_view;
mod incoming;
mod keys;
mod list;
mod list_view;
mod model;
mod question_body;
mod question_keys;
mod rule;
mod run;
mod screen;
mod sending;
mod start;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod tmux;
mod typing;
mod view;

pub(crate) use model::Mode;
pub(crate) use run::run;
