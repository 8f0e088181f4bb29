import type { Translate } from "../words";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The age of a moment in one unit, such as `3 min`. */
export function age(t: Translate, ms: number): string {
  return ms < 10 * SECOND ? t("age.now") : duration(t, ms);
}

/** A length of time in one unit, such as `3 min`. */
export function duration(t: Translate, ms: number): string {
  if (ms < MINUTE) return t("age.seconds", { n: Math.floor(ms / SECOND) });
  if (ms < HOUR) return t("age.minutes", { n: Math.floor(ms / MINUTE) });
  if (ms < DAY) return t("age.hours", { n: Math.floor(ms / HOUR) });
  return t("age.days", { n: Math.floor(ms / DAY) });
}

/** The remaining time: `3:41`, `1:02:09`. */
export function countdown(ms: number): string {
  const all = Math.max(0, Math.ceil(ms / SECOND));
  const two = (n: number) => String(n).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/**
 * The locale of dates and times: the browser's locale if it has the language of the page, so that `en-GB` keeps its own format.
 * Otherwise the language of the page.
 */
function dateLocale(): string | undefined {
  const page = typeof document === "undefined" ? "" : document.documentElement.lang;
  const language = page.split("-")[0] ?? "";
  return navigator.languages?.find((locale) => locale.split("-")[0] === language) ?? (page || undefined);
}

/** The time of day in the format of the locale. */
export function clock(at: string | number, { seconds = false } = {}): string {
  return new Date(at).toLocaleTimeString(dateLocale(), { timeStyle: seconds ? "medium" : "short" });
}

/** The date and the time in the format of the locale. */
export function fullDate(at: string | number): string {
  return new Date(at).toLocaleString(dateLocale(), { dateStyle: "medium", timeStyle: "short" });
}

/** The day and the month in the format of the locale. */
export function dayAndMonth(at: string | number): string {
  return new Date(at).toLocaleDateString(dateLocale(), { day: "numeric", month: "short" });
}

/** The time of a moment today, and the date and the time of a moment on another day. */
export function timeOrDate(at: string | number, now = Date.now()): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? clock(at) : fullDate(at);
}

/** The age of a moment of the last 24 hours, and the date and the time of an earlier moment. */
export function whenWords(t: Translate, at: string | number, now: number): string {
  const passed = now - new Date(at).getTime();
  return passed > -MINUTE && passed < DAY ? age(t, passed) : fullDate(at);
}

/** A length of time as the server writes it (`10m`, `1h 30m`, `10 minutes`), in the language of the card. */
export function spanWords(t: Translate, span: string): string {
  const units = { s: "age.seconds", m: "age.minutes", h: "age.hours", d: "age.days" } as const;
  const parts = [...span.matchAll(/(\d+)\s*(s|m|h|d)/g)];
  if (parts.length === 0) return span;
  return parts.map(([, n, unit]) => t(units[unit as keyof typeof units], { n: Number(n) })).join(" ");
}
