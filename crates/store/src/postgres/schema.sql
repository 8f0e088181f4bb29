-- The same tables as in SQLite, with the same meaning of columns and numbers: see sqlite/schema.sql. The workspace leads
-- every key and every index. Texts compare by bytes, as in SQLite.

CREATE TABLE workspace (
    id          BIGINT PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL,
    last_seq    BIGINT NOT NULL,
    last_outbox BIGINT NOT NULL,
    -- The batch that changed the workspace last.
    last_batch  BYTEA NOT NULL
) WITH (fillfactor = 10);

INSERT INTO workspace (id, name, last_seq, last_outbox, last_batch) VALUES (1, 'main', 0, 0, '');

-- Batches that were committed in the last day. A node whose COMMIT had no clear reply looks here for its batch.
CREATE TABLE batch (
    workspace BIGINT NOT NULL,
    id        BYTEA NOT NULL,
    at_ms     BIGINT NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE INDEX batch_age ON batch (workspace, at_ms);

CREATE TABLE connection (
    workspace BIGINT NOT NULL,
    id        BYTEA NOT NULL,
    kind      BIGINT NOT NULL,
    agent     TEXT COLLATE "C" NOT NULL,
    epoch     BIGINT NOT NULL,
    position  BIGINT NOT NULL,
    wire      BIGINT,
    state     TEXT,
    wake_ms   BIGINT,
    PRIMARY KEY (workspace, id)
) WITH (fillfactor = 70);

CREATE INDEX connection_wake ON connection (workspace) WHERE wake_ms IS NOT NULL;
CREATE INDEX connection_wire ON connection (workspace) WHERE wire IS NOT NULL;
CREATE INDEX connection_attached ON connection (workspace) WHERE kind = 2;

CREATE TABLE session (
    workspace  BIGINT NOT NULL,
    id         BYTEA NOT NULL,
    seq        BIGINT NOT NULL,
    connection BYTEA NOT NULL,
    ended      BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) WITH (fillfactor = 70);

CREATE INDEX session_list ON session (workspace, seq);
CREATE INDEX session_connection ON session (workspace, connection);

CREATE TABLE ask (
    workspace       BIGINT NOT NULL,
    id              BYTEA NOT NULL,
    seq             BIGINT NOT NULL,
    session         BYTEA,
    connection      BYTEA,
    owner           BYTEA,
    native_id       TEXT COLLATE "C",
    opened_by       BYTEA,
    kind            BIGINT NOT NULL,
    opened_ms       BIGINT NOT NULL,
    deadline_ms     BIGINT,
    keep_ms         BIGINT,
    agent           TEXT COLLATE "C" NOT NULL,
    project         TEXT COLLATE "C",
    tool_call_id    TEXT COLLATE "C",
    body            TEXT NOT NULL,
    context         TEXT NOT NULL,
    policy          TEXT NOT NULL,
    raw             TEXT,
    asked_text      TEXT NOT NULL,
    status          BIGINT NOT NULL,
    snoozed_ms      BIGINT,
    outcome         TEXT,
    delivery        BIGINT NOT NULL,
    delivery_reason TEXT,
    decided_text    TEXT,
    PRIMARY KEY (workspace, id)
);

CREATE INDEX ask_list ON ask (workspace, seq);
CREATE INDEX ask_session ON ask (workspace, session, seq);
CREATE INDEX ask_pending ON ask (workspace, seq) WHERE status < 2;
CREATE INDEX ask_owner ON ask (workspace, owner) WHERE status < 2;
CREATE INDEX ask_uncollected ON ask (workspace, owner)
    WHERE status >= 2 AND delivery = 0 AND connection IS NULL AND native_id IS NOT NULL;

CREATE TABLE rule_hit (
    workspace BIGINT NOT NULL,
    rule      TEXT COLLATE "C" NOT NULL,
    at_ms     BIGINT NOT NULL,
    ask       BYTEA NOT NULL,
    PRIMARY KEY (workspace, rule, at_ms, ask)
);

CREATE TABLE event (
    workspace BIGINT NOT NULL,
    seq       BIGINT NOT NULL,
    at_ms     BIGINT NOT NULL,
    kind      BIGINT NOT NULL,
    session   BYTEA,
    ask       BYTEA,
    run       BYTEA,
    data      TEXT,
    PRIMARY KEY (workspace, seq)
);

CREATE INDEX event_session ON event (workspace, session, seq) WHERE session IS NOT NULL;

CREATE TABLE block (
    workspace BIGINT NOT NULL,
    id        BYTEA NOT NULL,
    session   BYTEA NOT NULL,
    seq       BIGINT NOT NULL,
    data      TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE INDEX block_session ON block (workspace, session, seq);

CREATE TABLE outbox (
    workspace  BIGINT NOT NULL,
    id         BIGINT NOT NULL,
    connection BYTEA NOT NULL,
    session    BYTEA NOT NULL,
    kind       BIGINT NOT NULL,
    ask        BYTEA,
    body       TEXT,
    tried      BIGINT NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE INDEX outbox_connection ON outbox (workspace, connection);
CREATE INDEX outbox_session ON outbox (workspace, session);

CREATE TABLE secret (
    workspace BIGINT NOT NULL,
    ask       BYTEA NOT NULL,
    -- Encrypted with a key that is not in the database.
    answers   BYTEA NOT NULL,
    PRIMARY KEY (workspace, ask)
);

-- The id of the key that encrypts secrets: one row.
CREATE TABLE secret_key (
    id BYTEA PRIMARY KEY
);

CREATE TABLE idempotency (
    workspace   BIGINT NOT NULL,
    token       BYTEA NOT NULL,
    route       TEXT COLLATE "C" NOT NULL,
    key         TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    target      TEXT COLLATE "C" NOT NULL,
    at_ms       BIGINT NOT NULL,
    PRIMARY KEY (workspace, token, route, key)
);

CREATE INDEX idempotency_age ON idempotency (workspace, at_ms);

CREATE TABLE token (
    workspace  BIGINT NOT NULL,
    id         BYTEA NOT NULL,
    hash       BYTEA NOT NULL,
    role       TEXT COLLATE "C" NOT NULL,
    actor      TEXT COLLATE "C" NOT NULL,
    scope      TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    revoked_ms BIGINT,
    device     TEXT COLLATE "C",
    PRIMARY KEY (workspace, id)
);

CREATE TABLE login_code (
    workspace  BIGINT NOT NULL,
    hash       BYTEA NOT NULL,
    role       TEXT COLLATE "C" NOT NULL,
    actor      TEXT COLLATE "C" NOT NULL,
    expires_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, hash)
);

CREATE TABLE grant_rule (
    workspace BIGINT NOT NULL,
    id        BYTEA NOT NULL,
    until_ms  BIGINT,
    data      TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);

-- The asks of one pause of a suspended run.
CREATE TABLE ask_group (
    workspace  BIGINT NOT NULL,
    id         BYTEA NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    over       BIGINT NOT NULL,
    expires_ms BIGINT,
    data       TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
) WITH (fillfactor = 70);

CREATE INDEX ask_group_open ON ask_group (workspace) WHERE over = 0;
CREATE INDEX ask_group_age ON ask_group (workspace, expires_ms) WHERE expires_ms IS NOT NULL;

-- The state of a suspended run, encrypted with a key that is not in the database.
CREATE TABLE group_state (
    workspace BIGINT NOT NULL,
    grp       BYTEA NOT NULL,
    state     BYTEA NOT NULL,
    PRIMARY KEY (workspace, grp)
);

CREATE TABLE setting (
    workspace BIGINT NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (workspace, key)
);

CREATE TABLE trust (
    workspace BIGINT NOT NULL,
    path      TEXT COLLATE "C" NOT NULL,
    hash      TEXT COLLATE "C" NOT NULL,
    at_ms     BIGINT NOT NULL,
    PRIMARY KEY (workspace, path)
);

CREATE TABLE external (
    workspace BIGINT NOT NULL,
    token     BYTEA NOT NULL,
    agent     TEXT COLLATE "C" NOT NULL,
    native_id TEXT COLLATE "C" NOT NULL,
    session   BYTEA NOT NULL,
    PRIMARY KEY (workspace, token, agent, native_id)
);

CREATE TABLE run (
    workspace  BIGINT NOT NULL,
    id         BYTEA NOT NULL,
    seq        BIGINT NOT NULL,
    over       BIGINT NOT NULL,
    version    BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    data       TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE INDEX run_list ON run (workspace, seq);
CREATE INDEX run_open ON run (workspace, seq) WHERE over = 0;

CREATE TABLE run_step (
    workspace BIGINT NOT NULL,
    run       BYTEA NOT NULL,
    position  BIGINT NOT NULL,
    session   BYTEA,
    ask       BYTEA,
    data      TEXT NOT NULL,
    PRIMARY KEY (workspace, run, position)
);

CREATE TABLE note (
    workspace BIGINT NOT NULL,
    ask       BYTEA NOT NULL,
    channel   TEXT COLLATE "C" NOT NULL,
    state     BIGINT NOT NULL,
    attempts  BIGINT NOT NULL,
    due_ms    BIGINT NOT NULL,
    message   TEXT,
    PRIMARY KEY (workspace, ask, channel)
);

CREATE TABLE push (
    workspace  BIGINT NOT NULL,
    token      BYTEA NOT NULL,
    endpoint   TEXT NOT NULL,
    public_key BYTEA NOT NULL,
    auth       BYTEA NOT NULL,
    PRIMARY KEY (workspace, token)
);
