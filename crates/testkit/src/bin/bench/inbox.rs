//! The inbox in a terminal, with much in it: from a key until the screen shows what it did.

use std::time::Instant;

use anyhow::Result;
use sayso_testkit::ServerProcess;
use sayso_testkit::pty::Pty;

use crate::meter;

/// The times from a key until the cursor's new place is shown, in microseconds. `pending` asks must be open.
pub(crate) async fn redraws(server: &ServerProcess, pending: usize, keys: usize) -> Result<Vec<u32>> {
    let mut command = server.command()?;
    command.env("TERM", "xterm-256color").arg("inbox");
    let mut terminal = Pty::spawn(command)?;
    terminal.shows(&format!("{pending} waiting")).await?;
    let mut times = Vec::with_capacity(keys);
    for number in 0..keys {
        let wanted = format!(" {} of {pending} ", number + 2);
        let began = Instant::now();
        terminal.send("j").await?;
        terminal.shows(&wanted).await?;
        times.push(meter::micros(began.elapsed()));
    }
    terminal.send("q").await?;
    terminal.end().await?;
    Ok(times)
}
