//! `sayso inbox`: a live view of all pending asks, with the same keys as the page.
//!
//! `model` is the state: events in, effects out, no I/O. `incoming` applies updates of the server, `decide` makes
//! decisions, and `sending` holds them until they are sent. `keys` maps keys to actions, which `card_keys`,
//! `question_keys` and `typing` implement. `view` draws the model. `run` owns the terminal and executes effects. Agent
//! text is sanitized when it is laid out, and again in `text::write`, the only function that writes to the screen.

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
