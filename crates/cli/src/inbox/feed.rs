//! What the server tells: everything that waits, and then what happens, for as long as the inbox is open.

use std::cell::RefCell;
use std::time::Duration;

use sayso_client::api::session::SessionQuery;
use sayso_client::{Client, EventStream, StreamItem};
use tokio::sync::mpsc::Sender;

use super::event::Event;
use crate::app::App;
use crate::failure::Failure;

/// How long to wait before the list is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// What comes from the server.
pub(super) enum News {
    /// Something for the model.
    Event(Event),
    /// The server refuses; it makes no sense to go on.
    Refused(Failure),
}

/// The server that is there. One that was restarted may be somewhere else.
pub(super) struct Server<'a> {
    app: &'a App,
    client: RefCell<Client>,
}

impl<'a> Server<'a> {
    pub(super) fn new(app: &'a App, client: Client) -> Self {
        Self { app, client: RefCell::new(client) }
    }

    /// A client of it.
    pub(super) fn client(&self) -> Client {
        self.client.borrow().clone()
    }

    /// Looks whether it is somewhere else now.
    fn moved(&self) -> bool {
        let Ok(target) = self.app.target() else { return false };
        let Ok(client) = self.app.client_of(&target) else { return false };
        let moved = client.url() != self.client.borrow().url();
        if moved {
            *self.client.borrow_mut() = client;
        }
        moved
    }
}

/// Reads everything, then what happens. The channel is bounded: when the inbox is busy, the stream waits.
/// Ends when the server refuses, or when nobody listens any more.
pub(super) async fn follow(server: &Server<'_>, news: &Sender<News>) {
    loop {
        let seq = match load(server, news).await {
            Ok(Some(seq)) => seq,
            Ok(None) => continue,
            Err(Gone) => return,
        };
        let Ok(()) = stream(server, server.client().events(Some(seq)), news).await else { return };
    }
}

/// Nobody listens any more, or nothing more can come.
struct Gone;

async fn tell(news: &Sender<News>, event: Event) -> Result<(), Gone> {
    news.send(News::Event(event)).await.map_err(|_| Gone)
}

/// Everything that waits, and the position to stream from; nothing if it has to be tried again.
async fn load(server: &Server<'_>, news: &Sender<News>) -> Result<Option<i64>, Gone> {
    let client = server.client();
    let open = SessionQuery { open: Some(true), limit: Some(500), ..SessionQuery::default() };
    let read = async { Ok::<_, sayso_client::Error>((client.pending_asks().await?, client.sessions(&open).await?)) };
    match read.await {
        Ok((asks, sessions)) => {
            tell(news, Event::Loaded { asks: asks.data, sessions: sessions.data }).await?;
            Ok(Some(asks.seq.min(sessions.seq)))
        }
        Err(error) if error.is_unreachable() => {
            tell(news, Event::Lost { after: AGAIN }).await?;
            tokio::time::sleep(AGAIN).await;
            server.moved();
            Ok(None)
        }
        Err(error) => {
            // When nobody listens, nobody needs to know.
            let _ = news.send(News::Refused(error.into())).await;
            Err(Gone)
        }
    }
}

/// What happens, until everything has to be read again.
async fn stream(server: &Server<'_>, mut stream: EventStream, news: &Sender<News>) -> Result<(), Gone> {
    loop {
        match stream.next().await {
            Ok(StreamItem::Event(event)) => {
                let kind = event.kind.into_owned();
                // Words and tools are not for the inbox, and there are many of them.
                if ["message.", "tool."].iter().any(|prefix| kind.starts_with(prefix)) {
                    continue;
                }
                let data = event.data.get().to_owned();
                tell(news, Event::Feed { kind, session: event.session_id, data }).await?;
            }
            Ok(StreamItem::Reset { .. }) => return Ok(()),
            Ok(StreamItem::Reconnected) => tell(news, Event::Back).await?,
            Ok(StreamItem::Reconnecting { after, .. }) => {
                tell(news, Event::Lost { after }).await?;
                if server.moved() {
                    return Ok(());
                }
            }
            Err(refused) => {
                let _ = news.send(News::Refused(refused.into())).await;
                return Err(Gone);
            }
        }
    }
}
