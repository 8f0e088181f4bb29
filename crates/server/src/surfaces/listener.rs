//! The HTTP listener: accepts connections, serves each on its own task, and stops gracefully.
//!
//! It replaces `axum::serve`, which has no settings for four features: small buffers (so that a thousand idle streams use
//! little memory), a timeout for peers that stop reading, limits on connections and on the time to stop, and TLS. With a
//! certificate, the first byte of a connection distinguishes TLS from plain HTTP. Only programs on this machine may use plain
//! HTTP then.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tower::Service as _;

use crate::surfaces::tls::Tls;

/// The limits of a listener.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListenerLimits {
    /// The maximum number of connections. Further connections wait in the kernel's accept queue.
    pub(crate) connections: usize,
    /// How long a request's head may take, and how long a connection may be idle between requests.
    pub(crate) head: Duration,
    /// How long a peer may read nothing while data is waiting for it.
    pub(crate) blocked: Duration,
    /// How long stopping may take.
    pub(crate) stop: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            head: Duration::from_secs(30),
            blocked: Duration::from_secs(30),
            stop: Duration::from_secs(8),
        }
    }
}

/// The maximum buffer of hyper per connection and direction, in bytes. Also the maximum size of a request's head.
const BUFFER: usize = 64 * 1024;
/// How long to wait after a failed accept, for example if file descriptors have run out.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// The local address at which a request arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Local(pub(crate) IpAddr);

/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 0x16;
/// The response to remote clients that use plain HTTP although there is a certificate.
const USE_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 15\r\nconnection: close\r\n\r\nUse https here.";

/// Serves until `shutdown` completes, then lets every request finish, within the limit. Streams have to be closed by their
/// owner (see `Feed::close`). Handlers find the peer in [`ConnectInfo`]`<`[`SocketAddr`]`>`.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    limits: ListenerLimits,
    tls: Option<Arc<Tls>>,
    shutdown: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(BUFFER);
    let (stop, stopping) = watch::channel(());
    // Owns the task of every connection. Finished tasks are removed as they finish.
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(ended) = connections.join_next() => log_panic(ended),
            accepted = accept(&listener), if connections.len() < limits.connections => {
                let Some(Accepted { socket, peer, local }) = accepted else { continue };
                let to = Serving { http: http.clone(), app: RouterService { router: app.clone(), peer, local }, limits, stopping: stopping.clone() };
                match &tls {
                    None => connections.spawn(to.serve(socket)),
                    Some(tls) => connections.spawn(to.serve_either(socket, Arc::clone(tls))),
                };
                if connections.len() == limits.connections {
                    tracing::warn!(connections = limits.connections, "connection limit reached; not accepting until a connection ends");
                }
            }
        }
    }
    drop(listener);
    stop.send_replace(());
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            log_panic(ended);
        }
    };
    if timeout(limits.stop, all_ended).await.is_err() {
        tracing::warn!(connections = connections.len(), "closing connections that did not end in time");
        connections.shutdown().await;
    }
}

/// A newly accepted connection.
struct Accepted {
    socket: TcpStream,
    peer: SocketAddr,
    local: IpAddr,
}

/// Accepts the next connection. After an error it waits and tries again.
async fn accept(listener: &TcpListener) -> Option<Accepted> {
    match listener.accept().await {
        Ok((socket, peer)) => {
            // Frames are written completely, so waiting for more data would only add delay.
            let _ = socket.set_nodelay(true);
            // A socket without an address has lost its peer.
            let local = socket.local_addr().ok()?.ip();
            Some(Accepted { socket, peer, local })
        }
        // The peer disconnected before it was accepted. The next connection is not affected.
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) => None,
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            sleep(ACCEPT_AGAIN).await;
            None
        }
    }
}

/// What a connection is served with.
struct Serving {
    http: http1::Builder,
    app: RouterService,
    limits: ListenerLimits,
    stopping: watch::Receiver<()>,
}

impl Serving {
    /// Serves one connection to its end. When the listener stops, the current request is finished.
    async fn serve(mut self, io: impl AsyncRead + AsyncWrite + Unpin) {
        let io = TokioIo::new(Guarded { io, blocked: self.limits.blocked, end: None });
        let mut connection = pin!(self.http.serve_connection(io, self.app));
        let served = tokio::select! {
            served = connection.as_mut() => served,
            _ = self.stopping.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = served {
            // Peers disconnect at any time, so this is not an error of the server.
            tracing::debug!(%error, "connection ended early");
        }
    }

    /// Serves a connection of a listener with a certificate.
    async fn serve_either(mut self, mut socket: TcpStream, tls: Arc<Tls>) {
        let begun = async {
            let mut first = [0];
            let read = socket.peek(&mut first).await.unwrap_or(0);
            (read > 0).then_some(first[0])
        };
        let first = tokio::select! {
            first = timeout(self.limits.head, begun) => first.ok().flatten(),
            _ = self.stopping.changed() => None,
        };
        let here = self.app.peer.ip().is_loopback() || self.app.peer.ip() == self.app.local;
        match first {
            Some(HANDSHAKE) => {
                let shaken = tokio::select! {
                    shaken = timeout(self.limits.head, tls.acceptor().accept(socket)) => shaken.ok(),
                    _ = self.stopping.changed() => None,
                };
                match shaken {
                    Some(Ok(stream)) => Box::pin(self.serve(stream)).await,
                    // Clients that do not trust our CA abort the handshake here. That is not an error of the server.
                    Some(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
                    None => {}
                }
            }
            Some(_) if here => self.serve(socket).await,
            Some(_) => drop(timeout(self.limits.blocked, socket.write_all(USE_TLS)).await),
            None => {}
        }
    }
}

fn log_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "HTTP connection task panicked");
    }
}

/// Adapts the router for hyper, with the addresses of both sides.
struct RouterService {
    router: Router,
    peer: SocketAddr,
    local: IpAddr,
}

impl hyper::service::Service<Request<Incoming>> for RouterService {
    type Response = Response;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(ConnectInfo(self.peer));
        request.extensions_mut().insert(Local(self.local));
        // A router is always ready, and cloning it only copies a reference.
        self.router.clone().call(request.map(axum::body::Body::new))
    }
}

/// A socket that fails if a write makes no progress for too long.
struct Guarded<T> {
    io: T,
    blocked: Duration,
    /// The timer of a blocked write. Absent, and without cost, otherwise.
    end: Option<Pin<Box<Sleep>>>,
}

impl<T> Guarded<T> {
    fn watch<R>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let blocked = self.blocked;
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + blocked)));
        match end.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read"))),
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Guarded<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Guarded<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.watch(cx, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::oneshot;

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

    struct Server {
        address: SocketAddr,
        stop: oneshot::Sender<()>,
        task: tokio::task::JoinHandle<()>,
    }

    impl Server {
        async fn start(app: Router, limits: ListenerLimits) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (stop, stopped) = oneshot::channel();
            let task = tokio::spawn(serve(listener, app, limits, None, async { drop(stopped.await) }));
            Self { address, stop, task }
        }

        async fn connect(&self) -> TcpStream {
            TcpStream::connect(self.address).await.unwrap()
        }
    }

    /// Reads until `end` was read.
    async fn read_to(socket: &mut TcpStream, end: &str) -> String {
        let mut text = String::new();
        while !text.ends_with(end) {
            let mut bytes = [0; 4096];
            let n = socket.read(&mut bytes).await.unwrap();
            assert!(n > 0, "ended after {text:?}");
            text.push_str(std::str::from_utf8(&bytes[..n]).unwrap());
        }
        text
    }

    fn peer() -> Router {
        Router::new().route("/", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.port().to_string() }))
    }

    #[tokio::test]
    async fn connection_is_reused_and_closed_when_idle_on_shutdown() {
        let server = Server::start(peer(), ListenerLimits::default()).await;
        let mut socket = server.connect().await;
        let port = socket.local_addr().unwrap().port().to_string();
        for _ in 0..2 {
            socket.write_all(REQUEST).await.unwrap();
            assert!(read_to(&mut socket, &port).await.starts_with("HTTP/1.1 200 OK\r\n"));
        }
        server.stop.send(()).unwrap();
        server.task.await.unwrap();
        assert_eq!(socket.read(&mut [0; 16]).await.unwrap(), 0);
        assert!(TcpStream::connect(server.address).await.is_err());
    }

    #[tokio::test]
    async fn request_in_flight_completes_when_the_server_stops() {
        let (entered, arrived) = oneshot::channel();
        let (go, gone) = oneshot::channel::<()>();
        let slow = Arc::new(Mutex::new(Some((entered, gone))));
        let app = Router::new().route(
            "/",
            get(move || async move {
                let (entered, gone) = slow.lock().unwrap().take().unwrap();
                entered.send(()).unwrap();
                gone.await.unwrap();
                "finished"
            }),
        );
        let server = Server::start(app, ListenerLimits::default()).await;
        let mut socket = server.connect().await;
        socket.write_all(REQUEST).await.unwrap();
        arrived.await.unwrap();
        server.stop.send(()).unwrap();
        go.send(()).unwrap();
        read_to(&mut socket, "finished").await;
        assert_eq!(socket.read(&mut [0; 16]).await.unwrap(), 0);
        server.task.await.unwrap();
    }

    #[tokio::test]
    async fn unfinished_request_is_closed_at_the_stop_limit() {
        let app = Router::new().route("/", get(std::future::pending::<()>));
        let server = Server::start(app, ListenerLimits { stop: Duration::from_millis(20), ..ListenerLimits::default() }).await;
        let mut socket = server.connect().await;
        socket.write_all(REQUEST).await.unwrap();
        server.stop.send(()).unwrap();
        server.task.await.unwrap();
        assert!(matches!(socket.read(&mut [0; 16]).await, Ok(0) | Err(_)));
    }

    #[tokio::test]
    async fn over_the_limit_connections_wait_until_others_end() {
        let server = Server::start(peer(), ListenerLimits { connections: 1, ..ListenerLimits::default() }).await;
        let (mut first, mut second) = (server.connect().await, server.connect().await);
        first.write_all(REQUEST).await.unwrap();
        let port = first.local_addr().unwrap().port().to_string();
        read_to(&mut first, &port).await;
        second.write_all(REQUEST).await.unwrap();
        let early = timeout(Duration::from_millis(20), second.read(&mut [0; 16])).await;
        assert!(early.is_err(), "accepted a second connection");
        drop(first);
        let port = second.local_addr().unwrap().port().to_string();
        read_to(&mut second, &port).await;
    }

    #[tokio::test]
    async fn peer_that_never_sends_its_request_is_disconnected() {
        let server = Server::start(peer(), ListenerLimits { head: Duration::from_millis(20), ..ListenerLimits::default() }).await;
        let mut socket = server.connect().await;
        socket.write_all(&REQUEST[..8]).await.unwrap();
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{:?}", String::from_utf8_lossy(&rest));
    }

    #[tokio::test]
    async fn write_times_out_only_if_the_peer_reads_nothing() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut socket = Guarded { io: ours, blocked: Duration::from_millis(50), end: None };
        let slow = async {
            let mut bytes = [0; 64];
            for _ in 0..4 {
                sleep(Duration::from_millis(20)).await;
                theirs.read_exact(&mut bytes).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(socket.write_all(&[1; 5 * 64]), slow);
        written.unwrap();
        let error = socket.write_all(&[1; 2 * 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
