//! Reads request bodies, with limits on their size and duration.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use sayso_api::error::ErrorCode;
use serde_json::error::Category;

use super::{ApiError, MAX_BODY};

/// The limits of a request body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    bytes: usize,
    time: Duration,
}

impl BodyLimits {
    /// For callers with a valid token.
    pub(crate) const CALLER: Self = Self { bytes: MAX_BODY, time: Duration::from_secs(60) };
    /// For requests without a token, such as logins.
    pub(crate) const ANYONE: Self = Self { bytes: 16 * 1024, time: Duration::from_secs(5) };
    /// For the form of an answer link, which has an answer for each question.
    pub(crate) const ANSWER_FORM: Self = Self { bytes: 1024 * 1024, time: Duration::from_secs(10) };
}

/// Reads a complete body.
pub(crate) async fn read_body(body: Body, limits: BodyLimits) -> Result<Bytes, ApiError> {
    let read = tokio::time::timeout(limits.time, Limited::new(body, limits.bytes).collect()).await;
    let read = read.map_err(|_| {
        let detail = format!("the body did not arrive within {} seconds", limits.time.as_secs());
        ApiError::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::RequestTimeout, detail)
    })?;
    let read = read.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => {
            let detail = format!("a body can have at most {} bytes", limits.bytes);
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::TooLarge, detail)
        }
        None => ApiError::malformed("the body ended early"),
    })?;
    Ok(read.to_bytes())
}

/// Describes the error in a JSON body without quoting it, because the values of a malformed answer can be secret.
pub(crate) fn describe_json_error(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        // These messages are fixed texts of the parser.
        Category::Io | Category::Syntax | Category::Eof => return error.to_string(),
        Category::Data => describe_data_error(&error.to_string()),
    };
    match error.line() {
        0 => what,
        line => format!("{what} at line {line} column {}", error.column()),
    }
}

/// Returns the fixed parts of a serde message.
fn describe_data_error(text: &str) -> String {
    // `missing field` and `duplicate field` name a field of this API.
    for known in ["missing field `", "duplicate field `"] {
        if let Some((name, _)) = text.strip_prefix(known).and_then(|rest| rest.split_once('`')) {
            return format!("{known}{name}`");
        }
    }
    let what = ["unknown field", "unknown variant", "invalid type", "invalid value", "invalid length"];
    let Some(what) = what.into_iter().find(|what| text.starts_with(what)) else { return "a value does not fit".to_owned() };
    // The value is before the last `, expected `, which serde always appends.
    let expected = text.rsplit_once(", expected ").map(|(_, expected)| expected.split(" at line ").next().unwrap_or_default());
    match expected {
        Some(expected) if !text.contains(", there are no ") => format!("{what}, expected {expected}"),
        Some(_) | None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors are read")]
    struct Wanted {
        answers: Vec<Vec<String>>,
        #[serde(default)]
        way: Option<Way>,
        #[serde(default)]
        wait: Option<u8>,
        #[serde(default)]
        nothing: Option<Nothing>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Way {
        Stop,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    #[test]
    fn errors_name_what_is_expected_and_nothing_that_was_sent() {
        let shown = |text: &str| describe_json_error(&serde_json::from_str::<Wanted>(text).unwrap_err());
        let strings = "hunter2, expected hunter2 at line 9";
        for (text, wanted) in [
            (r#"{"way": "stop"}"#.to_owned(), "missing field `answers` at line 1 column 15"),
            (format!(r#"{{"answers": "{strings}"}}"#), "invalid type, expected a sequence at line 1 column 49"),
            (format!(r#"{{"answers": [["a", {{"{strings}": 1}}]]}}"#), "invalid type, expected a string at line 1 column 19"),
            (
                format!(r#"{{"{strings}": []}}"#),
                "unknown field, expected one of `answers`, `way`, `wait`, `nothing` at line 1 column 38",
            ),
            (format!(r#"{{"answers": [], "way": "{strings}"}}"#), "unknown variant, expected `stop` at line 1 column 60"),
            (r#"{"answers": [], "wait": 31337}"#.to_owned(), "invalid value, expected u8 at line 1 column 29"),
            (format!(r#"{{"answers": [], "nothing": {{"{strings}": 1}}}}"#), "unknown field at line 1 column 65"),
            (format!(r#"{{"answers": "{strings}", "#), "invalid type, expected a sequence at line 1 column 49"),
        ] {
            assert_eq!(shown(&text), wanted, "{text}");
        }
    }
}
