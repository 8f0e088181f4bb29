//! What one durable commit costs on this disk: the floor that a round trip stands on.

use std::path::Path;

use anyhow::Result;
use sayso_store::probe;

use crate::meter;

/// The median microseconds of a small commit, WAL and `synchronous=FULL` as in the store.
pub(crate) fn p50(dir: &Path, commits: usize) -> Result<f64> {
    let mut times: Vec<_> = probe::time_commits(&dir.join("raw.db"), commits)?.into_iter().map(meter::micros).collect();
    Ok(meter::percentile(&mut times, 0.5))
}
