//! Checks that an agent can only reach this machine.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};

use anyhow::{Context as _, Result, bail};

/// Fails unless the loopback interface is the only network interface that is up, so that no real agent ever connects to
/// a real service.
///
/// # Panics
/// If there is a network; the message contains the command to use.
pub fn require_isolation() {
    if let Err(error) = isolated() {
        panic!("{error:#}");
    }
}

fn isolated() -> Result<()> {
    // /sys/class/net is not used, because it shows the interfaces of the namespace that mounted it.
    let routes = std::fs::read_to_string("/proc/net/route").context("cannot read the routes of this machine")?;
    let addresses = match std::fs::read_to_string("/proc/net/if_inet6") {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(), // A kernel without IPv6.
        other => other.context("cannot read the addresses of this machine")?,
    };
    let others = external_interfaces(&routes, &addresses);
    if !others.is_empty() {
        let others = others.into_iter().collect::<Vec<_>>().join(", ");
        bail!(
            "real agents are only run without a network, and {others} is up; use:\n  scripts/agents.sh\n  scripts/agents.sh mcp\n  {}",
            command()
        );
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    TcpStream::connect(listener.local_addr()?)
        .with_context(|| format!("the loopback interface is down; use:\n  {}", command()))?;
    Ok(())
}

/// The command that starts this test program in isolation.
fn command() -> String {
    let exe = std::env::current_exe().unwrap_or_default();
    // cargo appends a hash to the name of a test program.
    let name = exe.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.rsplit_once('-')).map(|(name, _)| name);
    let name = name.unwrap_or("agents");
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "sayso-testkit".to_owned());
    format!("scripts/isolated.sh cargo test --offline --package {package} --test {name}")
}

/// The interfaces other than loopback that have a route or an address.
fn external_interfaces<'a>(routes: &'a str, addresses: &'a str) -> BTreeSet<&'a str> {
    let routed = routes.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let addressed = addresses.lines().filter_map(|line| line.split_whitespace().last());
    routed.chain(addressed).filter(|name| *name != "lo").collect()
}

#[cfg(test)]
mod tests {
    use super::external_interfaces;

    const HEADER: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
    const LOOPBACK: &str = "00000000000000000000000000000001 01 80 10 80       lo\n";

    #[test]
    fn only_loopback_is_isolated() {
        assert!(external_interfaces(HEADER, LOOPBACK).is_empty());
        assert!(external_interfaces(HEADER, "").is_empty());
    }

    #[test]
    fn interface_with_route_or_address_is_not_isolated() {
        let routes = format!("{HEADER}eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
        let addresses = format!("{LOOPBACK}fe8000000000000000fc00fffe000001 04 40 20 80     wlan0\n");
        assert_eq!(external_interfaces(&routes, &addresses).into_iter().collect::<Vec<_>>(), ["eth0", "wlan0"]);
    }
}
