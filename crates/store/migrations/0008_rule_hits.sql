-- The asks that a rule decided or left to a person, by the rule's id or name. Counting them reads the key only.
CREATE TABLE rule_hit (
    workspace INTEGER NOT NULL,
    rule      TEXT NOT NULL,
    at_ms     INTEGER NOT NULL,
    ask       BLOB NOT NULL,
    PRIMARY KEY (workspace, rule, at_ms, ask)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO rule_hit (workspace, rule, at_ms, ask)
SELECT workspace, outcome ->> '$.by.rule', opened_ms, id FROM ask
WHERE status >= 2 AND outcome ->> '$.by.kind' = 'policy' AND outcome ->> '$.by.rule' NOT LIKE '%.policy = %';
