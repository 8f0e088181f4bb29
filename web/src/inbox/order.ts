import { type Ask, baseName } from "@sayso/react";

/** The groups of the inbox, in their order. */
export const GROUPS = ["soon", "waiting", "canWait", "parked", "snoozed"] as const;
export type Group = (typeof GROUPS)[number];

export interface Entry {
  id: string;
  group: Group;
}

export function groupOf(ask: Ask, now: number): Group {
  if (ask.snoozedUntil && Date.parse(ask.snoozedUntil) > now) return "snoozed";
  if (ask.deadlineAt) return "soon";
  if (ask.reach === "parked") return "parked";
  return ask.blocking ? "waiting" : "canWait";
}

/** Deadline soonest, blocking before non-blocking, then oldest. */
export function ordered(asks: Ask[], now: number): Entry[] {
  const sortable = asks.map((ask) => {
    const group = groupOf(ask, now);
    return { id: ask.id, group, rank: GROUPS.indexOf(group), due: ask.deadlineAt ?? "", opened: ask.openedAt };
  });
  sortable.sort(
    (a, b) => a.rank - b.rank || compare(a.due, b.due) || compare(a.opened, b.opened) || compare(a.id, b.id),
  );
  return sortable.map(({ id, group }) => ({ id, group }));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export interface Placed {
  shown: Entry[];
  /** The number of new asks that are not shown yet. */
  hidden: number;
}

/**
 * Computes the next list. Visible rows keep their place, even if they are decided while the cursor is on them. New rows are
 * inserted only below the cursor and while the pointer is not over the list, so that nothing moves under the pointer. Snoozed
 * rows are removed immediately, because the person expects that.
 */
export function place(before: Entry[], wanted: Entry[], cursor: string | undefined, busy: boolean): Placed {
  const wantedIds = new Set(wanted.map((entry) => entry.id));
  const groups = new Map(wanted.map((entry) => [entry.id, entry.group]));
  const snoozed = before.some((entry) => entry.group !== "snoozed" && groups.get(entry.id) === "snoozed");
  if (snoozed) return { shown: wanted, hidden: 0 };
  const kept = before.filter((entry) => wantedIds.has(entry.id) || entry.id === cursor);
  if (!kept.some((entry) => wantedIds.has(entry.id)) && !kept.some((entry) => entry.id === cursor)) {
    return { shown: wanted, hidden: 0 };
  }
  const keptIds = new Set(kept.map((entry) => entry.id));
  const fresh = wanted.filter((entry) => !keptIds.has(entry.id));
  if (fresh.length === 0) return { shown: kept, hidden: 0 };
  const cursorAt = kept.findIndex((entry) => entry.id === cursor);
  const above = new Set(kept.slice(0, cursorAt + 1).map((entry) => entry.id));
  const lastAbove = wanted.findLastIndex((entry) => above.has(entry.id));
  const movesNothing = !busy && fresh.every((entry) => wanted.indexOf(entry) > lastAbove);
  if (!movesNothing) return { shown: kept, hidden: fresh.length };
  const below = new Set(kept.slice(cursorAt + 1).map((entry) => entry.id));
  const tail = wanted.filter((entry) => below.has(entry.id) || !keptIds.has(entry.id));
  return { shown: [...kept.slice(0, cursorAt + 1), ...tail], hidden: 0 };
}

/** A key that is equal for identical approvals. Undefined for other asks. */
export function identicalKey(ask: Ask): string | undefined {
  const { approval } = ask;
  if (!approval || approval.action === "plan") return undefined;
  return JSON.stringify([
    approval.tool,
    approval.action,
    approval.input ?? null,
    approval.command ?? null,
    ask.project ?? null,
  ]);
}

/** A row of the list: one ask, or several identical asks of a group. */
export interface Row {
  /** The first ask of the row, which the row opens. */
  id: string;
  group: Group;
  /** All asks of the row, in the order of the list. */
  ids: string[];
}

/** Folds identical approvals of a group into one row, except those that the person unfolded. */
export function fold(entries: Entry[], find: (id: string) => Ask | undefined, unfolded: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const byKey = new Map<string, Row>();
  for (const { id, group } of entries) {
    const ask = find(id);
    const twins = ask?.status === "pending" ? identicalKey(ask) : undefined;
    const key = twins === undefined || unfolded.has(twins) ? undefined : `${group} ${twins}`;
    const same = key === undefined ? undefined : byKey.get(key);
    if (same) same.ids.push(id);
    else {
      const row = { id, group, ids: [id] };
      rows.push(row);
      if (key !== undefined) byKey.set(key, row);
    }
  }
  return rows;
}

/** The waiting approvals that are identical to this one, including itself. */
export function identicalAsks(ask: Ask, pending: Ask[]): Ask[] {
  const key = identicalKey(ask);
  return key === undefined ? [] : pending.filter((other) => identicalKey(other) === key);
}

/** Whether an ask contains the search text. */
export function matches(ask: Ask, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  const parts = [
    ask.agent,
    ask.title,
    ask.project,
    ask.branch,
    ask.approval?.title,
    ask.approval?.command,
    ask.approval?.tool,
    ...(ask.approval?.paths ?? []),
    ask.link?.url,
    ask.link?.message,
    ...(ask.questions ?? []).flatMap((question) => [question.header, question.text]),
  ];
  return parts.some((part) => part?.toLowerCase().includes(wanted));
}

/** A project with waiting asks. */
export interface ProjectCount {
  path: string;
  /** The name of the directory. Includes the parent directory if another project has the same name. */
  name: string;
  count: number;
}

/** The projects of asks, most asks first, then by name. */
export function projectsOf(asks: Ask[]): ProjectCount[] {
  const counts = new Map<string, number>();
  for (const { project } of asks) if (project) counts.set(project, (counts.get(project) ?? 0) + 1);
  const names = [...counts.keys()].map(baseName);
  const nameOf = (path: string) => {
    const name = baseName(path);
    return names.indexOf(name) === names.lastIndexOf(name) ? name : path.split("/").filter(Boolean).slice(-2).join("/");
  };
  const projects = [...counts].map(([path, count]) => ({ path, name: nameOf(path), count }));
  return projects.sort((a, b) => b.count - a.count || compare(a.path, b.path));
}
