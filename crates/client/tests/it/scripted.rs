//! A server with a scripted reply for each connection, which records the requests.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The scripted behaviour for one connection.
pub(crate) enum Reply {
    /// Read the request and close the connection without a reply.
    Lost,
    /// Send this text and close the connection.
    Send(String),
}

impl Reply {
    /// A JSON reply.
    pub(crate) fn json(status: &str, body: &str) -> Self {
        Self::Send(format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    /// An event stream that ends.
    pub(crate) fn stream(frames: &str) -> Self {
        Self::Send(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{frames}"))
    }
}

/// A running scripted server.
pub(crate) struct Scripted {
    /// The server's URL.
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    /// Accepts one connection per reply, in order, and none after that.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            for reply in replies {
                let (mut socket, _) = listener.accept().await.unwrap();
                let request = read_request(&mut socket).await;
                seen.lock().unwrap().push(request);
                if let Reply::Send(text) = reply {
                    socket.write_all(text.as_bytes()).await.unwrap();
                    socket.shutdown().await.unwrap();
                }
            }
        });
        Self { url, requests }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// The value of a header.
pub(crate) fn header(request: &str, name: &str) -> Option<String> {
    let head = request.split("\r\n\r\n").next().unwrap_or_default();
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

async fn read_request(socket: &mut tokio::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0u8; 4096];
        let read = socket.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((_, body)) = text.split_once("\r\n\r\n") {
            let length: usize = header(&text, "content-length").map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return text;
            }
        }
        assert!(read > 0, "the client closed before the request was whole");
    }
}
