//! What the agent said, on disk, until the server has it.
//!
//! A journal is one stream of records, kept in segments: files `journal-<offset>` in the
//! supervisor's directory, named by the 20 digits of the offset at which they start. A record is a
//! byte for its kind, four for the length of its payload (little-endian), and the payload. A
//! **position** is a byte offset in the whole stream, always between two records.
//!
//! The invariants that the server builds on:
//!
//! - **A record holds a piece of one line.** It ends in `\n` if, and only if, the line ends with it. A
//!   line of up to 64 KiB is one record; only longer ones come in pieces.
//! - **Between the pieces of a line of standard error stands nothing else.** Between the pieces of a
//!   line of standard output may stand records of standard error.
//! - So the position after a record that ends a line of standard output is exactly between two lines,
//!   and reading from it gives the next line from its beginning. [`LineAssembler`](crate::LineAssembler)
//!   knows which positions these are.
//! - `Cut` comes before the newline of the line that was cut, or before the end.
//! - The last record is `Exited` or `Failed`. Without one, the supervisor lives or was killed.
//! - What is on disk is always a beginning of the stream: a record that is not all there is the last
//!   one, still being written or torn for ever.
//!
//! Nothing is synchronised to disk: a journal has to outlive the server, not the machine.

mod reader;
mod record;
mod writer;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use crate::lock::is_alive;
pub use reader::{Journal, Scan};
pub(crate) use record::Raw;
pub use record::{PIECE, Record, Stream};
pub(crate) use writer::{Files, Writer};

/// When a segment has grown to this, the next is begun. Small enough to trim often, large enough that
/// a talkative agent does not litter the directory.
pub(crate) const SEGMENT: u64 = 1024 * 1024;

pub(crate) fn segment_path(dir: &Path, start: u64) -> PathBuf {
    dir.join(format!("journal-{start:020}"))
}

/// Where the segments in a directory start, in order.
pub(crate) fn segments(dir: &Path) -> io::Result<Vec<u64>> {
    let mut starts = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        if let Some(start) = name.to_str().and_then(|name| name.strip_prefix("journal-")).and_then(|digits| digits.parse().ok()) {
            starts.push(start);
        }
    }
    starts.sort_unstable();
    Ok(starts)
}
