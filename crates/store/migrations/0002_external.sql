-- Sessions of agents that a person runs themselves: by whom they are told of, and under which id the
-- agent itself knows them.
CREATE TABLE external (
    workspace INTEGER NOT NULL,
    token     BLOB NOT NULL,
    agent     TEXT NOT NULL,
    native_id TEXT NOT NULL,
    session   BLOB NOT NULL,
    PRIMARY KEY (workspace, token, agent, native_id)
) STRICT, WITHOUT ROWID;
