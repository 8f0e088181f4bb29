//! Reading groups.

use rusqlite::{Connection as Sqlite, params};
use sayso_core::group::Group;

use crate::error::StoreError;
use crate::read::{GetGroup, GroupDetail, OpenGroups};
use crate::sqlite::SqliteQuery;
use crate::sqlite::decode::{all, column, json, one};
use crate::sqlite::load::read_ask;

impl SqliteQuery for GetGroup {
    type Found = Option<GroupDetail>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let sql = "SELECT data FROM ask_group WHERE workspace = ?1 AND id = ?2";
        let key = params![self.workspace.0, self.group.as_bytes()];
        let found: Option<Group> = one(db, sql, key, |row| json("group", &column::<String>(row, 0)?))?;
        let Some(group) = found.filter(|group| group.opened_by == self.token) else { return Ok(None) };
        let mut asks = Vec::with_capacity(group.asks.len());
        for id in &group.asks {
            asks.extend(read_ask(db, self.workspace, *id)?.map(|row| row.ask));
        }
        Ok(Some(GroupDetail { group, asks }))
    }
}

impl SqliteQuery for OpenGroups {
    type Found = Vec<Group>;
    fn run(self, db: &Sqlite) -> Result<Self::Found, StoreError> {
        let sql = "SELECT data FROM ask_group WHERE workspace = ?1 AND over = 0";
        let mut groups: Vec<Group> = all(db, sql, [self.workspace.0], |row| json("group", &column::<String>(row, 0)?))?;
        groups.sort_by_key(|group| (group.opened_at, group.id));
        Ok(groups)
    }
}
