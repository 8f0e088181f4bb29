import type { Ask } from "@sayso/react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import { type PageKey, useWords } from "../i18n";
import { useWidth } from "../ui/useWidth";
import { InboxRow } from "./InboxRow";
import { type Group, twinKey } from "./order";

const GROUP_WORDS: Record<Group, PageKey> = {
  soon: "group.soon",
  waiting: "group.waiting",
  canWait: "group.canWait",
  parked: "group.parked",
  snoozed: "group.snoozed",
};

export type Item = { kind: "group"; group: Group; count: number } | { kind: "row"; id: string; place: number };

interface InboxRowsProps {
  items: Item[];
  total: number;
  pending: Ask[];
  askId: string | undefined;
  selected: ReadonlySet<string>;
  foldedOpen: boolean;
  toggle: () => void;
  onEnter: (id: string) => void;
  onPointing: (pointing: boolean) => void;
  children: ReactNode;
}

/**
 * The rows that are in view. While it is scrolled a row that leaves becomes the one that comes: to change its words costs the
 * browser a fraction of what a new row does.
 */
export function InboxRows(props: InboxRowsProps) {
  const { items, total, pending, askId, selected, foldedOpen, toggle, onEnter, onPointing, children } = props;
  const t = useWords();
  const phone = useWidth() < 640;
  const scroll = useRef<HTMLDivElement>(null);
  const twins = useMemo(() => countTwins(pending), [pending]);
  // Held still: a new function makes the virtualizer measure all of them again.
  const estimateSize = useCallback(
    (index: number) => (items[index]?.kind === "group" ? 28 : phone ? 70 : 55),
    [items, phone],
  );
  const getItemKey = useCallback((index: number) => keyOf(items[index]), [items]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize,
    getItemKey,
    overscan: 3,
  });
  const at = useMemo(() => items.findIndex((item) => item.kind === "row" && item.id === askId), [items, askId]);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  const shown = virtual.getVirtualItems();
  const places = useRef(0);
  places.current = Math.max(places.current, shown.length);
  const placeOf = (row: { index: number }) => row.index % places.current;
  // In the document they are in their order again as soon as it stands still.
  const inDocument = virtual.isScrolling ? shown.toSorted((a, b) => placeOf(a) - placeOf(b)) : shown;

  return (
    <div
      className="rows"
      ref={scroll}
      role="listbox"
      id="asks"
      tabIndex={0}
      aria-label={t("inbox.waiting")}
      aria-multiselectable="true"
      aria-activedescendant={at >= 0 ? `row-${askId}` : undefined}
      onMouseEnter={() => onPointing(true)}
      onMouseLeave={() => onPointing(false)}
    >
      {children}
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {inDocument.map((row) => {
          const item = items[row.index];
          if (!item) return null;
          return (
            <div
              key={placeOf(row)}
              ref={phone ? virtual.measureElement : undefined}
              data-index={row.index}
              role="presentation"
              className="vrow"
              style={{ transform: `translateY(${row.start}px)` }}
            >
              {item.kind === "group" ? (
                <GroupHead group={item.group} count={item.count} open={foldedOpen} toggle={toggle} />
              ) : (
                <InboxRow
                  id={item.id}
                  onEnter={onEnter}
                  open={item.id === askId}
                  selected={selected.has(item.id)}
                  place={item.place}
                  total={total}
                  twins={twins.get(item.id) ?? 1}
                />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const keyOf = (item: Item | undefined): string => (item?.kind === "row" ? item.id : `group-${item?.group}`);

function countTwins(pending: Ask[]): Map<string, number> {
  const byKey = new Map<string, string[]>();
  for (const ask of pending) {
    const key = twinKey(ask);
    if (key !== undefined) byKey.set(key, [...(byKey.get(key) ?? []), ask.id]);
  }
  return new Map([...byKey.values()].flatMap((ids) => ids.map((id) => [id, ids.length] as const)));
}

function GroupHead({ group, count, open, toggle }: { group: Group; count: number; open: boolean; toggle: () => void }) {
  const t = useWords();
  const words = (
    <>
      {t(GROUP_WORDS[group])} <span className="num">{count}</span>
    </>
  );
  if (group !== "snoozed") return <div className="group">{words}</div>;
  return (
    <button type="button" className="group" aria-expanded={open} onClick={toggle}>
      {words}
    </button>
  );
}
