import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import { type PageKey, useWords } from "../i18n";
import { useWidth } from "../ui/useWidth";
import { InboxRow } from "./InboxRow";
import type { Group } from "./order";
import type { SelectRow } from "./useSelection";

const GROUP_WORDS: Record<Group, PageKey> = {
  soon: "group.soon",
  waiting: "group.waiting",
  canWait: "group.canWait",
  parked: "group.parked",
  snoozed: "group.snoozed",
};

export type Item =
  | { kind: "group"; group: Group; count: number }
  | { kind: "row"; id: string; ids: string[]; place: number };

interface InboxRowsProps {
  items: Item[];
  total: number;
  askId: string | undefined;
  selected: ReadonlySet<string>;
  onEnter: (id: string) => void;
  onSelect: SelectRow;
  onPointing: (pointing: boolean) => void;
  children: ReactNode;
}

/**
 * The visible rows. While scrolling, elements of rows that leave the view are reused for rows that enter it, which is much
 * cheaper than creating them.
 */
export function InboxRows(props: InboxRowsProps) {
  const { items, total, askId, selected, onEnter, onSelect, onPointing, children } = props;
  const t = useWords();
  const phone = useWidth() < 640;
  const scroll = useRef<HTMLDivElement>(null);
  // A stable function: a new one makes the virtualizer measure all rows again.
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
  const at = useMemo(
    () => items.findIndex((item) => item.kind === "row" && item.ids.includes(askId ?? "")),
    [items, askId],
  );
  const active = items[at];
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  const shown = virtual.getVirtualItems();
  const places = useRef(0);
  places.current = Math.max(places.current, shown.length);
  const placeOf = (row: { index: number }) => row.index % places.current;
  // When scrolling ends, the elements are in document order again.
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
      aria-activedescendant={active?.kind === "row" ? `row-${active.id}` : undefined}
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
                <GroupHead group={item.group} count={item.count} />
              ) : (
                <InboxRow
                  id={item.id}
                  count={item.ids.length}
                  onEnter={onEnter}
                  onSelect={onSelect}
                  selecting={selected.size > 0}
                  open={row.index === at}
                  selected={selected.has(item.id)}
                  place={item.place}
                  total={total}
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

function GroupHead({ group, count }: { group: Group; count: number }) {
  const t = useWords();
  return (
    <div className="group">
      {t(GROUP_WORDS[group])} <span className="num">{count}</span>
    </div>
  );
}
