//! Queries of groups.

use sayso_core::group::Group;

use super::asks::read_ask;
use crate::columns::decode::json;
use crate::columns::value::{params, text};
use crate::error::StoreError;
use crate::read::{GetGroup, GroupDetail, ListOpenGroups, Query};
use crate::snapshot::{Snapshot, all, one};

impl Query for GetGroup {
    type Found = Option<GroupDetail>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = "SELECT data FROM ask_group WHERE workspace = ?1 AND id = ?2";
        let found: Option<Group> =
            one(db, sql, params![self.workspace.0, self.group.as_bytes()], |row| json("group", &text(row, 0)?))?;
        let Some(group) = found.filter(|group| group.opened_by == self.token) else { return Ok(None) };
        let mut asks = Vec::with_capacity(group.asks.len());
        for id in &group.asks {
            asks.extend(read_ask(db, self.workspace, *id)?.map(|row| row.ask));
        }
        Ok(Some(GroupDetail { group, asks }))
    }
}

impl Query for ListOpenGroups {
    type Found = Vec<Group>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = "SELECT data FROM ask_group WHERE workspace = ?1 AND over = 0";
        let mut groups: Vec<Group> = all(db, sql, params![self.workspace.0], |row| json("group", &text(row, 0)?))?;
        groups.sort_by_key(|group| (group.opened_at, group.id));
        Ok(groups)
    }
}
