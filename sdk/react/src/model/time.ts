import type { Translate } from "../words";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in one unit. */
export function age(t: Translate, ms: number): string {
  return ms < 10 * SECOND ? t("age.now") : duration(t, ms);
}

/** How long, in one unit. */
export function duration(t: Translate, ms: number): string {
  if (ms < MINUTE) return t("age.seconds", { n: Math.floor(ms / SECOND) });
  if (ms < HOUR) return t("age.minutes", { n: Math.floor(ms / MINUTE) });
  if (ms < DAY) return t("age.hours", { n: Math.floor(ms / HOUR) });
  return t("age.days", { n: Math.floor(ms / DAY) });
}

/** What is left, as a clock: `3:41`, `1:02:09`. */
export function countdown(ms: number): string {
  const all = Math.max(0, Math.ceil(ms / SECOND));
  const two = (n: number) => String(n).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** The time of the day: `14:01`. */
export function clock(at: string | number): string {
  const time = new Date(at);
  return `${String(time.getHours()).padStart(2, "0")}:${String(time.getMinutes()).padStart(2, "0")}`;
}

/** Date and time as the language of the page writes them. */
export function fullDate(at: string | number): string {
  const language = typeof document === "undefined" ? "" : document.documentElement.lang;
  return new Date(at).toLocaleString(language || undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** A moment: how long ago within a day, else its date and time. */
export function whenWords(t: Translate, at: string | number, now: number): string {
  const passed = now - new Date(at).getTime();
  return passed > -MINUTE && passed < DAY ? age(t, passed) : fullDate(at);
}

/** A duration as the server writes it (`10m`, `1h 30m`), in words. */
export function spanWords(t: Translate, span: string): string {
  const units = { s: "age.seconds", m: "age.minutes", h: "age.hours", d: "age.days" } as const;
  const parts = [...span.matchAll(/(\d+)\s*(s|m|h|d)/g)];
  if (parts.length === 0) return span;
  return parts.map(([, n, unit]) => t(units[unit as keyof typeof units], { n: Number(n) })).join(" ");
}
