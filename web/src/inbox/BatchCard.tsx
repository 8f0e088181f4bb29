import {
  type Ask,
  allows,
  baseName,
  Command,
  contentOf,
  isHeldDown,
  isTyping,
  Kbd,
  PreviewView,
  titleOf,
  useHost,
  useKeyGrace,
  Visible,
} from "@sayso/react";
import { useEffect, useRef } from "react";
import { useCardWords, useWords } from "../i18n";
import { identicalKey } from "./order";

interface BatchCardProps {
  asks: Ask[];
  active: boolean;
  onDecided?: () => void;
  onCancel?: () => void;
  /** Opens one of the asks by itself. */
  onOpen: (ask: Ask) => void;
  /** Identical asks that arrived after the card was opened, and a function that adds them. */
  more?: { count: number; include: () => void };
}

/** Several asks, each shown in full: approvals are approved together, and everything can be declined together. */
export function BatchCard({ asks, active, onDecided, onCancel, onOpen, more }: BatchCardProps) {
  const t = useWords();
  const words = useCardWords();
  const card = useRef<HTMLElement>(null);
  const { sender, holdMs } = useHost();
  const approvable = asks.every(
    (ask) => ask.kind === "approval" && ask.approval?.action !== "plan" && allows(ask, "approve"),
  );
  const deniable = asks.every((ask) => allows(ask, "deny"));
  const count = asks.length;
  const decide = (isYes: boolean) => {
    const decisions = asks.map((ask) => {
      const kind = isYes ? "approve" : ask.kind === "question" ? "reject" : "deny";
      return { askId: ask.id, decision: { kind } as const, label: words(`button.${kind}`), content: contentOf(ask) };
    });
    sender.holdAll(decisions, holdMs);
    onDecided?.();
  };
  const accepts = useKeyGrace(asks.map((ask) => ask.id + contentOf(ask)).join(), { active, card });
  useBatchKeys(accepts, (isYes) => (isYes ? approvable : deniable), decide);
  return (
    <article
      ref={card}
      className="sayso-ask"
      data-state="pending"
      data-ask={more ? asks[0]?.id : undefined}
      data-accepts-keys={accepts}
      aria-labelledby="batch-title"
    >
      <div className="state">{t(more ? "row.identical" : "batch.state", { count })}</div>
      <div className="body">
        <h2 className="qtext" id="batch-title">
          {t(approvable ? "batch.approve" : "batch.mixed", { count })}
        </h2>
        <BatchList asks={asks} onOpen={onOpen} />
        {more && more.count > 0 && (
          <button type="button" className="btn more" onClick={more.include}>
            {t("batch.more", { count: more.count })}
          </button>
        )}
      </div>
      <div className="actions">
        <div className="foot">
          {approvable && (
            <button type="button" className="btn primary" aria-keyshortcuts="a" onClick={() => decide(true)}>
              {t("button.approveN", { count })} <Kbd>a</Kbd>
            </button>
          )}
          {deniable && (
            <button type="button" className="btn no" aria-keyshortcuts="d" onClick={() => decide(false)}>
              {t("button.noN", { count })} <Kbd>d</Kbd>
            </button>
          )}
          <span className="gap" />
          {onCancel && (
            <button type="button" className="btn ghost" onClick={onCancel}>
              {words("button.cancel")} <Kbd>Esc</Kbd>
            </button>
          )}
        </div>
      </div>
    </article>
  );
}

/** All asks with their previews. Identical previews are shown once. */
function BatchList({ asks, onOpen }: { asks: Ask[]; onOpen: (ask: Ask) => void }) {
  const t = useWords();
  const [first] = asks;
  const key = first && identicalKey(first);
  const identical = key !== undefined && asks.every((ask) => identicalKey(ask) === key);
  const isCommand = (ask: Ask) => titleOf(ask).code;
  return (
    <>
      {identical && first && !isCommand(first) && <PreviewView ask={first} />}
      <ul className="batch">
        {asks.map((ask) => (
          <li key={ask.id}>
            <div className="what">
              <div className={isCommand(ask) ? "mono" : ""}>
                <Command text={titleOf(ask).text} isShell={isCommand(ask)} />
              </div>
              <div className="muted">
                <Visible text={[ask.agent, baseName(ask.project), ask.branch].filter(Boolean).join(", ")} />
              </div>
              {!identical && !isCommand(ask) && <PreviewView ask={ask} />}
            </div>
            <button type="button" className="btn sm" onClick={() => onOpen(ask)}>
              {t("batch.open")}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function useBatchKeys(accepts: boolean, offers: (isYes: boolean) => boolean, decide: (isYes: boolean) => void): void {
  const latest = useRef({ accepts, offers, decide });
  latest.current = { accepts, offers, decide };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const now = latest.current;
      if (!now.accepts || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isHeldDown(event) || isTyping(event.target)) return;
      const isYes = event.key === "a";
      if ((!isYes && event.key !== "d") || !now.offers(isYes)) return;
      now.decide(isYes);
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
