//! Runs short-lived programs.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::{ChannelVariables, SendFailure};

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of bytes that are read from its output.
const OUTPUT: u64 = 64 * 1024;

/// A program and its descendants. Dropping it kills all of them.
struct ProcessGroup(Option<Pid>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // The group may have ended already.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Runs a program with this text on stdin and returns its output. Any exit code other than 0 is a failure.
pub(super) async fn run(program: &str, args: &[&str], input: &[u8], variables: &ChannelVariables) -> Result<String, SendFailure> {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| SendFailure::never(format!("`{program}` cannot be started: {error}")))?;
    let mut group = ProcessGroup(child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw));
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let talk = async {
        if let Some(mut stdin) = stdin {
            // Ignore write errors, because a program does not have to read stdin.
            let _ = stdin.write_all(input).await;
        }
        let mut printed = Vec::new();
        if let Some(stdout) = stdout {
            let _ = stdout.take(OUTPUT).read_to_end(&mut printed).await;
        }
        (child.wait().await, printed)
    };
    let Ok((ended, printed)) = tokio::time::timeout(LIMIT, talk).await else {
        return Err(SendFailure::later(format!("the program was stopped because it took more than {} seconds", LIMIT.as_secs())));
    };
    group.0 = None;
    match ended {
        Ok(status) if status.success() => Ok(String::from_utf8_lossy(&printed).into_owned()),
        Ok(status) => Err(SendFailure::later(format!("the program failed: {status}"))),
        Err(error) => Err(SendFailure::later(format!("cannot wait for the program: {error}"))),
    }
}
