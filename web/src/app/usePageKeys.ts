import { isTyping, useHost } from "@sayso/react";
import { useEffect } from "react";
import { useMayAnswer } from "../live/hooks";
import type { Open } from "./Shell";

/** Whether the open card waits for a typed answer: then a letter is text that missed its field. */
const isTypedCardOpen = (): boolean => document.querySelector(".sayso-ask[data-typed=true]") !== null;

/** The keys that work on every page. */
export function usePageKeys(dialog: Open, setDialog: (open: Open) => void): void {
  const { sender } = useHost();
  const mayAnswer = useMayAnswer();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (dialog !== "none" || isTyping(event.target)) return;
      if (event.key === "?") setDialog("keys");
      else if (event.key === "c" && mayAnswer && !isTypedCardOpen()) setDialog("new");
      else if (event.key === "/") document.getElementById("filter")?.focus();
      else if (event.key === "u") {
        const held = sender.newestHeld();
        if (!held) return;
        sender.undo(held);
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [dialog, setDialog, sender, mayAnswer]);
}
