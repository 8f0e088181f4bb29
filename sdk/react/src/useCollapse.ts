import { type RefObject, useLayoutEffect, useRef } from "react";

const COLLAPSE_MS = 240;
const EASE = "cubic-bezier(.2, 0, 0, 1)";

/** Animates a card that shrinks to its result. The style sheet animates a card that opens. */
export function useCollapse(card: RefObject<HTMLElement | null>, open: boolean): void {
  const height = useRef(0);
  const wasOpen = useRef(open);
  useLayoutEffect(() => {
    const element = card.current;
    if (!element) return;
    const before = height.current;
    height.current = element.offsetHeight;
    const closes = wasOpen.current && !open;
    wasOpen.current = open;
    if (!closes || before === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const heights = [before, height.current].map((pixels) => `${pixels}px`);
    element.animate({ height: heights }, { duration: COLLAPSE_MS, easing: EASE });
  });
}
