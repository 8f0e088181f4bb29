//! A proxy to the server that holds new asks, so that a test can act at that moment.

use std::sync::Arc;

use anyhow::Result;
use sayso_testkit::within;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};

/// A proxy that forwards everything except new asks, which wait for `lets_pass`.
pub(crate) struct Gate {
    pub(crate) url: String,
    way: Arc<Way>,
}

struct Way {
    server: String,
    reached: Notify,
    open: Notify,
    /// One permit per connection attempt while the server was down.
    turned_away: Semaphore,
}

impl Gate {
    pub(crate) async fn before(server: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let server = server.trim_start_matches("http://").to_owned();
        let way = Way { server, reached: Notify::new(), open: Notify::new(), turned_away: Semaphore::new(0) };
        let gate = Self { url: format!("http://{}", listener.local_addr()?), way: Arc::new(way) };
        let way = Arc::clone(&gate.way);
        tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                let way = Arc::clone(&way);
                tokio::spawn(async move { way.pass(caller).await });
            }
        });
        Ok(gate)
    }

    /// Waits until a new ask is held.
    pub(crate) async fn reached(&self) -> Result<()> {
        let reached = async {
            self.way.reached.notified().await;
            Ok(())
        };
        within("a new ask at the gate", reached).await
    }

    /// Forwards one held ask.
    pub(crate) fn lets_pass(&self) {
        self.way.open.notify_one();
    }

    /// Waits for this many connection attempts while the server is down.
    pub(crate) async fn turned_away(&self, times: u32) -> Result<()> {
        let came = async {
            self.way.turned_away.acquire_many(times).await?.forget();
            Ok(())
        };
        within("callers of a server that is away", came).await
    }
}

impl Way {
    async fn pass(&self, caller: TcpStream) -> Result<()> {
        let (mut from, mut back) = caller.into_split();
        let server = TcpStream::connect(&self.server).await.inspect_err(|_| self.turned_away.add_permits(1))?;
        let (mut reply, mut to) = server.into_split();
        let replies = tokio::spawn(async move { tokio::io::copy(&mut reply, &mut back).await });
        let mut piece = vec![0; 65_536];
        loop {
            let length = from.read(&mut piece).await?;
            if length == 0 {
                break;
            }
            if piece[..length].starts_with(b"POST /v1/asks ") {
                self.reached.notify_one();
                self.open.notified().await;
            }
            to.write_all(&piece[..length]).await?;
        }
        to.shutdown().await?;
        replies.await??;
        Ok(())
    }
}
