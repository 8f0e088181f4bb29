//! Between an ask and the person at the keyboard. Whoever decides first, wins: while the prompt is
//! open, the ask is watched, and when somebody else decides it the prompt closes and says who.

use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, Approval, ApproveRequest, Ask, AskKind, NoRequest};
use sayso_client::api::error::ErrorCode;

use super::parse::{self, Decision, LinkDecision};
use super::render;
use crate::editor;
use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::{Keyboard, Typed};
use crate::words;

/// How a prompt ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The person decided here.
    Decided(Box<Ask>),
    /// Somebody or something else was first.
    Elsewhere(Box<Ask>),
    /// The person left it for later (Ctrl-D).
    Left,
    /// Ctrl-C.
    Interrupted,
}

/// What the person wants to be sent.
enum Step {
    Answer(Vec<Vec<String>>),
    Approve(ApproveRequest),
    No(NoRequest),
    Left,
    Interrupted,
}

/// Shows an ask and takes the person's decision.
pub(crate) async fn run(out: &Output, client: &Client, ask: &Ask, keyboard: &mut Keyboard) -> Result<Ended, Failure> {
    out.line(&render::banner(ask, &out.look));
    loop {
        let step = tokio::select! {
            biased;
            decided = client.wait_for_outcome(&ask.id) => return Ok(closed(out, decided?)),
            step = converse(out, ask, keyboard) => step?,
        };
        let sent = match step {
            Step::Answer(answers) => client.answer(&ask.id, &AnswerRequest { answers, note: None }).await,
            Step::Approve(yes) => client.approve(&ask.id, &yes).await,
            Step::No(no) => client.deny(&ask.id, &no).await,
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
            Err(error) if error.already_resolved().is_some() => return Ok(closed(out, client.ask(&ask.id).await?)),
            // The server knows better what fits; the ask is still pending.
            Err(error) if error.code() == Some(ErrorCode::InvalidAnswers) => out.line(&Failure::from(error).to_string()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn closed(out: &Output, decided: Ask) -> Ended {
    let how = decided.outcome.as_ref().map(words::outcome).unwrap_or_default();
    out.line(&format!("\n{how} Nothing was sent from here.\n{}", render::rule(&out.look)));
    Ended::Elsewhere(Box::new(decided))
}

async fn converse(out: &Output, ask: &Ask, keyboard: &mut Keyboard) -> Result<Step, Failure> {
    match (ask.kind, &ask.approval, &ask.link) {
        (AskKind::Question, _, _) => questions(out, ask, keyboard).await,
        (AskKind::Approval, Some(approval), _) => {
            out.line(&render::approval(ask, approval, &out.look));
            decide(out, approval, keyboard).await
        }
        (AskKind::Link, _, Some(link)) => {
            out.line(&render::link(link, &out.look));
            follow_link(out, &link.url, keyboard).await
        }
        (AskKind::Approval, None, _) | (AskKind::Link, _, None) => {
            Err(Failure::new("The server sent an ask without its content.").then("Look at it with: sayso show ID --json"))
        }
    }
}

/// One question after the other; each is asked again until the line can be meant.
async fn questions(out: &Output, ask: &Ask, keyboard: &mut Keyboard) -> Result<Step, Failure> {
    let mut answers = Vec::with_capacity(ask.questions.len());
    for question in &ask.questions {
        out.line(&render::question(question, &out.look));
        loop {
            // Nothing is shown any more when the words invite to type.
            let hidden = if question.secret { keyboard.hide() } else { None };
            out.write(&render::select(question));
            let typed = keyboard.next().await;
            drop(hidden);
            match typed {
                Typed::Line(line) => match parse::answer(question, &line) {
                    Ok(entries) => {
                        answers.push(entries);
                        break;
                    }
                    Err(problem) => out.line(&problem),
                },
                Typed::End => return Ok(Step::Left),
                Typed::Interrupt => return Ok(Step::Interrupted),
            }
        }
    }
    Ok(Step::Answer(answers))
}

async fn decide(out: &Output, approval: &Approval, keyboard: &mut Keyboard) -> Result<Step, Failure> {
    keyboard.forget();
    loop {
        out.write(&render::decide(approval));
        let line = match keyboard.next().await {
            Typed::Line(line) => line,
            Typed::End => return Ok(Step::Left),
            Typed::Interrupt => return Ok(Step::Interrupted),
        };
        match parse::decision(approval, &line) {
            Ok(Decision::Approve(choice)) => return Ok(Step::Approve(ApproveRequest { choice, input: None })),
            Ok(Decision::Edit) => match editor::edit_json(&approval.input)? {
                Some(input) => return Ok(Step::Approve(ApproveRequest { choice: None, input: Some(input) })),
                None => out.line("The input is unchanged. Nothing was sent."),
            },
            Ok(Decision::Deny) => return Ok(Step::No(NoRequest::default())),
            Ok(Decision::DenyAndStop) => return Ok(Step::No(NoRequest { message: None, stop: true })),
            Ok(Decision::DenyWithReason) => return reason(out, keyboard).await,
            Ok(Decision::Help) => out.line(&render::approval_help(approval)),
            Err(problem) => out.line(&problem),
        }
    }
}

async fn follow_link(out: &Output, url: &str, keyboard: &mut Keyboard) -> Result<Step, Failure> {
    keyboard.forget();
    loop {
        out.write(render::DONE);
        let line = match keyboard.next().await {
            Typed::Line(line) => line,
            Typed::End => return Ok(Step::Left),
            Typed::Interrupt => return Ok(Step::Interrupted),
        };
        match parse::link(&line) {
            Ok(LinkDecision::Done) => return Ok(Step::Approve(ApproveRequest::default())),
            Ok(LinkDecision::Open) => match editor::open_in_browser(url) {
                Ok(()) => {}
                Err(failure) => out.line(&failure.to_string()),
            },
            Ok(LinkDecision::Deny) => return Ok(Step::No(NoRequest::default())),
            Ok(LinkDecision::DenyWithReason) => return reason(out, keyboard).await,
            Ok(LinkDecision::Help) => out.line(render::LINK_HELP),
            Err(problem) => out.line(&problem),
        }
    }
}

async fn reason(out: &Output, keyboard: &mut Keyboard) -> Result<Step, Failure> {
    out.write("Why not? The agent gets your words: ");
    match keyboard.next().await {
        Typed::Line(line) => {
            let message = Some(line.trim().to_owned()).filter(|message| !message.is_empty());
            Ok(Step::No(NoRequest { message, stop: false }))
        }
        Typed::End => Ok(Step::Left),
        Typed::Interrupt => Ok(Step::Interrupted),
    }
}
