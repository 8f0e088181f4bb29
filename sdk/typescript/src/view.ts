import type { QuestionItem } from "./api/index.js";
import type { SessionEvent } from "./transport.js";

/** A tool call as a chat shows it. A question without a tool is one too. */
export interface ToolCallState {
  toolCallId: string;
  toolName: string;
  /** JSON as text. */
  input: string;
  /** `pending` waits for a person. */
  status: "pending" | "running" | "complete" | "error";
  /** What a person is, or was, asked for it. */
  interactiveType?: "question" | "approval";
  questions?: QuestionItem[];
  result?: string;
}

/** What a chat shows, in order. */
export type SessionItem = { kind: "text"; text: string } | { kind: "tool"; call: ToolCallState };

/** A session as its stream tells it. */
export interface SessionView {
  status: string;
  items: SessionItem[];
  /** What went wrong last. */
  error?: string;
}

export const emptyView: SessionView = { status: "connecting", items: [] };

/** The view after an event, or after a person's own decision was taken (`settled`). Types that are not known change
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
      // It comes over another stream, so the result may be here already.
      return all(view, (call) =>
        call.toolCallId === event.data.toolCallId && call.status === "pending" ? { ...call, status: "running" } : call,
      );
    case "session_status":
      return { ...view, status: event.data.status };
    case "error":
      return { ...view, error: event.data.message };
    // What is still pending comes again.
    case "reopened":
      return all(view, (call) => (call.status === "pending" ? { ...call, status: "running" } : call));
    // The turn is over, and with it everything in it.
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

/** One entry per tool call, whatever its events come as and in which order. */
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
