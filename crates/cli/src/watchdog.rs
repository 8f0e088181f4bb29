//! Reports to systemd that the server is ready, and then that it still responds (`sd_notify(3)`). If the server hangs, no report is
//! sent and systemd restarts it. Does nothing without systemd.

use std::time::Duration;

use sayso_client::{Client, Environment};

use crate::sys;

/// The socket of systemd and the interval of the reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watchdog {
    socket: String,
    /// Half of the time after which systemd restarts the server. Absent without `WatchdogSec=`.
    interval: Option<Duration>,
}

impl Watchdog {
    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    pub(crate) fn of(environment: &Environment) -> Option<Self> {
        let socket = environment.get("NOTIFY_SOCKET")?.to_owned();
        let is_for_us = environment.get("WATCHDOG_PID").is_none_or(|pid| pid == std::process::id().to_string());
        let limit = environment.get("WATCHDOG_USEC").filter(|_| is_for_us).and_then(|text| text.parse().ok());
        Some(Self { socket, interval: limit.filter(|limit| *limit > 0).map(|limit: u64| Duration::from_micros(limit) / 2) })
    }

    /// Reports that the server at `url` is ready, then reports after each interval that it responds. Runs until it is dropped.
    pub(crate) async fn run(self, url: String) {
        self.send("READY=1");
        let (Some(interval), Ok(client)) = (self.interval, Client::new(&url, "")) else { return };
        loop {
            // A request goes through the listener and the router, so a server that no longer serves sends no report.
            match client.health().await {
                Ok(_) => self.send("WATCHDOG=1"),
                Err(error) => tracing::warn!(%error, "the server does not answer its own health check"),
            }
            tokio::time::sleep(interval).await;
        }
    }

    fn send(&self, message: &str) {
        if let Err(error) = sys::send_datagram(&self.socket, message) {
            tracing::warn!(%error, message, "cannot notify the service manager");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_systemd_are_read() {
        let socket = ("NOTIFY_SOCKET", "/run/notify");
        let with = |interval| Some(Watchdog { socket: "/run/notify".into(), interval });
        let of = |limit: &str, pid: &str| {
            Watchdog::of(&Environment::from_pairs([socket, ("WATCHDOG_USEC", limit), ("WATCHDOG_PID", pid)]))
        };
        let ours = std::process::id().to_string();
        assert_eq!(Watchdog::of(&Environment::from_pairs([])), None);
        assert_eq!(Watchdog::of(&Environment::from_pairs([socket])), with(None));
        assert_eq!(of("60000000", &ours), with(Some(Duration::from_secs(30))));
        assert_eq!(of("60000000", "1"), with(None), "the limit is for another process");
        assert_eq!(of("soon", &ours), with(None));
    }
}
