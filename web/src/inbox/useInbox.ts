import { type Ask, useNow } from "@sayso/react";
import { useMemo, useRef, useState } from "react";
import { go } from "../app/route";
import { useLive, usePending } from "../live/hooks";
import { type Entry, matches, ordered, place } from "./order";

/** How often snoozes and deadlines are looked at again. */
const STEP_MS = 15_000;

/** The list of the inbox and the cursor in it. */
export function useInbox(askId: string | undefined) {
  const { store } = useLive();
  const pending = usePending();
  const now = useNow(STEP_MS);
  const [filter, setFilter] = useState("");
  const [pointing, setPointing] = useState(false);
  const [refresh, setRefresh] = useState(0);
  const before = useRef<{ entries: Entry[]; filter: string; refresh: number }>({ entries: [], filter: "", refresh: 0 });

  const { shown, hidden } = useMemo(() => {
    const wanted = ordered(
      pending.filter((ask) => matches(ask, filter)),
      now,
    );
    const again = before.current.filter !== filter || before.current.refresh !== refresh;
    const placed = again ? { shown: wanted, hidden: 0 } : place(before.current.entries, wanted, askId, pointing);
    before.current = { entries: placed.shown, filter, refresh };
    return placed;
  }, [pending, filter, now, askId, pointing, refresh]);

  const at = shown.findIndex((entry) => entry.id === askId);
  const move = (step: number) => {
    const next = shown[at === -1 ? 0 : Math.min(shown.length - 1, Math.max(0, at + step))];
    if (next) go({ page: "inbox", ask: next.id }, { replace: true });
  };
  /** The next ask that still waits, looking down and then from the top. */
  const next = (): Ask | undefined => {
    const ids = [...shown.slice(at + 1), ...shown.slice(0, Math.max(0, at))].filter(
      (entry) => entry.group !== "snoozed",
    );
    return ids.map((entry) => store.ask(entry.id)).find((ask) => ask?.status === "pending");
  };
  return {
    shown,
    hidden,
    at,
    pending,
    filter,
    setFilter,
    setPointing,
    showNew: () => setRefresh((count) => count + 1),
    move,
    next,
  };
}

export type Inbox = ReturnType<typeof useInbox>;
