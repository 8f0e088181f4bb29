import { useEffect, useState } from "react";
import { useClient } from "../live/hooks";
import type { FeedEvent } from "../live/sse";
import { Stream } from "../live/stream";

/** All events of a session that the server still has, newest first. A stream of its own while the tab is open. */
export function useSessionEvents(id: string): FeedEvent[] {
  const client = useClient();
  const [events, setEvents] = useState<FeedEvent[]>([]);
  useEffect(() => {
    let since = 0;
    let batch: FeedEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const fresh = batch.reverse();
      batch = [];
      setEvents((before) => [...fresh, ...before]);
    };
    setEvents([]);
    const stream = new Stream({
      url: `/v1/sessions/${id}/events`,
      headers: () => client.headers(),
      since: () => since,
      onEvent: (event) => {
        if (event.seq === undefined || event.seq <= since) return;
        since = event.seq;
        batch.push(event);
        timer ??= setTimeout(flush, 30);
      },
      onConnection: () => {},
      onRefused: () => {},
    });
    return () => {
      clearTimeout(timer);
      stream.stop();
    };
  }, [client, id]);
  return events;
}
