import { useCallback, useRef, useState } from "react";
import type { Row } from "./order";

/** Selects or deselects a row, or selects all rows from the last selected one to this one. */
export type SelectRow = (id: string, how: "toggle" | "range") => void;

/** The asks that are selected to be decided together. */
export function useSelection(rows: Row[], openId: string | undefined) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<string>(undefined);
  const latest = useRef({ rows, openId });
  latest.current = { rows, openId };
  const select: SelectRow = useCallback((id, how) => {
    const now = latest.current;
    const rowOf = (ask: string | undefined) => now.rows.findIndex((row) => row.ids.includes(ask ?? ""));
    const to = rowOf(id);
    const ids = now.rows[to]?.ids ?? [id];
    if (how === "range") {
      const from = rowOf(anchor.current ?? now.openId);
      const [low, high] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
      const range = now.rows.slice(low, high + 1).flatMap((row) => row.ids);
      setSelected((before) => new Set([...before, ...range]));
      return;
    }
    anchor.current = id;
    setSelected((before) => {
      const next = new Set(before);
      for (const one of ids)
        if (before.has(id)) next.delete(one);
        else next.add(one);
      return next;
    });
  }, []);
  const clear = useCallback(() => {
    anchor.current = undefined;
    setSelected(new Set());
  }, []);
  return { selected, setSelected, select, clear };
}
