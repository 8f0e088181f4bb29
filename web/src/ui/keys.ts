import { isTyping } from "@sayso/react";
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useRef } from "react";

/** Leaves a field with Escape. */
export function blurOnEscape(event: ReactKeyboardEvent<HTMLElement>): void {
  if (event.key === "Escape") event.currentTarget.blur();
}

/** A shortcut of one key, ignored while the person types. */
export function useKey(key: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.key !== key || isTyping(event.target) || document.querySelector("dialog")) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [key]);
}
