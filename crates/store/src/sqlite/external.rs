//! Sessions of agents that a person runs themselves.

use rusqlite::{Connection as Sqlite, OptionalExtension, params};
use sayso_core::ask::Delivery;
use sayso_core::id::{AskId, SessionId};
use sayso_core::session::{Session, SessionStatus};
use sayso_core::session_lifecycle::{status_after_ask, status_after_report};
use sayso_core::texts;

use super::tx::Tx;
use super::{ask_row, create_session, resolve, sessions};
use crate::error::StoreError;
use crate::read::{GetExternal, Query};
use crate::write::{EnsureExternal, ExternalKey, ExternalNews, Operation, TellExternal};

fn find(db: &Sqlite, key: &ExternalKey) -> Result<Option<Session>, StoreError> {
    let id: Option<[u8; 16]> = db
        .prepare_cached("SELECT session FROM external WHERE workspace = ?1 AND token = ?2 AND agent = ?3 AND native_id = ?4")?
        .query_row(params![key.workspace.0, key.token.as_bytes(), key.agent, key.native_id], |row| row.get(0))
        .optional()?;
    id.map(|id| sessions::get(db, key.workspace, SessionId::from_bytes(id))).transpose().map(Option::flatten)
}

impl Query for GetExternal {
    type Output = Option<Session>;

    fn run(self, db: &Sqlite) -> Result<Self::Output, StoreError> {
        Ok(find(db, &self.key)?.filter(|session| !session.status.is_ended()))
    }
}

impl Operation for EnsureExternal {
    type Output = Box<Session>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let Some(mut known) = find(tx.db(), &self.key)? else {
            let key = &self.key;
            tx.db()
                .prepare_cached("INSERT INTO external (workspace, token, agent, native_id, session) VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![key.workspace.0, key.token.as_bytes(), key.agent, key.native_id, self.session.id.as_bytes()])?;
            create_session::insert(tx, key.workspace, &self.session, &self.connection, self.announced)?;
            return Ok(Box::new(self.session));
        };
        if known.title.is_empty() && !self.session.title.is_empty() {
            known.title.clone_from(&self.session.title);
            sessions::put(tx, &known)?;
        }
        if let Some(status) = status_after_ask(&known) {
            known.project = self.session.project;
            known.branch = self.session.branch;
            known.project_policy = self.session.project_policy;
            sessions::set_status(tx, &mut known, status, self.now)?;
        }
        Ok(Box::new(known))
    }
}

impl TellExternal {
    /// An outcome that nobody took while the terminal went on has not reached the agent.
    fn too_late(&self, tx: &mut Tx<'_>, session: SessionId) -> Result<(), StoreError> {
        let prefix = match &self.news {
            ExternalNews::ToolDone { native_prefix } => native_prefix.as_str(),
            ExternalNews::Prompted | ExternalNews::TurnEnded | ExternalNews::Ended => "",
        };
        let late: Vec<[u8; 16]> = tx
            .db()
            .prepare_cached(
                "SELECT id FROM ask WHERE session = ?1 AND status >= 2 AND delivery = ?2
                     AND substr(coalesce(native_id, ''), 1, length(?3)) = ?3",
            )?
            .query_map(params![session.as_bytes(), ask_row::delivery_number(&Delivery::Queued), prefix], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for id in late {
            let news = Delivery::Undeliverable { reason: texts::TERMINAL_WAS_FIRST.to_owned() };
            resolve::report(tx, self.key.workspace, AskId::from_bytes(id), news, self.now)?;
        }
        Ok(())
    }
}

impl Operation for TellExternal {
    type Output = Vec<AskId>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let workspace = self.key.workspace;
        let Some(mut session) = find(tx.db(), &self.key)? else { return Ok(Vec::new()) };
        let mut pending = ask_row::pending_of(tx.db(), session.id)?;
        let (reason, status) = match &self.news {
            ExternalNews::ToolDone { native_prefix } => {
                let begins = |native: &String| native.starts_with(native_prefix);
                pending.retain(|ask| ask.origin.native_id.as_ref().is_some_and(begins));
                // First in, first out: which of two equal calls is over cannot be told.
                pending.truncate(1);
                (texts::WITHDRAWN_ELSEWHERE, None)
            }
            ExternalNews::Prompted => (texts::WITHDRAWN_TURN_OVER, Some(SessionStatus::Running)),
            ExternalNews::TurnEnded => (texts::WITHDRAWN_TURN_OVER, Some(SessionStatus::Idle)),
            ExternalNews::Ended => {
                let reason = texts::WITHDRAWN_EXTERNAL_ENDED.to_owned();
                let ended = SessionStatus::Ended { reason, failed: false, resumable: false };
                (texts::WITHDRAWN_EXTERNAL_ENDED, Some(ended))
            }
        };
        self.too_late(tx, session.id)?;
        let mut withdrawn = Vec::with_capacity(pending.len());
        for ask in pending {
            withdrawn.push(ask.id);
            resolve::agent_gone(tx, workspace, ask, false, reason, self.now)?;
        }
        if let Some(status) = status.and_then(|status| status_after_report(&session, status)) {
            sessions::set_status(tx, &mut session, status, self.now)?;
        }
        Ok(withdrawn)
    }
}
