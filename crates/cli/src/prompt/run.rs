//! Runs the prompt for one ask. The first decision wins: while the prompt is open it watches the ask, and if someone
//! else decides first, it closes and says who.

use std::cell::Cell;
use std::time::Duration;

use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, Approval, ApprovalDecision, ApproveRequest, Ask, AskKind, NoRequest};
use sayso_client::api::error::ErrorCode;

use super::parse::{self, Command, Decision, LinkDecision};
use super::render;
use crate::editor;
use crate::failure::Failure;
use crate::files;
use crate::line::Echo;
use crate::output::{Output, Style};
use crate::terminal::{Keyboard, Typed};
use crate::words;

/// How long `/snooze` hides an ask.
const SNOOZE: Duration = Duration::from_secs(30 * 60);

#[derive(Debug)]
pub(crate) enum Ended {
    /// The person decided at this prompt.
    Decided(Box<Ask>),
    /// Someone else, a rule or a timeout decided first.
    Elsewhere(Box<Ask>),
    /// The person postponed the decision with Ctrl-D or `/snooze`.
    Left,
    /// The person pressed Ctrl-C.
    Interrupted,
}

/// What to do after the person has typed.
enum Step {
    Answer(Vec<Vec<String>>),
    Approve(ApproveRequest),
    No(NoRequest),
    Snooze,
    Left,
    Interrupted,
}

/// A typed line, or the step that a typed command stands for.
enum TypedInput {
    Line(String),
    Step(Step),
}

/// Formats an ask without a prompt: everything that a decision needs, and the command to decide it.
pub(crate) fn announce(out: &Output, ask: &Ask) -> String {
    let mut text = render::banner(ask, &out.look);
    match (&ask.approval, &ask.link) {
        (Some(approval), _) => text.push_str(&format!("\n{}", render::approval(ask, approval, &out.look))),
        (None, Some(link)) => text.push_str(&format!("\n{}", render::link(link, &out.look))),
        (None, None) => {
            let questions = ask.questions.iter().map(|question| format!("\n{}", render::question(question, &out.look)));
            text.extend(questions);
        }
    }
    if let Some(deadline) = words::consequence(ask, sayso_client::now()) {
        text.push_str(&format!("\n{}", out.look.paint(Style::Waiting, &format!("{deadline}."))));
    }
    text.push_str(&format!("\nDecide it with: {}", words::how_to_decide(ask)));
    text
}

pub(crate) struct Prompt<'a> {
    pub(crate) out: &'a Output,
    pub(crate) client: &'a Client,
    pub(crate) ask: &'a Ask,
    /// Text before the prompt, which may change while the prompt is open.
    pub(crate) note: &'a dyn Fn() -> String,
    /// True while a decision from this prompt is being sent.
    pub(crate) is_sending: Cell<bool>,
}

impl Prompt<'_> {
    /// Shows the ask and reads the person's decision.
    pub(crate) async fn run(&self, keyboard: &mut Keyboard) -> Result<Ended, Failure> {
        let Self { out, client, ask, .. } = self;
        out.line(&render::banner(ask, &out.look));
        loop {
            let step = tokio::select! {
                biased;
                decided = client.wait_for_outcome(&ask.id) => return Ok(self.closed(keyboard, decided?)),
                step = self.converse(keyboard) => step?,
            };
            self.is_sending.set(true);
            let sent = match step {
                Step::Answer(answers) => client.answer(&ask.id, &AnswerRequest { answers, note: None }).await,
                Step::Approve(yes) => client.approve(&ask.id, &yes).await,
                Step::No(no) if ask.kind == AskKind::Question => client.reject(&ask.id, &no).await,
                Step::No(no) => client.deny(&ask.id, &no).await,
                Step::Snooze => {
                    let until = sayso_client::now().plus(SNOOZE);
                    client.snooze(&ask.id, Some(until)).await?;
                    let told = "Snoozed for 30 minutes. The agent keeps waiting.";
                    out.line(&format!("{told}\n{}", render::rule(&out.look)));
                    return Ok(Ended::Left);
                }
                Step::Left => {
                    out.line(&format!("\n{}", render::rule(&out.look)));
                    return Ok(Ended::Left);
                }
                Step::Interrupted => {
                    out.line(&format!("\n{}", render::rule(&out.look)));
                    return Ok(Ended::Interrupted);
                }
            };
            match sent {
                Ok(decided) => {
                    out.line(&render::rule(&out.look));
                    return Ok(Ended::Decided(Box::new(decided)));
                }
                Err(error) if error.already_resolved().is_some() => {
                    return Ok(self.closed(keyboard, client.ask(&ask.id).await?));
                }
                // The server validates more than this prompt. After such an error the ask is still pending.
                Err(error) if matches!(error.code(), Some(ErrorCode::InvalidAnswers | ErrorCode::ContentChanged)) => {
                    self.is_sending.set(false);
                    let changes = error.problem().map(|problem| problem.changes.clone()).unwrap_or_default();
                    out.line(&Failure::from(error).to_string());
                    changes.iter().for_each(|change| out.line(&render::file_change(change, &out.look)));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn closed(&self, keyboard: &Keyboard, decided: Ask) -> Ended {
        keyboard.screen().leave();
        let how = decided.outcome.as_ref().map(words::outcome).unwrap_or_default();
        self.out.line(&format!("{how} Nothing was sent from here.\n{}", render::rule(&self.out.look)));
        Ended::Elsewhere(Box::new(decided))
    }

    async fn converse(&self, keyboard: &mut Keyboard) -> Result<Step, Failure> {
        let Self { out, ask, .. } = self;
        match (ask.kind, &ask.approval, &ask.link) {
            (AskKind::Question, _, _) => self.questions(keyboard).await,
            (AskKind::Approval, Some(approval), _) => {
                out.line(&render::approval(ask, approval, &out.look));
                let seen = files::read(self.client, ask).await;
                let shown = render::files(ask, seen.as_ref(), &out.look);
                if !shown.is_empty() {
                    out.line(&shown);
                }
                match self.decide(approval, keyboard).await? {
                    Step::Approve(yes) => {
                        Ok(Step::Approve(ApproveRequest { content_digest: seen.and_then(|seen| seen.digest), ..yes }))
                    }
                    other => Ok(other),
                }
            }
            (AskKind::Link, _, Some(link)) => {
                out.line(&render::link(link, &out.look));
                self.follow_link(&link.url, keyboard).await
            }
            (AskKind::Approval, None, _) | (AskKind::Link, _, None) => {
                Err(Failure::new("The server sent an ask without its content.")
                    .then("See what it sent with: sayso show ID --json"))
            }
        }
    }

    /// Reads a line. Runs `/help` itself; other commands become steps.
    async fn read(&self, words: &str, help: &str, echo: Echo, keyboard: &mut Keyboard) -> TypedInput {
        let prompt = || {
            let deadline = words::consequence(self.ask, sayso_client::now());
            let before = [(self.note)(), deadline.unwrap_or_default()];
            let before = before.iter().filter(|fact| !fact.is_empty()).map(|fact| format!("{fact} {} ", self.out.look.dot()));
            format!("{}{words}", before.collect::<String>())
        };
        loop {
            let line = match keyboard.next(&prompt, echo).await {
                Typed::Line(line) => line,
                Typed::End => return TypedInput::Step(Step::Left),
                Typed::Interrupt => return TypedInput::Step(Step::Interrupted),
            };
            match parse::command(&line) {
                Some(Command::Reject(message)) => return TypedInput::Step(Step::No(NoRequest { message, stop: false })),
                Some(Command::Snooze) => return TypedInput::Step(Step::Snooze),
                Some(Command::Help) => self.out.line(help),
                None => return TypedInput::Line(parse::literal(&line).to_owned()),
            }
        }
    }

    /// Asks the questions one after the other and repeats a question until the line is valid.
    async fn questions(&self, keyboard: &mut Keyboard) -> Result<Step, Failure> {
        let (out, questions) = (self.out, &self.ask.questions);
        keyboard.forget();
        let mut answers = Vec::with_capacity(questions.len());
        for (index, question) in questions.iter().enumerate() {
            out.line(&render::question(question, &out.look));
            if index == 0 {
                out.line(&out.look.paint(Style::Dim, "Or type /reject [reason], /snooze or /help."));
            }
            let echo = if question.secret { Echo::Hidden } else { Echo::Shown };
            let (words, help) = (render::select(question), render::question_help(question));
            loop {
                match self.read(&words, &help, echo, keyboard).await {
                    TypedInput::Line(line) => match parse::answer(question, &line) {
                        Ok(entries) => {
                            answers.push(entries);
                            break;
                        }
                        Err(problem) => out.line(&problem),
                    },
                    TypedInput::Step(step) => return Ok(step),
                }
            }
        }
        Ok(Step::Answer(answers))
    }

    async fn decide(&self, approval: &Approval, keyboard: &mut Keyboard) -> Result<Step, Failure> {
        let out = self.out;
        keyboard.forget();
        let (words, help) = (render::decide(approval), render::approval_help(approval));
        loop {
            let line = match self.read(&words, &help, Echo::Shown, keyboard).await {
                TypedInput::Line(line) => line,
                TypedInput::Step(Step::No(_)) if !approval.allows(ApprovalDecision::Deny) => {
                    out.line(&words::not_allowed(approval, ApprovalDecision::Deny));
                    continue;
                }
                TypedInput::Step(step) => return Ok(step),
            };
            match parse::decision(approval, &line) {
                Ok(Decision::Approve(choice)) => {
                    return Ok(Step::Approve(ApproveRequest { choice, ..ApproveRequest::default() }));
                }
                Ok(Decision::Edit) => match editor::edit_json(&approval.input)? {
                    Some(input) => return Ok(Step::Approve(ApproveRequest { input: Some(input), ..ApproveRequest::default() })),
                    None => out.line("The input is unchanged. Nothing was sent."),
                },
                Ok(Decision::Deny) => return Ok(Step::No(NoRequest::default())),
                Ok(Decision::DenyAndStop) => return Ok(Step::No(NoRequest { message: None, stop: true })),
                Ok(Decision::DenyWithReason) => return Ok(self.reason(keyboard).await),
                Ok(Decision::Help) => out.line(&help),
                Err(problem) => out.line(&problem),
            }
        }
    }

    async fn follow_link(&self, url: &str, keyboard: &mut Keyboard) -> Result<Step, Failure> {
        let out = self.out;
        keyboard.forget();
        loop {
            let line = match self.read(render::DONE, render::LINK_HELP, Echo::Shown, keyboard).await {
                TypedInput::Line(line) => line,
                TypedInput::Step(step) => return Ok(step),
            };
            match parse::link(&line) {
                Ok(LinkDecision::Done) => return Ok(Step::Approve(ApproveRequest::default())),
                Ok(LinkDecision::Open) => match editor::open_in_browser(url) {
                    Ok(()) => {}
                    Err(failure) => out.line(&failure.to_string()),
                },
                Ok(LinkDecision::Deny) => return Ok(Step::No(NoRequest::default())),
                Ok(LinkDecision::DenyWithReason) => return Ok(self.reason(keyboard).await),
                Ok(LinkDecision::Help) => out.line(render::LINK_HELP),
                Err(problem) => out.line(&problem),
            }
        }
    }

    async fn reason(&self, keyboard: &mut Keyboard) -> Step {
        match keyboard.next(&|| "Why? The agent will see this: ".to_owned(), Echo::Shown).await {
            Typed::Line(line) => {
                let message = Some(line.trim().to_owned()).filter(|message| !message.is_empty());
                Step::No(NoRequest { message, stop: false })
            }
            Typed::End => Step::Left,
            Typed::Interrupt => Step::Interrupted,
        }
    }
}
