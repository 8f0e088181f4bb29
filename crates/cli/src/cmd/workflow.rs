//! `sayso workflow`: runs a workflow, checks a file, lists and cancels runs.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sayso_client::api::ask::{Ask, AskStatus};
use sayso_client::api::run::{NewRun, Run, RunQuery, RunStatus};
use sayso_client::{Client, EventStream, StreamItem};
use sayso_core::workflow::{Source, Surroundings, Workflow, WorkflowError};

use crate::app::App;
use crate::args::{Label, WorkflowAction};
use crate::autostart;
use crate::failure::{Failure, exit};
use crate::order::ending;
use crate::output::{Look, Style};
use crate::prompt::{self, Ended, Prompt};
use crate::sanitize;
use crate::terminal::Keyboard;
use crate::trace::{Piece, Trace};
use crate::words;

/// Exit code for a cancelled run.
const CANCELLED: u8 = 3;

pub(crate) async fn run(app: &App, action: WorkflowAction) -> Result<(), Failure> {
    match action {
        WorkflowAction::Run { file, inputs, directory, labels, detach } => {
            start(app, &file, &inputs, directory, labels, detach).await
        }
        WorkflowAction::Check { file } => check(app, &file).await,
        WorkflowAction::List { all } => {
            let query = RunQuery { open: (!all).then_some(true), limit: Some(100), ..RunQuery::default() };
            let page = app.client()?.runs(&query).await?;
            app.out.result(&page, || match page.data.as_slice() {
                [] if all => "No runs yet. Try: sayso workflow run FILE".to_owned(),
                [] => "No workflow is running. List finished runs with: sayso workflow list --all".to_owned(),
                runs => table(runs, &app.out.look),
            })
        }
        WorkflowAction::Show { id } => {
            let run = app.client()?.find_run(&id).await?;
            app.out.result(&run, || describe(&run, &app.out.look))
        }
        WorkflowAction::Cancel { id } => {
            let client = app.client()?;
            let run = client.find_run(&id).await?;
            let run = client.cancel_run(&run.id).await?;
            app.out.result(&run, || "The run is cancelled. Its agents are stopping.".to_owned())
        }
    }
}

fn read(file: &Path) -> Result<(Workflow, Source), Failure> {
    let failed = |error: std::io::Error| Failure::io(&format!("Cannot read {}", file.display()), &error);
    let text = std::fs::read_to_string(file).map_err(failed)?;
    let is_json = file.extension().is_some_and(|extension| extension == "json");
    let parsed = if is_json { Workflow::parse_json(&text) } else { Workflow::parse_toml(&text) };
    parsed.map_err(|error| wrong(file, &[error]))
}

/// Formats the errors of a file, one line each.
fn wrong(file: &Path, errors: &[WorkflowError]) -> Failure {
    let lines = errors.iter().map(|error| {
        let place = match (error.line, error.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", file.display()),
            (Some(line), None) => format!("{}:{line}", file.display()),
            (None, _) => file.display().to_string(),
        };
        let path = if error.path.is_empty() { String::new() } else { format!("{}: ", error.path) };
        format!("{place}: {path}{}", error.message)
    });
    Failure::new(sanitize::text(&lines.collect::<Vec<_>>().join("\n")))
}

/// Returns the names of the server's agents. Without a server, those of the configuration on this machine.
async fn agents(app: &App) -> Result<Vec<String>, Failure> {
    if let Ok(client) = app.client()
        && let Ok(list) = client.agents().await
    {
        return Ok(list.data.into_iter().map(|agent| agent.name).collect());
    }
    sayso_server::agent_names(&app.paths.config_dir).map_err(|error| Failure::caused("Cannot read the configuration", &error))
}

async fn check(app: &App, file: &Path) -> Result<(), Failure> {
    let (workflow, source) = read(file)?;
    let agents = agents(app).await?;
    let errors = workflow.check(&source, Surroundings { agents: Some(&agents), input: None });
    if !errors.is_empty() {
        return Err(wrong(file, &errors));
    }
    let inputs = workflow.input_defaults();
    let steps = workflow.explain();
    let shown = serde_json::json!({ "name": workflow.name, "inputs": inputs, "steps": steps });
    app.out.result(&shown, || {
        let mut out = format!("{} is valid.", sanitize::line(&workflow.name));
        for (name, default) in &inputs {
            let given = default.as_deref().map_or_else(|| "required".to_owned(), |text| format!("default {text:?}"));
            let _ = write!(out, "\nInput {name}: {}", sanitize::line(&given));
        }
        for step in &steps {
            let _ = write!(
                out,
                "\n\n{} ({})\n  On a question: {}.\n  Without an answer: {}.",
                app.out.look.paint(Style::Bold, &step.id),
                sanitize::line(&step.what),
                step.on_question,
                step.on_timeout
            );
        }
        out
    })
}

async fn start(
    app: &App,
    file: &Path,
    inputs: &[Label],
    directory: Option<PathBuf>,
    labels: Vec<Label>,
    detach: bool,
) -> Result<(), Failure> {
    let (workflow, source) = read(file)?;
    let given: BTreeMap<String, String> = inputs.iter().map(|input| (input.key.clone(), input.value.clone())).collect();
    // First check without the list of agents, which only the server knows: these errors have a line and a column.
    let errors = workflow.check(&source, Surroundings { agents: None, input: Some(&given) });
    if !errors.is_empty() {
        return Err(wrong(file, &errors).then("The workflow was not started."));
    }
    let client = autostart::client(app).await?;
    let agents: Vec<String> = client.agents().await?.data.into_iter().map(|agent| agent.name).collect();
    let errors = workflow.check(&source, Surroundings { agents: Some(&agents), input: Some(&given) });
    if !errors.is_empty() {
        return Err(wrong(file, &errors).then("The workflow was not started."));
    }
    let directory = match (directory, &workflow.directory) {
        (Some(directory), _) => Some(std::path::absolute(&directory)),
        (None, Some(_)) => None,
        (None, None) => Some(std::env::current_dir()),
    };
    let directory = directory.transpose().map_err(|error| Failure::io("Cannot use the directory", &error))?;
    let new = NewRun {
        workflow: serde_json::to_value(&workflow).map_err(|error| Failure::caused("Cannot encode the workflow", &error))?,
        input: given.into_iter().map(|(name, value)| (name, value.into())).collect(),
        directory: directory.map(|directory| directory.to_string_lossy().into_owned()),
        labels: labels.into_iter().map(|label| (label.key, label.value)).collect(),
        environment: app.environment_for_agents(),
    };
    // The stream starts before the run, so that no event is missed.
    let since = client.runs(&RunQuery { limit: Some(1), ..RunQuery::default() }).await?.seq;
    let mut stream = client.events(Some(since));
    stream.connect().await?;
    let run = client.start_run(&new).await?;
    if detach {
        return app.out.result(&run, || run.id.clone());
    }
    if app.out.json {
        return print_json(app, &run, stream).await;
    }
    let keyboard = Keyboard::open(&app.out)?;
    let events = RunEvents {
        client: &client,
        look: &app.out.look,
        stream,
        trace: Trace::of(&run.id),
        behind: VecDeque::new(),
        run: run.id,
    };
    Following { app, client: &client, keyboard, events, waiting: VecDeque::new(), over: None }.follow().await
}

/// Prints the run and then each of its events as JSON, until the run is finished.
async fn print_json(app: &App, run: &Run, mut stream: EventStream) -> Result<(), Failure> {
    app.out.json(run)?;
    let mut trace = Trace::of(&run.id);
    loop {
        if let StreamItem::Event(event) = stream.next().await? {
            let pieces = trace.render_event(&event, &app.out.look);
            if pieces.iter().any(|piece| !matches!(piece, Piece::Resolved(_))) {
                app.out.json(&event)?;
            }
            if let Some(Piece::Over(status, reason)) = pieces.into_iter().next_back() {
                return over(status, reason);
            }
        }
    }
}

/// Converts the final status of a run to the result of this command.
fn over(status: RunStatus, reason: Option<String>) -> Result<(), Failure> {
    let reason = reason.map(|reason| format!(": {}", sanitize::line(&reason))).unwrap_or_default();
    match status {
        RunStatus::Completed | RunStatus::Running | RunStatus::Waiting => Ok(()),
        RunStatus::Failed => Err(Failure::new(format!("The run failed{reason}."))),
        RunStatus::Cancelled => Err(Failure { exit: CANCELLED, ..Failure::new(format!("The run was cancelled{reason}.")) }),
    }
}

/// The events of one run.
struct RunEvents<'a> {
    client: &'a Client,
    look: &'a Look,
    stream: EventStream,
    trace: Trace,
    /// Items that were read while a decision was being sent. They are shown later, when it is known who decided.
    behind: VecDeque<StreamItem>,
    run: String,
}

impl RunEvents<'_> {
    /// Returns the next item. Cancel-safe.
    async fn item(&mut self) -> Result<StreamItem, Failure> {
        match self.behind.pop_front() {
            Some(item) => Ok(item),
            None => Ok(self.stream.next().await?),
        }
    }

    /// Converts a stream item to pieces of output.
    async fn pieces(&mut self, item: StreamItem) -> Result<Vec<Piece>, Failure> {
        match item {
            StreamItem::Event(event) => Ok(self.trace.render_event(&event, self.look)),
            StreamItem::Reconnecting { attempt: 1, .. } => Ok(vec![Piece::Line("Disconnected. Reconnecting.".to_owned())]),
            StreamItem::Reconnecting { .. } | StreamItem::Reconnected => Ok(Vec::new()),
            StreamItem::Reset { .. } => self.current_pieces().await,
        }
    }

    /// Describes the current state after a gap: pending asks, or the end of the run.
    async fn current_pieces(&self) -> Result<Vec<Piece>, Failure> {
        let run = self.client.run(&self.run).await?;
        if run.status.is_over() {
            return Ok(vec![Piece::Over(run.status, run.reason)]);
        }
        let questions = run.pending_questions.into_iter().map(|question| question.id);
        let asks = questions.chain(run.pending_checkpoints).chain(run.pending_approvals);
        Ok(asks.map(|id| Piece::Asked(id, "An ask is pending.".to_owned())).collect())
    }
}

/// A run that is shown in this terminal.
struct Following<'a> {
    app: &'a App,
    client: &'a Client,
    keyboard: Keyboard,
    events: RunEvents<'a>,
    /// Asks to prompt for, in order of arrival.
    waiting: VecDeque<Ask>,
    /// Final status and reason of the run, once known.
    over: Option<(RunStatus, Option<String>)>,
}

impl Following<'_> {
    async fn follow(&mut self) -> Result<(), Failure> {
        loop {
            if let Some((status, reason)) = self.over.take() {
                return self.ended(status, reason).await;
            }
            if let Some(ask) = self.waiting.pop_front() {
                self.show(&ask).await?;
                continue;
            }
            let item = tokio::select! {
                item = self.events.item() => item?,
                () = self.keyboard.interrupt() => return Err(self.exited_failure()),
            };
            for piece in self.events.pieces(item).await? {
                match piece {
                    Piece::Line(line) => self.app.out.line(&line),
                    Piece::Asked(id, line) => {
                        self.app.out.line(&line);
                        self.waiting.extend(pending(self.client, &id).await?);
                    }
                    Piece::Resolved(id) => self.waiting.retain(|ask| ask.id != id),
                    Piece::Over(status, reason) => self.over = Some((status, reason)),
                }
            }
        }
    }

    /// Prompts for an ask, or prints it if input is not a terminal. The trace of the run and new asks are printed
    /// above the prompt, so that none expires unseen.
    async fn show(&mut self, ask: &Ask) -> Result<(), Failure> {
        let Self { app, client, keyboard, events, waiting, over } = self;
        if !keyboard.is_terminal {
            app.out.line(&prompt::announce(&app.out, ask));
            return Ok(());
        }
        if pending(client, &ask.id).await?.is_none() {
            return Ok(());
        }
        let screen = keyboard.screen();
        let others = RefCell::new(std::mem::take(waiting));
        let note = || words::also_waiting(&*others.borrow(), sayso_client::now());
        let prompt = Prompt { out: &app.out, client, ask, note: &note, is_sending: Cell::new(false) };
        let ended = {
            let ended = prompt.run(keyboard);
            tokio::pin!(ended);
            'open: loop {
                let item = tokio::select! {
                    biased;
                    ended = &mut ended => break Some(ended?),
                    item = events.item(), if !prompt.is_sending.get() => item?,
                };
                if prompt.is_sending.get() {
                    events.behind.push_front(item);
                    continue;
                }
                for piece in events.pieces(item).await? {
                    match piece {
                        Piece::Line(line) => screen.print(&line),
                        // Skips asks that a snapshot after a gap reports again.
                        Piece::Asked(id, _) if id == ask.id || others.borrow().iter().any(|other| other.id == id) => {}
                        Piece::Asked(id, line) => {
                            screen.print(&line);
                            if let Some(other) = pending(client, &id).await? {
                                screen.print(&prompt::announce(&app.out, &other));
                                others.borrow_mut().push_back(other);
                            }
                        }
                        Piece::Resolved(id) => others.borrow_mut().retain(|other| other.id != id),
                        Piece::Over(status, reason) => {
                            *over = Some((status, reason));
                            break 'open None;
                        }
                    }
                }
            }
        };
        *waiting = others.into_inner();
        match ended {
            Some(Ended::Decided(decided)) => self.events.trace.decided(&decided.id),
            Some(Ended::Elsewhere(_)) => {}
            Some(Ended::Left) => {
                self.app.out.line(&format!("The ask is still pending. Decide it with: {}", words::how_to_decide(ask)));
            }
            Some(Ended::Interrupted) => return Err(self.exited_failure()),
            None => screen.leave(),
        }
        Ok(())
    }

    /// Ctrl-C exits; the run continues.
    fn exited_failure(&self) -> Failure {
        let id = ending(&self.events.run, 4);
        let next = format!("Show it with: sayso workflow show {id}; cancel it with: sayso workflow cancel {id}");
        Failure { exit: exit::INTERRUPTED, ..Failure::new("Exited. The run continues.").then(next) }
    }

    async fn ended(&self, status: RunStatus, reason: Option<String>) -> Result<(), Failure> {
        over(status, reason)?;
        let run = self.client.run(&self.events.run).await?;
        let last = run.steps.iter().rev().find_map(|step| step.output.as_deref()).unwrap_or_default();
        self.app.out.line(&self.app.out.look.paint(Style::Good, "The run completed."));
        if !last.is_empty() {
            self.app.out.line(&sanitize::text(last));
        }
        Ok(())
    }
}

/// Loads an ask and returns it if it is still pending. The event may be outdated and omits large fields.
async fn pending(client: &Client, id: &str) -> Result<Option<Ask>, Failure> {
    let ask = client.ask(id).await?;
    Ok((ask.status == AskStatus::Pending).then_some(ask))
}

fn table(runs: &[Run], look: &Look) -> String {
    let now = sayso_client::now();
    let lines = runs.iter().map(|run| {
        let done = run.steps.iter().filter(|step| step.status == "completed").count();
        format!(
            "{}  {}  {}/{} steps  {}  {}",
            look.paint(Style::Dim, ending(&run.id, 4)),
            words::pad(status(run.status), 15),
            done,
            run.steps.len(),
            words::at(run.created_at, now),
            sanitize::line(&run.workflow)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

const fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Waiting => "waiting for you",
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
    }
}

fn describe(run: &Run, look: &Look) -> String {
    let mut out = format!("{} {}", look.paint(Style::Bold, &sanitize::line(&run.workflow)), look.paint(Style::Dim, &run.id));
    let reason = run.reason.as_deref().map(|reason| format!(": {}", sanitize::line(reason))).unwrap_or_default();
    let _ = write!(out, "\n{}{reason}", status(run.status));
    for step in &run.steps {
        let said = step.output.as_deref().or(step.reason.as_deref()).map(sanitize::line).unwrap_or_default();
        let said = words::cut(&said, 60, look.ellipsis());
        let line = format!("\n  {}  {}  {said}", words::pad(&sanitize::line(&step.id), 16), words::pad(&step.status, 9));
        out.push_str(line.trim_end());
    }
    let questions = run.pending_questions.iter().map(|question| {
        let headers = question.questions.iter().map(|item| sanitize::line(&item.header)).collect::<Vec<_>>().join(", ");
        format!("{} asks: {headers}", sanitize::line(&question.step_id))
    });
    let ids = run.pending_questions.iter().map(|question| &question.id);
    let ids = ids.chain(&run.pending_checkpoints).chain(&run.pending_approvals);
    let words = questions.chain(run.pending_checkpoints.iter().map(|_| "a checkpoint is pending".to_owned()));
    let words = words.chain(run.pending_approvals.iter().map(|_| "an approval is pending".to_owned()));
    for (id, what) in ids.zip(words) {
        let _ = write!(out, "\n{} {what}. Decide it with: sayso show {}", look.paint(Style::Waiting, "?"), ending(id, 4));
    }
    out
}
