import { type Ask, baseName, Command, Kbd, titleOf, useHost, Visible } from "@sayso/react";
import { useEffect, useRef } from "react";
import { useCardWords, useWords } from "../i18n";

/** Several selected asks: identical approvals are approved together, and everything can be said no to together. */
export function BatchCard({ asks, onDone }: { asks: Ask[]; onDone: () => void }) {
  const t = useWords();
  const words = useCardWords();
  const { sender, holdMs } = useHost();
  const approvable = asks.every((ask) => ask.kind === "approval" && ask.approval?.action !== "plan");
  const count = asks.length;
  const yes = () => {
    const label = words("button.approve");
    sender.holdAll(
      asks.map(({ id }) => ({ askId: id, decision: { kind: "approve" }, label })),
      holdMs,
    );
    onDone();
  };
  const no = () => {
    const decisions = asks.map((ask) => {
      const kind = ask.kind === "question" ? ("reject" as const) : ("deny" as const);
      return { askId: ask.id, decision: { kind }, label: words(`button.${kind}`) };
    });
    sender.holdAll(decisions, holdMs);
    onDone();
  };
  useBatchKeys(approvable ? yes : undefined, no);
  return (
    <article className="sayso-ask" data-state="pending" aria-labelledby="batch-title">
      <div className="state">{t("batch.state", { count })}</div>
      <div className="body">
        <h2 className="qtext" id="batch-title">
          {t(approvable ? "batch.approve" : "batch.mixed", { count })}
        </h2>
        <ul className="batch">
          {asks.map((ask) => (
            <li key={ask.id}>
              <span className={titleOf(ask).code ? "mono" : ""}>
                <Command text={titleOf(ask).text} />
              </span>
              <span className="muted">
                <Visible text={[ask.agent, baseName(ask.project), ask.branch].filter(Boolean).join(", ")} />
              </span>
            </li>
          ))}
        </ul>
      </div>
      <div className="foot">
        {approvable && (
          <button type="button" className="btn primary" aria-keyshortcuts="a" onClick={yes}>
            {t("button.approveN", { count })} <Kbd>a</Kbd>
          </button>
        )}
        <button type="button" className="btn no" aria-keyshortcuts="d" onClick={no}>
          {t("button.noN", { count })} <Kbd>d</Kbd>
        </button>
        <span className="gap" />
        <button type="button" className="btn ghost" onClick={onDone}>
          {words("button.cancel")} <Kbd>Esc</Kbd>
        </button>
      </div>
    </article>
  );
}

function useBatchKeys(yes: (() => void) | undefined, no: () => void): void {
  const latest = useRef({ yes, no });
  latest.current = { yes, no };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest("input, textarea, dialog")) return;
      if (event.key === "a" && latest.current.yes) latest.current.yes();
      else if (event.key === "d") latest.current.no();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
