import { type Ask, useHost, useNow } from "@sayso/react";
import { useMemo, useRef, useState } from "react";
import { go } from "../app/route";
import { useLive, usePending } from "../live/hooks";
import { type Entry, fold, identicalKey, matches, ordered, place, projectsOf } from "./order";

/** How often snoozes and deadlines are checked, in milliseconds. */
const STEP_MS = 15_000;

/** The list of the inbox and the cursor in it. */
export function useInbox(askId: string | undefined) {
  const { store } = useLive();
  const { sender } = useHost();
  const pending = usePending();
  const now = useNow(STEP_MS);
  const [filter, setFilter] = useState("");
  const [chosen, setProject] = useState<string>();
  const projects = useMemo(() => projectsOf(pending), [pending]);
  // The filter is ignored when its project has no more asks.
  const project = projects.some(({ path }) => path === chosen) ? chosen : undefined;
  const [pointing, setPointing] = useState(false);
  const [refresh, setRefresh] = useState(0);
  const before = useRef<{ entries: Entry[]; filter: string; project?: string | undefined; refresh: number }>({
    entries: [],
    filter: "",
    refresh: 0,
  });

  const { shown, hidden } = useMemo(() => {
    const wanted = ordered(
      pending.filter((ask) => matches(ask, filter) && (project === undefined || ask.project === project)),
      now,
    );
    const was = before.current;
    const again = was.filter !== filter || was.project !== project || was.refresh !== refresh;
    const placed = again ? { shown: wanted, hidden: 0 } : place(was.entries, wanted, askId, pointing);
    before.current = { entries: placed.shown, filter, project, refresh };
    return placed;
  }, [pending, filter, project, now, askId, pointing, refresh]);

  // A link to one of several identical asks opens that ask, not all of them.
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const first = useRef(askId);
  const linked = first.current ? store.ask(first.current) : undefined;
  const kept = (linked && identicalKey(linked)) ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: `pending` changes with what the store holds
  const rows = useMemo(
    () => fold(shown, store.ask, new Set([...unfolded, kept])),
    [shown, pending, store, unfolded, kept],
  );
  const at = rows.findIndex((row) => row.ids.includes(askId ?? ""));
  const move = (step: number) => {
    const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
    if (next) go({ page: "inbox", ask: next.id }, { replace: true });
  };
  /** The next waiting ask below the cursor, or the first one from the top. */
  const next = (): Ask | undefined => {
    const others = [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))].filter((row) => row.group !== "snoozed");
    const asks = others.flatMap((row) => row.ids).map((id) => store.ask(id));
    return asks.find((ask) => ask?.status === "pending" && !sender.get(ask.id));
  };
  /** Shows the asks of a folded row one by one. */
  const unfold = (ask: Ask) => {
    const key = identicalKey(ask);
    if (key !== undefined) setUnfolded((keys) => new Set([...keys, key]));
  };
  return {
    shown,
    rows,
    unfold,
    hidden,
    at,
    pending,
    filter,
    setFilter,
    projects,
    project,
    setProject,
    setPointing,
    showNew: () => setRefresh((count) => count + 1),
    move,
    next,
  };
}

export type Inbox = ReturnType<typeof useInbox>;
