import { type Ask, plain, type Sender, type Sending, sendingWords, titleOf, useHost } from "@sayso/react";
import { CircleAlert, Undo2 } from "lucide-react";
import { useEffect, useReducer } from "react";
import { useCardWords, useWords } from "../i18n";
import { useLive } from "../live/hooks";
import { readPrefs } from "./prefs";
import { go, type Route, readRoute, useRoute } from "./route";

/** How many toasts are stacked at most. The oldest decision is sent first, so its toast is dropped first. */
const STACKED = 4;

/** Undo buttons for decisions whose cards are not open, newest at the bottom. A refused decision links to its card. */
export function UndoToasts() {
  const t = useWords();
  const { sender } = useHost();
  const { store } = useLive();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => sender.subscribe(redraw), [sender]);
  const route = useRoute();
  const shown = sender.unsettled().filter(({ askIds: [first, second] }) => {
    const ask = store.ask(first ?? "");
    return ask?.status === "pending" && (second !== undefined || !showsCard(route, ask));
  });
  if (shown.length === 0) return null;
  return (
    <section className="toasts" aria-label={t("toast.label")}>
      {shown.slice(-STACKED).map(({ askIds, sending }) => (
        <Toast key={askIds.join()} askId={askIds[0] ?? ""} sending={sending} />
      ))}
    </section>
  );
}

/** Whether the card of an ask is open. Open cards have their own Undo. */
function showsCard(route: Route, ask: Ask): boolean {
  if (route.page === "inbox") return route.ask === ask.id;
  if (route.page === "session") return route.id === ask.sessionId;
  return route.page === "runs" && route.run !== undefined && route.run === ask.runId;
}

function Toast({ askId, sending }: { askId: string; sending: Sending }) {
  const t = useWords();
  const words = useCardWords();
  const { sender, holdMs } = useHost();
  const { store } = useLive();
  const ask = store.ask(askId);
  const title = ask ? plain(titleOf(ask).text) : "";
  const batch = sending.phase === "held" && sending.batch !== undefined;
  if (sending.phase === "failed") {
    return (
      <div className="toast" role="alert">
        <CircleAlert size={16} aria-hidden="true" />
        <span className="cut grow">{t("toast.failed", { title })}</span>
        <button type="button" className="btn" onClick={() => go({ page: "inbox", ask: askId })}>
          {t("toast.show")}
        </button>
      </div>
    );
  }
  return (
    <div className="toast">
      <span className="cut grow">
        {sendingWords(words, sending)}
        {!batch && <span className="about"> {title}</span>}
      </span>
      <button type="button" className="btn" onClick={() => undoDecision(sender, askId)}>
        <Undo2 size={16} aria-hidden="true" />
        {words(batch ? "button.undoAll" : "button.undo")}
      </button>
      <span className="undo-bar" style={{ animationDuration: `${holdMs}ms` }} />
    </div>
  );
}

/** Cancels a decision. If the page already moved on, it returns to the ask. */
export function undoDecision(sender: Sender, askId: string): void {
  sender.undo(askId);
  const isInInbox = readRoute(location.hash).page === "inbox";
  if (readPrefs().advance === "atOnce" && isInInbox) go({ page: "inbox", ask: askId }, { replace: true });
}
