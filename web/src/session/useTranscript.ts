import type { FeedEvent } from "@sayso/sdk";
import { useEffect, useRef, useState } from "react";
import type { Client } from "../api/client";
import { useClient, useLive } from "../live/hooks";
import { addEvent, type Entry, readTranscript } from "./transcript";

interface Thread {
  entries: Entry[];
  /** The message that the agent is streaming. */
  streaming: string;
  loaded: boolean;
}

/** The conversation: loaded once, and updated from the feed. */
export function useTranscript(id: string): Thread {
  const client = useClient();
  const live = useLive();
  const [thread, setThread] = useState<Thread>({ entries: [], streaming: "", loaded: false });
  const seq = useRef(-1);
  useEffect(() => {
    let stopped = false;
    const early: FeedEvent[] = [];
    const take = (event: FeedEvent) => {
      if (event.seq !== undefined && event.seq <= seq.current) return;
      if (event.seq !== undefined) seq.current = event.seq;
      setThread((before) => withEvent(before, event));
    };
    const stopListening = live.onEvent((event) => {
      if (event.sessionId !== id) return;
      if (seq.current < 0) early.push(event);
      else take(event);
    });
    void readAll(client, id).then(({ entries, seq: at }) => {
      if (stopped) return;
      seq.current = at;
      setThread({ entries, streaming: "", loaded: true });
      for (const event of early) take(event);
    });
    return () => {
      stopped = true;
      seq.current = -1;
      stopListening();
    };
  }, [client, live, id]);
  return thread;
}

function withEvent(thread: Thread, event: FeedEvent): Thread {
  if (event.type === "message.delta") return { ...thread, streaming: thread.streaming + event.data.text };
  const said = event.type === "message.completed" && event.data.role === "assistant";
  return { ...thread, entries: addEvent(thread.entries, event), streaming: said ? "" : thread.streaming };
}

async function readAll(client: Client, id: string): Promise<{ entries: Entry[]; seq: number }> {
  const first = await client.transcript(id);
  const blocks = [...first.data];
  for (let cursor = first.nextCursor; cursor; ) {
    const page = await client.transcript(id, cursor);
    blocks.push(...page.data);
    cursor = page.nextCursor;
  }
  return { entries: readTranscript(blocks as Record<string, unknown>[]), seq: first.seq };
}
