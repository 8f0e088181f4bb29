//! The client against servers that lose connections, with one scripted reply per connection.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod calls;
mod scripted;
mod stream;
