//! Writes rows as values of columns.

use sayso_core::ask::{Ask, AskState, Delivery};
use sayso_core::connection::{Connection, WirePosition};
use sayso_core::id::AskId;
use sayso_core::raw::Raw;
use sayso_core::run::{StepRun, StepState};
use sayso_core::time::Time;
use sayso_core::transcript::BlockBody;

use super::event_row;
use super::numbers::{DELIVERY_QUEUED, OutboxKind, connection_number, delivery_number, kind_number, status_number};
use super::row_bytes::{Action, RowChanges, RowWriter};
use super::table::Table;
use crate::error::StoreError;
use crate::event::{StoredEvent, WorkspaceId};
use crate::ops::notifications::NotificationState;
use crate::payload::EventPayload;
use crate::rows::{AskRow, OutboxBody, OutboxEntry, owner_of};
use crate::unit::Unit;

impl RowWriter<'_> {
    pub(crate) fn raw(&mut self, raw: &Raw) {
        self.text(raw.as_str());
    }

    fn time(&mut self, time: Time) {
        self.integer(time.as_millis());
    }

    fn flag(&mut self, flag: bool) {
        self.integer(flag.into());
    }
}

/// Adds the values of a changed row, or its deletion.
fn add<R: ?Sized>(
    changes: &mut RowChanges,
    workspace: WorkspaceId,
    table: Table,
    key: impl FnOnce(&mut RowWriter<'_>),
    row: Option<&R>,
    values: impl FnOnce(&mut RowWriter<'_>, &R) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let action = if row.is_some() { Action::Put } else { Action::Delete };
    changes.add(action, table, |out| {
        out.integer(workspace.0);
        key(out);
        row.map_or(Ok(()), |row| values(out, row))
    })
}

/// Adds all staged changes of a unit, including events but not secrets, which must not be written to the log.
pub(crate) fn encode(unit: &Unit, changes: &mut RowChanges) -> Result<(), StoreError> {
    let workspace = unit.workspace;
    for (key, block) in unit.blocks.changes() {
        add(
            changes,
            workspace,
            Table::Block,
            |out| out.blob(key.as_bytes()),
            block,
            |out, block| {
                out.blob(block.session.as_bytes());
                out.integer(block.seq);
                out.json("block", &block.block)
            },
        )?;
    }
    for (key, connection) in unit.connections.changes() {
        add(
            changes,
            workspace,
            Table::Connection,
            |out| out.blob(key.as_bytes()),
            connection,
            |out, connection| {
                write_connection(out, connection);
                Ok(())
            },
        )?;
    }
    for (key, session) in unit.externals.changes() {
        let write_key = |out: &mut RowWriter<'_>| {
            out.blob(key.token.as_bytes());
            out.text(&key.agent);
            out.text(&key.native_id);
        };
        add(changes, workspace, Table::External, write_key, session, |out, session| {
            out.blob(session.as_bytes());
            Ok(())
        })?;
    }
    for (key, grant) in unit.grants.changes() {
        add(
            changes,
            workspace,
            Table::Grant,
            |out| out.blob(key.as_bytes()),
            grant,
            |out, grant| {
                out.optional(grant.until, RowWriter::time);
                out.raw(&grant.data);
                Ok(())
            },
        )?;
    }
    for (key, group) in unit.groups.changes() {
        add(
            changes,
            workspace,
            Table::Group,
            |out| out.blob(key.as_bytes()),
            group,
            |out, group| {
                out.text(&group.name);
                out.flag(group.is_over());
                out.optional(group.expires_at(), RowWriter::time);
                out.json("group", &**group)
            },
        )?;
    }
    for (key, made) in unit.idempotency.changes() {
        let write_key = |out: &mut RowWriter<'_>| {
            out.blob(key.token.as_bytes());
            out.text(&key.route);
            out.text(&key.key);
        };
        add(changes, workspace, Table::Idempotency, write_key, made, |out, made| {
            out.blob(&made.fingerprint);
            out.text(&made.target);
            out.time(made.at);
            Ok(())
        })?;
    }
    for (hash, code) in unit.login_codes.changes() {
        add(
            changes,
            workspace,
            Table::LoginCode,
            |out| out.blob(hash),
            code,
            |out, code| {
                out.text(&code.role);
                out.text(&code.actor);
                out.time(code.expires_at);
                Ok(())
            },
        )?;
    }
    for ((ask, channel), note) in unit.notes.changes() {
        let write_key = |out: &mut RowWriter<'_>| {
            out.blob(ask.as_bytes());
            out.text(channel);
        };
        add(changes, workspace, Table::Note, write_key, note, |out, note| {
            let (state, due) = match note.state {
                NotificationState::Again(at) => (0, at.as_millis()),
                NotificationState::Told => (1, 0),
                NotificationState::GivenUp => (2, 0),
            };
            out.integer(state);
            out.integer(note.attempts.into());
            out.integer(due);
            out.optional(note.message.as_deref(), RowWriter::text);
            Ok(())
        })?;
    }
    for (key, entry) in unit.outbox.changes() {
        add(
            changes,
            workspace,
            Table::Outbox,
            |out| out.integer(key.0),
            entry,
            |out, entry| {
                write_outbox(out, entry);
                Ok(())
            },
        )?;
    }
    for (token, push) in unit.pushes.changes() {
        add(
            changes,
            workspace,
            Table::Push,
            |out| out.blob(token.as_bytes()),
            push,
            |out, push| {
                out.text(&push.endpoint);
                out.blob(&push.public_key);
                out.blob(&push.auth);
                Ok(())
            },
        )?;
    }
    for (key, setting) in unit.settings.changes() {
        add(
            changes,
            workspace,
            Table::Setting,
            |out| out.text(key),
            setting,
            |out, value| {
                out.raw(value);
                Ok(())
            },
        )?;
    }
    for (path, trust) in unit.trusted.changes() {
        add(
            changes,
            workspace,
            Table::Trust,
            |out| out.text(path),
            trust,
            |out, trust| {
                out.text(&trust.hash);
                out.time(trust.at);
                Ok(())
            },
        )?;
    }
    for (key, token) in unit.tokens.changes() {
        add(
            changes,
            workspace,
            Table::Token,
            |out| out.blob(key.as_bytes()),
            token,
            |out, token| {
                out.blob(&token.hash);
                out.text(&token.role);
                out.text(&token.actor);
                out.json("scope", &token.scope)?;
                out.time(token.created_at);
                out.optional(token.expires_at, RowWriter::time);
                out.optional(token.revoked_at, RowWriter::time);
                out.optional(token.device.as_deref(), RowWriter::text);
                Ok(())
            },
        )?;
    }
    for (key, stored) in unit.sessions.changes() {
        add(
            changes,
            workspace,
            Table::Session,
            |out| out.blob(key.as_bytes()),
            stored,
            |out, stored| {
                let session = &stored.session;
                out.integer(stored.seq);
                out.blob(session.connection.as_bytes());
                out.flag(session.status.is_ended());
                out.time(session.updated_at);
                out.json("session", session)
            },
        )?;
    }
    for (key, stored) in unit.runs.changes() {
        let Some(stored) = stored else { continue };
        let run = &stored.run;
        add(
            changes,
            workspace,
            Table::Run,
            |out| out.blob(key.as_bytes()),
            Some(stored),
            |out, stored| {
                out.integer(stored.seq);
                out.flag(run.status.is_over());
                out.integer(stored.version);
                out.time(run.updated_at);
                out.json("run", run)
            },
        )?;
        for position in &stored.changed_steps {
            let Some(step) = run.steps.get(*position) else { continue };
            let write_key = |out: &mut RowWriter<'_>| {
                out.blob(key.as_bytes());
                out.integer(i64::try_from(*position).unwrap_or(i64::MAX));
            };
            add(changes, workspace, Table::RunStep, write_key, Some(step), write_step)?;
        }
    }
    for (_, stored) in unit.asks.changes() {
        let Some(stored) = stored else { continue };
        if unit.is_new(stored.seq) {
            add_ask(changes, workspace, stored)?;
            add_rule_hits(changes, workspace, &stored.ask)?;
        } else {
            changes.add(Action::SetAskState, Table::Ask, |out| {
                out.integer(workspace.0);
                out.blob(stored.ask.id.as_bytes());
                write_ask_state(out, &stored.ask)
            })?;
        }
    }
    for event in &unit.events {
        changes.add(Action::Put, Table::Event, |out| write_event(out, unit, event))?;
    }
    Ok(())
}

/// Adds the staged changes of secrets, and of states of groups, which are deleted like secrets. `write` adds a secret in the form
/// of the backend.
pub(crate) fn encode_secrets(
    unit: &Unit,
    changes: &mut RowChanges,
    write: impl Fn(&mut RowWriter<'_>, AskId, &Raw) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for (group, state) in unit.group_states.changes() {
        add(
            changes,
            unit.workspace,
            Table::GroupState,
            |out| out.blob(group.as_bytes()),
            state,
            |out, state| {
                out.blob(state);
                Ok(())
            },
        )?;
    }
    for (ask, secret) in unit.secrets.changes() {
        add(
            changes,
            unit.workspace,
            Table::Secret,
            |out| out.blob(ask.as_bytes()),
            secret,
            |out, secret| write(out, *ask, secret),
        )?;
    }
    Ok(())
}

fn write_connection(out: &mut RowWriter<'_>, connection: &Connection) {
    out.integer(connection_number(connection.kind));
    out.text(&connection.agent);
    out.integer(connection.epoch.0);
    out.integer(connection.position.0);
    out.optional(connection.process, |out, WirePosition(read)| out.integer(i64::try_from(read).unwrap_or(i64::MAX)));
    out.optional(connection.state.as_ref(), RowWriter::raw);
    out.optional(connection.wake_at, RowWriter::time);
}

fn write_outbox(out: &mut RowWriter<'_>, entry: &OutboxEntry) {
    let (kind, body, tried) = match &entry.body {
        OutboxBody::Outcome { follow_up: false, .. } => (OutboxKind::Outcome, None, false),
        OutboxBody::Outcome { follow_up: true, .. } => (OutboxKind::FollowUp, None, false),
        OutboxBody::Command(command) => (OutboxKind::Command, Some(command), false),
        OutboxBody::Send { message: Some(message), tried, .. } => (OutboxKind::Send, Some(message), *tried),
        OutboxBody::Send { message: None, tried, .. } => (OutboxKind::SendSecret, None, *tried),
    };
    out.blob(entry.connection.as_bytes());
    out.blob(entry.session.as_bytes());
    out.integer(kind as i64);
    out.optional(entry.ask(), |out, ask| out.blob(ask.as_bytes()));
    out.optional(body, RowWriter::raw);
    out.flag(tried);
}

fn write_step(out: &mut RowWriter<'_>, step: &StepRun) -> Result<(), StoreError> {
    let (session, ask) = match &step.state {
        StepState::Running { session } => (Some(session), None),
        StepState::Asking { ask } => (None, Some(ask)),
        StepState::Pending | StepState::Completed { .. } | StepState::Failed { .. } | StepState::Cancelled { .. } => (None, None),
    };
    out.optional(session, |out, session| out.blob(session.as_bytes()));
    out.optional(ask, |out, ask| out.blob(ask.as_bytes()));
    out.json("step", step)
}

/// Adds a row for each rule that the new ask counts for.
fn add_rule_hits(changes: &mut RowChanges, workspace: WorkspaceId, ask: &Ask) -> Result<(), StoreError> {
    for rule in &ask.policy.hits {
        changes.add(Action::Put, Table::RuleHit, |out| {
            out.integer(workspace.0);
            out.text(rule);
            out.time(ask.opened_at);
            out.blob(ask.id.as_bytes());
            Ok(())
        })?;
    }
    Ok(())
}

/// Adds a whole ask. The columns for searches are null, because the table writer fills them from the other columns.
pub(crate) fn add_ask(changes: &mut RowChanges, workspace: WorkspaceId, row: &AskRow) -> Result<(), StoreError> {
    let ask = &row.ask;
    let (origin, context) = (&ask.origin, &ask.context);
    changes.add(Action::Put, Table::Ask, |out| {
        out.integer(workspace.0);
        out.blob(ask.id.as_bytes());
        out.integer(row.seq);
        out.optional(origin.session, |out, session| out.blob(session.as_bytes()));
        out.optional(origin.connection, |out, connection| out.blob(connection.as_bytes()));
        out.optional(owner_of(ask), |out, owner| out.blob(&owner.0));
        out.optional(origin.native_id.as_deref(), RowWriter::text);
        out.optional(origin.opened_by, |out, token| out.blob(token.as_bytes()));
        out.integer(kind_number(ask.kind()));
        out.time(ask.opened_at);
        out.optional(ask.policy.deadline.as_ref(), |out, deadline| out.time(deadline.at));
        out.optional(context.keep, |out, keep| out.integer(i64::try_from(keep.0.as_millis()).unwrap_or(i64::MAX)));
        out.text(&context.agent);
        out.optional(context.project.as_deref(), RowWriter::text);
        out.optional(context.tool_call_id.as_deref(), RowWriter::text);
        out.json("ask body", &*ask.body)?;
        out.json("ask context", &**context)?;
        out.json("policy note", &ask.policy)?;
        out.optional(ask.raw.as_ref(), RowWriter::raw);
        out.null();
        write_ask_state(out, ask)
    })
}

/// The columns of `ASK_STATE`. The one for searches is null, as in [`add_ask`].
fn write_ask_state(out: &mut RowWriter<'_>, ask: &Ask) -> Result<(), StoreError> {
    out.integer(status_number(&ask.state));
    out.optional(ask.snoozed_until, RowWriter::time);
    match &ask.state {
        AskState::Pending(_) => {
            out.null();
            out.integer(DELIVERY_QUEUED);
            out.null();
        }
        AskState::Resolved { outcome, delivery } => {
            out.json("outcome", outcome)?;
            out.integer(delivery_number(delivery));
            match delivery {
                Delivery::Undeliverable { reason } => out.text(reason),
                Delivery::Queued | Delivery::Delivered | Delivery::Confirmed | Delivery::Withheld => out.null(),
            }
        }
    }
    out.null();
    Ok(())
}

fn write_event(out: &mut RowWriter<'_>, unit: &Unit, event: &StoredEvent) -> Result<(), StoreError> {
    out.integer(event.workspace.0);
    out.integer(event.seq);
    out.time(event.at);
    out.integer(event.payload.kind() as i64);
    out.optional(event.session, |out, session| out.blob(session.as_bytes()));
    out.optional(event.payload.ask(), |out, ask| out.blob(ask.id.as_bytes()));
    out.optional(event.run, |out, run| out.blob(run.as_bytes()));
    if is_in_block(unit, event) {
        out.null();
        return Ok(());
    }
    event_row::write(out, &event.payload)
}

/// Whether the block row with the same `seq` contains the payload, so that it need not be stored twice. This excludes blocks of
/// tools, which are replaced when the tool ends while their first event must not change.
fn is_in_block(unit: &Unit, event: &StoredEvent) -> bool {
    let EventPayload::Block { block, .. } = &event.payload else { return false };
    match block.body {
        BlockBody::Tool { .. } => false,
        BlockBody::Message { .. } | BlockBody::Notice { .. } | BlockBody::Error { .. } => {
            unit.blocks.get(&block.id).is_ok_and(|row| row.is_some_and(|row| row.seq == event.seq))
        }
    }
}
