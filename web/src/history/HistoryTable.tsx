import {
  type Ask,
  baseName,
  clock,
  dayAndMonth,
  duration,
  fullDate,
  Kbd,
  StateIcon,
  shortDigest,
  stateOf,
  titleOf,
  Visible,
  whyWords,
} from "@sayso/react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { go, hrefOf } from "../app/route";
import { useCardWords, useWords } from "../i18n";
import { useIsAdmin } from "../live/hooks";
import { useKey } from "../ui/keys";
import { deciderOf } from "./decider";
import { answerText, dayOf, waited } from "./model";

const ROW = 36;
const OPEN_ROW = 84;

/** The decided asks, one row each. A click on a row opens its details. */
export function HistoryTable({ asks }: { asks: Ask[] }) {
  const t = useWords();
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<string>();
  const sessionId = asks.find((ask) => ask.id === open)?.sessionId;
  useKey("o", () => sessionId && go({ page: "session", id: sessionId, tab: "transcript" }));
  const virtual = useVirtualizer({
    count: asks.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (asks[index]?.id === open ? OPEN_ROW : ROW),
    getItemKey: (index) => asks[index]?.id ?? index,
    overscan: 12,
  });
  return (
    <div className="htable" role="table" aria-label={t("nav.history")} aria-rowcount={asks.length + 1} ref={box}>
      <div role="rowgroup">
        <div className="hrow head" role="row">
          {(["outcome", "ask", "agent", "project", "by", "waited", "at"] as const).map((column) => (
            <span key={column} role="columnheader" data-column={column}>
              {t(`history.${column}`)}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((row) => {
          const ask = asks[row.index];
          if (!ask) return null;
          return (
            <div
              key={row.key}
              ref={virtual.measureElement}
              data-index={row.index}
              className="hitem"
              role="presentation"
              style={{ transform: `translateY(${row.start}px)` }}
            >
              <Row
                ask={ask}
                place={row.index}
                open={open === ask.id}
                toggle={() => setOpen(open === ask.id ? undefined : ask.id)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Row({ ask, place, open, toggle }: { ask: Ask; place: number; open: boolean; toggle: () => void }) {
  const t = useWords();
  const isAdmin = useIsAdmin();
  const words = useCardWords();
  const title = titleOf(ask);
  const state = stateOf(ask, undefined, 0);
  const answer = answerText(ask);
  const by = ask.outcome?.by;
  const outcome =
    state === "undelivered"
      ? t("history.undelivered")
      : words(`state.${ask.status === "pending" ? "question" : ask.status}`);
  return (
    <>
      <div className="hrow" role="row" aria-rowindex={place + 2} data-open={open}>
        <span role="cell">
          <button type="button" className="chip" data-state={state} aria-expanded={open} onClick={toggle}>
            <StateIcon ask={ask} state={state} size={14} />
            {outcome}
          </button>
        </span>
        <span role="cell" className={title.code ? "cut mono" : "cut"}>
          <Visible text={title.text} /> {answer && <span className="said">“{<Visible text={answer} />}”</span>}
        </span>
        <span role="cell" className="cut">
          <Visible text={ask.agent} />
        </span>
        <span role="cell" className="cut">
          <Visible text={baseName(ask.project)} />
        </span>
        <span role="cell" className="cut">
          <Visible text={deciderOf(t, by)} />
        </span>
        <span role="cell" className="num right">
          {duration(words, waited(ask))}
        </span>
        <time role="cell" className="num right" dateTime={ask.outcome?.at} title={fullDate(ask.outcome?.at ?? 0)}>
          {decidedAt(ask.outcome?.at ?? 0)}
        </time>
      </div>
      {open && (
        <div className="hmore">
          <span className="grow">
            {by?.kind === "policy" ? (
              t(isAdmin ? "history.otherwise" : "history.rule", { rule: by.rule ?? "" })
            ) : (
              <Visible text={ask.why ? whyWords(words, ask) : ""} />
            )}
          </span>
          {ask.approval && ask.digest && (
            <span className="mono" title={ask.digest}>
              {words("line.digest", { digest: shortDigest(ask) })}
            </span>
          )}
          {by?.kind === "policy" && isAdmin && (
            <button
              type="button"
              className="btn sm"
              onClick={() => go({ page: "settings", section: "policy", rule: by.rule ?? "" })}
            >
              {words("button.editRule")}
            </button>
          )}
          <a className="btn ghost sm" href={hrefOf({ page: "inbox", ask: ask.id })}>
            {t("history.openAsk")}
          </a>
          {ask.sessionId && (
            <a className="btn ghost sm" href={hrefOf({ page: "session", id: ask.sessionId, tab: "transcript" })}>
              {t("history.openSession")} <Kbd>o</Kbd>
            </a>
          )}
        </div>
      )}
    </>
  );
}

/** The time of a decision today, and the day of an earlier one. */
function decidedAt(at: string | number): string {
  return dayOf(new Date(at)) === dayOf(new Date()) ? clock(at) : dayAndMonth(at);
}
