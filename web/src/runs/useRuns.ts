import type { Ask } from "@sayso/react";
import { useRef } from "react";
import type { Run } from "../api/client";
import { useQuery } from "../api/useQuery";
import { useClient, useLive, usePending } from "../live/hooks";

const OPEN = 200;
const LATEST = 50;
/** How many decided asks since the start of a run are searched for those of the run. */
const DECIDED = 500;

/** The active runs and the latest other runs, newest first. */
export function useRuns(): Run[] {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ["runs"],
    queryFn: async () => {
      const [open, latest] = await Promise.all([
        client.runs({ open: true, limit: OPEN }),
        client.runs({ limit: LATEST }),
      ]);
      const all = new Map([...open.data, ...latest.data].map((run) => [run.id, run]));
      return [...all.values()].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
    },
  });
  return data ?? NONE;
}

const NONE: Run[] = [];

/** One run, of any age. */
export function useRun(id: string) {
  const client = useClient();
  return useQuery({ queryKey: ["runs", id], queryFn: () => client.run(id) });
}

/** All asks of a run, decided and waiting. */
export function useAllRunAsks({ id, createdAt }: Run): Ask[] {
  const client = useClient();
  const { store } = useLive();
  const pending = usePending().filter((ask) => ask.runId === id);
  const { data } = useQuery({
    queryKey: ["runs", id, "decided"],
    queryFn: async () => {
      const page = await client.asks({ status: "resolved", since: createdAt, limit: DECIDED });
      return page.data.filter((ask) => ask.runId === id);
    },
  });
  const decided = (data ?? []).map((ask) => store.ask(ask.id) ?? ask);
  return [...decided, ...pending.filter(({ id: one }) => !decided.some((ask) => ask.id === one))];
}

/** The waiting asks of a run, and asks that were decided while they were visible, so that no card disappears. */
export function useRunAsks(id: string): Ask[] {
  const { store } = useLive();
  const pending = usePending();
  const seen = useRef(new Set<string>());
  for (const ask of pending) if (ask.runId === id) seen.current.add(ask.id);
  return [...seen.current].flatMap((one) => store.ask(one) ?? []).sort((a, b) => a.openedAt.localeCompare(b.openedAt));
}
