//! Measures one durable commit on this disk, which is a lower bound for round trips.

use std::path::Path;

use anyhow::Result;
use sayso_store::probe;

use crate::meter;

/// Returns the median microseconds of a small commit, with WAL and `synchronous=FULL` as in the store.
pub(crate) fn p50(dir: &Path, commits: usize) -> Result<f64> {
    let mut times: Vec<_> = probe::time_commits(&dir.join("raw.db"), commits)?.into_iter().map(meter::micros).collect();
    Ok(meter::percentile(&mut times, 0.5))
}
