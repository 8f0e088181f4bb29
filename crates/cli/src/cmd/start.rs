//! `sayso start`: starts an agent, streams its output, and prompts for its asks.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io::{IsTerminal, Read};

use sayso_client::api::ask::{Ask, AskStatus, Delivery};
use sayso_client::api::session::{IfPending, NewSession, Session, SessionQuery, SessionStatus};
use sayso_client::{Client, EventStream, StreamItem};

use crate::app::App;
use crate::args::{Label, StartArgs};
use crate::autostart;
use crate::failure::{Failure, exit};
use crate::follow::{self, Follower, Piece};
use crate::inbox::tmux::Place;
use crate::line::Echo;
use crate::order::ending;
use crate::output::Style;
use crate::prompt::{self, Ended, Prompt};
use crate::sanitize;
use crate::terminal::{Keyboard, Typed};
use crate::words;

/// Capacity of the queue of events behind an open prompt. When it is full, the stream is not read.
const BEHIND: usize = 1_000;

pub(crate) async fn run(app: &App, args: StartArgs) -> Result<(), Failure> {
    let client = autostart::client(app).await?;
    let prompt = match args.prompt {
        Some(prompt) => Some(prompt),
        None if std::io::stdin().is_terminal() => None,
        None => Some(piped()?),
    };
    let cwd = match args.cwd {
        Some(cwd) => std::path::absolute(&cwd),
        None => std::env::current_dir(),
    };
    let cwd = cwd.map_err(|error| Failure::io("Cannot use the directory", &error))?;
    // The stream starts before the session, so that the first output is not missed. The session has no id yet, so
    // this is the stream of all events.
    let since = client.sessions(&SessionQuery { limit: Some(1), ..SessionQuery::default() }).await?.seq;
    let mut stream = client.events(Some(since));
    stream.connect().await?;
    let session = client
        .start_session(&NewSession {
            agent: args.agent,
            cwd: Some(cwd.to_string_lossy().into_owned()),
            prompt: prompt.clone(),
            permission_mode: args.permission_mode,
            model: args.model,
            policy: None,
            labels: labels(app, args.labels),
            environment: app.environment_for_agents(),
        })
        .await?;
    if app.out.json {
        return print_json(app, &session, stream).await;
    }
    let mut following = Following {
        app,
        client: &client,
        keyboard: Keyboard::open(&app.out)?,
        stream,
        follower: Follower::default(),
        waiting: VecDeque::new(),
        behind: VecDeque::new(),
        turn: if prompt.is_some() { Turn::Running } else { Turn::Idle },
        decided: None,
        interrupted: false,
        session,
    };
    if let Some(prompt) = prompt {
        following.follower.hide_message(&prompt);
    }
    following.run().await
}

/// Returns the given labels and the tmux location of this terminal, which lets a person jump here from the inbox.
fn labels(app: &App, given: Vec<Label>) -> BTreeMap<String, String> {
    let mut labels = Place::of(&app.environment).labels();
    labels.extend(given.into_iter().map(|label| (label.key, label.value)));
    labels
}

fn piped() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map_err(|error| Failure::io("Cannot read standard input", &error))?;
    let text = text.trim().to_owned();
    if text.is_empty() { Err(Failure::usage("There is no prompt.").then("Pass one: sayso start AGENT PROMPT")) } else { Ok(text) }
}

/// Prints the session and then each of its events as JSON, until the turn ends.
async fn print_json(app: &App, session: &Session, mut stream: EventStream) -> Result<(), Failure> {
    app.out.json(session)?;
    let mut follower = Follower::default();
    loop {
        match stream.next().await? {
            StreamItem::Event(event) if event.session_id.as_deref() != Some(session.id.as_str()) => {}
            StreamItem::Event(event) => {
                app.out.json(&event)?;
                match follower.render_event(&event, &app.out.look) {
                    Some(Piece::Status(SessionStatus::Idle) | Piece::Ended { .. }) => return Ok(()),
                    Some(Piece::Text(_) | Piece::Asked(_) | Piece::Status(_)) | None => {}
                }
            }
            StreamItem::Reset { .. } | StreamItem::Reconnecting { .. } | StreamItem::Reconnected => {}
        }
    }
}

/// State of the current turn: the agent works, or accepts a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Running,
    Idle,
}

/// A session that is shown in this terminal.
struct Following<'a> {
    app: &'a App,
    client: &'a Client,
    keyboard: Keyboard,
    stream: EventStream,
    follower: Follower,
    /// Asks to prompt for, in order of arrival.
    waiting: VecDeque<Ask>,
    /// Events that arrived during a prompt, at most `BEHIND`.
    behind: VecDeque<StreamItem>,
    turn: Turn,
    /// Id of the last ask that was decided here.
    decided: Option<String>,
    /// True after Ctrl-C in this turn.
    interrupted: bool,
    session: Session,
}

impl Following<'_> {
    async fn run(mut self) -> Result<(), Failure> {
        loop {
            if let Some(ask) = self.waiting.pop_front() {
                self.show(&ask).await?;
                continue;
            }
            if let Some(item) = self.behind.pop_front() {
                for piece in self.pieces(item).await? {
                    if self.handle_piece(piece).await? == Flow::End {
                        return Ok(());
                    }
                }
                continue;
            }
            if self.turn == Turn::Idle && !self.keyboard.is_terminal {
                return Ok(());
            }
            tokio::select! {
                item = self.stream.next() => {
                    let item = item?;
                    let pieces = self.pieces(item).await?;
                    for piece in pieces {
                        // Other output replaces the input line, so the prompt is removed first.
                        if piece == Piece::Status(SessionStatus::Idle) && self.turn == Turn::Idle {
                            continue;
                        }
                        self.keyboard.screen().leave();
                        if self.handle_piece(piece).await? == Flow::End {
                            return Ok(());
                        }
                    }
                }
                typed = listen(&mut self.keyboard, self.turn) => match self.turn {
                    Turn::Idle => {
                        if self.typed(typed).await? == Flow::End {
                            return Ok(());
                        }
                    }
                    Turn::Running => self.interrupt().await?,
                },
            }
        }
    }

    /// Converts a stream item to pieces of output. After a gap, the pieces describe the current state.
    async fn pieces(&mut self, item: StreamItem) -> Result<Vec<Piece>, Failure> {
        match item {
            StreamItem::Event(event) if event.session_id.as_deref() != Some(self.session.id.as_str()) => Ok(Vec::new()),
            StreamItem::Event(event) => Ok(self.follower.render_event(&event, &self.app.out.look).into_iter().collect()),
            StreamItem::Reconnecting { attempt: 1, .. } => {
                self.app.out.note("Disconnected. Reconnecting.");
                Ok(Vec::new())
            }
            StreamItem::Reconnecting { .. } | StreamItem::Reconnected => Ok(Vec::new()),
            StreamItem::Reset { .. } => {
                let session = self.client.session(&self.session.id).await?;
                let asked = session.asks.iter().flatten().map(|ask| Piece::Asked(ask.id.clone()));
                Ok(asked.chain([Piece::Status(session.status)]).collect())
            }
        }
    }

    async fn handle_piece(&mut self, piece: Piece) -> Result<Flow, Failure> {
        match piece {
            Piece::Text(text) => self.app.out.write(&text),
            Piece::Asked(id) => self.queue_ask(&id).await?,
            Piece::Status(SessionStatus::Idle) => {
                self.turn = Turn::Idle;
                self.interrupted = false;
                let end = self.follower.end_line();
                self.app.out.write(end);
            }
            Piece::Status(SessionStatus::Running | SessionStatus::Waiting | SessionStatus::Stalled) => self.turn = Turn::Running,
            Piece::Status(SessionStatus::Ended | SessionStatus::Failed) | Piece::Ended { .. } if self.goes_on().await? => {}
            Piece::Status(SessionStatus::Ended) => return self.ended(None, false),
            Piece::Status(SessionStatus::Failed) => return self.ended(None, true),
            Piece::Ended { reason, failed } => return self.ended(reason, failed),
        }
        Ok(Flow::GoOn)
    }

    /// Returns true if the session continues although an event says that it ended. An agent may stop while a prompt is
    /// open, and the answer that is given there resumes the session.
    async fn goes_on(&self) -> Result<bool, Failure> {
        let Some(decided) = &self.decided else { return Ok(false) };
        if self.client.ask(decided).await?.delivery == Some(Delivery::Queued) {
            return Ok(true);
        }
        let status = self.client.session(&self.session.id).await?.status;
        Ok(!matches!(status, SessionStatus::Ended | SessionStatus::Failed))
    }

    fn ended(&mut self, reason: Option<String>, failed: bool) -> Result<Flow, Failure> {
        let reason = reason.map(|reason| format!(": {}", sanitize::line(&reason))).unwrap_or_default();
        let line = format!("The session has ended{}.", reason.trim_end_matches('.'));
        let end = self.follower.end_line();
        self.app.out.write(end);
        if failed {
            return Err(Failure::new(line));
        }
        self.app.out.line(&self.app.out.look.paint(Style::Dim, &line));
        Ok(Flow::End)
    }

    /// Queues an ask if it is still pending. Loads it, because the event may be outdated and omits large fields.
    async fn queue_ask(&mut self, id: &str) -> Result<(), Failure> {
        let ask = self.client.ask(id).await?;
        if ask.status == AskStatus::Pending {
            self.waiting.push_back(ask);
        }
        Ok(())
    }

    /// Prompts for an ask, or prints it if input is not a terminal. New asks that arrive during the prompt are printed
    /// above it, so that none expires unseen.
    async fn show(&mut self, ask: &Ask) -> Result<(), Failure> {
        let end = self.follower.end_line();
        self.app.out.write(end);
        if !self.keyboard.is_terminal {
            self.app.out.line(&prompt::announce(&self.app.out, ask));
            return Ok(());
        }
        if self.client.ask(&ask.id).await?.status != AskStatus::Pending {
            return Ok(());
        }
        let screen = self.keyboard.screen();
        let waiting = RefCell::new(std::mem::take(&mut self.waiting));
        let note = || words::also_waiting(&*waiting.borrow(), sayso_client::now());
        let ended = {
            let prompt = Prompt { out: &self.app.out, client: self.client, ask, note: &note, is_sending: Cell::new(false) };
            let ended = prompt.run(&mut self.keyboard);
            tokio::pin!(ended);
            loop {
                let item = tokio::select! {
                    biased;
                    ended = &mut ended => break ended?,
                    item = self.stream.next(), if self.behind.len() < BEHIND => item?,
                };
                let asked = match &item {
                    StreamItem::Event(event) if event.session_id.as_deref() == Some(self.session.id.as_str()) => {
                        follow::opened_ask_id(event)
                    }
                    _ => None,
                };
                match asked {
                    Some(id) => {
                        let other = self.client.ask(&id).await?;
                        if other.status == AskStatus::Pending {
                            screen.print(&prompt::announce(&self.app.out, &other));
                            waiting.borrow_mut().push_back(other);
                        }
                    }
                    None => self.behind.push_back(item),
                }
            }
        };
        self.waiting = waiting.into_inner();
        match ended {
            Ended::Decided(decided) => {
                self.follower.decided(&decided.id);
                self.decided = Some(decided.id);
            }
            Ended::Elsewhere(decided) => self.follower.decided(&decided.id),
            Ended::Left => self.app.out.line(&format!("The ask is still pending. Decide it with: {}", words::how_to_decide(ask))),
            Ended::Interrupted => self.interrupt().await?,
        }
        Ok(())
    }

    async fn typed(&mut self, typed: Typed) -> Result<Flow, Failure> {
        let text = match typed {
            Typed::Line(line) if line.trim().is_empty() => return Ok(Flow::GoOn),
            Typed::Line(line) => line,
            Typed::End | Typed::Interrupt => {
                let id = ending(&self.session.id, 4);
                self.app.out.line(&format!(
                    "\nThe session stays open. Continue with: sayso sessions message {id} \"…\"; end it with: sayso sessions stop {id}"
                ));
                return Ok(Flow::End);
            }
        };
        match self.client.message(&self.session.id, &text, IfPending::Refuse).await {
            Ok(_) => {
                self.follower.hide_message(&text);
                self.turn = Turn::Running;
            }
            Err(error) => self.app.out.line(&Failure::from(error).to_string()),
        }
        Ok(Flow::GoOn)
    }

    /// The first Ctrl-C of a turn interrupts the turn, the second exits.
    async fn interrupt(&mut self) -> Result<(), Failure> {
        if std::mem::replace(&mut self.interrupted, true) {
            let next = format!("End the session with: sayso sessions stop {}", ending(&self.session.id, 4));
            return Err(Failure { exit: exit::INTERRUPTED, ..Failure::new("Exited. The session continues.").then(next) });
        }
        let end = self.follower.end_line();
        self.app.out.line(&format!("{end}Interrupting. Press Ctrl-C again to exit."));
        match self.client.interrupt(&self.session.id).await {
            Ok(_) => Ok(()),
            // The turn may have ended already.
            Err(error) if error.problem().is_some() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads lines while the agent accepts a message. During a turn, waits for Ctrl-C only and leaves other input unread.
async fn listen(keyboard: &mut Keyboard, turn: Turn) -> Typed {
    match turn {
        Turn::Idle => keyboard.next(&|| "> ".to_owned(), Echo::Shown).await,
        Turn::Running => {
            keyboard.interrupt().await;
            Typed::Interrupt
        }
    }
}

/// Whether to continue the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    GoOn,
    End,
}
