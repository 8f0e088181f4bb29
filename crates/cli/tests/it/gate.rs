//! A way to the server on which new asks are held, so that a test can do something at that moment.

use std::sync::Arc;

use anyhow::Result;
use sayso_testkit::within;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A way to the server that lets everything pass but new asks: they wait until it is opened.
pub(crate) struct Gate {
    pub(crate) url: String,
    reached: Arc<Notify>,
    open: Arc<Notify>,
}

impl Gate {
    pub(crate) async fn before(server: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let gate = Self { url: format!("http://{}", listener.local_addr()?), reached: Arc::default(), open: Arc::default() };
        let (reached, open) = (Arc::clone(&gate.reached), Arc::clone(&gate.open));
        let server = server.trim_start_matches("http://").to_owned();
        tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                let (server, reached, open) = (server.clone(), Arc::clone(&reached), Arc::clone(&open));
                tokio::spawn(async move { pass(caller, &server, &reached, &open).await });
            }
        });
        Ok(gate)
    }

    /// Waits until a new ask is held.
    pub(crate) async fn reached(&self) -> Result<()> {
        let reached = async {
            self.reached.notified().await;
            Ok(())
        };
        within("a new ask at the gate", reached).await
    }

    /// Lets one new ask pass.
    pub(crate) fn lets_pass(&self) {
        self.open.notify_one();
    }
}

async fn pass(caller: TcpStream, server: &str, reached: &Notify, open: &Notify) -> Result<()> {
    let (mut from, mut back) = caller.into_split();
    let (mut reply, mut to) = TcpStream::connect(server).await?.into_split();
    let replies = tokio::spawn(async move { tokio::io::copy(&mut reply, &mut back).await });
    let mut piece = vec![0; 65_536];
    loop {
        let length = from.read(&mut piece).await?;
        if length == 0 {
            break;
        }
        if piece[..length].starts_with(b"POST /v1/asks ") {
            reached.notify_one();
            open.notified().await;
        }
        to.write_all(&piece[..length]).await?;
    }
    to.shutdown().await?;
    replies.await??;
    Ok(())
}
