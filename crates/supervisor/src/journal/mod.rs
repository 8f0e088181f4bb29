//! The agent's output on disk, kept until the server has committed it.
//!
//! A journal is one stream of records, stored in segments: files named `journal-<offset>` in the supervisor's
//! directory, with the 20 digits of their start offset. A record is one byte for its kind, four bytes for the length of
//! its payload (little-endian), and the payload. A **position** is a byte offset in the whole stream and always lies
//! between two records.
//!
//! The server depends on these invariants:
//!
//! - **A record holds a piece of one line.** The record ends in `
//! ` if and only if the line ends with it. A line of up to 64 KiB is one record; only longer lines have several pieces.
//! - **The pieces of a stderr line are contiguous.** The pieces of a stdout line can have stderr records between them.
//! - Therefore the position after a record that ends a stdout line is exactly between two lines, and reading from it
//!   returns the next line from its beginning. [`LineAssembler`](crate::LineAssembler) tracks these positions.
//! - `Cut` precedes the newline of the truncated line, or the end of the stream.
//! - The last record is `Exited` or `Failed`. If it is missing, the supervisor is still running or was killed.
//! - The files always contain a prefix of the stream: an incomplete record is the last one. It is either being written
//!   or was torn when the supervisor was killed.
//!
//! The journal is not synced to disk: it has to survive a crash of the server, not of the machine.

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

/// A new segment starts when the current one has reached this size in bytes. The size is a compromise between frequent
/// trimming and the number of files of an agent with much output.
pub(crate) const SEGMENT: u64 = 1024 * 1024;

pub(crate) fn segment_path(dir: &Path, start: u64) -> PathBuf {
    dir.join(format!("journal-{start:020}"))
}

/// The start offsets of the segments in a directory, in order.
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
