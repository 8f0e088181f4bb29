import type { Ask } from "@sayso/react";
import { type FeedEvent, ignoreUnknownEvent } from "@sayso/sdk";

/** An entry of a conversation. A tool call and its ask are one entry. */
export type Entry =
  | { kind: "message"; id: string; at: string; role: "user" | "assistant"; text: string; subagent?: string }
  | { kind: "tool"; id: string; at: string; tool: Tool; ask?: Ask }
  | { kind: "ask"; id: string; at: string; ask: Ask }
  | { kind: "notice"; id: string; at: string; text: string; error: boolean }
  | { kind: "unknown"; id: string; at: string; text: string };

export interface Tool {
  toolCallId: string;
  name: string;
  input: unknown;
  output: string | null;
  status: string;
}

type Block = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Reads a block of a transcript or of an event. */
export function readBlock(block: Block): Entry {
  const [id, at] = [text(block.id), text(block.at)];
  switch (block.type) {
    case "message": {
      const role = block.role === "user" ? "user" : "assistant";
      const subagent = text(block.subagent);
      return { kind: "message", id, at, role, text: text(block.text), ...(subagent ? { subagent } : {}) };
    }
    case "tool": {
      const output = typeof block.output === "string" ? block.output : null;
      const tool = {
        toolCallId: text(block.toolCallId),
        name: text(block.name),
        input: block.input,
        output,
        status: text(block.status),
      };
      return { kind: "tool", id, at, tool };
    }
    case "action":
      if (block.ask) return { kind: "ask", id, at, ask: block.ask as Ask };
      return { kind: "unknown", id, at, text: JSON.stringify(block, null, 2) };
    case "notice":
    case "error":
      return { kind: "notice", id, at, text: text(block.text), error: block.type === "error" };
    default:
      return { kind: "unknown", id, at, text: JSON.stringify(block, null, 2) };
  }
}

/** Adds an entry: replaces the one with the same id, merges it into its tool call, or appends it. */
export function addEntry(entries: Entry[], entry: Entry): Entry[] {
  const askId = askIdOf(entry);
  const same = entries.findIndex((other) => other.id === entry.id || (askId !== undefined && askIdOf(other) === askId));
  if (same >= 0) return entries.map((other, at) => (at === same ? joined(other, entry) : other));
  if (entry.kind === "ask") {
    const call = entries.findLastIndex(
      (other) => other.kind === "tool" && !other.ask && isCallOf(other.tool, entry.ask),
    );
    if (call >= 0)
      return entries.map((other, at) => (at === call && other.kind === "tool" ? { ...other, ask: entry.ask } : other));
  }
  if (entry.kind === "tool") {
    const ask = entries.findLastIndex((other) => other.kind === "ask" && isCallOf(entry.tool, other.ask));
    if (ask >= 0)
      return entries.map((other, at) =>
        at === ask && other.kind === "ask" ? { ...entry, at: other.at, ask: other.ask } : other,
      );
  }
  return [...entries, entry];
}

const isCallOf = (tool: Tool, ask: Ask): boolean => tool.toolCallId !== "" && tool.toolCallId === ask.toolCallId;

function askIdOf(entry: Entry): string | undefined {
  return entry.kind === "ask" || entry.kind === "tool" ? entry.ask?.id : undefined;
}

function joined(before: Entry, after: Entry): Entry {
  if (before.kind === "tool" && after.kind === "tool")
    return { ...after, at: before.at, ...(before.ask ? { ask: before.ask } : {}) };
  if (before.kind === "tool" && after.kind === "ask") return { ...before, ask: after.ask };
  return after;
}

export const readTranscript = (blocks: Block[]): Entry[] => blocks.map(readBlock).reduce(addEntry, []);

/** Applies an event. */
export function addEvent(entries: Entry[], event: FeedEvent): Entry[] {
  switch (event.type) {
    case "question.requested":
    case "approval.requested":
    case "link.requested":
    case "question.resolved":
    case "approval.resolved":
    case "link.resolved":
      return addEntry(entries, { kind: "ask", id: event.data.id, at: event.data.openedAt, ask: event.data });
    case "message.completed":
    case "tool.started":
    case "tool.updated":
    case "tool.completed":
    case "error":
      return addEntry(entries, readBlock(event.data));
    case "notice":
      // A notice outside of a session is not a block.
      return event.data.type ? addEntry(entries, readBlock(event.data)) : entries;
    case "ask.parked":
    case "ask.snoozed":
    case "ask.delivery":
    case "session.created":
    case "session.status":
    case "session.ended":
    case "message.delta":
    case "policy.changed":
    case "run.started":
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
    case "step.started":
    case "step.completed":
    case "step.failed":
    case "step.cancelled":
    case "agent_question_asked":
    case "agent_question_answered":
    case "reset":
      return entries;
    default:
      ignoreUnknownEvent(event);
      return entries;
  }
}
