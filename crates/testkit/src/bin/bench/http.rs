//! A small HTTP/1.1 client with one persistent connection, and a reader of event streams. It uses little processor time, which
//! leaves the machine to the measured server.

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The address of the server and the token.
#[derive(Debug, Clone)]
pub(crate) struct BenchTarget {
    pub(crate) address: String,
    pub(crate) token: String,
}

impl BenchTarget {
    fn head(&self, method: &str, path: &str) -> String {
        format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n", self.address, self.token)
    }

    async fn connect(&self) -> Result<TcpStream> {
        let socket = TcpStream::connect(&self.address).await.context("the server takes no connection")?;
        socket.set_nodelay(true)?;
        Ok(socket)
    }
}

/// A persistent connection.
#[derive(Debug)]
pub(crate) struct BenchHttp {
    target: BenchTarget,
    socket: TcpStream,
    buffer: Vec<u8>,
}

impl BenchHttp {
    pub(crate) async fn connect(target: &BenchTarget) -> Result<Self> {
        Ok(Self { target: target.clone(), socket: target.connect().await?, buffer: Vec::with_capacity(8 * 1024) })
    }

    /// Sends a request with a JSON body. Returns the body of the reply, which has to be a success.
    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Result<&[u8]> {
        self.post_with(path, "", body).await
    }

    /// Like [`Self::post`], with additional headers.
    pub(crate) async fn post_with(&mut self, path: &str, headers: &str, body: &str) -> Result<&[u8]> {
        let head = self.target.head("POST", path);
        let request = format!("{head}{headers}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        self.call(&request).await
    }

    /// Sends a request and returns a header of the reply.
    pub(crate) async fn post_for(&mut self, path: &str, body: &str, name: &str) -> Result<String> {
        self.post(path, body).await?;
        let end = find(&self.buffer, b"\r\n\r\n").context("no head")?;
        let head = std::str::from_utf8(&self.buffer[..end])?;
        Ok(header(head, name).with_context(|| format!("no {name}"))?.to_owned())
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<&[u8]> {
        let request = format!("{}\r\n", self.target.head("GET", path));
        self.call(&request).await
    }

    async fn call(&mut self, request: &str) -> Result<&[u8]> {
        self.socket.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        let (status, body) = loop {
            ensure!(self.socket.read_buf(&mut self.buffer).await? > 0, "the server hung up");
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head = std::str::from_utf8(&self.buffer[..end])?;
                let status = head.get(9..12).context("no status")?.parse::<u16>()?;
                let length = header(head, "content-length").context("no length")?.parse::<usize>()?;
                break (status, end + 4..end + 4 + length);
            }
        };
        while self.buffer.len() < body.end {
            ensure!(self.socket.read_buf(&mut self.buffer).await? > 0, "the server hung up");
        }
        let body = &self.buffer[body];
        if !(200..300).contains(&status) {
            let said = String::from_utf8_lossy(body);
            bail!("{} gave {status}: {said}", request.lines().next().unwrap_or_default());
        }
        Ok(body)
    }
}

/// An open event stream.
#[derive(Debug)]
pub(crate) struct Sse {
    socket: TcpStream,
    /// The received bytes, with chunk sizes.
    raw: Vec<u8>,
    /// The number of missing bytes of the current chunk.
    chunk: usize,
    /// The content of the chunks. Bytes from `taken` on are unread.
    text: Vec<u8>,
    taken: usize,
}

impl Sse {
    /// Opens a stream and waits until it is open.
    pub(crate) async fn open(target: &BenchTarget, path: &str) -> Result<Self> {
        Self::open_with(target, path, "").await
    }

    /// Like [`Self::open`], with additional headers.
    pub(crate) async fn open_with(target: &BenchTarget, path: &str, headers: &str) -> Result<Self> {
        let mut socket = target.connect().await?;
        let request = format!("{}{headers}accept: text/event-stream\r\n\r\n", target.head("GET", path));
        socket.write_all(request.as_bytes()).await?;
        let mut raw = Vec::with_capacity(8 * 1024);
        let end = loop {
            ensure!(socket.read_buf(&mut raw).await? > 0, "the server hung up");
            if let Some(end) = find(&raw, b"\r\n\r\n") {
                break end;
            }
        };
        let head = std::str::from_utf8(&raw[..end])?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{path} gave {head}");
        ensure!(header(head, "transfer-encoding") == Some("chunked"), "the stream is not chunked");
        raw.drain(..end + 4);
        let mut stream = Self { socket, raw, chunk: 0, text: Vec::new(), taken: 0 };
        stream.unchunk()?;
        Ok(stream)
    }

    /// Returns the next frame that is an event, with its name and text.
    pub(crate) async fn event(&mut self) -> Result<BenchEvent<'_>> {
        loop {
            // Earlier borrows have ended. Positions instead of slices satisfy the borrow checker.
            let found = self.find_event();
            if let Some((name, frame)) = found {
                return Ok(BenchEvent { name: &self.text[name], frame: &self.text[frame] });
            }
            self.text.drain(..self.taken);
            self.taken = 0;
            self.read().await?;
        }
    }

    /// Returns the data of the next frame, for streams whose events have no names.
    pub(crate) async fn data(&mut self) -> Result<&[u8]> {
        loop {
            let start = self.taken;
            if let Some(length) = find_end(&self.text[start..]) {
                self.taken = start + length;
                if self.text[start..].starts_with(b"data: ") {
                    return Ok(&self.text[start + 6..start + length]);
                }
                continue;
            }
            self.text.drain(..self.taken);
            self.taken = 0;
            self.read().await?;
        }
    }

    fn find_event(&mut self) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
        loop {
            let start = self.taken;
            let end = start + find_end(&self.text[start..])?;
            self.taken = end;
            let frame = &self.text[start..end];
            // Comments and `retry:` are not events.
            if let Some(at) = find(&frame[..frame.len().min(128)], b"event: ") {
                let name = start + at + 7;
                let length = self.text[name..end].iter().position(|&byte| byte == b'\n')?;
                return Some((name..name + length, start..end));
            }
        }
    }

    /// Reads the available bytes and only counts the events in them.
    pub(crate) async fn count(&mut self) -> Result<usize> {
        self.raw.clear();
        ensure!(self.socket.read_buf(&mut self.raw).await? > 0, "the stream ended");
        // A frame ends with an empty line. Chunks use other line breaks. A pair that is split by the end of the buffer is found
        // by the first byte of the next one.
        let cut = usize::from(self.chunk == 1 && self.raw.first() == Some(&b'\n'));
        let pairs = self.raw.windows(2).filter(|pair| *pair == b"\n\n").count();
        self.chunk = usize::from(self.raw.last() == Some(&b'\n') && !self.raw.ends_with(b"\n\n") && !self.raw.ends_with(b"\r\n"));
        Ok(pairs + cut)
    }

    async fn read(&mut self) -> Result<()> {
        ensure!(self.socket.read_buf(&mut self.raw).await? > 0, "the stream ended");
        self.unchunk()
    }

    /// Moves the content of chunks from `raw` to `text`.
    fn unchunk(&mut self) -> Result<()> {
        let mut at = 0;
        loop {
            let take = self.chunk.min(self.raw.len() - at);
            self.text.extend_from_slice(&self.raw[at..at + take]);
            (at, self.chunk) = (at + take, self.chunk - take);
            if self.chunk > 0 {
                break;
            }
            // Between two chunks are the line break of the first and the size of the second.
            let rest = &self.raw[at..];
            let line_break = if rest.starts_with(b"\r\n") { 2 } else { 0 };
            let Some(end) = find(&rest[line_break..], b"\r\n") else { break };
            let size = std::str::from_utf8(&rest[line_break..line_break + end])?;
            self.chunk = usize::from_str_radix(size, 16).with_context(|| format!("`{size}` is no size of a chunk"))?;
            ensure!(self.chunk > 0, "the stream ended");
            at += line_break + end + 2;
        }
        self.raw.drain(..at);
        Ok(())
    }
}

/// One event of a stream.
#[derive(Debug)]
pub(crate) struct BenchEvent<'a> {
    pub(crate) name: &'a [u8],
    frame: &'a [u8],
}

impl BenchEvent<'_> {
    /// Whether the event contains this text.
    pub(crate) fn says(&self, words: &str) -> bool {
        find(self.frame, words.as_bytes()).is_some()
    }

    /// Returns the JSON of the event.
    pub(crate) fn data(&self) -> Option<&[u8]> {
        let start = find(self.frame, b"data: ")? + 6;
        self.frame.get(start..self.frame.len() - 2)
    }

    /// Returns the id of the ask that the event is about.
    pub(crate) fn ask(&self) -> Option<&str> {
        let start = find(self.frame, b"\"ask_")? + 1;
        let length = self.frame[start..].iter().position(|&byte| byte == b'"')?;
        std::str::from_utf8(&self.frame[start..start + length]).ok()
    }
}

/// Returns the end of a frame, after its empty line.
fn find_end(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|&byte| byte == b'\n') {
        from += at + 1;
        if text.get(from) == Some(&b'\n') {
            return Some(from + 1);
        }
    }
    None
}

pub(crate) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|part| part == wanted)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}
