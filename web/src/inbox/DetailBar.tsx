import { type Ask, Kbd } from "@sayso/react";
import { AlarmClock, ChevronLeft, Copy, MessageSquare } from "lucide-react";
import { go, hrefOf } from "../app/route";
import { useWords } from "../i18n";
import { useMayAnswer } from "../live/hooks";
import { useAskActs } from "./useAskActs";
import type { Inbox } from "./useInbox";

/** The position of the ask in the list, and actions other than deciding. */
export function DetailBar({ ask, inbox }: { ask: Ask; inbox: Inbox }) {
  const t = useWords();
  const acts = useAskActs();
  const mayAnswer = useMayAnswer();
  return (
    <div className="bar">
      <button type="button" className="back" onClick={() => go({ page: "inbox" })}>
        <ChevronLeft size={18} aria-hidden="true" />
        {t("nav.inbox")}
      </button>
      <span className="muted num place">
        {inbox.at >= 0 ? t("inbox.place", { at: inbox.at + 1, total: inbox.shown.length }) : ""}
      </span>
      <span className="grow" />
      {mayAnswer && ask.status === "pending" && (
        <button
          type="button"
          className="btn ghost"
          aria-label={t("button.snooze")}
          aria-keyshortcuts="s"
          onClick={() => acts.snooze(ask, inbox.next())}
          title={t("button.snoozeHint")}
        >
          <AlarmClock size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className="words">{t("button.snooze")}</span> <Kbd>s</Kbd>
        </button>
      )}
      <button
        type="button"
        className="btn ghost"
        aria-label={t("button.copyAsk")}
        aria-keyshortcuts="y"
        onClick={() => acts.copy(ask)}
      >
        <Copy size={16} strokeWidth={1.75} aria-hidden="true" />
        <span className="words">{t("button.copyAsk")}</span> <Kbd>y</Kbd>
      </button>
      {ask.sessionId && (
        <a
          className="btn ghost"
          aria-label={t("button.session")}
          aria-keyshortcuts="o"
          href={hrefOf({ page: "session", id: ask.sessionId, tab: "transcript" })}
        >
          <MessageSquare size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className="words">{t("button.session")}</span> <Kbd>o</Kbd>
        </a>
      )}
    </div>
  );
}
