import {
  type Ask,
  age,
  baseName,
  Command,
  countdown,
  entryLabel,
  fullDate,
  KindIcon,
  plain,
  readDiff,
  risksOf,
  StateIcon,
  stateOf,
  statOf,
  titleOf,
  useHost,
  useNow,
  useSending,
  Visible,
} from "@sayso/react";
import { Check, GitBranch, TriangleAlert } from "lucide-react";
import { type MouseEvent, memo, type PointerEvent, useMemo, useRef } from "react";
import { useCardWords, useWords } from "../i18n";
import { useLiveAsk, useMayAnswer } from "../live/hooks";
import type { SelectRow } from "./useSelection";

/** The duration of a long press that selects a row, in milliseconds. */
const LONG_PRESS_MS = 500;

interface RowProps {
  id: string;
  /** The number of identical asks in the row. */
  count: number;
  /** Called when the person opens the ask by a click or Enter. */
  onEnter: (id: string) => void;
  onSelect: SelectRow;
  /** Whether asks are selected. Then a tap selects instead of opening. */
  selecting: boolean;
  open: boolean;
  selected: boolean;
  place: number;
  total: number;
}

/** One ask in the list. */
export const InboxRow = memo(function InboxRow(props: RowProps) {
  const { id, count, onEnter, open, selected, place, total } = props;
  const t = useWords();
  const words = useCardWords();
  const { sender } = useHost();
  const ask = useLiveAsk(id);
  const sending = useSending(sender, id);
  const now = useNow(ask?.deadlineAt ? 1000 : 15_000);
  const press = useRowPress(props);
  if (!ask) return null;
  const title = titleOf(ask);
  const state = stateOf(ask, sending, now);
  const decided = ask.status !== "pending";
  return (
    <div
      className="row"
      role="option"
      id={`row-${id}`}
      aria-selected={open || selected}
      aria-posinset={place + 1}
      aria-setsize={total}
      data-open={open}
      data-selected={selected}
      data-state={state}
      tabIndex={-1}
      {...press}
      onKeyDown={(event) => event.key === "Enter" && onEnter(id)}
    >
      {state === "pending" ? <KindIcon ask={ask} /> : <StateIcon ask={ask} state={state} />}
      <span className={title.code ? "t mono" : "t"}>
        {title.code ? <Command text={title.text} /> : <Visible text={title.text} />}
      </span>
      {count > 1 && <span className="times num">{t("row.folded", { count })}</span>}
      <time className="age num" dateTime={ask.openedAt} title={fullDate(ask.openedAt)}>
        {age(words, now - Date.parse(decided ? (ask.outcome?.at ?? ask.openedAt) : ask.openedAt))}
      </time>
      <span className="s">
        <RiskIcon ask={ask} />
        <Visible text={ask.agent} />
        {ask.project && (
          <>
            <span className="sep" />
            <span className="project cut">
              <Visible text={baseName(ask.project)} />
            </span>
          </>
        )}
        {ask.branch && count === 1 && (
          <span className="branch">
            <GitBranch size={14} strokeWidth={1.75} aria-hidden="true" />
            <span className="cut">
              <Visible text={ask.branch} />
            </span>
          </span>
        )}
      </span>
      <Fact ask={ask} now={now} count={count} sending={state === "sending"} />
    </div>
  );
});

/** Marks a pending command that is destructive or writes outside the project. */
function RiskIcon({ ask }: { ask: Ask }) {
  const words = useCardWords();
  const { destructive, outside } = useMemo(() => risksOf(ask), [ask]);
  if (ask.status !== "pending" || destructive.length + outside.length === 0) return null;
  const label = [
    destructive.length > 0 ? `${words("risk.destructive")} ${destructive.join(", ")}` : "",
    outside.length > 0 ? `${words("risk.outside")} ${outside.join(", ")}` : "",
  ];
  const about = plain(label.filter(Boolean).join("; "));
  return (
    <span className="risky" role="img" aria-label={about} title={about}>
      <TriangleAlert size={13} strokeWidth={2} aria-hidden="true" />
    </span>
  );
}

/** A click opens the ask. Ctrl-click, Shift-click and a long press select it. While asks are selected, a tap also selects. */
function useRowPress({ id, onEnter, onSelect, selecting }: RowProps) {
  const mayAnswer = useMayAnswer();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pressed = useRef<"short" | "long">("short");
  const byTouch = useRef(false);
  const stop = () => clearTimeout(timer.current);
  return {
    onPointerDown: ({ pointerType }: PointerEvent) => {
      byTouch.current = pointerType === "touch";
      pressed.current = "short";
      if (!byTouch.current || !mayAnswer) return;
      timer.current = setTimeout(() => {
        pressed.current = "long";
        onSelect(id, "toggle");
      }, LONG_PRESS_MS);
    },
    onPointerUp: stop,
    onPointerCancel: stop,
    onPointerLeave: stop,
    onContextMenu: (event: MouseEvent) => byTouch.current && event.preventDefault(),
    onClick: ({ ctrlKey, metaKey, shiftKey }: MouseEvent) => {
      if (pressed.current === "long") return;
      if (mayAnswer && shiftKey) onSelect(id, "range");
      else if (mayAnswer && (ctrlKey || metaKey || (byTouch.current && selecting))) onSelect(id, "toggle");
      else onEnter(id);
    },
  };
}

/** The most important fact about an ask, at the right end of the row. */
function Fact({ ask, now, count, sending }: { ask: Ask; now: number; count: number; sending: boolean }) {
  const t = useWords();
  const words = useCardWords();
  const stat = useMemo(() => diffStat(ask), [ask]);
  if (sending) return <span className="e sending">{t("row.sending")}</span>;
  if (ask.status !== "pending") {
    return (
      <span className="e cut" data-status={ask.status}>
        <Decided ask={ask} />
      </span>
    );
  }
  if (ask.deadlineAt) {
    const key = ask.onTimeout === "reject" ? "deadline.reject" : ask.onTimeout === "deny" ? "deadline.deny" : undefined;
    const time = countdown(Date.parse(ask.deadlineAt) - now);
    return <span className="e due num">{key ? words(key, { time }) : time}</span>;
  }
  if (ask.reach === "parked") return <span className="e parked">{t("row.parked")}</span>;
  if (count > 1) return <span className="e">{t("row.identical", { count })}</span>;
  if (stat) {
    return (
      <span className="e stat">
        <span className="p">+{stat.added}</span> <span className="n">-{stat.removed}</span>
      </span>
    );
  }
  const questions = ask.questions?.length ?? 0;
  if (questions > 1) return <span className="e">{t("row.questions", { count: questions })}</span>;
  return <span className="e">{ask.blocking ? "" : t("row.notBlocking")}</span>;
}

function Decided({ ask }: { ask: Ask }) {
  const words = useCardWords();
  const first = ask.outcome?.answers?.[0];
  const entry = Array.isArray(first) ? first[0] : undefined;
  const question = ask.questions?.[0];
  const label = question && entry !== undefined ? entryLabel(question, entry) : entry;
  if (ask.status === "answered") {
    return (
      <>
        <Check size={12} strokeWidth={2.5} aria-hidden="true" /> <Visible text={label ?? words("state.answered")} />
      </>
    );
  }
  return <>{words(ask.status === "pending" ? "state.question" : `state.${ask.status}`)}</>;
}

function diffStat(ask: Ask): { added: number; removed: number } | undefined {
  const preview = ask.approval?.preview;
  if (preview?.type !== "diff") return undefined;
  return statOf(preview.files.flatMap((file) => readDiff(file.diff)));
}
