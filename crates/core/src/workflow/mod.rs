//! Workflows: files of steps, each with its own settings for questions.
//!
//! [`Workflow::parse_toml`] and [`Workflow::parse_json`] read the same shape. [`Workflow::check`] finds mistakes, and
//! [`Workflow::explain`] describes how each step handles questions. [`crate::run`] executes a workflow. This module reads no
//! files.

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
