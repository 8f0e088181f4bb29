//! `sayso acp`: an ACP agent for editors, on standard input and output. It is a client of the HTTP API like any other,
//! so all asks of the editor's agent can be answered on other surfaces as well.

use std::io::{self, BufRead, Read as _, Write as _};
use std::thread;
use std::time::Duration;

use sayso_client::api::ask::{AnswerRequest, ApproveRequest, NoRequest};
use sayso_client::api::session::{ChangeSession, IfPending, SessionQuery, TranscriptQuery};
use sayso_client::{Client, Error, StreamItem, Surface};
use sayso_server::acp::{
    Conversation, Frame, Heard, Line, Outlet, Refusal, Reply, SessionCall, Sessions, Setting, Verdict, serve,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::args::{AcpArgs, OnClose};
use crate::autostart;
use crate::failure::Failure;

/// Capacity of the channels for messages from and to the editor. Senders wait when a channel is full.
const LINES: usize = 16;
/// Limit for one message, in bytes.
const LINE: u64 = 16 * 1024 * 1024;
/// Time limit for each request while this command ends.
const FAREWELL: Duration = Duration::from_secs(5);
/// Sessions per page of the list.
const PAGE: u32 = 100;

/// Serves the editor until it closes our standard input, or until a signal arrives.
pub(crate) async fn run(app: &App, args: AcpArgs) -> Result<(), Failure> {
    app.person_only()?;
    autostart::client(app).await?;
    let client = app.client_for(&app.target()?, Surface::Acp)?;
    let broken = |error: io::Error| Failure::io("Cannot listen for signals", &error);
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate()).map_err(broken)?, signal(SignalKind::interrupt()).map_err(broken)?);
    let leave = CancellationToken::new();
    let (mut lines, (stdout, written)) = (read(), write());
    let mut conversation = Conversation::new(Setting { agent: args.agent, environment: app.environment_for_agents() });
    let sessions = RemoteSessions(client.clone());
    let signalled = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        leave.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serve(&mut conversation, &sessions, &mut lines, &stdout, &leave) => {}
        () = signalled => {}
    }
    if args.on_close == OnClose::Interrupt {
        for session in conversation.running() {
            // The editor has disconnected, so a failure cannot be reported to anyone.
            let _ = tokio::time::timeout(FAREWELL, client.interrupt(&session)).await;
        }
    }
    drop(stdout);
    let _ = tokio::time::timeout(FAREWELL, written).await;
    Ok(())
}

/// Reads standard input on a thread and returns its lines.
fn read() -> mpsc::Receiver<Line> {
    let (send, lines) = mpsc::channel(LINES);
    // A blocking read cannot be cancelled: the thread ends with the input or with the process.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(text)) = next_line(&mut input, LINE) {
            if !text.trim().is_empty() && send.blocking_send(Line { text, session: None }).is_err() {
                break;
            }
        }
    });
    lines
}

/// Reads the next line; `None` at the end of the input. Lines over the limit are cut and invalid UTF-8 is replaced.
/// The result is then not a valid message, and the editor gets an error for it.
fn next_line(input: &mut impl BufRead, limit: u64) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

/// Returns a sender for standard output, one message per line, and a receiver that resolves when all of them are
/// written.
fn write() -> (Stdout, oneshot::Receiver<()>) {
    let (send, mut lines) = mpsc::channel::<String>(LINES);
    let (done, written) = oneshot::channel();
    thread::spawn(move || {
        let mut out = io::stdout().lock();
        while let Some(line) = lines.blocking_recv() {
            if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    });
    (Stdout(send), written)
}

struct Stdout(mpsc::Sender<String>);

impl Outlet for Stdout {
    async fn send(&self, frame: Frame) -> bool {
        self.0.send(frame.line).await.is_ok()
    }
}

/// Calls the sessions of a server over its HTTP API.
#[derive(Debug, Clone)]
struct RemoteSessions(Client);

impl RemoteSessions {
    async fn call_server(&self, call: SessionCall) -> Result<Reply, Error> {
        let client = &self.0;
        Ok(match call {
            SessionCall::Create(new) => Reply::Session(Box::new(client.start_session(&new).await?)),
            SessionCall::Look { session } => Reply::Session(Box::new(client.session(&session).await?)),
            SessionCall::Interrupt { session } => Reply::Session(Box::new(client.interrupt(&session).await?)),
            SessionCall::SetMode { session, mode } => {
                let change = ChangeSession { permission_mode: Some(mode), model: None };
                Reply::Session(Box::new(client.change_session(&session, &change).await?))
            }
            SessionCall::Resume { session } => Reply::Session(Box::new(client.resume(&session).await?)),
            SessionCall::Transcript { session, cursor } => {
                let query = TranscriptQuery { cursor, ..TranscriptQuery::default() };
                Reply::Transcript(client.transcript(&session, &query).await?)
            }
            SessionCall::List { cursor } => {
                let query = SessionQuery { cursor, limit: Some(PAGE), ..SessionQuery::default() };
                Reply::Sessions(client.sessions(&query).await?)
            }
            SessionCall::Message { session, text } => {
                Reply::Said(Box::new(client.message(&session, &text, IfPending::Refuse).await?))
            }
            SessionCall::Whole { ask } => Reply::Ask(Box::new(client.ask(&ask).await?)),
            SessionCall::Decide { ask, verdict } => Reply::Ask(Box::new(match verdict {
                Verdict::Answer(answers) => client.answer(&ask, &AnswerRequest { answers, note: None }).await?,
                Verdict::Reject => client.reject(&ask, &NoRequest::default()).await?,
                Verdict::Approve { choice } => {
                    client.approve(&ask, &ApproveRequest { choice, ..ApproveRequest::default() }).await?
                }
                Verdict::Deny => client.deny(&ask, &NoRequest::default()).await?,
            })),
        })
    }
}

impl Sessions for RemoteSessions {
    async fn call(&self, call: SessionCall) -> Result<Reply, Refusal> {
        self.call_server(call).await.map_err(|error| Refusal { code: error.code(), message: error.to_string() })
    }

    async fn follow(&self, session: String, since: i64, tell: mpsc::Sender<(String, Heard)>) {
        let mut stream = self.0.session_events(&session, Some(since));
        loop {
            let heard = match stream.next().await {
                Ok(StreamItem::Event(event)) => Heard::Event(event),
                Ok(StreamItem::Reset { .. }) => Heard::Gap,
                // The stream reconnects by itself and delivers all missed events.
                Ok(StreamItem::Reconnecting { .. } | StreamItem::Reconnected) => continue,
                Err(error) => Heard::Over(error.to_string()),
            };
            let over = matches!(heard, Heard::Over(_));
            if tell.send((session.clone(), heard)).await.is_err() || over {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlong_line_is_cut_and_later_lines_are_read() {
        let mut input = b"one\n\ntoo long\n\xffx\nlast".as_slice();
        let mut next = || next_line(&mut input, 5).unwrap();
        assert_eq!(next().as_deref(), Some("one\n"));
        assert_eq!(next().as_deref(), Some("\n"));
        assert_eq!(next().as_deref(), Some("too l"));
        assert_eq!(next().as_deref(), Some("\u{fffd}x\n"));
        assert_eq!(next().as_deref(), Some("last"));
        assert_eq!(next(), None);
    }
}
