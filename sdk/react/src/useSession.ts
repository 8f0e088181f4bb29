import {
  type Connection,
  emptyView,
  type FeedEvent,
  type SessionEvent,
  type SessionView,
  type ToolCallState,
  type Transport,
  viewAfter,
} from "@sayso/sdk";
import { useEffect, useReducer, useState } from "react";
import { useHost } from "./host";

/** The state of a session and the calls to decide its asks. */
export interface LiveSession extends SessionView {
  /** The tool calls among the items. */
  toolCalls: ToolCallState[];
  /** The state of the connection to the server. */
  connection: Connection;
  /** Answers the question of a tool call. */
  submitAnswers: Transport["submitAnswers"];
  /** Approves a tool call. */
  approveTool: Transport["approveTool"];
  /** Denies a tool call. */
  denyTool: Transport["denyTool"];
}

type News = SessionEvent | { type: "settled"; data: { toolCallId: string } } | { type: "begin" };

const after = (view: SessionView, news: News): SessionView =>
  news.type === "begin" ? emptyView : viewAfter(view, news as SessionEvent);

/** A live session: its messages, tool calls and pending asks. It starts with the pending asks. */
export function useSession(sessionId: string): LiveSession {
  const { client, transport } = useHost();
  if (!transport) throw new Error("useSession needs a SaysoProvider with a `client` or a `transport`");
  const [view, tell] = useReducer(after, emptyView);
  const [connection, setConnection] = useState<Connection>({ state: "connecting" });

  useEffect(() => {
    const stop = new AbortController();
    tell({ type: "begin" });
    void follow(transport, sessionId, stop.signal, tell, setConnection);
    return () => stop.abort();
  }, [transport, sessionId]);

  // Only the feed reports decisions of other people; the gateway stream does not.
  useEffect(() => {
    if (!client) return;
    const settled = (event: FeedEvent) => {
      if (event.type !== "question.resolved" && event.type !== "approval.resolved") return;
      if (event.sessionId === sessionId) tell({ type: "settled", data: { toolCallId: event.data.toolCallId } });
    };
    return client.on("*", settled);
  }, [client, sessionId]);

  const toolCalls = view.items.flatMap((item) => (item.kind === "tool" ? [item.call] : []));
  const { submitAnswers, approveTool, denyTool } = transport;
  return { ...view, toolCalls, connection, submitAnswers, approveTool, denyTool };
}

async function follow(
  transport: Transport,
  sessionId: string,
  signal: AbortSignal,
  tell: (news: News) => void,
  onConnection: (connection: Connection) => void,
): Promise<void> {
  try {
    for await (const event of transport.stream(sessionId, { signal, onConnection })) {
      if (signal.aborted) return;
      tell(event);
    }
  } catch (error) {
    if (!signal.aborted) onConnection({ state: "closed", error });
  }
}
