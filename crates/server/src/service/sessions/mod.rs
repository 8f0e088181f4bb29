//! Sessions: starting, reading, messaging, interrupting, resuming and closing them, and sessions that people run themselves.

mod command;
mod configure;
mod construct;
mod external;
mod message;
mod read;
mod start;

pub(crate) use command::{command, resume_command};
pub(crate) use configure::configure;
pub(crate) use construct::{SessionDraft, SessionStart, attached_connection};
pub(crate) use external::{ensure_external, found_session, report_external};
pub(crate) use message::{Delivered, send_message};
pub(crate) use read::{find, get, list, session_id};
pub(crate) use start::{agent_environment, scoped_labels, start};
