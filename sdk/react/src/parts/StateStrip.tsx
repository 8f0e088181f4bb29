import { Undo2 } from "lucide-react";
import type { AskCardActions } from "../AskCard";
import type { Ask } from "../api";
import { useHost, useNow } from "../host";
import { optionLabel } from "../model/draft";
import { age, clock, countdown, fullDate } from "../model/time";
import { sendingWords, stateWords } from "../stateWords";
import type { AskCardModel } from "../useAskCard";
import type { Translate } from "../words";
import { StateIcon } from "./icons";
import { Kbd } from "./Kbd";
import { Visible } from "./Visible";

const SOON_MS = 5 * 60_000;

/** The header of a card: state, age and deadline. */
export function StateStrip({ model, actions }: { model: AskCardModel; actions: AskCardActions }) {
  const { t, tokenId, holdMs, readOnly } = useHost();
  const now = useNow(1000);
  const { ask, state, sending } = model;
  const words = state === "sending" && sending ? sendingWords(t, sending) : stateWords(t, ask, state, tokenId);
  return (
    <div className="state" id={`state-${ask.id}`}>
      <StateIcon ask={ask} state={state} />
      <span className="cut">
        <Visible text={words} />
      </span>
      {model.open && (
        <time className="thin num" dateTime={ask.openedAt} title={fullDate(ask.openedAt)}>
          {age(t, now - Date.parse(ask.openedAt))}
        </time>
      )}
      <span className="r">
        {state === "sending" && (sending?.phase === "held" || sending?.phase === "queued") && (
          <button type="button" className="btn sm" aria-keyshortcuts="u" onClick={model.undo}>
            <Undo2 size={14} aria-hidden="true" />
            {t(sending.batch ? "button.undoAll" : "button.undo")} <Kbd>u</Kbd>
          </button>
        )}
        {state === "snoozed" && actions.showNow && !readOnly && (
          <button type="button" className="btn sm" onClick={() => actions.showNow?.(ask)}>
            {t("button.showNow")}
          </button>
        )}
        {(state === "pending" || state === "parked") && <Deadline ask={ask} now={now} t={t} />}
        {ask.outcome && (
          <time className="num" dateTime={ask.outcome.at} title={fullDate(ask.outcome.at)}>
            {clock(ask.outcome.at)}
          </time>
        )}
      </span>
      {state === "sending" && sending?.phase === "held" && (
        <span className="undo-bar" style={{ animationDuration: `${holdMs}ms` }} />
      )}
    </div>
  );
}

function Deadline({ ask, now, t }: { ask: Ask; now: number; t: Translate }) {
  if (!ask.deadlineAt) return <span className="thin">{t("deadline.none")}</span>;
  const left = Date.parse(ask.deadlineAt) - now;
  return (
    <time className={left < SOON_MS ? "num due" : "num thin"} dateTime={ask.deadlineAt}>
      <Visible text={deadlineWords(t, ask, left)} />
    </time>
  );
}

/** The deadline, and the outcome without an answer. */
export function deadlineWords(t: Translate, ask: Ask, left: number): string {
  const time = countdown(left);
  if (ask.onTimeout === "accept-first") {
    const first = ask.questions?.[0]?.options?.[0];
    return t("deadline.first", { option: first ? optionLabel(first) : "", time });
  }
  return t(ask.onTimeout === "reject" ? "deadline.reject" : "deadline.deny", { time });
}
