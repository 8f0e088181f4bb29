import { useSyncExternalStore } from "react";

export const ADVANCES = ["atOnce", "sent", "never"] as const;

/** The preferences of this browser. */
export interface Prefs {
  theme: "system" | "light" | "dark";
  language: "en" | "zh-CN";
  /** How long a decision can be undone, in milliseconds. */
  holdMs: number;
  oneClick: boolean;
  /** When to show the next ask: after the decision, after the decision is sent, or never. */
  advance: (typeof ADVANCES)[number];
  notify: boolean;
  /** Whether notifications contain the title of the ask. */
  notifyContent: boolean;
}

const KEY = "sayso.prefs";
const listeners = new Set<() => void>();

function systemLanguage(): Prefs["language"] {
  return typeof navigator !== "undefined" && navigator.language.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

const DEFAULTS: Prefs = {
  theme: "system",
  language: systemLanguage(),
  holdMs: 3000,
  oneClick: true,
  advance: "sent",
  notify: false,
  notifyContent: false,
};

function read(): Prefs {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Prefs>) };
  } catch {
    return DEFAULTS;
  }
}

let prefs = read();

export const readPrefs = (): Prefs => prefs;

export function setPrefs(change: Partial<Prefs>): void {
  prefs = { ...prefs, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    // Without storage, the preferences last until the page is closed.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const usePrefs = (): Prefs => useSyncExternalStore(subscribe, readPrefs);
