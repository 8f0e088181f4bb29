-- What people were told of asks: one row is one ask through one channel. It is written when the first attempt is
-- over and goes when the ask is no longer of interest there, so the table is small.
-- state: 0 to be tried again at due_ms, 1 told, 2 given up.
CREATE TABLE note (
    ask       BLOB NOT NULL,
    channel   TEXT NOT NULL,
    workspace INTEGER NOT NULL,
    state     INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    due_ms    INTEGER NOT NULL,
    message   TEXT,
    PRIMARY KEY (ask, channel)
) STRICT, WITHOUT ROWID;

-- Browsers that want to be woken: one per token, until it is revoked or the browser is gone.
CREATE TABLE push (
    token      BLOB PRIMARY KEY,
    workspace  INTEGER NOT NULL,
    endpoint   TEXT NOT NULL,
    public_key BLOB NOT NULL,
    auth       BLOB NOT NULL
) STRICT, WITHOUT ROWID;
