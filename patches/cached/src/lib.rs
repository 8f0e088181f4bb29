//! Replaces the crate `cached` for brush-parser, its only user in this workspace.
//!
//! brush-parser memoises three functions in global tables. The policy calls none of them, and text from agents has no place
//! in a global table. The real crate brings 13 others, and compiling those took a tenth of the first build.

/// The attribute, under the path that brush-parser uses.
pub mod proc_macro {
    pub use cached_passthrough::cached;
}
