//! JSON-RPC 2.0 with one message per line: parsing of incoming messages and formatting of outgoing ones.

use sayso_core::limits;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::{Object, line, text};

/// Maximum length of a request id in bytes. A longer id cannot be stored, so its request cannot be answered.
const ID: usize = 1024;

/// The message is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The message is not a valid request.
pub const INVALID_REQUEST: i32 = -32600;
/// The method does not exist.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters of the method are invalid.
pub const INVALID_PARAMS: i32 = -32602;
/// An internal error occurred.
pub const INTERNAL: i32 = -32603;
/// The request was cancelled.
pub const CANCELLED: i32 = -32800;

/// A request id as JSON text, so that `1` and `"1"` are different and return unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// Parses an id; `None` if the value is neither a number nor a string.
    pub fn of(raw: &RawValue) -> Option<Self> {
        let json = raw.get();
        let json = match json.bytes().next()? {
            // Later messages can escape the same string differently.
            b'"' => text(raw).and_then(|text| serde_json::to_string(&text).ok())?,
            // A number outside the range of `f64` could not be returned unchanged.
            b'-' | b'0'..=b'9' if json.parse().is_ok_and(f64::is_finite) => json.to_owned(),
            _ => return None,
        };
        (json.len() <= ID).then_some(Self(json))
    }

    /// The id of an error response to a request whose id could not be read.
    pub fn null() -> Self {
        Self("null".to_owned())
    }

    /// The id as JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug)]
pub enum Message<'a> {
    /// A request, which needs a response.
    Request {
        /// The id that the response must repeat.
        id: Id,
        method: String,
        /// The raw parameters.
        params: Option<&'a RawValue>,
    },
    /// A notification, which gets no response.
    Notification {
        method: String,
        /// The raw parameters.
        params: Option<&'a RawValue>,
    },
    /// The response to one of Sayso's requests.
    Response {
        /// The id of the request.
        id: Id,
        /// The result or the error.
        outcome: Result<Option<&'a RawValue>, Fault>,
    },
}

/// An error response from the other side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// The error code; 0 if it is missing.
    pub code: i64,
    /// The message, truncated to a readable length.
    pub message: String,
}

impl Fault {
    /// The message for people, without the code.
    pub(crate) fn message_or_default(&self) -> &str {
        let words = limits::head(self.message.trim(), 2048);
        if words.is_empty() { "it gave no reason" } else { words }
    }

    /// The message and the code.
    pub(crate) fn in_words(&self) -> String {
        format!("{} ({})", self.message_or_default(), self.code)
    }
}

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// The line is not JSON, or not an object.
    NotAMessage,
    /// The line is a request without a method.
    NoMethod(Id),
    /// The id cannot be returned unchanged.
    BadId,
}

impl Unreadable {
    /// The notice that people see for such a line of this agent.
    fn describe(&self, who: &str, line: &str) -> String {
        match self {
            Self::NoMethod(_) => format!("{who} made a request without a method; it was refused."),
            Self::BadId => format!("{who} made a request whose id cannot be sent back; it was ignored."),
            Self::NotAMessage => {
                let shown = limits::head(line.trim(), 200).replace(char::is_control, "�");
                format!("{who} wrote an invalid message: {shown}")
            }
        }
    }
}

/// Parses one line.
///
/// # Errors
/// If the line is not a message.
pub fn read(line: &str) -> Result<Message<'_>, Unreadable> {
    let object = Object::parse(line).ok_or(Unreadable::NotAMessage)?;
    let id = match object.get("id") {
        Some(raw) => Some(Id::of(raw).ok_or(Unreadable::BadId)?),
        None => None,
    };
    match (id, object.text("method")) {
        (Some(id), Some(method)) => Ok(Message::Request { id, method, params: object.get("params") }),
        (None, Some(method)) => Ok(Message::Notification { method, params: object.get("params") }),
        (Some(id), None) => match object.get("error") {
            Some(error) => Ok(Message::Response { id, outcome: Err(Fault::of(error)) }),
            None if object.has("result") => Ok(Message::Response { id, outcome: Ok(object.get("result")) }),
            None => Err(Unreadable::NoMethod(id)),
        },
        (None, None) => Err(Unreadable::NotAMessage),
    }
}

/// An invalid line of an agent.
#[derive(Debug)]
pub(crate) struct InvalidLine {
    /// The error response, if the line can be answered.
    pub(crate) reply: Option<String>,
    /// The notice for people.
    pub(crate) notice: String,
}

/// Parses one line of this agent and checks its length.
pub(crate) fn parse_agent_line<'a>(who: &str, line: &'a str) -> Result<Message<'a>, InvalidLine> {
    let (size, limit) = (line.len(), limits::LINE);
    if size > limit {
        let notice = format!("{who} wrote a line of {size} bytes, the limit is {limit}; it was ignored.");
        return Err(InvalidLine { reply: None, notice });
    }
    read(line).map_err(|unreadable| {
        let reply = match &unreadable {
            Unreadable::NoMethod(id) => Some(error(id, INVALID_REQUEST, "Invalid request: there is no method")),
            Unreadable::BadId | Unreadable::NotAMessage => None,
        };
        InvalidLine { reply, notice: unreadable.describe(who, line) }
    })
}

impl Fault {
    fn of(raw: &RawValue) -> Self {
        let Some(error) = Object::of(raw) else { return Self::default() };
        let message = error.text("message").unwrap_or_default();
        let code = error.get("code").and_then(|code| code.get().parse().ok()).unwrap_or(0);
        Self { code, message: limits::head(&message, limits::TEXT).to_owned() }
    }
}

/// A request line.
pub fn request(id: u64, method: &str, params: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Request<'a, T> {
        jsonrpc: &'static str,
        id: u64,
        method: &'a str,
        params: &'a T,
    }
    line(&Request { jsonrpc: "2.0", id, method, params })
}

/// A notification line.
pub fn notification(method: &str, params: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Notification<'a, T> {
        jsonrpc: &'static str,
        method: &'a str,
        params: &'a T,
    }
    line(&Notification { jsonrpc: "2.0", method, params })
}

/// A response line with a result.
pub fn result(id: &Id, result: &impl Serialize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, id.0, line(result))
}

/// A response line with a result that is JSON text. Line breaks in it are white space and are replaced.
pub fn raw_result(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, id.0, result.replace(['\n', '\r'], " "))
}

/// An error response.
pub fn error(id: &Id, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":{}}}}}"#, id.0, line(&message))
}

/// An error response with machine-readable data.
pub fn error_with(id: &Id, code: i32, message: &str, data: &impl Serialize) -> String {
    let (message, data) = (line(&message), line(data));
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":{message},"data":{data}}}}}"#, id.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_kind_depends_on_its_fields() {
        let request = r#"{"method":"m","id":"a\u0062","jsonrpc":"2.0","params":{"b":1,"a":null}}"#;
        let Ok(Message::Request { id, method, params: Some(params) }) = read(request) else { panic!() };
        assert_eq!((id.as_str(), method.as_str()), (r#""ab""#, "m"));
        let params = Object::of(params).unwrap();
        assert_eq!(params.fields().map(|(key, _)| key).collect::<Vec<_>>(), ["b", "a"]);
        assert!(params.get("a").is_none());
        assert!(matches!(read(r#"{"id":null,"method":"m"}"#), Ok(Message::Notification { .. })));
        assert!(matches!(read(r#"{"id":3,"result":null}"#), Ok(Message::Response { outcome: Ok(None), .. })));
        let Ok(Message::Response { outcome: Err(fault), .. }) = read(r#"{"id":3,"error":{"code":-32000,"message":"log in"}}"#)
        else {
            panic!()
        };
        assert_eq!(fault, Fault { code: -32000, message: "log in".to_owned() });
    }

    #[test]
    fn invalid_message_has_a_reason() {
        let wrong = |line: &str| read(line).map(|_| ()).unwrap_err();
        for line in ["", "nonsense", "[]", "[{\"id\":1}]", "\0", "{}", r#"{"id":1"#, r#"{"method":7}"#] {
            assert_eq!(wrong(line), Unreadable::NotAMessage, "{line}");
        }
        assert_eq!(wrong(r#"{"id":1}"#), Unreadable::NoMethod(Id("1".to_owned())));
        assert_eq!(wrong(r#"{"id":1,"method":[]}"#), Unreadable::NoMethod(Id("1".to_owned())));
        for id in ["{}", "[1]", "true", &format!("{:?}", "x".repeat(2000))] {
            assert_eq!(wrong(&format!(r#"{{"id":{id},"method":"m"}}"#)), Unreadable::BadId, "{id}");
        }
        assert!(read(&"[".repeat(1_000_000)).is_err());
        let deep = format!(r#"{{"method":"m","params":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(read(&deep), Ok(Message::Notification { .. })));
    }

    #[test]
    fn responses_repeat_ids_unchanged() {
        assert_eq!(request(1, "m", &[1]), r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#);
        assert_eq!(notification("m", &[1]), r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#);
        assert_eq!(result(&Id("\"q-1\"".to_owned()), &"x"), r#"{"jsonrpc":"2.0","id":"q-1","result":"x"}"#);
        assert_eq!(error(&Id("0".to_owned()), -1, "a\"b"), r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"a\"b"}}"#);
    }
}
