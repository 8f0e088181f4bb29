import type { Ask } from "@sayso/react";
import { useEffect } from "react";
import type { Client } from "../api/client";
import { useQuery } from "../api/useQuery";
import { useClient, useLive } from "../live/hooks";
import { useSettled } from "../ui/useSettled";
import { type Filters, historyQuery } from "./model";

const PAGES = 8;
const PAUSE_MS = 250;

/** Decided asks, newest first, at most a few thousand. The search starts a moment after the last keystroke. */
export function useHistory({ text, project, period, from, to }: Filters) {
  const client = useClient();
  const live = useLive();
  const words = useSettled(text, PAUSE_MS);
  const query = useQuery({
    queryKey: ["history", words, project, period, from, to],
    queryFn: () => readAll(client, historyQuery({ text: words, project, period, from, to }, Date.now())),
    keepPreviousData: true,
  });
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

async function readAll(client: Client, wanted: ReturnType<typeof historyQuery>): Promise<Ask[]> {
  const asks: Ask[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const { data, nextCursor } = await client.asks({ ...wanted, status: "resolved", limit: 500, cursor });
    asks.push(...data);
    cursor = nextCursor ?? undefined;
    if (!cursor) break;
  }
  return asks;
}
