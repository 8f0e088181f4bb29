//! Events of the feed: one tagged enum with a payload per event, and the envelope that every stream sends.

mod catalogue;
mod payload;
mod schema;

use sayso_core::time::Time;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::IntoParams;

pub use catalogue::{Event, EventData};
pub use payload::{
    AskDelivery, AskEvent, AskParked, AskSnoozed, ErrorBlock, ErrorType, MessageBlock, MessageDelta, MessageRole, MessageType,
    NoData, Notice, NoticeType, PolicyChanged, ResetEvent, ResetType, SessionStatusChange, ToolBlock, ToolCallStatus, ToolType,
};

/// One event as a stream sends it in its `data:` line.
///
/// The JSON is `{"seq", "at", "type", "sessionId", "data"}`, in this order. `type` names the variant of [`Event`] and `data`
/// holds its payload. Parsing fails for a `type` that this version does not know; clients should skip such events.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedEvent {
    /// The position in the feed. Absent for events that are sent to live subscribers only.
    pub seq: Option<i64>,
    /// The time of the event.
    pub at: Time,
    /// The session that the event belongs to.
    pub session_id: Option<String>,
    /// The event with its payload.
    pub event: Event,
}

impl FeedEvent {
    /// Returns the event's `type`, for example `question.requested`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.event.name()
    }
}

impl Serialize for FeedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut envelope = serializer.serialize_struct("Event", 5)?;
        match self.seq {
            Some(seq) => envelope.serialize_field("seq", &seq)?,
            None => envelope.skip_field("seq")?,
        }
        envelope.serialize_field("at", &self.at)?;
        envelope.serialize_field("type", self.name())?;
        envelope.serialize_field("sessionId", &self.session_id)?;
        envelope.serialize_field("data", &EventData(&self.event))?;
        envelope.end()
    }
}

impl<'de> Deserialize<'de> for FeedEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Envelope {
            #[serde(default)]
            seq: Option<i64>,
            at: Time,
            #[serde(rename = "type")]
            name: String,
            #[serde(default)]
            session_id: Option<String>,
            data: Box<RawValue>,
        }
        let Envelope { seq, at, name, session_id, data } = Envelope::deserialize(deserializer)?;
        let event = Event::read(&name, data.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { seq, at, session_id, event })
    }
}

/// Where an event stream starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct StreamQuery {
    /// Start after this `seq`. The header `Last-Event-ID` takes precedence. Without either, the stream starts with the next new
    /// event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_parses_with_fields_in_any_order() {
        let text = r#"{"seq":7,"at":"1970-01-01T00:00:00.001Z","type":"tool.started","sessionId":null,"data":{"id":"b","at":"1970-01-01T00:00:00.001Z","type":"tool","toolCallId":"t","name":"Bash","input":{"n": 1.0},"output":null,"status":"running"}}"#;
        let event: FeedEvent = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
        let turned = r#"{"data":{"messageId":"m","text":"a"},"type":"message.delta","at":"1970-01-01T00:00:00.001Z"}"#;
        let delta = Event::MessageDelta(MessageDelta { message_id: "m".to_owned(), text: "a".to_owned() });
        let expected = FeedEvent { seq: None, at: Time::from_millis(1), session_id: None, event: delta };
        assert_eq!(serde_json::from_str::<FeedEvent>(turned).unwrap(), expected);
    }

    #[test]
    fn event_of_a_later_version_is_refused() {
        let text = r#"{"seq":7,"at":"1970-01-01T00:00:00.001Z","type":"step.invented","sessionId":null,"data":{}}"#;
        assert!(serde_json::from_str::<FeedEvent>(text).is_err());
    }
}
