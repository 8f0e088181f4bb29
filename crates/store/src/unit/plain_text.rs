//! Checks that new texts outside JSON contain no U+0000. PostgreSQL would refuse the whole batch; this check fails only the
//! operation.
//!
//! Existing rows are not checked, because earlier versions may have stored such text and their asks still need an outcome.

use sayso_core::ask::Ask;
use sayso_core::plain_text::{ContainsNul, check, check_optional};

use super::Unit;

impl Unit {
    /// Checks all plain texts of the rows that the current operation added. JSON is not checked, because it escapes U+0000.
    pub(crate) fn check_plain_text(&self) -> Result<(), ContainsNul> {
        for (_, row) in self.asks.added() {
            check_ask(&row.ask)?;
        }
        for (_, connection) in self.connections.added() {
            check("the name of the agent", &connection.agent)?;
        }
        for (key, _) in self.externals.added() {
            check("the name of the agent", &key.agent)?;
            check("the id of the session", &key.native_id)?;
        }
        for (_, group) in self.groups.added() {
            check("the name of the group", &group.name)?;
        }
        for (key, row) in self.idempotency.added() {
            check("the route", &key.route)?;
            check("the idempotency key", &key.key)?;
            check("the target of the call", &row.target)?;
        }
        for (_, code) in self.login_codes.added() {
            check("the role", &code.role)?;
            check("the name", &code.actor)?;
        }
        for ((_, channel), note) in self.notes.added() {
            check("the name of the channel", channel)?;
            check_optional("the id of the message", note.message.as_deref())?;
        }
        for (_, push) in self.pushes.added() {
            check("the address of the push service", &push.endpoint)?;
        }
        for (key, _) in self.settings.added() {
            check("the name of the setting", key)?;
        }
        for (_, token) in self.tokens.added() {
            check("the role", &token.role)?;
            check("the name", &token.actor)?;
            check_optional("the name of the device", token.device.as_deref())?;
        }
        for (path, trust) in self.trusted.added() {
            check("the path", path)?;
            check("the hash", &trust.hash)?;
        }
        Ok(())
    }
}

fn check_ask(ask: &Ask) -> Result<(), ContainsNul> {
    check_optional("the id of the request", ask.origin.native_id.as_deref())?;
    check("the name of the agent", &ask.context.agent)?;
    check_optional("the project", ask.context.project.as_deref())?;
    check_optional("the id of the tool call", ask.context.tool_call_id.as_deref())?;
    ask.policy.hits.iter().try_for_each(|rule| check("the name of the rule", rule))
}
