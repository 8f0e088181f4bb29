import { sendingWords, useHost } from "@sayso/react";
import { Undo2 } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useCardWords } from "../i18n";

/** Undo for a decision whose card may not be open: on a phone, and for the decisions of a batch. */
export function UndoToast() {
  const t = useCardWords();
  const { sender, holdMs } = useHost();
  const askId = useSyncExternalStore(sender.subscribe, () => sender.newestHeld());
  const sending = askId ? sender.get(askId) : undefined;
  if (!askId || sending?.phase !== "held") return null;
  return (
    <div className="toast" data-batch={sending.batch !== undefined}>
      <span className="cut grow">{sendingWords(t, sending)}</span>
      <button type="button" className="btn" onClick={() => sender.undo(askId)}>
        <Undo2 size={16} aria-hidden="true" />
        {t(sending.batch ? "button.undoAll" : "button.undo")}
      </button>
      <span className="undo-bar" style={{ animationDuration: `${holdMs}ms` }} />
    </div>
  );
}
