//! The query parameters that all lists share.

use sayso_core::plain_text;

use super::ServiceError;

/// The default page size.
const DEFAULT_LIMIT: usize = 100;

/// Parses a label of the form `key=value`.
pub(super) fn label(text: Option<&str>) -> Result<Option<(String, String)>, ServiceError> {
    text.map(|text| {
        plain_text::check("label", text)?;
        let (key, value) = text.split_once('=').ok_or_else(|| ServiceError::invalid("write a label as key=value"))?;
        Ok((key.to_owned(), value.to_owned()))
    })
    .transpose()
}

/// Validates the page size.
pub(super) fn page_size(limit: Option<u32>) -> Result<usize, ServiceError> {
    match limit {
        None => Ok(DEFAULT_LIMIT),
        Some(limit @ 1..=500) => Ok(limit as usize),
        Some(_) => Err(ServiceError::invalid("limit must be 1 to 500")),
    }
}

/// Parses the cursor: the row that the page starts after.
pub(super) fn cursor(cursor: Option<&str>) -> Result<Option<i64>, ServiceError> {
    cursor
        .map(|cursor| {
            cursor.parse().map_err(|_| ServiceError::invalid("cursor is invalid; send the nextCursor of the previous page"))
        })
        .transpose()
}
