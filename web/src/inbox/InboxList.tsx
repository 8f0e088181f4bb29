import { Kbd, plain, Visible } from "@sayso/react";
import { ArrowUp, Search } from "lucide-react";
import { useMemo, useState } from "react";
import { useWords } from "../i18n";
import { useLoaded, useMayAnswer } from "../live/hooks";
import { InboxRows, type Item } from "./InboxRows";
import { GROUPS, type Row } from "./order";
import type { Inbox } from "./useInbox";
import type { SelectRow } from "./useSelection";

interface InboxListProps {
  inbox: Inbox;
  askId: string | undefined;
  selected: ReadonlySet<string>;
  onEnter: (id: string) => void;
  onSelect: SelectRow;
}

/** Waiting asks, in groups. */
export function InboxList({ inbox, askId, selected, onEnter, onSelect }: InboxListProps) {
  const t = useWords();
  const loaded = useLoaded();
  const mayAnswer = useMayAnswer();
  const [foldedOpen, setFoldedOpen] = useState(false);
  const items = useMemo(() => itemsOf(inbox.rows, foldedOpen), [inbox.rows, foldedOpen]);
  const snoozed = inbox.rows.filter((row) => row.group === "snoozed").length;

  return (
    <section className="list" aria-label={t("inbox.waiting")}>
      <ListBar inbox={inbox} />
      <ProjectChips inbox={inbox} />
      {inbox.hidden > 0 && (
        <div className="newpill">
          <button type="button" className="btn sm" onClick={inbox.showNew}>
            <ArrowUp size={14} aria-hidden="true" />
            {t("inbox.new", { count: inbox.hidden })}
          </button>
        </div>
      )}
      <InboxRows
        items={items}
        total={inbox.rows.length}
        askId={askId}
        selected={selected}
        onEnter={onEnter}
        onSelect={onSelect}
        onPointing={inbox.setPointing}
      >
        {!loaded && <Skeleton />}
        {loaded && items.length === 0 && (
          <p className="none">{inbox.filter ? t("inbox.noMatch", { text: inbox.filter }) : t("empty.title")}</p>
        )}
      </InboxRows>
      {snoozed > 0 && (
        <button
          type="button"
          className="group fold"
          aria-expanded={foldedOpen}
          onClick={() => setFoldedOpen((open) => !open)}
        >
          {t("group.snoozed")} <span className="num">{snoozed}</span>
        </button>
      )}
      <div className="hintbar" aria-hidden="true">
        <span>
          <Kbd>j</Kbd>
          <Kbd>k</Kbd> {t("hint.move")}
        </span>
        {mayAnswer && (
          <>
            <span>
              <Kbd>1</Kbd>–<Kbd>9</Kbd> {t("hint.choose")}
            </span>
            <span>
              <Kbd>a</Kbd>
              <Kbd>d</Kbd> {t("hint.yesNo")}
            </span>
          </>
        )}
        <span>
          <Kbd>?</Kbd> {t("hint.keys")}
        </span>
      </div>
    </section>
  );
}

function itemsOf(rows: Row[], snoozedOpen: boolean): Item[] {
  return GROUPS.flatMap((group): Item[] => {
    if (group === "snoozed" && !snoozedOpen) return [];
    const inGroup = rows.map((row, place) => ({ ...row, place })).filter((row) => row.group === group);
    if (inGroup.length === 0) return [];
    const head: Item = { kind: "group", group, count: inGroup.reduce((sum, row) => sum + row.ids.length, 0) };
    return [head, ...inGroup.map(({ id, ids, place }): Item => ({ kind: "row", id, ids, place }))];
  });
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

/** Filters the list by project, if there are several. */
function ProjectChips({ inbox }: { inbox: Inbox }) {
  const t = useWords();
  const { projects, project, setProject } = inbox;
  if (projects.length < 2) return null;
  return (
    <fieldset className="chips" aria-label={t("inbox.projects")}>
      <button type="button" aria-pressed={project === undefined} onClick={() => setProject(undefined)}>
        {t("inbox.allProjects")}
      </button>
      {projects.map(({ path, name, count }) => (
        <button
          key={path}
          type="button"
          aria-pressed={path === project}
          title={plain(path)}
          onClick={() => setProject(path === project ? undefined : path)}
        >
          <span className="cut">
            <Visible text={name} />
          </span>{" "}
          <span className="num">{count}</span>
        </button>
      ))}
    </fieldset>
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
