import { type Ask, optionValue, titleOf } from "@sayso/react";

export interface Filters {
  text: string;
  outcome: string;
  by: string;
  agent: string;
  project: string;
  period: Period;
  /** Days, as a date field gives them, for the period `custom`. The last one is included. */
  from: string;
  to: string;
}

/** The last days up to today, or `custom`: the days from `from` to `to`. */
export const PERIODS = [1, 7, 14, 30, 90, "custom"] as const;
export type Period = (typeof PERIODS)[number];

export const NO_FILTERS: Filters = {
  text: "",
  outcome: "",
  by: "",
  agent: "",
  project: "",
  period: 14,
  from: "",
  to: "",
};

/** The query of the server request: period, project and search text. */
export function historyQuery(
  { text, project, period, from, to }: Pick<Filters, "text" | "project" | "period" | "from" | "to">,
  now: number,
) {
  const midnight = (day: string, later: number) => addDays(day, later).toISOString();
  const custom = period === "custom";
  return {
    since: custom ? (from ? midnight(from, 0) : undefined) : midnight(dayOf(new Date(now)), 1 - period),
    until: custom && to ? midnight(to, 1) : undefined,
    project: project || undefined,
    q: text.trim() || undefined,
  };
}

/** How long an ask waited, in milliseconds. */
export const waited = (ask: Ask): number =>
  Math.max(0, Date.parse(ask.outcome?.at ?? ask.openedAt) - Date.parse(ask.openedAt));

/** The answer in one line, without secrets. */
export function answerText(ask: Ask): string {
  const { outcome } = ask;
  if (!outcome) return "";
  if (outcome.answers) {
    return (ask.questions ?? [])
      .map((question, index) => {
        const answer = outcome.answers?.[index];
        const named = (entry: string) =>
          question.options?.find((option) => optionValue(option) === entry)?.label ?? entry;
        return Array.isArray(answer) ? answer.map(named).join(", ") : "";
      })
      .filter(Boolean)
      .join("; ");
  }
  return outcome.by.kind === "person" ? (outcome.message ?? "") : "";
}

/** The asks that match the filters. */
export function filtered(asks: Ask[], { outcome, by, agent }: Filters): Ask[] {
  return asks.filter(
    (ask) =>
      (!outcome || ask.status === outcome) && (!by || ask.outcome?.by.kind === by) && (!agent || ask.agent === agent),
  );
}

export interface Day {
  day: string;
  median: number;
  most: number;
  count: number;
}

/** Waiting times of asks that people decided, per day: the median and the 90th percentile. */
export function perDay(asks: Ask[]): Day[] {
  const days = new Map<string, number[]>();
  for (const ask of asks) {
    const { outcome } = ask;
    if (!outcome || (outcome.by.kind !== "person" && outcome.by.kind !== "message")) continue;
    const day = dayOf(new Date(outcome.at));
    days.set(day, [...(days.get(day) ?? []), waited(ask)]);
  }
  return [...days]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, times]) => ({ day, median: quantile(times, 0.5), most: quantile(times, 0.9), count: times.length }));
}

/** The local day of a time, as `2026-11-15`. */
export function dayOf(time: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** Midnight of a day some days later, in local time. */
function addDays(day: string, later: number): Date {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later);
}

/** The last `count` days up to `last`, with zeros for days without decisions. */
export function withEmptyDays(days: Day[], count: number, last: string): Day[] {
  const known = new Map(days.map((day) => [day.day, day]));
  return Array.from({ length: count }, (_, index) => {
    const day = dayOf(addDays(last, index + 1 - count));
    return known.get(day) ?? { day, median: 0, most: 0, count: 0 };
  });
}

const MINUTE = 60_000;
/** Possible distances between two grid lines, in minutes. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720, 1440];

/** The grid lines of an axis up to at least `most` milliseconds, in minutes: zero, the middle and the top. */
export function axisOf(most: number): [number, number, number] {
  const half = most / MINUTE / 2;
  const step = STEPS.find((minutes) => minutes >= half) ?? Math.ceil(half / 1440) * 1440;
  return [0, step, 2 * step];
}

/** The quantile of the values (nearest rank). */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export interface Shares {
  person: number;
  policy: number;
  timeout: number;
}

export function shares(asks: Ask[]): Shares {
  const count = (...kinds: string[]) => asks.filter((ask) => kinds.includes(ask.outcome?.by.kind ?? "")).length;
  return { person: count("person", "message"), policy: count("policy"), timeout: count("timeout") };
}

const COLUMNS: [string, (ask: Ask) => string | number][] = [
  ["id", (ask) => ask.id],
  ["opened_at", (ask) => ask.openedAt],
  ["decided_at", (ask) => ask.outcome?.at ?? ""],
  ["waited_ms", waited],
  ["agent", (ask) => ask.agent],
  ["project", (ask) => ask.project ?? ""],
  ["kind", (ask) => ask.kind],
  ["status", (ask) => ask.status],
  ["decided_by", (ask) => ask.outcome?.by.name ?? ask.outcome?.by.kind ?? ""],
  ["via", (ask) => ask.outcome?.by.via ?? ""],
  ["rule", (ask) => ask.outcome?.by.rule ?? ""],
  ["ask", (ask) => titleOf(ask).text],
  ["answer", answerText],
  ["digest", (ask) => ask.digest ?? ""],
];

/** The asks as CSV. Cells that a spreadsheet would evaluate as formulas are escaped. */
export function toCsv(asks: Ask[]): string {
  const cell = (value: string | number) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = asks.map((ask) => COLUMNS.map(([, read]) => cell(read(ask))).join(","));
  return `${[COLUMNS.map(([name]) => name).join(","), ...rows].join("\r\n")}\r\n`;
}
