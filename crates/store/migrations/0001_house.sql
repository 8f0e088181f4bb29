-- Integer milliseconds for time; ids are the sixteen bytes of their UUID.

CREATE TABLE workspace (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    last_seq INTEGER NOT NULL,
    last_outbox INTEGER NOT NULL
) STRICT;

INSERT INTO workspace (id, name, last_seq, last_outbox) VALUES (1, 'main', 0, 0);

CREATE TABLE connection (
    id        BLOB PRIMARY KEY,
    workspace INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    agent     TEXT NOT NULL,
    epoch     INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    wire      INTEGER,
    state     TEXT,
    wake_ms   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX connection_wake ON connection (wake_ms) WHERE wake_ms IS NOT NULL;
-- Agents whose process lives, as far as we know.
CREATE INDEX connection_wire ON connection (wire) WHERE wire IS NOT NULL;

CREATE TABLE session (
    n          INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    workspace  INTEGER NOT NULL,
    connection BLOB NOT NULL,
    ended      INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    data       TEXT NOT NULL
) STRICT;

CREATE INDEX session_connection ON session (connection);

-- status: 0 live, 1 parked, 2 answered, 3 rejected, 4 approved, 5 denied, 6 withdrawn.
-- owner: the connection, or the token of a caller; its request ids are unique among what is pending.
CREATE TABLE ask (
    n               INTEGER PRIMARY KEY,
    id              BLOB NOT NULL UNIQUE,
    workspace       INTEGER NOT NULL,
    session         BLOB,
    connection      BLOB,
    owner           BLOB,
    native_id       TEXT,
    opened_by       BLOB,
    kind            INTEGER NOT NULL,
    status          INTEGER NOT NULL,
    seq             INTEGER NOT NULL,
    opened_ms       INTEGER NOT NULL,
    deadline_ms     INTEGER,
    snoozed_ms      INTEGER,
    body            TEXT NOT NULL,
    context         TEXT NOT NULL,
    policy          TEXT NOT NULL,
    outcome         TEXT,
    delivery        INTEGER NOT NULL,
    delivery_reason TEXT,
    raw             TEXT
) STRICT;

-- Callers that give no key of their own have none here; those rows are never equal.
CREATE UNIQUE INDEX ask_native ON ask (owner, native_id) WHERE status < 2;
CREATE INDEX ask_pending ON ask (workspace, n) WHERE status < 2;
CREATE INDEX ask_deadline ON ask (deadline_ms) WHERE status < 2 AND deadline_ms IS NOT NULL;
CREATE INDEX ask_session ON ask (session, n);

-- Thin: an event of an ask names the ask and is rendered from its row.
CREATE TABLE event (
    workspace INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    at_ms     INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    session   BLOB,
    ask       BLOB,
    data      TEXT,
    PRIMARY KEY (workspace, seq)
) STRICT, WITHOUT ROWID;

-- A stream of one session must not read what everybody else did.
CREATE INDEX event_session ON event (session, seq) WHERE session IS NOT NULL;

CREATE TABLE block (
    session   BLOB NOT NULL,
    seq       INTEGER NOT NULL,
    id        BLOB NOT NULL,
    workspace INTEGER NOT NULL,
    data      TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX block_id ON block (id);

-- What has to reach an agent. A row is gone once the agent has it, so the table is small; ids come
-- from workspace.last_outbox and are never used twice.
-- kind: 0 outcome, 1 outcome that the agent no longer waits for, 2 command, 3 message to a process,
-- 4 message with a secret: its body is in the table of secrets.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY,
    workspace  INTEGER NOT NULL,
    connection BLOB NOT NULL,
    session    BLOB NOT NULL,
    kind       INTEGER NOT NULL,
    ask        BLOB,
    body       TEXT
) STRICT;

-- The answers, then what is sent to the agent's process with them in it.
CREATE TABLE secret (
    ask       BLOB PRIMARY KEY,
    workspace INTEGER NOT NULL,
    answers   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    token       BLOB NOT NULL,
    route       TEXT NOT NULL,
    key         TEXT NOT NULL,
    workspace   INTEGER NOT NULL,
    fingerprint BLOB NOT NULL,
    target      TEXT NOT NULL,
    at_ms       INTEGER NOT NULL,
    PRIMARY KEY (token, route, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_age ON idempotency (at_ms);

CREATE TABLE token (
    id         BLOB PRIMARY KEY,
    workspace  INTEGER NOT NULL,
    hash       BLOB NOT NULL UNIQUE,
    role       TEXT NOT NULL,
    actor      TEXT NOT NULL,
    scope      TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE login_code (
    hash       BLOB PRIMARY KEY,
    workspace  INTEGER NOT NULL,
    role       TEXT NOT NULL,
    actor      TEXT NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Rules that were given by hand for a while.
CREATE TABLE grant_rule (
    id        BLOB PRIMARY KEY,
    workspace INTEGER NOT NULL,
    until_ms  INTEGER,
    data      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
    workspace INTEGER NOT NULL,
    key       TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;

-- Project policies that a person trusted, by path and hash of the text.
CREATE TABLE trust (
    workspace INTEGER NOT NULL,
    path      TEXT NOT NULL,
    hash      TEXT NOT NULL,
    at_ms     INTEGER NOT NULL,
    PRIMARY KEY (workspace, path)
) STRICT, WITHOUT ROWID;
