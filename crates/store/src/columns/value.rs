//! Values of columns. Every backend stores only integers, texts and bytes.

use std::borrow::Cow;

use crate::error::StoreError;

/// A parameter of a statement, or a value of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Text(Cow<'a, str>),
    Blob(&'a [u8]),
}

/// A type that is stored as one column.
pub(crate) trait ToValue {
    fn to_value(&self) -> Value<'_>;
}

impl ToValue for i64 {
    fn to_value(&self) -> Value<'_> {
        Value::Integer(*self)
    }
}

impl ToValue for bool {
    fn to_value(&self) -> Value<'_> {
        Value::Integer((*self).into())
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value<'_> {
        self.as_str().to_value()
    }
}

impl<const N: usize> ToValue for [u8; N] {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, ToValue::to_value)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Value<'_> {
        (**self).to_value()
    }
}

/// The parameters of a statement, in the order of their numbers.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::columns::value::ToValue::to_value(&$value)),*]
    };
}
pub(crate) use params;

/// A row of a result. Columns are counted from 0.
pub trait Columns {
    #[doc(hidden)]
    fn value(&self, index: usize) -> Result<Value<'_>, StoreError>;
}

/// A type that is read from one column. Returns `None` if the column has a value of another type.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value<'_>) -> Option<Self>;
}

impl FromValue for i64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(number),
            Value::Null | Value::Text(_) | Value::Blob(_) => None,
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl FromValue for String {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.into_owned()),
            Value::Null | Value::Integer(_) | Value::Blob(_) => None,
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Blob(bytes) => Some(bytes.to_vec()),
            Value::Null | Value::Integer(_) | Value::Text(_) => None,
        }
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Blob(bytes) => bytes.try_into().ok(),
            Value::Null | Value::Integer(_) | Value::Text(_) => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value @ (Value::Integer(_) | Value::Text(_) | Value::Blob(_)) => T::from_value(value).map(Some),
        }
    }
}

pub(crate) fn column<T: FromValue>(row: &dyn Columns, index: usize) -> Result<T, StoreError> {
    let value = row.value(index)?;
    T::from_value(value).ok_or_else(|| unexpected(index))
}

/// Reads the text of a column without copying it.
pub(crate) fn text(row: &dyn Columns, index: usize) -> Result<Cow<'_, str>, StoreError> {
    match row.value(index)? {
        Value::Text(text) => Ok(text),
        Value::Null | Value::Integer(_) | Value::Blob(_) => Err(unexpected(index)),
    }
}

fn unexpected(index: usize) -> StoreError {
    StoreError::Unreadable { what: "row", detail: format!("unexpected value in column {index}") }
}
