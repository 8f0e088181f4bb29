import { useSyncExternalStore } from "react";

/** How long a notice is shown, in milliseconds. */
const SHOWN_MS = 4_000;

const listeners = new Set<() => void>();
let notice: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function set(text: string | undefined): void {
  notice = text;
  for (const listener of listeners) listener();
}

/** Shows a short message, and announces it to screen readers. */
export function showNotice(text: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => set(undefined), SHOWN_MS);
  set(text);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useNotice = (): string | undefined => useSyncExternalStore(subscribe, () => notice);
