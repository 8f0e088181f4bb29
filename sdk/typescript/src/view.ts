import type { QuestionItem } from "./api/index.js";
import type { SessionEvent } from "./transport.js";

/** A tool call in a chat. A question without a tool is also shown as one. */
export interface ToolCallState {
  /** The agent's id of the call. */
  toolCallId: string;
  /** The name of the tool. */
  toolName: string;
  /** JSON as text. */
  input: string;
  /** `pending` means that the call waits for a person. */
  status: "pending" | "running" | "complete" | "error";
  /** The ask about the tool call. */
  interactiveType?: "question" | "approval";
  /** The questions, if the call waits for answers. */
  questions?: QuestionItem[];
  /** The result, as the agent reported it. */
  result?: string;
}

/** An entry of a chat. */
export type SessionItem = { kind: "text"; text: string } | { kind: "tool"; call: ToolCallState };

/** A session, built from its stream. */
export interface SessionView {
  /** `connecting`, or the status of the session. */
  status: string;
  /** The entries in order. */
  items: SessionItem[];
  /** The latest error. */
  error?: string;
}

/** The view before the first event. */
export const emptyView: SessionView = { status: "connecting", items: [] };

/** The view after an event, or after the server accepted a decision of this page (`settled`). Unknown types change
 * nothing. */
export function viewAfter(
  view: SessionView,
  event: SessionEvent | { type: "settled"; data: { toolCallId: string } },
): SessionView {
  switch (event.type) {
    case "text_delta":
      return { ...view, items: withText(view.items, event.data.text) };
    case "tool_call_start":
      return change(view, event.data.toolCallId, { toolName: event.data.toolName });
    case "tool_call_delta":
      return change(view, event.data.toolCallId, { input: event.data.input });
    case "question_prompt": {
      const { toolCallId, questions } = event.data;
      return change(view, toolCallId, { status: "pending", interactiveType: "question", questions });
    }
    case "approval_required": {
      const { toolCallId, toolName, input } = event.data;
      return change(view, toolCallId, { status: "pending", interactiveType: "approval", toolName, input });
    }
    case "tool_result": {
      const { toolCallId, toolName, result } = event.data;
      const status = event.data.status === "error" ? "error" : "complete";
      return change(view, toolCallId, { toolName, result, status });
    }
    case "settled":
      // The result can arrive first, because it comes over another stream.
      return all(view, (call) =>
        call.toolCallId === event.data.toolCallId && call.status === "pending" ? { ...call, status: "running" } : call,
      );
    case "session_status":
      return { ...view, status: event.data.status };
    case "error":
      return { ...view, error: event.data.message };
    // The stream sends the pending asks again.
    case "reopened":
      return all(view, (call) => (call.status === "pending" ? { ...call, status: "running" } : call));
    // The end of a turn ends its tool calls.
    case "done":
      return all(view, (call) =>
        call.status === "pending" || call.status === "running" ? { ...call, status: "complete" } : call,
      );
    default:
      return view;
  }
}

function withText(items: SessionItem[], text: string): SessionItem[] {
  const last = items.at(-1);
  return last?.kind === "text"
    ? [...items.slice(0, -1), { kind: "text", text: last.text + text }]
    : [...items, { kind: "text", text }];
}

const known = (view: SessionView, id: string): boolean =>
  view.items.some((item) => item.kind === "tool" && item.call.toolCallId === id);

/** Merges the events of a tool call, in any order, into one entry. */
function change(view: SessionView, toolCallId: string, news: Partial<ToolCallState>): SessionView {
  if (known(view, toolCallId)) {
    return all(view, (call) => (call.toolCallId === toolCallId ? { ...call, ...news } : call));
  }
  const call: ToolCallState = { toolCallId, toolName: "", input: "", status: "running", ...news };
  return { ...view, items: [...view.items, { kind: "tool", call }] };
}

function all(view: SessionView, change: (call: ToolCallState) => ToolCallState): SessionView {
  return {
    ...view,
    items: view.items.map((item) => {
      if (item.kind !== "tool") return item;
      const call = change(item.call);
      return call === item.call ? item : { kind: "tool", call };
    }),
  };
}
