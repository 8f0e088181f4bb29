//! Frames: one event of the feed, and the bytes that a native stream sends for it.

use std::io::{self, Write};
use std::sync::OnceLock;

use bytes::Bytes;
use sayso_api::event::{AskEvent, Event, FeedEvent};
use sayso_api::run::{QuestionAnswered, QuestionAsked};
use sayso_core::ask::Ask;
use sayso_core::id::{BlockId, SessionId};
use sayso_core::scope::{Scope, Visible};
use sayso_core::time::Time;
use sayso_store::{EventPayload, StoredEvent, WorkspaceId};
use serde::Serialize;

use super::{shorten, wire};

/// The maximum size of a frame. Larger asks are shortened and marked `truncated`.
pub(super) const FRAME_MAX: usize = 64 * 1024;

/// A fragment of a message, for streams that are open now. It is not stored and has no `seq`.
#[derive(Debug, Clone)]
pub(crate) struct LiveEvent {
    pub(crate) workspace: WorkspaceId,
    pub(crate) session: SessionId,
    pub(crate) at: Time,
    /// The message. The block of the complete message has the same id.
    pub(crate) message: BlockId,
    pub(crate) text: String,
}

/// The event in a frame.
#[derive(Debug)]
pub(crate) enum Item {
    /// An event of the feed.
    Stored(StoredEvent),
    /// A live-only event.
    Live(LiveEvent),
}

/// One event and its bytes, which are rendered when first requested. All streams that send the event share the frame.
#[derive(Debug)]
pub(crate) struct Frame {
    item: Item,
    native: OnceLock<Bytes>,
}

impl Frame {
    pub(crate) const fn stored(event: StoredEvent) -> Self {
        Self { item: Item::Stored(event), native: OnceLock::new() }
    }

    pub(crate) const fn live(event: LiveEvent) -> Self {
        Self { item: Item::Live(event), native: OnceLock::new() }
    }

    /// Returns the event, for surfaces that render it in their own protocol.
    pub(crate) const fn item(&self) -> &Item {
        &self.item
    }

    /// Returns the position in the feed.
    pub(crate) const fn seq(&self) -> Option<i64> {
        match &self.item {
            Item::Stored(event) => Some(event.seq),
            Item::Live(_) => None,
        }
    }

    /// Returns the session that the event belongs to.
    pub(crate) const fn session(&self) -> Option<SessionId> {
        match &self.item {
            Item::Stored(event) => event.session,
            Item::Live(event) => Some(event.session),
        }
    }

    /// Returns whether a token with this scope can see the event. Events about an ask follow the ask; all others follow their
    /// session.
    pub(crate) fn visible_to(&self, scope: &Scope) -> bool {
        let session = self.session();
        if let Item::Stored(event) = &self.item {
            if let Some(ask) = event.payload.ask() {
                return scope.sees(Visible { session, labels: &ask.context.labels, opened_by: ask.origin.opened_by });
            }
            if let Some(audience) = &event.audience {
                return scope.sees(Visible { session, labels: &audience.labels, opened_by: audience.opened_by });
            }
        }
        // Events without a session and live-only events have neither labels nor an owner.
        match scope {
            Scope::All => true,
            Scope::Session { session: own } => session == Some(*own),
            Scope::Labels { .. } | Scope::Asker { .. } | Scope::OpenedBy { .. } => false,
        }
    }

    /// Returns the complete event as a value. `None` if clients have no use for it.
    pub(crate) fn event(&self) -> Option<FeedEvent> {
        match &self.item {
            Item::Stored(event) => Some(envelope(event, wire::event_of(&event.payload)?)),
            Item::Live(live) => {
                let session_id = Some(live.session.to_string());
                Some(FeedEvent { seq: None, at: live.at, session_id, event: wire::live_event(live) })
            }
        }
    }

    /// Returns the bytes of the native stream. Empty if clients have no use for the event.
    pub(crate) fn native(&self) -> &Bytes {
        self.native.get_or_init(|| Bytes::from(self.render().unwrap_or_default()))
    }

    fn render(&self) -> Option<Vec<u8>> {
        if let Item::Stored(event) = &self.item {
            match &event.payload {
                EventPayload::AskRequested(ask) => {
                    return bounded_ask(ask, |shown| envelope(event, wire::requested(ask.kind(), shown)));
                }
                EventPayload::AskResolved(ask) => {
                    return bounded_ask(ask, |shown| envelope(event, wire::resolved(ask.kind(), shown)));
                }
                EventPayload::AgentQuestionAsked(ask) => {
                    let asked = QuestionAsked::of(ask);
                    let shown = bounded_question(ask, asked, QuestionAsked::shorten);
                    return sse(&envelope(event, Event::AgentQuestionAsked(shown)), usize::MAX);
                }
                EventPayload::AgentQuestionAnswered(ask) => {
                    let shown = bounded_question(ask, QuestionAnswered::of(ask)?, QuestionAnswered::shorten);
                    return sse(&envelope(event, Event::AgentQuestionAnswered(shown)), usize::MAX);
                }
                EventPayload::AskParked { .. }
                | EventPayload::AskSnoozed { .. }
                | EventPayload::AskDelivery { .. }
                | EventPayload::SessionCreated(_)
                | EventPayload::SessionStatus(_)
                | EventPayload::Block { .. }
                | EventPayload::Notice { .. }
                | EventPayload::PolicyChanged { .. }
                | EventPayload::Run(_)
                | EventPayload::Step(_) => {}
            }
        }
        sse(&self.event()?, usize::MAX)
    }

    /// Returns the approximate memory use in bytes, including the rendered bytes.
    pub(super) fn weight(&self) -> usize {
        const FIXED: usize = 512;
        FIXED
            + match &self.item {
                Item::Stored(event) => {
                    let size = event.payload.text_size();
                    match event.payload.ask() {
                        Some(ask) => size + ask.text_size().min(FRAME_MAX),
                        None => 2 * size,
                    }
                }
                Item::Live(event) => 2 * event.text.len(),
            }
    }
}

fn envelope(stored: &StoredEvent, event: Event) -> FeedEvent {
    FeedEvent { seq: Some(stored.seq), at: stored.at, session_id: stored.session.map(|id| id.to_string()), event }
}

/// The frame of an event that carries an ask. A large ask is shortened step by step until the frame fits.
fn bounded_ask(ask: &Ask, envelope: impl Fn(AskEvent) -> FeedEvent) -> Option<Vec<u8>> {
    if ask.text_size() <= FRAME_MAX
        && let Some(whole) = sse(&envelope(AskEvent::from(ask)), FRAME_MAX)
    {
        return Some(whole);
    }
    let mut shown = AskEvent::from(&shorten::without_bulk(ask));
    shown.ask.truncated = true;
    for shorten in shorten::STEPS {
        shorten(&mut shown);
        if let Some(short) = sse(&envelope(shown.clone()), FRAME_MAX) {
            return Some(short);
        }
    }
    // Unreachable, because the result of the last step always fits.
    None
}

/// The payload of a question of a step's agent, or of its outcome, shortened if it is large.
fn bounded_question<T: Serialize>(ask: &Ask, mut payload: T, shorten: fn(&mut T)) -> T {
    let is_large = || serde_json::to_vec(&payload).is_ok_and(|json| json.len() >= FRAME_MAX - 1024);
    if ask.text_size() > FRAME_MAX || is_large() {
        shorten(&mut payload);
    }
    payload
}

/// The event as a frame of a stream, if it is not larger than `limit`.
fn sse(event: &FeedEvent, limit: usize) -> Option<Vec<u8>> {
    let mut out = Bounded { out: Vec::with_capacity(1024), limit };
    let written = write_sse(&mut out, event);
    let Bounded { mut out, .. } = out;
    written.ok()?;
    // Line breaks occur only between tokens of verbatim JSON, where a space is equivalent. In a stream they would end the
    // `data:` line.
    let data = out.windows(DATA.len()).position(|bytes| bytes == DATA)?;
    let end = out.len() - END.len();
    for byte in &mut out[data + DATA.len()..end] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    Some(out)
}

const DATA: &[u8] = b"\ndata: ";
const END: &[u8] = b"\n\n";

fn write_sse(out: &mut Bounded, event: &FeedEvent) -> io::Result<()> {
    if let Some(seq) = event.seq {
        writeln!(out, "id: {seq}")?;
    }
    write!(out, "event: {}", event.name())?;
    out.write_all(DATA)?;
    serde_json::to_writer(&mut *out, event)?;
    out.write_all(END)
}

/// A writer that fails at the limit, so that megabytes are not rendered only to be discarded.
struct Bounded {
    out: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.out.len() + bytes.len() > self.limit {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use sayso_core::ask::{Action, Approval, AskBody, Choice, Decision, Preview, Question, QuestionOption};
    use sayso_core::id::{BlockId, TokenId};
    use sayso_core::raw::Raw;
    use sayso_core::transcript::{Block, BlockBody, ToolStatus};
    use sayso_store::ToolProgress;
    use serde_json::{Value, json};

    use super::super::fixture;
    use super::*;

    /// Parses a frame like a client: header fields, then the data.
    fn read(frame: &Frame) -> (BTreeMap<String, String>, Value) {
        let text = std::str::from_utf8(frame.native()).unwrap();
        let body = text.strip_suffix("\n\n").unwrap();
        let fields: BTreeMap<_, _> =
            body.lines().map(|line| line.split_once(": ").unwrap()).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let event: FeedEvent = serde_json::from_str(&fields["data"]).unwrap();
        assert_eq!(event.name(), fields["event"]);
        assert_eq!(event.seq.map(|seq| seq.to_string()).as_ref(), fields.get("id"));
        (fields.clone(), serde_json::from_str(&fields["data"]).unwrap())
    }

    #[test]
    fn question_event_has_the_native_ask_and_the_question_rest_object() {
        let session = fixture::session(1);
        let ask = fixture::question("Which database?");
        let frame = Frame::stored(fixture::make_ask_event(42, Some(session), ask.clone()));
        let (_, data) = read(&frame);
        let mut expected = serde_json::to_value(sayso_api::ask::Ask::from(&ask)).unwrap();
        expected["question"] = serde_json::to_value(sayso_api::compat::QuestionEventData::from(&ask)).unwrap();
        assert_eq!(
            data,
            json!({"seq":42,"at":"1970-01-01T00:00:00.042Z","type":"question.requested","sessionId":session.to_string(),"data":expected})
        );
    }

    #[test]
    fn event_name_follows_the_ask_kind_and_plans_have_a_question_object() {
        let mut ask = fixture::approval(Action::Other);
        let name = |payload: fn(Arc<Ask>) -> EventPayload, ask: &Ask| {
            let mut event = fixture::make_ask_event(1, None, ask.clone());
            event.payload = payload(Arc::new(ask.clone()));
            let (fields, data) = read(&Frame::stored(event));
            (fields["event"].clone(), data["data"]["question"].is_object())
        };
        assert_eq!(name(EventPayload::AskRequested, &ask), ("approval.requested".to_owned(), false));
        ask.body = fixture::approval(Action::Plan).body;
        assert_eq!(name(EventPayload::AskRequested, &ask), ("approval.requested".to_owned(), true));
        fixture::decide(&mut ask, Decision::Approved { choice: None, input: None });
        assert_eq!(name(EventPayload::AskResolved, &ask), ("approval.resolved".to_owned(), true));
    }

    #[test]
    fn tool_input_is_sent_verbatim_on_one_line() {
        let input = Raw::parse("{\n  \"id\": \"a\\nb\",\r\n  \"n\": 1.00\n}".to_owned()).unwrap();
        let body = BlockBody::Tool {
            tool_call_id: "t".to_owned(),
            name: "Bash".to_owned(),
            input: Some(input),
            output: None,
            status: ToolStatus::Running,
        };
        let block = Block { id: BlockId::new(Time::from_millis(1), [7; 10]), at: Time::from_millis(2), subagent: None, body };
        let mut event = fixture::noted(7, Some(fixture::session(1)));
        event.payload = EventPayload::Block { block: Box::new(block.clone()), tool: ToolProgress::Started };
        let frame = Frame::stored(event);
        let (fields, data) = read(&frame);
        assert_eq!(fields["event"], "tool.started");
        assert_eq!(data["data"], serde_json::to_value(&block).unwrap());
        assert!(fields["data"].contains(r#""input":{   "id": "a\nb",    "n": 1.00 }"#), "{}", fields["data"]);
    }

    #[test]
    fn live_event_has_no_seq() {
        let frame = Frame::live(fixture::delta(fixture::session(1), "hi"));
        let (fields, data) = read(&frame);
        assert_eq!((fields.get("id"), fields["event"].as_str()), (None, "message.delta"));
        let message = BlockId::new(Time::from_millis(1), [7; 10]).to_string();
        assert_eq!(data["data"], json!({"messageId": message, "text": "hi"}));
        assert_eq!(frame.seq(), None);
    }

    #[test]
    fn frame_stays_within_its_limit_for_any_ask() {
        let huge = "\u{1}é".repeat(128 * 1024);
        let long = "\u{7}".repeat(8 * 1024);
        let option = QuestionOption {
            value: long.clone(),
            label: long.clone(),
            description: Some(long.clone()),
            preview: Some(long.clone()),
        };
        let question = Question {
            key: "0".to_owned(),
            header: Some(long.clone()),
            text: long.clone(),
            input: sayso_core::ask::Input::Choice { options: vec![option; 64], multiple: true, custom: true },
            required: true,
            response_schema: None,
        };
        let approval = |action: Action, preview: Preview| {
            AskBody::Approval(Approval {
                tool: long.clone(),
                action,
                title: long.clone(),
                input: Raw::of(&json!({"command": huge})),
                preview: Some(preview),
                choices: vec![Choice { id: long.clone(), label: long.clone() }; 64],
                editable: true,
                allowed_decisions: None,
                input_schema: None,
                reason: Some(long.clone()),
            })
        };
        let bodies = [
            AskBody::Question { questions: vec![question; 16] },
            approval(Action::Run { command: huge.clone() }, Preview::Command { command: huge.clone(), cwd: None }),
            approval(Action::Edit { paths: vec![long.clone(); 512] }, Preview::Text { text: huge.clone() }),
            approval(Action::Plan, Preview::Plan { text: huge.clone() }),
            AskBody::Link(sayso_core::ask::Link { url: long.clone(), message: Some(long.clone()) }),
        ];
        for body in bodies {
            let mut ask = fixture::question("small");
            let kind = body.kind();
            ask.body = body.into();
            Arc::make_mut(&mut ask.context).title = long.clone();
            Arc::make_mut(&mut ask.context).tool_call_id = Some(long.clone());
            Arc::make_mut(&mut ask.context).context = Some(huge.clone());
            Arc::make_mut(&mut ask.context).labels =
                (0..32).map(|n| (format!("{n}{}", &long[..250]), long[..256].to_owned())).collect();
            ask.policy.why = Some(huge.clone());
            for decided in [false, true] {
                if decided {
                    let answers = vec![vec![long.clone(); 8]; 16];
                    fixture::decide(&mut ask, Decision::Answered { answers, note: Some(huge.clone()) });
                }
                let frame = Frame::stored(fixture::make_ask_event(9, None, ask.clone()));
                assert!(frame.native().len() <= FRAME_MAX, "{kind:?} {}", frame.native().len());
                let (_, data) = read(&frame);
                assert_eq!(data["data"]["truncated"], json!(true), "{kind:?}");
                assert_eq!(data["data"]["id"], json!(ask.id.to_string()));
            }
        }
    }

    #[test]
    fn large_diff_loses_only_its_preview() {
        let mut ask = fixture::approval(Action::Edit { paths: vec!["src/main.rs".to_owned()] });
        if let AskBody::Approval(approval) = Arc::make_mut(&mut ask.body) {
            approval.preview = Some(Preview::Text { text: "x".repeat(FRAME_MAX) });
        }
        let (_, data) = read(&Frame::stored(fixture::make_ask_event(1, None, ask)));
        assert_eq!(data["data"]["truncated"], json!(true));
        assert_eq!(data["data"]["approval"]["preview"], json!(null));
        assert_eq!(data["data"]["approval"]["paths"], json!(["src/main.rs"]));
    }

    #[test]
    fn scope_covers_asks_by_label_and_other_events_by_session() {
        let (mine, other) = (fixture::session(1), fixture::session(2));
        let team = |value: &str| Scope::Labels { labels: [("team".to_owned(), value.to_owned())].into() };
        let token = TokenId::new(Time::from_millis(1), [4; 10]);
        let mut ask = fixture::question("q");
        Arc::make_mut(&mut ask.context).labels = [("team".to_owned(), "a".to_owned())].into();
        ask.origin.opened_by = Some(token);
        let asked = Frame::stored(fixture::make_ask_event(1, Some(mine), ask));
        let noted = Frame::stored(fixture::noted(2, Some(mine)));
        let live = Frame::live(fixture::delta(mine, "x"));
        let scopes = [
            Scope::All,
            Scope::Session { session: mine },
            Scope::Session { session: other },
            team("a"),
            team("b"),
            Scope::OpenedBy { token },
        ];
        let seen = |frame: &Frame| scopes.iter().map(|scope| frame.visible_to(scope)).collect::<Vec<_>>();
        assert_eq!(seen(&asked), [true, true, false, true, false, true]);
        assert_eq!(seen(&noted), [true, true, false, false, false, false]);
        assert_eq!(seen(&live), seen(&noted));
    }
}
