//! A mail server that stores the mail it receives.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The address of `MAIL FROM`.
    pub from: String,
    /// The addresses of `RCPT TO`.
    pub to: Vec<String>,
    /// Headers and text.
    pub text: String,
}

/// A running mail server without encryption.
#[derive(Debug)]
pub struct FakeSmtp {
    url: String,
    mails: Arc<watch::Sender<Vec<Mail>>>,
    server: JoinHandle<()>,
}

impl FakeSmtp {
    /// Starts a mail server that replies to `RCPT TO` with this line: `250 OK` or an error.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start(recipient: &'static str) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for the mail server")?;
        let url = format!("smtp://{}", listener.local_addr()?);
        let mails = Arc::new(watch::Sender::new(Vec::new()));
        let kept = Arc::clone(&mails);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                // A disconnected client is not an error of the server.
                tokio::spawn(async move { talk(stream, recipient, &kept).await });
            }
        });
        Ok(Self { url, mails, server })
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until there are this many mails, and returns all.
    ///
    /// # Errors
    /// If they do not arrive.
    pub async fn mails(&self, count: usize) -> Result<Vec<Mail>> {
        let mut mails = self.mails.subscribe();
        crate::within("mail", async { Ok(mails.wait_for(|mails| mails.len() >= count).await?.clone()) }).await
    }
}

impl Drop for FakeSmtp {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn talk(stream: TcpStream, recipient: &str, mails: &watch::Sender<Vec<Mail>>) -> Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 test ESMTP\r\n").await?;
    let mut mail = Mail { from: String::new(), to: Vec::new(), text: String::new() };
    while let Some(line) = lines.next_line().await? {
        let (verb, rest) = line.split_at(line.len().min(4));
        let reply = match verb.to_ascii_uppercase().as_str() {
            "EHLO" => "250-test\r\n250 8BITMIME".to_owned(),
            "HELO" | "NOOP" => "250 OK".to_owned(),
            "RSET" => {
                (mail.from, mail.to) = (String::new(), Vec::new());
                "250 OK".to_owned()
            }
            "MAIL" => {
                mail.from = rest.to_owned();
                "250 OK".to_owned()
            }
            "RCPT" => {
                mail.to.push(rest.to_owned());
                recipient.to_owned()
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await?;
                while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                    mail.text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    mail.text.push('\n');
                }
                mails.send_modify(|mails| mails.push(mail.clone()));
                mail = Mail { from: String::new(), to: Vec::new(), text: String::new() };
                "250 OK".to_owned()
            }
            "QUIT" => {
                write.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "502 what?".to_owned(),
        };
        write.write_all(format!("{reply}\r\n").as_bytes()).await?;
    }
    Ok(())
}
