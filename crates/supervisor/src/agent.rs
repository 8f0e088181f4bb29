//! The agent's process and all of its descendants.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use crate::spec::Spec;
use crate::sys::{self, Signal};

/// A started agent and its pipes.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) pid: u32,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// Starts the agent in its own process group. Call it on the main thread: the kernel kills the agent when the thread
/// that started it ends, so that the agent cannot outlive the supervisor.
///
/// # Errors
/// A sentence that says what could not be started and why.
pub(crate) fn start(spec: &Spec) -> Result<Agent, String> {
    let Some((program, args)) = spec.command.split_first() else { return Err("there is no command to start".to_owned()) };
    let failed = |why: &dyn std::fmt::Display| format!("cannot start {}: {why}", program.to_string_lossy());
    // The operating system reports a missing directory like a missing program.
    if !spec.directory.is_dir() {
        return Err(failed(&format_args!("there is no directory {}", spec.directory.display())));
    }
    let mut command = Command::new(program);
    command.args(args).current_dir(&spec.directory).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    sys::kill_with_parent(&mut command);
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    // The handle is dropped without waiting: the event loop reaps all children, including this one.
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(Agent { pid: child.id(), stdin, stdout, stderr }),
        _ => Err(failed(&io::Error::from(io::ErrorKind::BrokenPipe))),
    }
}

/// The agent with all its descendants.
#[derive(Debug)]
pub(crate) struct Tree {
    agent: i32,
    /// Until the agent is reaped, no other process group can have its id.
    reaped: bool,
}

impl Tree {
    pub(crate) fn new(pid: u32) -> Self {
        Self { agent: i32::try_from(pid).unwrap_or(i32::MAX), reaped: false }
    }

    pub(crate) fn is_agent(&self, pid: i32) -> bool {
        pid == self.agent
    }

    pub(crate) fn note_reaped(&mut self) {
        self.reaped = true;
    }

    /// Signals all processes of the tree. The group is signalled first and at once, so that no process in it can fork
    /// away in between. Then every process that left the group is signalled; it is still a descendant, because the
    /// supervisor adopts orphans. On systems without orphan adoption, only the group is found.
    pub(crate) fn signal(&self, signal: Signal) {
        if !self.reaped || !cfg!(target_os = "linux") {
            sys::kill(-self.agent, signal);
        }
        for pid in descendants(std::process::id()) {
            sys::kill(pid, signal);
        }
    }
}

/// The living descendants of a process. Empty on systems without `/proc`.
fn descendants(of: u32) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let processes: Vec<Process> =
        entries.filter_map(|entry| Process::read(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect();
    let mut found = Vec::new();
    let mut parents = vec![i32::try_from(of).unwrap_or(i32::MAX)];
    while let Some(parent) = parents.pop() {
        for process in processes.iter().filter(|process| process.parent == parent) {
            parents.push(process.pid);
            if !process.is_zombie {
                found.push(process.pid);
            }
        }
    }
    found
}

/// A process as `/proc` describes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    is_zombie: bool,
}

impl Process {
    /// Reads the entry of a process; `None` if the process exited or is hidden, or if there is no `/proc`.
    pub(crate) fn read(pid: i32) -> Option<Self> {
        Self::parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses `/proc/<pid>/stat`: `pid (name) state parent …`. The process chooses its name, which may contain spaces
    /// and brackets, so the name ends at the last bracket.
    fn parse(pid: i32, stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_whitespace();
        let is_zombie = fields.next()? == "Z";
        Some(Self { pid, parent: fields.next()?.parse().ok()?, is_zombie })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_for_any_process_name() {
        let read = |stat: &[u8]| Process::parse(7, stat);
        assert_eq!(read(b"7 (sh) S 3 7 7 0 -1"), Some(Process { pid: 7, parent: 3, is_zombie: false }));
        assert_eq!(read(b"7 (a) Z 9 (\xff\n) Z 3 7"), Some(Process { pid: 7, parent: 3, is_zombie: true }));
        assert_eq!(read(b""), None);
        assert_eq!(read(b"7 (sh) S"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn descendants_are_found() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        assert!(descendants(std::process::id()).contains(&i32::try_from(child.id()).unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
