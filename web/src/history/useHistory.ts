import type { Ask } from "@sayso/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Client } from "../api/client";
import { useClient, useLive } from "../live/hooks";

const PAGES = 8;
const DAYS = 14;

/** What was decided in the last fourteen days, newest first; at most a few thousand. */
export function useHistory() {
  const client = useClient();
  const live = useLive();
  const query = useQuery({ queryKey: ["history"], queryFn: () => readRecent(client) });
  const { refetch } = query;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live.onEvent((event) => {
      if (!event.type.endsWith(".resolved")) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void refetch();
      }, 1000);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [live, refetch]);
  return query;
}

async function readRecent(client: Client): Promise<Ask[]> {
  const since = new Date(Date.now() - DAYS * 24 * 3600_000).toISOString();
  const asks: Ask[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const { data, nextCursor } = await client.asks({ status: "resolved", limit: 500, cursor });
    asks.push(...data.filter((ask) => (ask.outcome?.at ?? "") >= since));
    cursor = nextCursor ?? undefined;
    if (!cursor || data.some((ask) => ask.openedAt < since)) break;
  }
  return asks;
}
