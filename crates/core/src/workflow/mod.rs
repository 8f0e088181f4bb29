//! A workflow: a file of steps, each with its own rule for questions.
//!
//! The same shape is read from TOML and from JSON ([`Workflow::parse_toml`], [`Workflow::parse_json`]).
//! [`Workflow::check`] says everything that is wrong with it, [`Workflow::explain`] what each step does
//! when it is asked something. How a run of it goes on is [`crate::run`]. Nothing here reads a file.

mod check;
mod checkpoint;
mod explain;
mod model;
mod places;
mod template;

pub use check::Surroundings;
pub use checkpoint::{Checkpoint, CheckpointInput, CheckpointOption};
pub use explain::StepExplained;
pub use model::{IfAgentDies, InputSpec, Kind, OnFailure, Step, Workflow};
pub use places::{Source, WorkflowError};
pub use template::{Template, Values, Variable};
