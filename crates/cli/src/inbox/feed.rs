//! What the server tells: everything that waits, and then what happens, for as long as the inbox is open.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use sayso_client::api::ask::{AskPage, AskQuery};
use sayso_client::api::event::Event as ServerEvent;
use sayso_client::api::session::SessionQuery;
use sayso_client::{Client, EventStream, StreamItem};
use tokio::sync::mpsc::Sender;

use super::event::{Away, Event};
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

    /// The variables that agents get which are started from here.
    pub(super) fn environment(&self) -> Option<BTreeMap<String, String>> {
        self.app.environment_for_agents()
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
    let read = async { Ok::<_, sayso_client::Error>((pending(&client, news).await?, client.sessions(&open).await?)) };
    match read.await {
        Ok((asks, sessions)) => {
            tell(news, Event::Loaded { asks: asks.data, sessions: sessions.data }).await?;
            tell_away(&client, news).await?;
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

/// Every ask that waits. The first page is shown while the others are read.
async fn pending(client: &Client, news: &Sender<News>) -> Result<AskPage, sayso_client::Error> {
    let mut query = AskQuery { status: Some("pending".to_owned()), limit: Some(500), ..AskQuery::default() };
    let mut whole = client.asks(&query).await?;
    if whole.next_cursor.is_some() {
        // Nobody listens: that is found out when everything is told.
        let _ = tell(news, Event::First(whole.data.clone())).await;
    }
    while let Some(cursor) = whole.next_cursor.take() {
        query.cursor = Some(cursor);
        let more = client.asks(&query).await?;
        // `seq` stays that of the first page: an ask that came later is seen again in the stream.
        whole.data.extend(more.data);
        whole.next_cursor = more.next_cursor;
    }
    Ok(whole)
}

/// Whether the away rules apply. Somebody who may not read the policy does not see it.
async fn tell_away(client: &Client, news: &Sender<News>) -> Result<(), Gone> {
    let Ok(policy) = client.policy().await else { return Ok(()) };
    let away = match policy.profile {
        Some(profile) if profile.name == "away" => Away::On { until: profile.until },
        Some(_) | None if policy.text.lines().any(|line| line.trim() == "[profiles.away]") => Away::Off,
        Some(_) | None => Away::Unknown,
    };
    tell(news, Event::Away(away)).await
}

/// What happens, until everything has to be read again.
async fn stream(server: &Server<'_>, mut stream: EventStream, news: &Sender<News>) -> Result<(), Gone> {
    loop {
        match stream.next().await {
            Ok(StreamItem::Event(event)) => {
                match &event.event {
                    // Words and tools are not for the inbox, and there are many of them.
                    ServerEvent::MessageDelta(_)
                    | ServerEvent::MessageCompleted(_)
                    | ServerEvent::ToolStarted(_)
                    | ServerEvent::ToolUpdated(_)
                    | ServerEvent::ToolCompleted(_) => {}
                    ServerEvent::PolicyChanged(_) => tell_away(&server.client(), news).await?,
                    ServerEvent::QuestionRequested(_)
                    | ServerEvent::QuestionResolved(_)
                    | ServerEvent::ApprovalRequested(_)
                    | ServerEvent::ApprovalResolved(_)
                    | ServerEvent::LinkRequested(_)
                    | ServerEvent::LinkResolved(_)
                    | ServerEvent::AskParked(_)
                    | ServerEvent::AskSnoozed(_)
                    | ServerEvent::AskDelivery(_)
                    | ServerEvent::SessionCreated(_)
                    | ServerEvent::SessionStatus(_)
                    | ServerEvent::SessionEnded(_)
                    | ServerEvent::Notice(_)
                    | ServerEvent::Error(_)
                    | ServerEvent::RunStarted(_)
                    | ServerEvent::RunCompleted(_)
                    | ServerEvent::RunFailed(_)
                    | ServerEvent::RunCancelled(_)
                    | ServerEvent::StepStarted(_)
                    | ServerEvent::StepCompleted(_)
                    | ServerEvent::StepFailed(_)
                    | ServerEvent::StepCancelled(_)
                    | ServerEvent::AgentQuestionAsked(_)
                    | ServerEvent::AgentQuestionAnswered(_) => tell(news, Event::Feed(event)).await?,
                }
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
