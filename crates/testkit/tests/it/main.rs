//! Tests of the kit, on which all other tests depend.

mod docs;
mod kit;
mod models;
mod replay;
mod workflows;
