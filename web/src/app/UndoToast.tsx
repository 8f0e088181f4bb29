import { useHost } from "@sayso/react";
import { Undo2 } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useCardWords } from "../i18n";

/** On a phone the list stands in front of the card, so that taking back needs a place of its own. */
export function UndoToast() {
  const t = useCardWords();
  const { sender, holdMs } = useHost();
  const askId = useSyncExternalStore(sender.subscribe, () => sender.newestHeld());
  const sending = askId ? sender.get(askId) : undefined;
  if (!askId || sending?.phase !== "held") return null;
  return (
    <div className="toast">
      <span className="cut grow">{t("state.sending", { answer: sending.label })}</span>
      <button type="button" className="btn" onClick={() => sender.undo(askId)}>
        <Undo2 size={16} aria-hidden="true" />
        {t("button.undo")}
      </button>
      <span className="undo-bar" style={{ animationDuration: `${holdMs}ms` }} />
    </div>
  );
}
