//! The policy: rules that decide asks before a person has to.
//!
//! A policy is parsed once ([`Policy::parse`]) into rules with compiled patterns. The policies of all scopes that apply to a
//! session are combined into a [`PolicySet`]. [`decide`] then decides one ask, or leaves it to a person. Two properties hold
//! for every policy: deny wins over ask, which wins over allow; and doubt never leads to an approval. The module reads no files
//! and no clock.
//!
//! Patterns are matched in two ways. `allow` and `answer` rules match strictly: only what they certainly mean. `deny`, `ask`
//! and `reject` rules match broadly: everything that they may mean. `command_line` describes both for command lines. The same
//! distinction applies to paths, addresses and names (`matches_strictly`, `matches_broadly`).

mod address;
mod approvals;
mod command_line;
mod config_files;
mod config_hash;
mod config_table;
mod decide;
mod directories;
mod disk_facts;
mod edit;
mod error;
mod executed_code;
mod expansion;
mod explain;
mod guard;
mod harmless_options;
mod hash;
mod here_docs;
mod inner_programs;
mod model;
mod option_list;
mod paths;
mod plain_line;
mod policy_file;
mod program_table;
mod protected;
mod questions;
mod rules;
mod run_pattern;
mod scopes;
mod sed_script;
mod settings;
mod start_directory;
mod text_pattern;
mod walk;
mod words;
mod wrapper_names;
mod wrappers;

pub use config_hash::config_hash;
pub use config_table::{ConfigKind, PROTECTED_CONFIG, WATCHED_CONFIG, WatchedConfig};
pub use decide::{Subject, Verdict, decide, timed_out};
pub use disk_facts::{DiskFacts, paths_to_follow};
pub use edit::{PolicyEdit, edit_policy};
pub use error::PolicyError;
pub use executed_code::{ExecutedCode, executed_code};
pub use explain::{Considered, Explanation, explain, matches_ask};
pub use guard::NAME as BUILT_IN;
pub use hash::project_hash;
pub use model::{
    ApprovalPolicy, ApprovalSettings, Effect, OnTimeout, Profile, QuestionPolicy, QuestionSettings, RuleSpec, SessionPolicy,
    Texts,
};
pub use policy_file::Policy;
pub(crate) use policy_file::key_after;
pub use rules::Rule;
pub use scopes::{Grant, PolicySet, ProjectPolicy, Scope};
