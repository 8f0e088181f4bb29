-- Executions of workflows. over: 0 under way, 1 over. version: grows with every change, so that only the
-- one who knows where a run stands can move it.
CREATE TABLE run (
    n          INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    workspace  INTEGER NOT NULL,
    over       INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    data       TEXT NOT NULL
) STRICT;

CREATE INDEX run_open ON run (workspace, n) WHERE over = 0;

-- Their steps. session: what carries it out now. ask: the checkpoint that is open now.
CREATE TABLE run_step (
    run      BLOB NOT NULL,
    position INTEGER NOT NULL,
    session  BLOB,
    ask      BLOB,
    data     TEXT NOT NULL,
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

-- The run that an event is about: its labels say who sees it.
ALTER TABLE event ADD COLUMN run BLOB;
