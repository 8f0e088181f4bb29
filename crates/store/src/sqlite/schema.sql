-- Times are integer milliseconds. Ids are the sixteen bytes of their UUID. JSON is opaque, and filtered fields are columns.
-- There are no constraints but primary keys: operations check uniqueness, and a logged row must always be writable.

CREATE TABLE workspace (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    last_seq    INTEGER NOT NULL,
    last_outbox INTEGER NOT NULL
) STRICT;

INSERT INTO workspace (id, name, last_seq, last_outbox) VALUES (1, 'main', 0, 0);

-- Committed changes that are not in the other tables: preallocated blobs that are written in place, so that a commit changes
-- few pages. See sqlite/log.rs.
CREATE TABLE change_log (
    id   INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;

-- The last batch whose changes are in the other tables.
CREATE TABLE change_log_state (
    id      INTEGER PRIMARY KEY,
    flushed INTEGER NOT NULL
) STRICT;

INSERT INTO change_log_state (id, flushed) VALUES (1, 0);

CREATE TABLE connection (
    workspace INTEGER NOT NULL,
    id        BLOB NOT NULL,
    kind      INTEGER NOT NULL,
    agent     TEXT NOT NULL,
    epoch     INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    wire      INTEGER,
    state     TEXT,
    wake_ms   INTEGER,
    PRIMARY KEY (workspace, id)
) STRICT;

CREATE INDEX connection_wake ON connection (wake_ms) WHERE wake_ms IS NOT NULL;
CREATE INDEX connection_wire ON connection (wire) WHERE wire IS NOT NULL;
CREATE INDEX connection_attached ON connection (workspace) WHERE kind = 2;

CREATE TABLE session (
    workspace  INTEGER NOT NULL,
    id         BLOB NOT NULL,
    seq        INTEGER NOT NULL,
    connection BLOB NOT NULL,
    ended      INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT;

CREATE INDEX session_list ON session (workspace, seq);
CREATE INDEX session_connection ON session (connection);

-- status: 0 live, 1 parked, 2 answered, 3 rejected, 4 approved, 5 denied, 6 withdrawn.
-- delivery: 0 queued, 1 delivered, 2 confirmed, 3 undeliverable, 4 withheld.
-- owner: the connection, or the token of a caller.
-- asked_text, decided_text: the texts that searches read. They contain no secrets.
CREATE TABLE ask (
    workspace       INTEGER NOT NULL,
    id              BLOB NOT NULL,
    seq             INTEGER NOT NULL,
    session         BLOB,
    connection      BLOB,
    owner           BLOB,
    native_id       TEXT,
    opened_by       BLOB,
    kind            INTEGER NOT NULL,
    opened_ms       INTEGER NOT NULL,
    deadline_ms     INTEGER,
    keep_ms         INTEGER,
    agent           TEXT NOT NULL,
    project         TEXT,
    tool_call_id    TEXT,
    body            TEXT NOT NULL,
    context         TEXT NOT NULL,
    policy          TEXT NOT NULL,
    raw             TEXT,
    asked_text      TEXT NOT NULL,
    status          INTEGER NOT NULL,
    snoozed_ms      INTEGER,
    outcome         TEXT,
    delivery        INTEGER NOT NULL,
    delivery_reason TEXT,
    decided_text    TEXT,
    PRIMARY KEY (workspace, id)
) STRICT;

CREATE INDEX ask_list ON ask (workspace, seq);
CREATE INDEX ask_session ON ask (session, seq);
CREATE INDEX ask_pending ON ask (workspace, seq) WHERE status < 2;
CREATE INDEX ask_owner ON ask (owner) WHERE status < 2;
CREATE INDEX ask_uncollected ON ask (owner, native_id, seq)
    WHERE status >= 2 AND delivery = 0 AND connection IS NULL AND native_id IS NOT NULL;

-- The asks that a rule decided or left to a person, by the rule's id or name. Counting them reads the key only.
CREATE TABLE rule_hit (
    workspace INTEGER NOT NULL,
    rule      TEXT NOT NULL,
    at_ms     INTEGER NOT NULL,
    ask       BLOB NOT NULL,
    PRIMARY KEY (workspace, rule, at_ms, ask)
) STRICT, WITHOUT ROWID;

-- An event about an ask refers to the ask and is rendered from its row. An event about a block is rendered from the block.
CREATE TABLE event (
    workspace INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    at_ms     INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    session   BLOB,
    ask       BLOB,
    run       BLOB,
    data      TEXT,
    PRIMARY KEY (workspace, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_session ON event (session, seq) WHERE session IS NOT NULL;

CREATE TABLE block (
    workspace INTEGER NOT NULL,
    id        BLOB NOT NULL,
    session   BLOB NOT NULL,
    seq       INTEGER NOT NULL,
    data      TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT;

CREATE INDEX block_session ON block (session, seq);

-- Messages to agents. A row is deleted after its delivery. Ids come from workspace.last_outbox and are never reused. kind: 0
-- outcome, 1 outcome as a follow-up, 2 command, 3 message to a process, 4 message with a secret, whose body is in the table of
-- secrets. tried: the message may have been sent.
CREATE TABLE outbox (
    workspace  INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    connection BLOB NOT NULL,
    session    BLOB NOT NULL,
    kind       INTEGER NOT NULL,
    ask        BLOB,
    body       TEXT,
    tried      INTEGER NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT;

-- The answers, then the message to the agent's process that contains them.
CREATE TABLE secret (
    workspace INTEGER NOT NULL,
    ask       BLOB NOT NULL,
    answers   TEXT NOT NULL,
    PRIMARY KEY (workspace, ask)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    workspace   INTEGER NOT NULL,
    token       BLOB NOT NULL,
    route       TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    target      TEXT NOT NULL,
    at_ms       INTEGER NOT NULL,
    PRIMARY KEY (workspace, token, route, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_age ON idempotency (at_ms);

CREATE TABLE token (
    workspace  INTEGER NOT NULL,
    id         BLOB NOT NULL,
    hash       BLOB NOT NULL,
    role       TEXT NOT NULL,
    actor      TEXT NOT NULL,
    scope      TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER,
    device     TEXT,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE login_code (
    workspace  INTEGER NOT NULL,
    hash       BLOB NOT NULL,
    role       TEXT NOT NULL,
    actor      TEXT NOT NULL,
    expires_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace, hash)
) STRICT, WITHOUT ROWID;

-- Rules that a person granted for a limited time.
CREATE TABLE grant_rule (
    workspace INTEGER NOT NULL,
    id        BLOB NOT NULL,
    until_ms  INTEGER,
    data      TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- The asks of one pause of a suspended run. over: 0 the server still has work to do for it, 1 ended. Ended rows are deleted
-- after expires_ms.
CREATE TABLE ask_group (
    workspace  INTEGER NOT NULL,
    id         BLOB NOT NULL,
    name       TEXT NOT NULL,
    over       INTEGER NOT NULL,
    expires_ms INTEGER,
    data       TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX ask_group_open ON ask_group (workspace) WHERE over = 0;
CREATE INDEX ask_group_age ON ask_group (expires_ms) WHERE expires_ms IS NOT NULL;

-- The state of a suspended run, encrypted with a key that is not in the database.
CREATE TABLE group_state (
    workspace INTEGER NOT NULL,
    grp       BLOB NOT NULL,
    state     BLOB NOT NULL,
    PRIMARY KEY (workspace, grp)
) STRICT;

CREATE TABLE setting (
    workspace INTEGER NOT NULL,
    key       TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;

-- Policies of projects that a person trusts, by path and hash of the text.
CREATE TABLE trust (
    workspace INTEGER NOT NULL,
    path      TEXT NOT NULL,
    hash      TEXT NOT NULL,
    at_ms     INTEGER NOT NULL,
    PRIMARY KEY (workspace, path)
) STRICT, WITHOUT ROWID;

-- Sessions of agents that a person runs themselves, by the agent's own id.
CREATE TABLE external (
    workspace INTEGER NOT NULL,
    token     BLOB NOT NULL,
    agent     TEXT NOT NULL,
    native_id TEXT NOT NULL,
    session   BLOB NOT NULL,
    PRIMARY KEY (workspace, token, agent, native_id)
) STRICT, WITHOUT ROWID;

-- over: 0 active, 1 ended. version grows with every transition, so that only one writer advances a run.
CREATE TABLE run (
    workspace  INTEGER NOT NULL,
    id         BLOB NOT NULL,
    seq        INTEGER NOT NULL,
    over       INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT;

CREATE INDEX run_list ON run (workspace, seq);
CREATE INDEX run_open ON run (workspace, seq) WHERE over = 0;

-- session: the current session of the step. ask: the open checkpoint.
CREATE TABLE run_step (
    workspace INTEGER NOT NULL,
    run       BLOB NOT NULL,
    position  INTEGER NOT NULL,
    session   BLOB,
    ask       BLOB,
    data      TEXT NOT NULL,
    PRIMARY KEY (workspace, run, position)
) STRICT, WITHOUT ROWID;

-- Notifications, one row per ask and channel. state: 0 retried at due_ms, 1 sent, 2 given up. A row is deleted after the
-- channel was updated with the outcome.
CREATE TABLE note (
    workspace INTEGER NOT NULL,
    ask       BLOB NOT NULL,
    channel   TEXT NOT NULL,
    state     INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    due_ms    INTEGER NOT NULL,
    message   TEXT,
    PRIMARY KEY (workspace, ask, channel)
) STRICT, WITHOUT ROWID;

-- Push subscriptions of browsers, one per token.
CREATE TABLE push (
    workspace  INTEGER NOT NULL,
    token      BLOB NOT NULL,
    endpoint   TEXT NOT NULL,
    public_key BLOB NOT NULL,
    auth       BLOB NOT NULL,
    PRIMARY KEY (workspace, token)
) STRICT, WITHOUT ROWID;
