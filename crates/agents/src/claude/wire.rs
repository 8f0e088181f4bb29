//! The protocol lines. Incoming lines are parsed leniently, field by field; every outgoing line is a single line of
//! JSON, whatever it contains.

use serde_json::value::RawValue;

pub(super) use crate::json::too_deep;
use crate::json::{Object, line};

/// A line of Claude's output.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// A request that waits for a response.
    Request(Request<'a>),
    /// The cancellation of a request.
    Cancel { id: String },
    /// The response to one of Sayso's requests.
    Response(Response<'a>),
    /// Any other message, by its type.
    Message { kind: String, fields: Object<'a> },
}

/// A control request of Claude.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) id: String,
    /// The request's body; `None` if it is missing.
    pub(super) request: Option<&'a RawValue>,
}

/// A control response.
#[derive(Debug)]
pub(super) struct Response<'a> {
    pub(super) id: String,
    /// The error message, if the response is an error.
    pub(super) error: Option<String>,
    /// Requests that are still pending, repeated by Claude.
    pub(super) pending: Vec<Request<'a>>,
}

/// Parses a line; `None` if it is not a message of this protocol.
pub(super) fn read(text: &str) -> Option<Line<'_>> {
    let fields = Object::parse(text)?;
    let kind = fields.text("type")?;
    match kind.as_str() {
        "control_request" => Request::of(&fields).map(Line::Request),
        "control_cancel_request" => fields.text("request_id").map(|id| Line::Cancel { id }),
        "control_response" => {
            let response = fields.object("response")?;
            let error = match response.text("subtype").as_deref() {
                Some("error") => Some(response.non_blank_text("error").unwrap_or_else(|| "no reason was given".to_owned())),
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

/// The id of Sayso's request with this number.
pub(super) fn request_id(number: u64) -> String {
    format!("sayso_{number}")
}

/// A request of Sayso, with one extra field if given.
pub(super) fn request(number: u64, subtype: &str, field: Option<(&str, &str)>) -> String {
    let (id, subtype) = (line(&request_id(number)), line(&subtype));
    let field = field.map(|(key, value)| format!(",{}:{}", line(&key), line(&value))).unwrap_or_default();
    one_line(format!(r#"{{"type":"control_request","request_id":{id},"request":{{"subtype":{subtype}{field}}}}}"#))
}

/// A successful response to a request of Claude.
pub(super) fn success(id: &str, payload: &str) -> String {
    let id = line(&id);
    one_line(format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{payload}}}}}"#
    ))
}

/// A response that refuses a request. The model reads the text.
pub(super) fn failure(id: &str, words: &str) -> String {
    let (id, words) = (line(&id), line(&words));
    one_line(format!(r#"{{"type":"control_response","response":{{"subtype":"error","request_id":{id},"error":{words}}}}}"#))
}

/// Removes line breaks from JSON text. JSON strings only contain escaped line breaks; elsewhere they are white space.
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
    fn outgoing_messages_are_one_line_of_json() {
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
    fn incomplete_messages_are_not_parsed() {
        for wrong in ["", "null", "7", "[]", "{}", r#"{"type":7}"#, r#"{"type":"control_request","request":{}}"#, "{\"type\":"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
        assert!(matches!(read(r#"{"type":"news","x":1}"#), Some(Line::Message { kind, .. }) if kind == "news"));
    }
}
