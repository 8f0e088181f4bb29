//! The channel `email`: sends mail through an SMTP server.

use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::Credentials;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};

use super::{SendFailure, SendResult};
use crate::service::notes::Note;

/// The SMTP transport, the sender and the recipient.
pub(crate) struct EmailChannel {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    to: Mailbox,
}

impl std::fmt::Debug for EmailChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Email").finish_non_exhaustive()
    }
}

impl EmailChannel {
    /// Creates a channel. `url` is `smtps://host`, `smtp://host?tls=required`, or `smtp://host` without encryption.
    pub(crate) fn new(url: &str, account: Option<(String, String)>, from: &str, to: &str) -> Result<Self, String> {
        sayso_net::install_tls();
        if url.contains('@') {
            return Err("url must not contain a user or a password; use user and secret_env".to_owned());
        }
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| "url must look like smtps://mail.example.com or smtp://mail.example.com?tls=required".to_owned())?;
        if let Some((user, password)) = account {
            builder = builder.credentials(Credentials::new(user, password));
        }
        let mailbox = |what: &str, text: &str| text.parse::<Mailbox>().map_err(|_| format!("{what} is not an email address"));
        Ok(Self { transport: builder.build(), from: mailbox("from", from)?, to: mailbox("to", to)? })
    }

    pub(super) async fn send_note(&self, note: &Note) -> SendResult {
        let mut body = note.text();
        if let Some(link) = &note.link {
            let open = note.language.pick("Open this link to answer:", "打开此链接即可回答：");
            let limits = note.language.pick(
                "The link works for 24 hours. Do not forward it: anyone who has it can answer.",
                "链接在 24 小时内有效。请勿转发：任何持有链接的人都可以回答。",
            );
            body.push_str(&format!("\n\n{open}\n{link}\n\n{limits}\n"));
        }
        let message = Message::builder()
            .from(self.from.clone())
            .to(self.to.clone())
            .subject(&note.line)
            // The same for all attempts, so that mail servers can detect duplicates.
            .message_id(Some(format!("<{}@sayso>", note.id)))
            .body(body)
            .map_err(|_| SendFailure::never("the email could not be created"))?;
        match self.transport.send(message).await {
            Ok(_) => Ok(None),
            Err(error) if error.is_permanent() => Err(SendFailure::never("the mail server rejected the email")),
            Err(error) if error.is_timeout() => Err(SendFailure::later("the mail server did not reply in time")),
            Err(error) if error.is_transient() => Err(SendFailure::later("the mail server is temporarily unavailable")),
            Err(_) => Err(SendFailure::later("could not reach the mail server")),
        }
    }
}
