//! A scripted person who answers asks.

use anyhow::{Context as _, Result};
use regex::{Regex, RegexBuilder};
use sayso_api::ask::{AnswerRequest, ApproveRequest, Ask, AskKind, AskStatus, NoRequest};
use sayso_client::{Client, StreamItem};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::watch::within;

/// A search pattern: a case-insensitive substring, or `/a regular expression/`.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If the regular expression is invalid.
    pub fn new(text: &str) -> Result<Self> {
        let regex = match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            Some(regex) => Regex::new(regex),
            None => RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build(),
        };
        regex.map(Self).with_context(|| format!("`{text}` is no pattern"))
    }

    /// Whether the pattern matches somewhere in the text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

#[derive(Debug, Clone)]
enum ScriptedReply {
    Answer(Vec<String>),
    Reject(Option<String>),
    Approve,
    Deny(Option<String>),
}

/// A decision of the script.
#[derive(Debug, Clone, PartialEq)]
pub enum Decided {
    /// This answerer decided; contains the resolved ask.
    Here(Box<Ask>),
    /// The ask was already resolved by someone else.
    Elsewhere { ask: String },
}

/// A script of replies. Asks without a matching line are ignored.
#[derive(Debug, Clone, Default)]
pub struct Answerer {
    lines: Vec<(Pattern, ScriptedReply)>,
}

impl Answerer {
    /// Creates an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers questions with these entries if the pattern matches the header or the text. An ask with several
    /// questions is answered when each of them has a matching line.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn on(self, pattern: &str, answers: &[&str]) -> Result<Self> {
        self.add(pattern, ScriptedReply::Answer(answers.iter().map(|&entry| entry.to_owned()).collect()))
    }

    /// Rejects asks with a matching question.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn reject(self, pattern: &str, message: Option<&str>) -> Result<Self> {
        self.add(pattern, ScriptedReply::Reject(message.map(str::to_owned)))
    }

    /// Approves tool calls, plans and links if the pattern matches the tool, title, command or URL.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn approve(self, pattern: &str) -> Result<Self> {
        self.add(pattern, ScriptedReply::Approve)
    }

    /// Denies matching tool calls, plans and links.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn deny(self, pattern: &str, message: Option<&str>) -> Result<Self> {
        self.add(pattern, ScriptedReply::Deny(message.map(str::to_owned)))
    }

    fn add(mut self, pattern: &str, reply: ScriptedReply) -> Result<Self> {
        self.lines.push((Pattern::new(pattern)?, reply));
        Ok(self)
    }

    /// Answers pending and future asks until it is stopped.
    #[must_use]
    pub fn run(self, client: Client) -> RunningAnswerer {
        // The test may read decisions late; the answerer waits if this many are unread.
        let (decided, decisions) = mpsc::channel(1024);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            tokio::select! {
                result = self.answer_all(&client, &decided) => result,
                _ = stopped => Ok(()),
            }
        });
        RunningAnswerer { task, stop, decisions }
    }

    async fn answer_all(&self, client: &Client, decided: &mpsc::Sender<Decided>) -> Result<()> {
        let mut from = None;
        loop {
            let page = client.pending_asks().await?;
            for ask in &page.data {
                self.decide(client, ask, decided).await?;
            }
            let mut stream = client.events(Some(from.take().unwrap_or(page.seq)));
            loop {
                match stream.next().await? {
                    StreamItem::Event(event) => {
                        if let Some(carried) = event.event.ask().filter(|_| event.name().ends_with(".requested")) {
                            self.decide(client, &carried.ask, decided).await?;
                        }
                    }
                    StreamItem::Reconnecting { .. } | StreamItem::Reconnected => {}
                    StreamItem::Reset { seq } => {
                        from = Some(seq);
                        break;
                    }
                }
            }
        }
    }

    /// Decides one ask if the script has a matching line.
    async fn decide(&self, client: &Client, ask: &Ask, decided: &mpsc::Sender<Decided>) -> Result<()> {
        if ask.status != AskStatus::Pending {
            return Ok(());
        }
        let Some(reply) = self.reply_to(ask) else { return Ok(()) };
        let id = &ask.id;
        let done = match reply {
            ScriptedDecision::Answers(answers) => client.answer(id, &AnswerRequest { answers, note: None }).await,
            ScriptedDecision::Reject(message) => client.reject(id, &NoRequest { message, stop: false }).await,
            ScriptedDecision::Approve => client.approve(id, &ApproveRequest::default()).await,
            ScriptedDecision::Deny(message) => client.deny(id, &NoRequest { message, stop: false }).await,
        };
        let what = match done {
            Ok(ask) => Decided::Here(Box::new(ask)),
            Err(error) if error.already_resolved().is_some() || error.is_not_found() => Decided::Elsewhere { ask: id.clone() },
            Err(error) => return Err(error.into()),
        };
        // The error is ignored: the test may have dropped the receiver.
        let _ = decided.send(what).await;
        Ok(())
    }

    fn reply_to(&self, ask: &Ask) -> Option<ScriptedDecision> {
        let find = |texts: &[&str]| {
            self.lines.iter().find(|(pattern, _)| texts.iter().any(|text| pattern.matches(text))).map(|(_, reply)| reply)
        };
        match ask.kind {
            AskKind::Question => {
                let mut answers = Vec::with_capacity(ask.questions.len());
                for question in &ask.questions {
                    match find(&[question.header.as_deref().unwrap_or_default(), &question.text])? {
                        ScriptedReply::Answer(entries) => answers.push(entries.clone()),
                        ScriptedReply::Reject(message) => return Some(ScriptedDecision::Reject(message.clone())),
                        ScriptedReply::Approve | ScriptedReply::Deny(_) => return None,
                    }
                }
                Some(ScriptedDecision::Answers(answers))
            }
            AskKind::Approval | AskKind::Link => {
                let approval = ask.approval.as_ref();
                let texts = [
                    approval.map(|approval| approval.tool.as_str()),
                    approval.map(|approval| approval.title.as_str()),
                    approval.and_then(|approval| approval.command.as_deref()),
                    ask.link.as_ref().map(|link| link.url.as_str()),
                ];
                match find(&texts.map(Option::unwrap_or_default))? {
                    ScriptedReply::Approve => Some(ScriptedDecision::Approve),
                    ScriptedReply::Deny(message) => Some(ScriptedDecision::Deny(message.clone())),
                    ScriptedReply::Answer(_) | ScriptedReply::Reject(_) => None,
                }
            }
        }
    }
}

#[derive(Debug, PartialEq)]
enum ScriptedDecision {
    Answers(Vec<Vec<String>>),
    Reject(Option<String>),
    Approve,
    Deny(Option<String>),
}

/// A running answerer. It stops when it is dropped.
#[derive(Debug)]
pub struct RunningAnswerer {
    task: JoinHandle<Result<()>>,
    stop: oneshot::Sender<()>,
    decisions: mpsc::Receiver<Decided>,
}

impl RunningAnswerer {
    /// The next decision.
    ///
    /// # Errors
    /// If no decision is made, or if the answerer failed.
    pub async fn next(&mut self) -> Result<Decided> {
        within("a decision", async { self.decisions.recv().await.context("the answerer has stopped") }).await
    }

    /// Stops the answerer and returns its unread decisions.
    ///
    /// # Errors
    /// The first error of the answerer.
    pub async fn stop(mut self) -> Result<Vec<Decided>> {
        // The error is ignored: the answerer may have stopped by itself.
        let _ = self.stop.send(());
        let mut decided = Vec::new();
        while let Some(next) = self.decisions.recv().await {
            decided.push(next);
        }
        self.task.await.context("the answerer broke")??;
        Ok(decided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_substrings_or_regular_expressions() {
        assert!(Pattern::new("data").unwrap().matches("Which DATAbase?"));
        assert!(!Pattern::new("d.t").unwrap().matches("Database"));
        assert!(Pattern::new("/^Data.*e$/").unwrap().matches("Database"));
        assert!(!Pattern::new("/^data/").unwrap().matches("Database"));
        assert!(Pattern::new("/(/").is_err());
    }
}
