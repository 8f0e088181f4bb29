//! The main loop of the inbox. One task owns the terminal, the model and all requests in flight.

use std::time::Duration;

use crossterm::event::{Event as Input, EventStream};
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rustix::process::{Signal as Kill, kill_current_process_group};
use sayso_client::api::ask::AnswerRequest;
use sayso_client::api::error::ErrorCode;
use sayso_client::api::policy::{ExplainRequest, SetPolicy};
use sayso_client::api::session::{AgentList, IfPending, NewSession, TranscriptQuery};
use sayso_client::{Client, Error};
use sayso_core::time::Time;
use sayso_server::TerminalSettings;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::event::{Decision, Effect, Event, NotSent};
use super::feed::{self, News, Server};
use super::model::{Mode, Model, Settings};
use super::rule::{Rule, Trial};
use super::screen::Screen;
use super::sending::CONTENT_CHANGED;
use super::tmux::Place;
use crate::app::App;
use crate::cmd::sessions::block_text;
use crate::editor;
use crate::failure::Failure;
use crate::output::Look;

/// Capacity of the channel for events. When it is full, the stream is not read.
const NEWS: usize = 256;

/// Time limit for sending the last decisions after the inbox was closed.
const LAST: Duration = Duration::from_secs(10);

/// Exit code after SIGTERM.
const TERMINATED: u8 = 143;

/// Requests to the server. Each returns events for the model.
type Calls = FuturesUnordered<LocalBoxFuture<'static, Vec<Event>>>;

/// The open editor, and the id of the ask that it edits.
type Editing = (String, JoinHandle<Result<String, Failure>>);

/// Runs the inbox until the person closes it.
pub(crate) async fn run(app: &App, mode: Mode) -> Result<(), Failure> {
    let client = app.client()?;
    let TerminalSettings { bell, title, hold } =
        TerminalSettings::load(&app.paths.config_dir).map_err(|error| Failure::caused("Cannot read the settings", &error))?;
    let settings = Settings {
        hold: hold.0,
        bell,
        title,
        mode,
        directory: std::env::current_dir().map(|here| here.to_string_lossy().into_owned()).unwrap_or_default(),
        place: Place::of(&app.environment),
        zone: jiff::tz::TimeZone::system(),
    };
    let server = Server::new(app, client);
    let mut inbox = Inbox {
        model: Model::new(settings, sayso_client::now()),
        server: &server,
        calls: Calls::new(),
        editing: None,
        keys: None,
        quit: false,
    };
    let mut signals = Signals::new().map_err(|error| Failure::io("Cannot listen for signals", &error))?;
    let mut screen = Screen::take_over(app.out.look.clone()).map_err(broken)?;
    inbox.keys = Some(EventStream::new());
    let ended = inbox.live(&mut screen, &mut signals).await;
    // The terminal must be restored before messages are printed.
    drop(screen);
    inbox.keys = None;
    for event in inbox.last_calls().await {
        if let Event::NotSent { why, .. } = event {
            app.out.note(&not_sent_message(why));
        }
    }
    ended
}

fn broken(error: std::io::Error) -> Failure {
    Failure::io("Cannot use the terminal", &error)
}

fn not_sent_message(why: NotSent) -> String {
    match why {
        NotSent::TooLate(ask) => {
            let how = ask.outcome.as_ref().map(crate::words::outcome).unwrap_or_default();
            format!("{how} Nothing was sent from here.")
        }
        NotSent::ContentChanged(_) => CONTENT_CHANGED.to_owned(),
        NotSent::Offline => "Not sent: no connection. The ask is still pending.".to_owned(),
        NotSent::Refused(why) => why,
    }
}

/// The signals that the inbox handles.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    stop: Signal,
}

/// What a signal requests.
enum Told {
    End,
    Suspend,
    Interrupt,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(SignalKind::from_raw(Kill::TSTP.as_raw()))?,
        })
    }

    async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.terminate.recv() => Told::End,
            _ = self.hang_up.recv() => Told::End,
            _ = self.interrupt.recv() => Told::Interrupt,
            _ = self.stop.recv() => Told::Suspend,
        }
    }
}

struct Inbox<'a> {
    model: Model,
    server: &'a Server<'a>,
    calls: Calls,
    /// While an editor is open, the terminal belongs to it.
    editing: Option<Editing>,
    /// The keyboard, while the inbox owns the terminal.
    keys: Option<EventStream>,
    quit: bool,
}

/// One input of the main loop.
enum Happened {
    Key(Option<std::io::Result<Input>>),
    News(Option<News>),
    Called(Vec<Event>),
    Edited(Result<String, Failure>),
    Signal(Told),
    Time,
}

impl Inbox<'_> {
    async fn live(&mut self, screen: &mut Screen, signals: &mut Signals) -> Result<(), Failure> {
        let (send, mut news) = mpsc::channel(NEWS);
        let server = self.server;
        let feed = feed::follow(server, &send);
        tokio::pin!(feed);
        let mut followed = false;
        while !self.quit {
            let effects = self.model.settle();
            self.do_all(effects, screen)?;
            if self.editing.is_none() {
                screen.draw(&mut self.model).map_err(broken)?;
            }
            let wake = self.model.wake().since(sayso_client::now());
            let happened = tokio::select! {
                biased;
                told = signals.next() => Happened::Signal(told),
                key = next_key(&mut self.keys) => Happened::Key(key),
                edited = closed(&mut self.editing) => Happened::Edited(edited),
                Some(events) = self.calls.next(), if !self.calls.is_empty() => Happened::Called(events),
                told = news.recv() => Happened::News(told),
                () = &mut feed, if !followed => {
                    followed = true;
                    Happened::Time
                }
                () = tokio::time::sleep(wake) => Happened::Time,
            };
            self.handle(happened, screen)?;
            // Handles all queued events before the next drawing.
            for _ in 0..NEWS {
                let Ok(told) = news.try_recv() else { break };
                self.handle(Happened::News(Some(told)), screen)?;
            }
        }
        Ok(())
    }

    fn handle(&mut self, happened: Happened, screen: &mut Screen) -> Result<(), Failure> {
        match happened {
            Happened::Key(Some(Ok(Input::Key(key)))) => self.update(Event::Key(key), screen),
            Happened::Key(Some(Ok(Input::Paste(text)))) => self.update(Event::Paste(text), screen),
            Happened::Key(Some(Ok(Input::Resize(..) | Input::FocusGained | Input::FocusLost | Input::Mouse(_)))) => {
                self.update(Event::Tick, screen)
            }
            // The terminal was closed.
            Happened::Key(Some(Err(error))) => Err(broken(error)),
            Happened::Key(None) | Happened::News(None) => {
                self.quit = true;
                Ok(())
            }
            Happened::News(Some(News::Event(event))) => self.update(event, screen),
            Happened::News(Some(News::Refused(failure))) => Err(failure),
            Happened::Called(events) => events.into_iter().try_for_each(|event| self.update(event, screen)),
            Happened::Edited(text) => {
                let id = self.editing.take().map(|(id, _)| id).unwrap_or_default();
                self.resume(screen)?;
                self.update(Event::Edited { id, text: text.map_err(|failure| failure.to_string()) }, screen)
            }
            Happened::Signal(Told::End) => {
                // Sends held decisions, as when the person quits.
                let effects = self.model.quit();
                self.do_all(effects, screen)?;
                Err(Failure { exit: TERMINATED, ..Failure::new("Stopped by a signal.") })
            }
            Happened::Signal(Told::Suspend) if self.editing.is_none() => self.suspend(screen),
            // These signals are meant for the editor.
            Happened::Signal(Told::Interrupt | Told::Suspend) if self.editing.is_some() => Ok(()),
            Happened::Signal(Told::Interrupt | Told::Suspend) => {
                self.quit = true;
                Ok(())
            }
            Happened::Time => self.update(Event::Tick, screen),
        }
    }

    fn update(&mut self, event: Event, screen: &mut Screen) -> Result<(), Failure> {
        let effects = self.model.update(sayso_client::now(), event);
        self.do_all(effects, screen)
    }

    fn do_all(&mut self, effects: Vec<Effect>, screen: &mut Screen) -> Result<(), Failure> {
        effects.into_iter().try_for_each(|effect| self.do_one(effect, screen))
    }

    fn do_one(&mut self, effect: Effect, screen: &mut Screen) -> Result<(), Failure> {
        let client = self.server.client();
        match effect {
            Effect::Fetch(id) => self.calls.push(Box::pin(async move { fetch(&client, &id).await })),
            Effect::Send { id, decision } => self.calls.push(Box::pin(async move { vec![send(&client, id, decision).await] })),
            Effect::Snooze { id, until } => self.calls.push(Box::pin(async move { snooze(&client, &id, until).await })),
            Effect::Message { session, text } => self.calls.push(Box::pin(async move {
                let said = match client.message(&session, &text, IfPending::Queue).await {
                    Ok(_) => "Sent as a message.".to_owned(),
                    Err(error) => Failure::from(error).to_string(),
                };
                vec![Event::Told(said)]
            })),
            Effect::Session(id) => self.calls.push(Box::pin(async move { vec![session(&client, &id).await] })),
            Effect::Edit { id, text, suffix } => {
                screen.pause();
                self.keys = None;
                self.editing = Some((id, tokio::task::spawn_blocking(move || editor::edit_text(&text, suffix))));
            }
            Effect::Copy(text) => {
                if !screen.copy(&text).map_err(broken)? {
                    self.model.update(sayso_client::now(), Event::Told("The text is too long for the clipboard.".to_owned()));
                }
            }
            Effect::Browse(url) => {
                let said = match editor::open_in_browser(&url) {
                    Ok(()) => "Opened in your browser. Press a when you are done.".to_owned(),
                    Err(failure) => failure.to_string(),
                };
                self.model.update(sayso_client::now(), Event::Told(said));
            }
            Effect::Jump(pane) => match self.model.settings.place.jump(&pane) {
                // A popup would cover the pane, so it closes.
                Ok(()) => self.quit = self.quit || self.model.settings.place.is_popup(),
                Err(why) => {
                    self.model.update(sayso_client::now(), Event::Told(why));
                }
            },
            Effect::ReadFiles(id) => self.calls.push(Box::pin(async move {
                let files = client.ask_files(&id).await.ok().map(Box::new);
                vec![Event::Files { id, files }]
            })),
            Effect::TryRule(rule) => self.calls.push(Box::pin(async move {
                let trial = try_rule(&client, &rule).await.map_err(|error| Failure::from(error).to_string());
                vec![Event::Tried(rule, trial)]
            })),
            Effect::SaveRule { rule, until } => self.calls.push(Box::pin(async move {
                let saved = save_rule(&client, &rule, until).await.map_err(|error| Failure::from(error).to_string());
                vec![Event::RuleSaved(saved)]
            })),
            Effect::Agents => self.calls.push(Box::pin(async move {
                let agents = client.agents().await.map_err(|error| Failure::from(error).to_string());
                let there = |list: AgentList| list.data.into_iter().filter(|agent| agent.installed).map(|agent| agent.name);
                vec![Event::Agents(agents.map(|list| there(list).collect()))]
            })),
            Effect::Start { agent, directory, prompt } => {
                let environment = self.server.environment();
                self.calls.push(Box::pin(async move {
                    let cwd = (!directory.is_empty()).then(|| whole_path(directory));
                    let new = NewSession { agent, cwd, prompt: Some(prompt), environment, ..NewSession::default() };
                    let started = client.start_session(&new).await.map_err(|error| Failure::from(error).to_string());
                    vec![Event::Started(started.map(|_| ()))]
                }));
            }
            Effect::Bell => screen.bell().map_err(broken)?,
            Effect::Suspend => self.suspend(screen)?,
            Effect::Redraw => screen.redraw().map_err(broken)?,
            Effect::Quit => self.quit = true,
        }
        Ok(())
    }

    /// Stops the process group like Ctrl-Z, and resumes when the shell continues it.
    fn suspend(&mut self, screen: &mut Screen) -> Result<(), Failure> {
        self.keys = None;
        screen.pause();
        kill_current_process_group(Kill::STOP).map_err(|error| broken(error.into()))?;
        self.resume(screen)
    }

    fn resume(&mut self, screen: &mut Screen) -> Result<(), Failure> {
        screen.resume().map_err(broken)?;
        self.keys = Some(EventStream::new());
        Ok(())
    }

    /// Waits for requests in flight after the inbox was closed.
    async fn last_calls(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let calls = &mut self.calls;
        let all = async {
            while let Some(more) = calls.next().await {
                events.extend(more);
            }
        };
        // A request that takes longer is not reported: the server has the decision, or the ask is still pending.
        let _ = tokio::time::timeout(LAST, all).await;
        events
    }
}

/// Returns the next key. Never resolves while the inbox does not own the terminal.
async fn next_key(keys: &mut Option<EventStream>) -> Option<std::io::Result<Input>> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

/// Returns the edited text after the editor was closed.
async fn closed(editing: &mut Option<Editing>) -> Result<String, Failure> {
    match editing {
        Some((_, editor)) => match editor.await {
            Ok(text) => text,
            Err(error) => Err(Failure::new(format!("Internal error: {error}."))),
        },
        None => std::future::pending().await,
    }
}

async fn fetch(client: &Client, id: &str) -> Vec<Event> {
    match client.ask(id).await {
        Ok(ask) => vec![Event::Fetched(Box::new(ask))],
        // When the stream reports that the connection is back, the ask is loaded again.
        Err(error) => vec![Event::NotFetched { id: id.to_owned(), offline: error.is_unreachable() }],
    }
}

/// Loads the end of a session's transcript.
async fn session(client: &Client, id: &str) -> Event {
    const MOST: usize = 64 * 1024;
    let plain = Look { colour: false, ascii: false, width: 80, home: None };
    let mut text = String::new();
    let mut query = TranscriptQuery { limit: Some(500), cursor: None };
    loop {
        match client.transcript(id, &query).await {
            Ok(page) => {
                for block in &page.data {
                    text.push_str(&block_text(block, &plain));
                    text.push('\n');
                }
                // The end is the relevant part.
                let cut = text.len().saturating_sub(MOST);
                let cut = (cut..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                text.drain(..cut);
                query.cursor = page.next_cursor;
            }
            Err(error) => return Event::Told(Failure::from(error).to_string()),
        }
        if query.cursor.is_none() {
            let text = text.trim_end().to_owned();
            return if text.is_empty() { Event::Told("The transcript is still empty.".to_owned()) } else { Event::Session(text) };
        }
    }
}

/// Finds out what a rule would have decided about recent asks, and what it decides about pending ones.
async fn try_rule(client: &Client, rule: &Rule) -> Result<Trial, Error> {
    const HISTORY: u32 = 500;
    let policy = client.policy().await?;
    let text = Some(rule.added_to(&policy.text));
    let past = |policy: Option<String>| ExplainRequest { history: Some(HISTORY), policy, ..ExplainRequest::default() };
    let before = client.explain(&past(None)).await?;
    let after = client.explain(&past(text.clone())).await?;
    let pending = client.explain(&ExplainRequest { pending: true, policy: text, ..ExplainRequest::default() }).await?;
    Ok(Trial::of(&before.data, &after.data, &pending.data))
}

/// Saves a rule: as a grant if it ends, otherwise in the policy file.
async fn save_rule(client: &Client, rule: &Rule, until: Option<Time>) -> Result<(), Error> {
    match until {
        Some(until) => client.grant(&rule.grant(until)).await.map(|_| ()),
        None => {
            let policy = client.policy().await?;
            let text = rule.added_to(&policy.text);
            client.set_policy(&SetPolicy { text, if_fingerprint: policy.text_fingerprint }).await.map(|_| ())
        }
    }
}

/// Makes a typed path absolute. The server expands `~`.
fn whole_path(typed: String) -> String {
    if typed.starts_with('~') {
        return typed;
    }
    std::path::absolute(&typed).map(|path| path.to_string_lossy().into_owned()).unwrap_or(typed)
}

async fn snooze(client: &Client, id: &str, until: Option<Time>) -> Vec<Event> {
    match client.snooze(id, until).await {
        Ok(ask) => vec![Event::Snoozed(Box::new(ask))],
        Err(error) => vec![Event::Told(Failure::from(error).to_string())],
    }
}

async fn send(client: &Client, id: String, decision: Decision) -> Event {
    let sent = match decision {
        Decision::Answer { answers, note } => client.answer(&id, &AnswerRequest { answers, note }).await,
        Decision::Reject(no) => client.reject(&id, &no).await,
        Decision::Approve(yes) => client.approve(&id, &yes).await,
        Decision::Deny(no) => client.deny(&id, &no).await,
    };
    match sent {
        Ok(ask) => Event::Sent(Box::new(ask)),
        Err(error) => Event::NotSent { why: why_not(client, &id, error).await, id },
    }
}

async fn why_not(client: &Client, id: &str, error: Error) -> NotSent {
    if error.is_unreachable() {
        return NotSent::Offline;
    }
    if error.code() == Some(ErrorCode::AskAlreadyResolved)
        && let Ok(ask) = client.ask(id).await
    {
        return NotSent::TooLate(Box::new(ask));
    }
    if let Some(problem) = error.problem().filter(|problem| problem.code == ErrorCode::ContentChanged) {
        return NotSent::ContentChanged(problem.changes.clone());
    }
    NotSent::Refused(Failure::from(error).what)
}
