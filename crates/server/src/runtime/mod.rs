//! The runtime: long-lived tasks that react to commits, and the state they share.

pub(crate) mod attachments;
pub(crate) mod connection;
pub(crate) mod deadlines;
pub(crate) mod feed;
pub(crate) mod keeper;
pub(crate) mod link;
pub(crate) mod metrics;
pub(crate) mod notify;
pub(crate) mod runs;
pub(crate) mod waiters;
