//! Reads figures of processes from the kernel, and computes percentiles.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// The clock ticks of `/proc/<pid>/stat`. The kernel shows them at 100 a second on every machine.
const TICK: Duration = Duration::from_millis(10);

/// Returns the processor time that a process has used.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in brackets can contain any character, so the numbers start after the last bracket.
    let (_, rest) = stat.rsplit_once(')').context("no such process")?;
    let ticks: u32 = rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    Ok(TICK * ticks)
}

/// Returns the processor time of a process with one thread, in nanoseconds of the scheduler. Many small processes use less than
/// a tick each, so the ticks of [`cpu`] would add up to zero.
pub(crate) fn thread_cpu(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat"))?;
    let nanoseconds = stat.split_whitespace().next().context("no schedstat")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}

/// Returns the proportional set size of a process in bytes. Shared pages are divided among their processes.
pub(crate) fn pss(pid: u32) -> Result<u64> {
    smaps_field(pid, "Pss:")
}

/// Returns the memory in bytes that belongs to this process alone. Unchanged pages of the program are left out: the kernel counts
/// them as private while no other process of the program runs, and can drop them at any time.
pub(crate) fn private(pid: u32) -> Result<u64> {
    smaps_field(pid, "Private_Dirty:")
}

fn smaps_field(pid: u32, name: &str) -> Result<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
    let kib = line.split_whitespace().next().context("no number")?;
    Ok(kib.parse::<u64>()? * 1024)
}

/// Returns the resident memory of a process in bytes.
pub(crate) fn rss(pid: u32) -> Result<u64> {
    smaps_field(pid, "Rss:")
}

/// The writes of a process since it started, from `/proc/<pid>/io`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    /// The number of write calls, without sends on sockets.
    pub(crate) calls: u64,
    /// The bytes written to disk, in whole pages of the kernel's cache.
    pub(crate) disk_bytes: u64,
}

pub(crate) fn written(pid: u32) -> Result<Written> {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io"))?;
    let field = |name: &str| -> Result<u64> {
        let line = io.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        Ok(line.trim().parse()?)
    };
    Ok(Written { calls: field("syscw:")?, disk_bytes: field("write_bytes:")? })
}

/// Returns the process ids of the supervisors of the server in this directory.
pub(crate) fn supervisors(dir: &Path) -> Result<Vec<u32>> {
    let dir = dir.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        if command.contains("\0supervise\0") && command.contains(&dir) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Returns the load of the machine over one minute.
pub(crate) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}

/// Returns the processor time of all processes since boot.
pub(crate) fn busy() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let line = stat.lines().next().context("no processors")?;
    let fields: Vec<u32> = line.split_whitespace().skip(1).take(8).filter_map(|field| field.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal
    let idle = fields.iter().skip(3).take(2).sum::<u32>();
    Ok(TICK * (fields.iter().sum::<u32>() - idle))
}

/// Returns a percentile of the values, for example for the part 0.99.
pub(crate) fn percentile(values: &mut [u32], part: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_unstable();
    let place = ((values.len() - 1) as f64 * part).round() as usize;
    f64::from(values[place])
}

/// Returns the median.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Converts a time to microseconds.
pub(crate) fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}
