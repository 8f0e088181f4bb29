import { isTyping, useHost } from "@sayso/react";
import { useEffect } from "react";
import { useMayAnswer } from "../live/hooks";
import type { Open } from "./Shell";
import { undoDecision } from "./UndoToasts";

/** Whether the open card has a typed answer. Then a letter was probably meant for its field. */
const isTypedCardOpen = (): boolean => document.querySelector(".sayso-ask[data-typed=true]") !== null;

const isPaletteKey = (event: KeyboardEvent): boolean =>
  event.key.toLowerCase() === "k" && event.ctrlKey !== event.metaKey && !event.altKey && !event.shiftKey;

/** The keys that work on every page. */
export function usePageKeys(dialog: Open, setDialog: (open: Open) => void): void {
  const { sender } = useHost();
  const mayAnswer = useMayAnswer();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // Works while the person types: the palette decides nothing, and returns the focus.
      if (isPaletteKey(event) && (dialog === "none" || dialog === "palette")) {
        event.preventDefault();
        setDialog(dialog === "none" ? "palette" : "none");
        return;
      }
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (dialog !== "none" || isTyping(event.target)) return;
      if (event.key === "?") setDialog("keys");
      else if (event.key === "c" && mayAnswer && !isTypedCardOpen()) setDialog("new");
      else if (event.key === "/") document.getElementById("filter")?.focus();
      else if (event.key === "u") {
        const held = sender.newestHeld();
        if (!held) return;
        undoDecision(sender, held);
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [dialog, setDialog, sender, mayAnswer]);
}
