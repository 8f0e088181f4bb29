-- Servers that somebody else started and that are listened to: all of them at every start.
CREATE INDEX connection_attached ON connection (kind) WHERE kind = 2;
