//! Addresses that are opened while the server runs. One task owns them, and closes them when the server stops.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::surfaces::listener::{self, ListenerLimits};
use crate::surfaces::tls::Tls;

/// The maximum number of open addresses, in addition to the main listener.
const MOST: usize = 8;
/// The maximum number of connections at one of these addresses.
const CONNECTIONS: usize = 256;

/// A handle that opens and closes addresses.
#[derive(Debug, Clone)]
pub(crate) struct Listeners {
    /// Bounded: callers wait until the owner has received the call.
    calls: mpsc::Sender<ListenerCall>,
}

enum ListenerCall {
    Open(SocketAddr, oneshot::Sender<Result<SocketAddr, ListenerError>>),
    Close(SocketAddr, oneshot::Sender<bool>),
    List(oneshot::Sender<Vec<SocketAddr>>),
}

/// Why an address could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenerError {
    #[error("{MOST} addresses are already open; close one first")]
    Most,
    #[error("cannot listen there: {0}")]
    Io(#[from] io::Error),
    #[error("the server is stopping")]
    Stopping,
}

/// Why a request to open an address was refused. The text is the error message for the client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenRefusal {
    #[error("cannot determine the network address of this machine; specify one")]
    NoNetwork,
    #[error("an address must look like 192.168.1.7 or 192.168.1.7:4517")]
    NotAnAddress,
    #[error("specify one address of this machine, not a wildcard address")]
    AllAddresses,
    #[error("{address}: {error}")]
    NotOpened { address: SocketAddr, error: ListenerError },
}

/// An address at which the server listens.
pub(crate) struct OpenedAddress {
    pub(crate) address: SocketAddr,
    /// Whether this is the server's main listener.
    pub(crate) main: bool,
}

/// An open listener, and how it is closed.
struct OpenListener {
    close: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// The receiving end of [`Listeners`], for [`run`].
pub(crate) struct ListenerCalls(mpsc::Receiver<ListenerCall>);

impl Listeners {
    /// Creates the handle and the receiver for [`run`].
    pub(crate) fn new() -> (Self, ListenerCalls) {
        let (calls, taken) = mpsc::channel(1);
        (Self { calls }, ListenerCalls(taken))
    }

    /// Opens the address that a client names, or the address of this machine in its network. `main` is the address of the main
    /// listener.
    pub(crate) async fn open_named(&self, named: Option<&str>, main: SocketAddr) -> Result<OpenedAddress, OpenRefusal> {
        let address = match named {
            Some(text) => parse_address(text, main.port())?,
            None => suggested_address(main).ok_or(OpenRefusal::NoNetwork)?,
        };
        // A server that listens on every address already listens on this one.
        let everywhere = main.ip().is_unspecified() && main.port() == address.port();
        if everywhere || main == address {
            return Ok(OpenedAddress { address, main: true });
        }
        let opened = self.open(address).await;
        opened.map(|address| OpenedAddress { address, main: false }).map_err(|error| OpenRefusal::NotOpened { address, error })
    }

    /// Opens an address, unless it is already open.
    async fn open(&self, address: SocketAddr) -> Result<SocketAddr, ListenerError> {
        self.call(|reply| ListenerCall::Open(address, reply)).await.unwrap_or(Err(ListenerError::Stopping))
    }

    /// Closes an address. Returns false if it is not open.
    pub(crate) async fn close(&self, address: SocketAddr) -> bool {
        self.call(|reply| ListenerCall::Close(address, reply)).await.unwrap_or(false)
    }

    /// Returns the open addresses.
    pub(crate) async fn list(&self) -> Vec<SocketAddr> {
        self.call(ListenerCall::List).await.unwrap_or_default()
    }

    async fn call<T>(&self, call: impl FnOnce(oneshot::Sender<T>) -> ListenerCall) -> Option<T> {
        let (reply, replied) = oneshot::channel();
        self.calls.send(call(reply)).await.ok()?;
        replied.await.ok()
    }
}

/// Owns the open listeners until `stopping` is set, then closes all of them.
pub(crate) async fn run(calls: ListenerCalls, router: Router, tls: Option<Arc<Tls>>, mut stopping: watch::Receiver<bool>) {
    let mut calls = calls.0;
    let mut open: BTreeMap<SocketAddr, OpenListener> = BTreeMap::new();
    loop {
        let call = tokio::select! {
            _ = stopping.wait_for(|stop| *stop) => break,
            call = calls.recv() => call,
        };
        // The caller may have disconnected; the change stays.
        match call {
            None => break,
            Some(ListenerCall::List(reply)) => {
                let _ = reply.send(open.keys().copied().collect());
            }
            Some(ListenerCall::Open(address, reply)) => {
                let opened = match open.keys().find(|known| known.ip() == address.ip() && is_port(address, known.port())) {
                    Some(known) => Ok(*known),
                    None if open.len() >= MOST => Err(ListenerError::Most),
                    None => bind(address).await.map_err(ListenerError::Io).map(|(socket, address)| {
                        tracing::info!(%address, "listener opened");
                        open.insert(address, start(socket, router.clone(), tls.clone()));
                        address
                    }),
                };
                let _ = reply.send(opened);
            }
            Some(ListenerCall::Close(address, reply)) => {
                let closed = open.remove(&address);
                let _ = reply.send(closed.is_some());
                if let Some(closed) = closed {
                    tracing::info!(%address, "closed");
                    closed.task.abort();
                }
            }
        }
    }
    for closed in open.values() {
        closed.close.send_replace(true);
    }
    for closed in open.into_values() {
        let _ = closed.task.await;
    }
}

fn is_port(wanted: SocketAddr, port: u16) -> bool {
    wanted.port() == 0 || wanted.port() == port
}

fn start(socket: TcpListener, router: Router, tls: Option<Arc<Tls>>) -> OpenListener {
    let (close, mut closing) = watch::channel(false);
    let limits = ListenerLimits { connections: CONNECTIONS, ..ListenerLimits::default() };
    let task = tokio::spawn(listener::serve(socket, router, limits, tls, async move {
        let _ = closing.wait_for(|close| *close).await;
    }));
    OpenListener { close, task }
}

/// Binds this address, or another port of it if the port is in use.
async fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = match TcpListener::bind(address).await {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => TcpListener::bind(SocketAddr::new(address.ip(), 0)).await?,
        bound => bound?,
    };
    let address = socket.local_addr()?;
    Ok((socket, address))
}

/// Returns the address of this machine in its network, with the port of the main listener.
pub(crate) fn suggested_address(main: SocketAddr) -> Option<SocketAddr> {
    in_network().map(|ip| SocketAddr::new(ip, main.port()))
}

/// Parses an address with or without a port.
fn parse_address(text: &str, port: u16) -> Result<SocketAddr, OpenRefusal> {
    let address = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, port)).or_else(|_| text.parse());
    let address: SocketAddr = address.map_err(|_| OpenRefusal::NotAnAddress)?;
    if address.ip().is_unspecified() || address.ip().is_multicast() {
        return Err(OpenRefusal::AllAddresses);
    }
    Ok(address)
}

/// Returns the address of this machine in its network: the source address of a packet to a remote host. No packet is sent.
fn in_network() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // An address reserved for documentation, which belongs to no host.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}
