//! The lines of both directions. What arrives is read leniently, field by field; what leaves is one
//! line of JSON, whatever it carries.

use serde_json::value::RawValue;

pub(super) use crate::json::too_deep;
use crate::json::{Object, line};

/// A line from Claude.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// It wants something and waits for the response.
    Request(Request<'a>),
    /// It no longer waits.
    Cancel { id: String },
    /// The answer to a request of ours.
    Response(Response<'a>),
    /// Anything else, by its type.
    Message { kind: String, fields: Object<'a> },
}

/// A control request of Claude's.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) id: String,
    /// What is wanted; nothing if it does not say.
    pub(super) request: Option<&'a RawValue>,
}

/// A control response.
#[derive(Debug)]
pub(super) struct Response<'a> {
    pub(super) id: String,
    /// The words of an error, if it is one.
    pub(super) error: Option<String>,
    /// Requests that wait for us, told again.
    pub(super) pending: Vec<Request<'a>>,
}

/// Reads one line; nothing if it is not a message of this protocol.
pub(super) fn read(text: &str) -> Option<Line<'_>> {
    let fields = Object::parse(text)?;
    let kind = fields.text("type")?;
    match kind.as_str() {
        "control_request" => Request::of(&fields).map(Line::Request),
        "control_cancel_request" => fields.text("request_id").map(|id| Line::Cancel { id }),
        "control_response" => {
            let response = fields.object("response")?;
            let error = match response.text("subtype").as_deref() {
                Some("error") => Some(response.words("error").unwrap_or_else(|| "no reason was given".to_owned())),
                _ => None,
            };
            let pending = response.list("pending_permission_requests").unwrap_or_default();
            let pending = pending.into_iter().filter_map(Object::of).filter_map(|fields| Request::of(&fields)).collect();
            Some(Line::Response(Response { id: response.text("request_id")?, error, pending }))
        }
        _ => Some(Line::Message { kind, fields }),
    }
}

impl<'a> Request<'a> {
    fn of(fields: &Object<'a>) -> Option<Self> {
        Some(Self { id: fields.text("request_id")?, request: fields.get("request") })
    }
}

/// A message of the person.
pub(super) fn user(text: &str) -> String {
    one_line(format!(
        r#"{{"type":"user","message":{{"role":"user","content":{}}},"parent_tool_use_id":null,"session_id":""}}"#,
        line(&text)
    ))
}

/// The id of our request with this number.
pub(super) fn request_id(number: u64) -> String {
    format!("sayso_{number}")
}

/// A request of ours, with one more field if it has one.
pub(super) fn request(number: u64, subtype: &str, field: Option<(&str, &str)>) -> String {
    let (id, subtype) = (line(&request_id(number)), line(&subtype));
    let field = field.map(|(key, value)| format!(",{}:{}", line(&key), line(&value))).unwrap_or_default();
    one_line(format!(r#"{{"type":"control_request","request_id":{id},"request":{{"subtype":{subtype}{field}}}}}"#))
}

/// The answer to a request of Claude's.
pub(super) fn success(id: &str, payload: &str) -> String {
    let id = line(&id);
    one_line(format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{payload}}}}}"#
    ))
}

/// The refusal of a request as such. The model reads the words.
pub(super) fn failure(id: &str, words: &str) -> String {
    let (id, words) = (line(&id), line(&words));
    one_line(format!(r#"{{"type":"control_response","response":{{"subtype":"error","request_id":{id},"error":{words}}}}}"#))
}

/// JSON without anything that a reader of lines takes for the end of one. Inside of strings JSON has
/// line breaks only escaped; outside they are white space.
fn one_line(json: String) -> String {
    if !json.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return json;
    }
    json.replace(['\n', '\r'], " ").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_is_one_line_of_json() {
        let lines = [
            success("a\nb", "{\n \"plan\": \"x\u{2028}y\\nz\"\r\n}"),
            failure("\u{2029}", "it\nfailed"),
            user("one\ntwo\u{2028}three"),
            request(7, "inter\nrupt", Some(("mode", "pl\nan"))),
        ];
        for line in lines {
            assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']), "{line}");
            serde_json::from_str::<serde_json::Value>(&line).unwrap();
        }
        let read: serde_json::Value = serde_json::from_str(&user("one\u{2028}two")).unwrap();
        assert_eq!(read["message"]["content"], "one\u{2028}two");
    }

    #[test]
    fn only_whole_messages_are_read() {
        for wrong in ["", "null", "7", "[]", "{}", r#"{"type":7}"#, r#"{"type":"control_request","request":{}}"#, "{\"type\":"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
        assert!(matches!(read(r#"{"type":"news","x":1}"#), Some(Line::Message { kind, .. }) if kind == "news"));
    }
}
