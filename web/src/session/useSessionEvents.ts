import type { FeedEvent } from "@sayso/sdk";
import { useEffect, useState } from "react";
import { useClient } from "../live/hooks";

/** How long events are collected before they are shown, in milliseconds. */
const GATHER_MS = 30;

/** All stored events of a session, newest first. Uses a separate stream while the tab is open. */
export function useSessionEvents(id: string): FeedEvent[] {
  const { sayso } = useClient();
  const [events, setEvents] = useState<FeedEvent[]>([]);
  useEffect(() => {
    const closed = new AbortController();
    let batch: FeedEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const fresh = batch.reverse();
      batch = [];
      setEvents((before) => [...fresh, ...before]);
    };
    const follow = async () => {
      const session = await sayso.sessions.get(id);
      for await (const event of session.events({ since: 0, signal: closed.signal })) {
        if (event.seq === undefined) continue;
        batch.push(event);
        timer ??= setTimeout(flush, GATHER_MS);
      }
    };
    setEvents([]);
    // The tab stays empty if the server refuses the session. The page shows the reason.
    void follow().catch(() => {});
    return () => {
      closed.abort();
      clearTimeout(timer);
    };
  }, [sayso, id]);
  return events;
}
