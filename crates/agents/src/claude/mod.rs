//! Claude Code over its stream of JSON lines.
