import { type Ask, Kbd } from "@sayso/react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp, Search } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { type PageKey, useWords } from "../i18n";
import { useLoaded } from "../live/hooks";
import { useWidth } from "../ui/useWidth";
import { InboxRow } from "./InboxRow";
import { type Entry, GROUPS, type Group, twinKey } from "./order";
import type { Inbox } from "./useInbox";

const GROUP_WORDS: Record<Group, PageKey> = {
  soon: "group.soon",
  waiting: "group.waiting",
  canWait: "group.canWait",
  parked: "group.parked",
  snoozed: "group.snoozed",
};

type Item = { kind: "group"; group: Group; count: number } | { kind: "row"; id: string; place: number };

interface InboxListProps {
  inbox: Inbox;
  askId: string | undefined;
  selected: ReadonlySet<string>;
}

/** What waits, in groups. Only what is in view is in the document. */
export function InboxList({ inbox, askId, selected }: InboxListProps) {
  const t = useWords();
  const loaded = useLoaded();
  const phone = useWidth() < 640;
  const [foldedOpen, setFoldedOpen] = useState(false);
  const scroll = useRef<HTMLDivElement>(null);
  const items = useMemo(() => itemsOf(inbox.shown, foldedOpen), [inbox.shown, foldedOpen]);
  const twins = useMemo(() => countTwins(inbox.pending), [inbox.pending]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => (items[index]?.kind === "group" ? 28 : phone ? 70 : 55),
    getItemKey: (index) => keyOf(items[index]),
    overscan: 6,
  });
  const at = items.findIndex((item) => item.kind === "row" && item.id === askId);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);

  return (
    <section className="list" aria-label={t("inbox.waiting")}>
      <ListBar inbox={inbox} />
      {inbox.hidden > 0 && (
        <div className="newpill">
          <button type="button" className="btn sm" onClick={inbox.showNew}>
            <ArrowUp size={14} aria-hidden="true" />
            {t("inbox.new", { count: inbox.hidden })}
          </button>
        </div>
      )}
      <div
        className="rows"
        ref={scroll}
        role="listbox"
        id="asks"
        tabIndex={0}
        aria-label={t("inbox.waiting")}
        aria-multiselectable="true"
        aria-activedescendant={at >= 0 ? `row-${askId}` : undefined}
        onMouseEnter={() => inbox.setPointing(true)}
        onMouseLeave={() => inbox.setPointing(false)}
      >
        {!loaded && <Skeleton />}
        {loaded && items.length === 0 && <p className="none">{t("inbox.noMatch", { text: inbox.filter })}</p>}
        <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((row) => {
            const item = items[row.index];
            if (!item) return null;
            return (
              <div
                key={row.key}
                ref={phone ? virtual.measureElement : undefined}
                data-index={row.index}
                role="presentation"
                className="vrow"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                {item.kind === "group" ? (
                  <GroupHead
                    group={item.group}
                    count={item.count}
                    open={foldedOpen}
                    toggle={() => setFoldedOpen(!foldedOpen)}
                  />
                ) : (
                  <InboxRow
                    id={item.id}
                    open={item.id === askId}
                    selected={selected.has(item.id)}
                    place={item.place}
                    total={inbox.shown.length}
                    twins={twins.get(item.id) ?? 1}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      <div className="hintbar" aria-hidden="true">
        <span>
          <Kbd>j</Kbd>
          <Kbd>k</Kbd> {t("hint.move")}
        </span>
        <span>
          <Kbd>1</Kbd>–<Kbd>9</Kbd> {t("hint.choose")}
        </span>
        <span>
          <Kbd>a</Kbd>
          <Kbd>d</Kbd> {t("hint.yesNo")}
        </span>
        <span>
          <Kbd>?</Kbd> {t("hint.keys")}
        </span>
      </div>
    </section>
  );
}

function itemsOf(shown: Entry[], snoozedOpen: boolean): Item[] {
  return GROUPS.flatMap((group): Item[] => {
    const entries = shown.map((entry, place) => ({ ...entry, place })).filter((entry) => entry.group === group);
    if (entries.length === 0) return [];
    const head: Item = { kind: "group", group, count: entries.length };
    if (group === "snoozed" && !snoozedOpen) return [head];
    return [head, ...entries.map(({ id, place }): Item => ({ kind: "row", id, place }))];
  });
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

function ListBar({ inbox }: { inbox: Inbox }) {
  const t = useWords();
  const [open, setOpen] = useState(false);
  return (
    <div className="bar">
      <h1>{t("nav.inbox")}</h1>
      {!open && <span className="muted num">{t("inbox.count", { count: inbox.pending.length })}</span>}
      <span className="grow" />
      <label className="filter" data-open={open || inbox.filter !== ""}>
        <Search size={14} strokeWidth={1.75} aria-hidden="true" />
        <span className="words">{t("inbox.filter")}</span>
        <input
          id="filter"
          value={inbox.filter}
          aria-label={t("inbox.filter")}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onChange={(event) => inbox.setFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            inbox.setFilter("");
            event.currentTarget.blur();
          }}
        />
        <Kbd>/</Kbd>
      </label>
    </div>
  );
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

function Skeleton() {
  return (
    <div className="skeleton" aria-hidden="true">
      {[62, 48, 70, 43, 56].map((width) => (
        <div key={width} className="skrow">
          <span className="sk" style={{ width: `${width}%` }} />
          <span className="sk" style={{ width: `${width / 1.6}%` }} />
        </div>
      ))}
    </div>
  );
}
