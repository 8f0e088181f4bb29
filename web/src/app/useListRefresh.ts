import { useEffect } from "react";
import { queries } from "../api/useQuery";
import { askOf } from "../live/events";
import { useLive } from "../live/hooks";

/** How long events are collected before a list is fetched again, in milliseconds. */
const GATHER_MS = 150;

/** Fetches the policy and the runs again when the feed reports a change or a reset. */
export function useListRefresh(): void {
  const live = useLive();
  useEffect(() => {
    const changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      timer = undefined;
      for (const name of changed) queries.invalidate([name]);
      changed.clear();
    };
    const stop = live.onEvent((event) => {
      const { type } = event;
      if (type === "reset" || type === "policy.changed") changed.add("policy");
      if (type === "reset" || /^(run|step)\./.test(type) || askOf(event)?.runId) changed.add("runs");
      if (changed.size > 0) timer ??= setTimeout(read, GATHER_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live]);
}
