//! Measures the digest of the files that a command executes.
//!
//! When an ask is opened, each file is read and hashed. Before a decision and before a delivery, it is read again and compared
//! with the earlier content. Only a changed file is hashed again.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use sayso_core::digest::FileHash;

use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::{Size, directory, meter};

/// The largest file that is read.
const LARGEST: usize = 1024 * 1024;

pub(crate) fn measure(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    let mut content = Measurement::new("content");
    for (figure, bytes) in [("hash_16k_ms", 16 * 1024), ("hash_256k_ms", 256 * 1024), ("hash_1m_ms", LARGEST)] {
        let path = file_of(dir.path(), bytes)?;
        let hash = || Ok(FileHash::of_bytes(&std::fs::read(&path)?));
        content = content.target(figure, p50_ms(size.answers, hash)?, AtMost(0.2));
    }
    let path = file_of(dir.path(), LARGEST)?;
    let known = std::fs::read(&path)?;
    let unchanged = || Ok(std::fs::read(&path)? == known);
    report.add(content.target("unchanged_1m_ms", p50_ms(size.answers, unchanged)?, AtMost(0.2)))
}

fn file_of(dir: &Path, bytes: usize) -> Result<std::path::PathBuf> {
    let path = dir.join(bytes.to_string());
    std::fs::write(&path, vec![b'#'; bytes])?;
    Ok(path)
}

fn p50_ms<T>(times: usize, work: impl Fn() -> Result<T>) -> Result<f64> {
    let mut taken = Vec::with_capacity(times);
    for _ in 0..times {
        let start = Instant::now();
        black_box(work()?);
        taken.push(meter::micros(start.elapsed()));
    }
    Ok(meter::percentile(&mut taken, 0.5) / 1e3)
}
