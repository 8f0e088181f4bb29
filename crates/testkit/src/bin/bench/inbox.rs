//! Measures the inbox in a terminal with many asks: the time from a key press until the screen shows its effect.

use std::time::Instant;

use anyhow::Result;
use sayso_testkit::ServerProcess;
use sayso_testkit::pty::Pty;

use crate::meter;

/// Returns the microseconds from each key press until the new position of the cursor is shown. `pending` asks must be open.
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
