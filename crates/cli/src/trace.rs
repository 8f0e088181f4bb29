//! Formats the events of a run, one line each. Pure: events in, lines out.

use std::collections::BTreeSet;

use sayso_client::api::ask::{Actor, Ask, AskKind, AskStatus, ShownAnswer};
use sayso_client::api::event::{AskEvent, Event, FeedEvent};
use sayso_client::api::run::{QuestionAnswered, RunQuestion, RunStatus, StepNews};
use sayso_core::time::Time;

use crate::output::{Look, Style};
use crate::sanitize;
use crate::words;

/// Maximum width of an output in a line.
const SHOWN: usize = 80;

/// What an event means for the terminal that follows a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Line(String),
    /// Id of a new pending ask, and the line to print.
    Asked(String, String),
    /// Id of an ask that is no longer pending.
    Resolved(String),
    /// The run ended with this status and reason.
    Over(RunStatus, Option<String>),
}

/// State for following one run.
#[derive(Debug)]
pub(crate) struct Trace {
    run: String,
    /// Questions whose line was printed when they were asked.
    asked: BTreeSet<String>,
    /// Asks that were decided in this terminal.
    here: BTreeSet<String>,
}

impl Trace {
    pub(crate) fn of(run: &str) -> Self {
        Self { run: run.to_owned(), asked: BTreeSet::new(), here: BTreeSet::new() }
    }

    /// Records that this ask was decided here.
    pub(crate) fn decided(&mut self, id: &str) {
        self.here.insert(id.to_owned());
    }

    /// Converts one event. Returns nothing for events of other runs.
    pub(crate) fn render_event(&mut self, event: &FeedEvent, look: &Look) -> Vec<Piece> {
        match &event.event {
            Event::AgentQuestionAsked(asked) if asked.run_id == self.run => {
                self.asked.insert(asked.question.id.clone());
                vec![Piece::Asked(asked.question.id.clone(), question(event.at, &asked.step_id, &asked.question, look))]
            }
            Event::AgentQuestionAnswered(done) if done.run_id == self.run => {
                let mut pieces = Vec::new();
                // If a policy decided the question, there was no event when it was asked.
                if !self.asked.remove(&done.question_id) {
                    pieces.push(Piece::Line(question(event.at, &done.step_id, &done.question, look)));
                }
                pieces.push(Piece::Line(self.answered(event.at, done, look)));
                pieces
            }
            Event::QuestionResolved(AskEvent { ask, .. })
            | Event::ApprovalResolved(AskEvent { ask, .. })
            | Event::LinkResolved(AskEvent { ask, .. })
                if self.owns(ask) =>
            {
                vec![Piece::Resolved(ask.id.clone())]
            }
            Event::QuestionRequested(AskEvent { ask, .. })
            | Event::ApprovalRequested(AskEvent { ask, .. })
            | Event::LinkRequested(AskEvent { ask, .. })
                if self.owns(ask) =>
            {
                let what = match (&ask.session_id, ask.kind) {
                    (None, _) => "checkpoint",
                    // Questions have their own event, `agent_question_asked`.
                    (Some(_), AskKind::Question) => return Vec::new(),
                    (Some(_), AskKind::Approval | AskKind::Link) => "agent asks for an approval",
                };
                let step = sanitize::line(ask.step_id.as_deref().unwrap_or_default());
                let line = look.paint(Style::Waiting, &format!("{} ? {step}: {what}", clock(event.at)));
                vec![Piece::Asked(ask.id.clone(), line)]
            }
            Event::StepStarted(news) | Event::StepCompleted(news) | Event::StepFailed(news) | Event::StepCancelled(news)
                if news.run_id == self.run =>
            {
                vec![Piece::Line(step(event.at, news, look))]
            }
            Event::RunCompleted(news) | Event::RunFailed(news) | Event::RunCancelled(news) if news.run_id == self.run => {
                vec![Piece::Over(news.status, news.reason.clone())]
            }
            // Events of other runs, and events that are not shown.
            Event::AgentQuestionAsked(_)
            | Event::AgentQuestionAnswered(_)
            | Event::QuestionResolved(_)
            | Event::ApprovalResolved(_)
            | Event::LinkResolved(_)
            | Event::QuestionRequested(_)
            | Event::ApprovalRequested(_)
            | Event::LinkRequested(_)
            | Event::StepStarted(_)
            | Event::StepCompleted(_)
            | Event::StepFailed(_)
            | Event::StepCancelled(_)
            | Event::RunStarted(_)
            | Event::RunCompleted(_)
            | Event::RunFailed(_)
            | Event::RunCancelled(_)
            | Event::AskParked(_)
            | Event::AskSnoozed(_)
            | Event::AskDelivery(_)
            | Event::SessionCreated(_)
            | Event::SessionStatus(_)
            | Event::SessionEnded(_)
            | Event::MessageDelta(_)
            | Event::MessageCompleted(_)
            | Event::ToolStarted(_)
            | Event::ToolUpdated(_)
            | Event::ToolCompleted(_)
            | Event::Notice(_)
            | Event::Error(_)
            | Event::PolicyChanged(_) => Vec::new(),
        }
    }

    /// Returns true if the ask belongs to this run.
    fn owns(&self, ask: &Ask) -> bool {
        ask.run_id.as_deref() == Some(self.run.as_str())
    }

    fn answered(&self, at: Time, done: &QuestionAnswered, look: &Look) -> String {
        let arrow = if look.ascii { "->" } else { "→" };
        let given = done.answers.iter().enumerate().flat_map(|(index, answer)| match answer {
            ShownAnswer::Entries(entries) => {
                let options = done.question.questions.get(index).map(|question| question.options.as_slice()).unwrap_or_default();
                let is_option = |entry: &String| options.iter().any(|option| option.label == *entry);
                entries.iter().map(|entry| if is_option(entry) { words::label(entry) } else { sanitize::line(entry) }).collect()
            }
            ShownAnswer::Secret { .. } => vec!["(secret)".to_owned()],
        });
        let given = given.collect::<Vec<_>>().join(", ");
        let by = self.by(&done.question_id, &done.by);
        let timed_out = done.by.kind == "timeout";
        let words = match (done.status, timed_out) {
            (AskStatus::Answered | AskStatus::Approved, false) => format!("answered: {given} ({by})"),
            (AskStatus::Answered | AskStatus::Approved, true) => format!("timed out {arrow} first option: {given}"),
            (AskStatus::Rejected | AskStatus::Denied, false) => format!("rejected ({by})"),
            (AskStatus::Rejected | AskStatus::Denied, true) => format!("timed out {arrow} rejected"),
            (AskStatus::Withdrawn | AskStatus::Pending, _) => {
                format!("withdrawn: {}", done.message.as_deref().map(sanitize::line).unwrap_or_default())
            }
        };
        let style = match done.status {
            AskStatus::Answered | AskStatus::Approved => Style::Good,
            AskStatus::Rejected | AskStatus::Denied => Style::Bad,
            AskStatus::Withdrawn | AskStatus::Pending => Style::Dim,
        };
        look.paint(style, &format!("{} {arrow} {}: {words}", clock(at), sanitize::line(&done.step_id)))
    }

    /// Names who decided, for parentheses.
    fn by(&self, ask: &str, by: &Actor) -> String {
        let via = by.via.as_deref().map(|via| format!(", {}", sanitize::line(via))).unwrap_or_default();
        match by.kind.as_str() {
            "policy" => format!("rule {}", by.rule.as_deref().map(sanitize::line).unwrap_or_default()),
            "person" | "message" if self.here.contains(ask) => format!("you{via}"),
            "person" | "message" => format!("{}{via}", by.name.as_deref().map_or_else(|| "someone".to_owned(), sanitize::line)),
            other => sanitize::line(other),
        }
    }
}

fn question(at: Time, step: &str, question: &RunQuestion, look: &Look) -> String {
    let headers = question.questions.iter().map(|item| sanitize::line(&item.header)).collect::<Vec<_>>().join(", ");
    look.paint(Style::Waiting, &format!("{} ? {}: agent asks: {headers}", clock(at), sanitize::line(step)))
}

fn step(at: Time, news: &StepNews, look: &Look) -> String {
    let id = sanitize::line(&news.step_id);
    let reason = || news.step.reason.as_deref().map(sanitize::line).unwrap_or_default();
    let (style, words) = match news.step.status.as_str() {
        "completed" => {
            let output = news.step.output.as_deref().map(sanitize::line).unwrap_or_default();
            (Style::Dim, format!("done: {}", words::cut(&output, SHOWN, look.ellipsis())))
        }
        "failed" => (Style::Bad, format!("failed: {}", reason())),
        "cancelled" => (Style::Dim, format!("cancelled: {}", reason())),
        "waiting" => (Style::Dim, "the run pauses".to_owned()),
        _ => match (&news.step.agent, news.step.attempts) {
            (Some(agent), 0 | 1) => (Style::Dim, format!("started ({})", sanitize::line(agent))),
            (Some(agent), again) => (Style::Dim, format!("started again ({}, attempt {again})", sanitize::line(agent))),
            (None, _) => (Style::Dim, "started".to_owned()),
        },
    };
    look.paint(style, &format!("{}   {id}: {words}", clock(at)))
}

/// Formats the local time of day with seconds.
fn clock(at: Time) -> String {
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string(),
        Err(_) => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{feed_event, look};
    use serde_json::{Value, json};

    fn make_question_event() -> Value {
        json!({"runId": "run_1", "stepId": "plan", "sessionId": "ses_1", "timestamp": "2026-11-15T12:01:07Z", "question": {
        "id": "ask_1", "stepId": "plan", "sessionId": "ses_1", "askedAt": "2026-11-15T12:01:07Z",
        "questions": [
            {"question": "Which?", "header": "Database Strategy", "options": [], "multiple": false, "custom": true},
            {"question": "And?", "header": "Cache", "options": [], "multiple": false, "custom": true},
        ]}})
    }

    fn answered(status: &str, by: Value) -> Value {
        let mut data = make_question_event();
        data["questionId"] = json!("ask_1");
        data["status"] = json!(status);
        data["answers"] = if status == "answered" { json!([["SQLite"], ["None"]]) } else { json!([]) };
        data["by"] = by;
        data
    }

    fn lines(trace: &mut Trace, kind: &'static str, data: &Value) -> Vec<String> {
        trace
            .render_event(&feed_event(kind, data), &look())
            .into_iter()
            .map(|piece| match piece {
                // The time depends on the time zone, so it is not compared.
                Piece::Line(line) | Piece::Asked(_, line) => line.get(9..).unwrap_or_default().to_owned(),
                Piece::Over(status, _) => format!("{status:?}"),
                Piece::Resolved(id) => id,
            })
            .collect()
    }

    #[test]
    fn question_and_answer_print_one_line_each() {
        let mut trace = Trace::of("run_1");
        assert_eq!(
            lines(&mut trace, "agent_question_asked", &make_question_event()),
            ["? plan: agent asks: Database Strategy, Cache"]
        );
        trace.decided("ask_1");
        let by = json!({"kind": "person", "name": "ada", "via": "terminal"});
        assert_eq!(
            lines(&mut trace, "agent_question_answered", &answered("answered", by)),
            ["→ plan: answered: SQLite, None (you, terminal)"]
        );
    }

    #[test]
    fn answer_line_names_who_decided() {
        for (status, by, line) in [
            ("answered", json!({"kind": "person", "name": "ada", "via": "page"}), "→ plan: answered: SQLite, None (ada, page)"),
            ("answered", json!({"kind": "policy", "rule": "db"}), "→ plan: answered: SQLite, None (rule db)"),
            ("answered", json!({"kind": "timeout", "after": "30s"}), "→ plan: timed out → first option: SQLite, None"),
            ("rejected", json!({"kind": "timeout", "after": "30s"}), "→ plan: timed out → rejected"),
            ("rejected", json!({"kind": "person", "name": "ada", "via": "http"}), "→ plan: rejected (ada, http)"),
        ] {
            let said = lines(&mut Trace::of("run_1"), "agent_question_answered", &answered(status, by));
            // There was no event when the question was asked, so its line comes first.
            assert_eq!(said, ["? plan: agent asks: Database Strategy, Cache", line]);
        }
    }

    #[test]
    fn questions_are_yellow_and_answers_green() {
        let look = Look { colour: true, ..look() };
        let mut trace = Trace::of("run_1");
        let shown = |pieces: Vec<Piece>| match pieces.into_iter().next() {
            Some(Piece::Line(line) | Piece::Asked(_, line)) => line,
            other => panic!("{other:?}"),
        };
        assert!(
            shown(trace.render_event(&feed_event("agent_question_asked", &make_question_event()), &look))
                .starts_with("\u{1b}[33m")
        );
        let by = json!({"kind": "person", "name": "ada"});
        let answered = feed_event("agent_question_answered", &answered("answered", by));
        assert!(shown(trace.render_event(&answered, &look)).starts_with("\u{1b}[32m"));
    }

    #[test]
    fn other_runs_are_ignored_and_hostile_headers_escaped() {
        assert_eq!(lines(&mut Trace::of("run_2"), "agent_question_asked", &make_question_event()), Vec::<String>::new());
        let mut hostile = make_question_event();
        hostile["question"]["questions"][0]["header"] = json!("\u{1b}[2J");
        let line = lines(&mut Trace::of("run_1"), "agent_question_asked", &hostile).concat();
        assert!(!line.contains('\u{1b}'), "{line}");
    }
}
