//! Reads from the server while the inbox is open: all pending asks first, then events.

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

/// Delay before loading the list again.
const AGAIN: Duration = Duration::from_secs(2);

/// A message from the server.
pub(super) enum News {
    Event(Event),
    /// The server refused the request; retrying is useless.
    Refused(Failure),
}

/// The current server. After a restart it may have another address.
pub(super) struct Server<'a> {
    app: &'a App,
    client: RefCell<Client>,
}

impl<'a> Server<'a> {
    pub(super) fn new(app: &'a App, client: Client) -> Self {
        Self { app, client: RefCell::new(client) }
    }

    pub(super) fn client(&self) -> Client {
        self.client.borrow().clone()
    }

    /// Environment variables for agents that are started from the inbox.
    pub(super) fn environment(&self) -> Option<BTreeMap<String, String>> {
        self.app.environment_for_agents()
    }

    /// Checks for a new address of the server, and uses it. Returns true if the address changed.
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

/// Loads the list and then follows the events. The channel is bounded: while the inbox is busy, the stream is not
/// read. Ends when the server refuses a request or the inbox is closed.
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

/// The inbox is closed, or the server refused a request.
struct Gone;

async fn send_event(news: &Sender<News>, event: Event) -> Result<(), Gone> {
    news.send(News::Event(event)).await.map_err(|_| Gone)
}

/// Loads all pending asks and returns the position to stream from; `None` if loading must be repeated.
async fn load(server: &Server<'_>, news: &Sender<News>) -> Result<Option<i64>, Gone> {
    let client = server.client();
    let open = SessionQuery { open: Some(true), limit: Some(500), ..SessionQuery::default() };
    let read = async { Ok::<_, sayso_client::Error>((pending(&client, news).await?, client.sessions(&open).await?)) };
    match read.await {
        Ok((asks, sessions)) => {
            send_event(news, Event::Loaded { asks: asks.data, sessions: sessions.data }).await?;
            tell_away(&client, news).await?;
            Ok(Some(asks.seq.min(sessions.seq)))
        }
        Err(error) if error.is_unreachable() => {
            send_event(news, Event::Lost { after: AGAIN }).await?;
            tokio::time::sleep(AGAIN).await;
            server.moved();
            Ok(None)
        }
        Err(error) => {
            // If the inbox is closed, this error is not needed.
            let _ = news.send(News::Refused(error.into())).await;
            Err(Gone)
        }
    }
}

/// Loads all pending asks. The first page is shown while the others are loaded.
async fn pending(client: &Client, news: &Sender<News>) -> Result<AskPage, sayso_client::Error> {
    let mut query = AskQuery { status: Some("pending".to_owned()), limit: Some(500), ..AskQuery::default() };
    let mut whole = client.asks(&query).await?;
    if whole.next_cursor.is_some() {
        // If the inbox is closed, the next send reports it.
        let _ = send_event(news, Event::First(whole.data.clone())).await;
    }
    while let Some(cursor) = whole.next_cursor.take() {
        query.cursor = Some(cursor);
        let more = client.asks(&query).await?;
        // Keeps `seq` of the first page: asks that were opened since then are repeated by the stream.
        whole.data.extend(more.data);
        whole.next_cursor = more.next_cursor;
    }
    Ok(whole)
}

/// Sends the state of the away profile. Without permission to read the policy, the state stays unknown.
async fn tell_away(client: &Client, news: &Sender<News>) -> Result<(), Gone> {
    let Ok(policy) = client.policy().await else { return Ok(()) };
    let away = match policy.profile {
        Some(profile) if profile.name == "away" => Away::On { until: profile.until },
        Some(_) | None if policy.text.lines().any(|line| line.trim() == "[profiles.away]") => Away::Off,
        Some(_) | None => Away::Unknown,
    };
    send_event(news, Event::Away(away)).await
}

/// Forwards events until the list must be loaded again.
async fn stream(server: &Server<'_>, mut stream: EventStream, news: &Sender<News>) -> Result<(), Gone> {
    loop {
        match stream.next().await {
            Ok(StreamItem::Event(event)) => {
                match &event.event {
                    // The inbox does not show text and tool calls, which are frequent.
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
                    | ServerEvent::AgentQuestionAnswered(_) => send_event(news, Event::Feed(event)).await?,
                }
            }
            Ok(StreamItem::Reset { .. }) => return Ok(()),
            Ok(StreamItem::Reconnected) => send_event(news, Event::Back).await?,
            Ok(StreamItem::Reconnecting { after, .. }) => {
                send_event(news, Event::Lost { after }).await?;
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
