//! The kit itself: what every other test stands on.

mod docs;
mod kit;
mod models;
mod replay;
mod workflows;
