//! Frames: one event of the feed, and the bytes that a native stream sends for it.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use sayso_api::event::names;
use sayso_api::run::{QuestionAnswered, QuestionAsked};
use sayso_core::ask::{Ask, AskKind};
use sayso_core::id::SessionId;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::scope::{Scope, Visible};
use sayso_core::time::Time;
use sayso_store::{EventKind, StoredEvent, WorkspaceId};

use super::shorten;

/// The largest frame. What does not fit is left out and the ask is marked `truncated`.
pub(super) const FRAME_MAX: usize = 64 * 1024;

/// Something that only those see who stream right now: it is stored nowhere and has no `seq`.
#[derive(Debug, Clone)]
pub(crate) struct LiveEvent {
    /// Whose feed.
    pub(crate) workspace: WorkspaceId,
    /// The session it belongs to.
    pub(crate) session: SessionId,
    /// When.
    pub(crate) at: Time,
    /// The event's type, one of [`sayso_api::event::names`].
    pub(crate) name: &'static str,
    /// The rest.
    pub(crate) data: Raw,
}

/// What a frame carries.
#[derive(Debug)]
pub(crate) enum Item {
    /// An event of the feed.
    Stored(StoredEvent),
    /// A live-only event.
    Live(LiveEvent),
}

/// One event and, once somebody asked for them, its bytes. Shared by every stream that sends it.
#[derive(Debug)]
pub(crate) struct Frame {
    item: Item,
    native: OnceLock<Bytes>,
}

impl Frame {
    /// The frame of a stored event.
    pub(crate) const fn stored(event: StoredEvent) -> Self {
        Self { item: Item::Stored(event), native: OnceLock::new() }
    }

    /// The frame of a live-only event.
    pub(crate) const fn live(event: LiveEvent) -> Self {
        Self { item: Item::Live(event), native: OnceLock::new() }
    }

    /// The event itself, for surfaces that render it in their own protocol.
    pub(crate) const fn item(&self) -> &Item {
        &self.item
    }

    /// Its place in the feed.
    pub(crate) const fn seq(&self) -> Option<i64> {
        match &self.item {
            Item::Stored(event) => Some(event.seq),
            Item::Live(_) => None,
        }
    }

    /// The session it belongs to.
    pub(crate) const fn session(&self) -> Option<SessionId> {
        match &self.item {
            Item::Stored(event) => event.session,
            Item::Live(event) => Some(event.session),
        }
    }

    /// Whether a token with this scope sees it: by the ask if it is about one, else by its session.
    pub(crate) fn visible_to(&self, scope: &Scope) -> bool {
        let session = self.session();
        match &self.item {
            Item::Stored(StoredEvent { ask: Some(ask), .. }) => {
                scope.sees(Visible { session, labels: &ask.context.labels, opened_by: ask.origin.opened_by })
            }
            Item::Stored(StoredEvent { about: Some(about), .. }) => {
                scope.sees(Visible { session, labels: &about.labels, opened_by: about.opened_by })
            }
            // What belongs to nobody, and what is live only, has neither labels nor an opener.
            Item::Stored(_) | Item::Live(_) => match scope {
                Scope::All => true,
                Scope::Session { session: own } => session == Some(*own),
                Scope::Labels { .. } | Scope::OpenedBy { .. } => false,
            },
        }
    }

    /// The bytes of a native stream; none if there is nothing to say.
    pub(crate) fn native(&self) -> &Bytes {
        self.native.get_or_init(|| {
            Bytes::from(match &self.item {
                Item::Stored(event) => stored(event),
                Item::Live(event) => plain(None, event.at, event.name, Some(event.session), Some(&event.data)),
            })
        })
    }

    /// About how much memory it holds on to, its bytes included.
    pub(super) fn weight(&self) -> usize {
        const FIXED: usize = 512;
        FIXED
            + match &self.item {
                Item::Stored(event) => {
                    let ask = event.ask.as_ref().map_or(0, |ask| {
                        let text = ask.text_size();
                        ask.raw.as_ref().map_or(0, |raw| raw.as_str().len()) + text + text.min(FRAME_MAX)
                    });
                    ask + 2 * event.data.as_ref().map_or(0, |data| data.as_str().len())
                }
                Item::Live(event) => 2 * event.data.as_str().len(),
            }
    }
}

fn stored(event: &StoredEvent) -> Vec<u8> {
    let of_ask = |ask: &Arc<Ask>, by_kind: [&'static str; 3]| {
        let name = match ask.kind() {
            AskKind::Question => by_kind[0],
            AskKind::Approval => by_kind[1],
            AskKind::Link => by_kind[2],
        };
        ask_frame(event, ask, name)
    };
    let requested = [names::QUESTION_REQUESTED, names::APPROVAL_REQUESTED, names::LINK_REQUESTED];
    let resolved = [names::QUESTION_RESOLVED, names::APPROVAL_RESOLVED, names::LINK_RESOLVED];
    let name = match (event.kind, &event.ask) {
        (EventKind::AskRequested, Some(ask)) => return of_ask(ask, requested),
        (EventKind::AskResolved, Some(ask)) => return of_ask(ask, resolved),
        // The ask was deleted since: nobody can be told what it was.
        (EventKind::AskRequested | EventKind::AskResolved, None) => return Vec::new(),
        (EventKind::AgentQuestionAsked, ask) => return run_question(event, ask.as_deref(), names::AGENT_QUESTION_ASKED),
        (EventKind::AgentQuestionAnswered, ask) => return run_question(event, ask.as_deref(), names::AGENT_QUESTION_ANSWERED),
        (EventKind::AskParked, _) => names::ASK_PARKED,
        (EventKind::AskSnoozed, _) => names::ASK_SNOOZED,
        (EventKind::AskDelivery, _) => names::ASK_DELIVERY,
        (EventKind::SessionCreated, _) => names::SESSION_CREATED,
        (EventKind::SessionStatus, _) => names::SESSION_STATUS,
        (EventKind::SessionEnded, _) => names::SESSION_ENDED,
        (EventKind::MessageCompleted, _) => names::MESSAGE_COMPLETED,
        (EventKind::ToolStarted, _) => names::TOOL_STARTED,
        (EventKind::ToolUpdated, _) => names::TOOL_UPDATED,
        (EventKind::ToolCompleted, _) => names::TOOL_COMPLETED,
        (EventKind::PolicyChanged, _) => names::POLICY_CHANGED,
        (EventKind::Notice, _) => names::NOTICE,
        (EventKind::Error, _) => names::ERROR,
        (EventKind::RunStarted, _) => names::RUN_STARTED,
        (EventKind::RunCompleted, _) => names::RUN_COMPLETED,
        (EventKind::RunFailed, _) => names::RUN_FAILED,
        (EventKind::RunCancelled, _) => names::RUN_CANCELLED,
        (EventKind::StepStarted, _) => names::STEP_STARTED,
        (EventKind::StepCompleted, _) => names::STEP_COMPLETED,
        (EventKind::StepFailed, _) => names::STEP_FAILED,
        (EventKind::StepCancelled, _) => names::STEP_CANCELLED,
    };
    plain(Some(event.seq), event.at, name, event.session, event.data.as_ref())
}

/// An event whose data is sent as it is stored.
fn plain(seq: Option<i64>, at: Time, name: &str, session: Option<SessionId>, data: Option<&Raw>) -> Vec<u8> {
    let data = data.map_or("{}", Raw::as_str);
    let mut out = Vec::with_capacity(256 + data.len());
    open(&mut out, seq, at, name, session);
    let start = out.len();
    out.extend_from_slice(data.as_bytes());
    // Line breaks stand only between the tokens of JSON, where a space means the same; in a
    // stream they would end the line.
    for byte in &mut out[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    close(&mut out);
    out
}

fn ask_frame(event: &StoredEvent, ask: &Ask, name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(1536);
    open(&mut out, Some(event.seq), event.at, name, event.session);
    let start = out.len();
    shorten::write_ask(&mut out, ask, FRAME_MAX - start - CLOSE.len());
    close(&mut out);
    out
}

/// What the agent of a step asks, or how that ended, from the ask. Nothing if it was deleted since.
fn run_question(event: &StoredEvent, ask: Option<&Ask>, name: &str) -> Vec<u8> {
    let data = |cut: bool| -> Option<Raw> {
        let ask = ask?;
        if name == names::AGENT_QUESTION_ASKED {
            let mut asked = QuestionAsked::of(ask, event.at);
            if cut {
                asked.question.shorten();
            }
            return Some(Raw::of(&asked));
        }
        let mut answered = QuestionAnswered::of(ask)?;
        if cut {
            answered.question.shorten();
            answered.answers.clear();
            answered.message = answered.message.map(|message| limits::head(&message, 1024).to_owned());
        }
        Some(Raw::of(&answered))
    };
    let whole = if ask.is_some_and(|ask| ask.text_size() > FRAME_MAX) { None } else { data(false) };
    let fits = whole.filter(|whole| whole.as_str().len() < FRAME_MAX - 1024);
    match fits.or_else(|| data(true)) {
        Some(data) => plain(Some(event.seq), event.at, name, event.session, Some(&data)),
        None => Vec::new(),
    }
}

const CLOSE: &[u8] = b"}\n\n";

/// Everything up to the data. Nothing here needs to be escaped.
fn open(out: &mut Vec<u8>, seq: Option<i64>, at: Time, name: &str, session: Option<SessionId>) {
    // Writing to a vector cannot fail.
    let _ = match seq {
        Some(seq) => {
            write!(out, "id: {seq}\nevent: {name}\ndata: {{\"seq\":{seq},\"at\":\"{at}\",\"type\":\"{name}\",\"sessionId\":")
        }
        None => write!(out, "event: {name}\ndata: {{\"at\":\"{at}\",\"type\":\"{name}\",\"sessionId\":"),
    };
    let _ = match session {
        Some(session) => write!(out, "\"{session}\",\"data\":"),
        None => write!(out, "null,\"data\":"),
    };
}

fn close(out: &mut Vec<u8>) {
    out.extend_from_slice(CLOSE);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sayso_api::event::Event;
    use sayso_core::ask::{Action, Approval, AskBody, Choice, Decision, Preview, Question, QuestionOption};
    use sayso_core::id::TokenId;
    use serde_json::{Value, json};

    use super::super::fixture;
    use super::*;

    /// Reads a frame the way a client does: fields by line, then the data.
    fn read(frame: &Frame) -> (BTreeMap<String, String>, Value) {
        let text = std::str::from_utf8(frame.native()).unwrap();
        let body = text.strip_suffix("\n\n").unwrap();
        let fields: BTreeMap<_, _> =
            body.lines().map(|line| line.split_once(": ").unwrap()).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let event: Event<'_> = serde_json::from_str(&fields["data"]).unwrap();
        assert_eq!(event.kind, fields["event"]);
        assert_eq!(event.seq.map(|seq| seq.to_string()).as_ref(), fields.get("id"));
        (fields.clone(), serde_json::from_str(&fields["data"]).unwrap())
    }

    #[test]
    fn question_event_has_the_native_ask_and_the_question_rest_object() {
        let session = fixture::session(1);
        let ask = fixture::question("Which database?");
        let frame = Frame::stored(fixture::asked(42, Some(session), ask.clone()));
        let (_, data) = read(&frame);
        let mut expected = serde_json::to_value(sayso_api::ask::Ask::from(&ask)).unwrap();
        expected["question"] = serde_json::to_value(sayso_api::doors::QuestionEventData::from(&ask)).unwrap();
        assert_eq!(
            data,
            json!({"seq":42,"at":"1970-01-01T00:00:00.042Z","type":"question.requested","sessionId":session.to_string(),"data":expected})
        );
    }

    #[test]
    fn the_name_follows_the_kind_of_the_ask_and_a_plan_speaks_the_question_door_too() {
        let mut ask = fixture::approval(Action::Other);
        let name = |kind: EventKind, ask: &Ask| {
            let mut event = fixture::asked(1, None, ask.clone());
            event.kind = kind;
            let (fields, data) = read(&Frame::stored(event));
            (fields["event"].clone(), data["data"]["question"].is_object())
        };
        assert_eq!(name(EventKind::AskRequested, &ask), ("approval.requested".to_owned(), false));
        ask.body = fixture::approval(Action::Plan).body;
        assert_eq!(name(EventKind::AskRequested, &ask), ("approval.requested".to_owned(), true));
        fixture::decide(&mut ask, Decision::Approved { choice: None, input: None });
        assert_eq!(name(EventKind::AskResolved, &ask), ("approval.resolved".to_owned(), true));
    }

    #[test]
    fn data_is_sent_verbatim_on_one_line() {
        let mut event = fixture::noted(7, Some(fixture::session(1)));
        event.kind = EventKind::AskDelivery;
        event.data = Some(Raw::parse("{\n  \"id\": \"a\\nb\",\r\n  \"delivery\": \"delivered\"\n}".to_owned()).unwrap());
        let (fields, data) = read(&Frame::stored(event.clone()));
        assert_eq!(fields["event"], "ask.delivery");
        assert_eq!(data["data"], json!({"id":"a\nb","delivery":"delivered"}));
        event.data = None;
        assert_eq!(read(&Frame::stored(event)).1["data"], json!({}));
    }

    #[test]
    fn a_live_event_has_no_place() {
        let frame = Frame::live(fixture::delta(fixture::session(1), "hi"));
        let (fields, data) = read(&frame);
        assert_eq!((fields.get("id"), fields["event"].as_str()), (None, "message.delta"));
        assert_eq!(data["data"], json!({"text":"hi"}));
        assert_eq!(frame.seq(), None);
    }

    #[test]
    fn a_frame_stays_within_its_limit_whatever_the_agent_sent() {
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
                let frame = Frame::stored(fixture::asked(9, None, ask.clone()));
                assert!(frame.native().len() <= FRAME_MAX, "{kind:?} {}", frame.native().len());
                let (_, data) = read(&frame);
                assert_eq!(data["data"]["truncated"], json!(true), "{kind:?}");
                assert_eq!(data["data"]["id"], json!(ask.id.to_string()));
            }
        }
    }

    #[test]
    fn a_large_diff_loses_its_preview_and_nothing_else() {
        let mut ask = fixture::approval(Action::Edit { paths: vec!["src/main.rs".to_owned()] });
        if let AskBody::Approval(approval) = Arc::make_mut(&mut ask.body) {
            approval.preview = Some(Preview::Text { text: "x".repeat(FRAME_MAX) });
        }
        let (_, data) = read(&Frame::stored(fixture::asked(1, None, ask)));
        assert_eq!(data["data"]["truncated"], json!(true));
        assert_eq!(data["data"]["approval"]["preview"], json!(null));
        assert_eq!(data["data"]["approval"]["paths"], json!(["src/main.rs"]));
    }

    #[test]
    fn a_scope_sees_asks_by_label_and_the_rest_by_session() {
        let (mine, other) = (fixture::session(1), fixture::session(2));
        let team = |value: &str| Scope::Labels { labels: [("team".to_owned(), value.to_owned())].into() };
        let token = TokenId::new(Time::from_millis(1), [4; 10]);
        let mut ask = fixture::question("q");
        Arc::make_mut(&mut ask.context).labels = [("team".to_owned(), "a".to_owned())].into();
        ask.origin.opened_by = Some(token);
        let asked = Frame::stored(fixture::asked(1, Some(mine), ask));
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
