import { age, fullDate, Visible } from "@sayso/react";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import type { PolicyRule, RuleHits } from "../api/client";
import { useCardWords, useWords } from "../i18n";
import { effectWords, summaryOf } from "./policyRule";

interface RuleCardProps {
  label: string;
  rule: PolicyRule;
  /** The text at the right: the number of decisions, or "not saved". */
  fact: ReactNode;
  open: boolean;
  /** Whether the card gets the focus, because a link names it. */
  focus?: boolean;
  onToggle: () => void;
  children: ReactNode;
}

/** One rule: a summary, and its fields while it is open. */
export function RuleCard({ label, rule, fact, open, focus, onToggle, children }: RuleCardProps) {
  const t = useWords();
  const head = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!focus) return;
    head.current?.scrollIntoView({ block: "center" });
    head.current?.focus();
  }, [focus]);
  return (
    <section className="rule" aria-label={label} data-open={open}>
      <button ref={head} type="button" className="top" aria-expanded={open} onClick={onToggle}>
        <ChevronRight size={16} aria-hidden="true" />
        <span className="chip" data-effect={rule.do}>
          {t(effectWords(rule.do))}
        </span>
        <b className="cut">
          <Visible text={label} />
        </b>
        <span className="muted cut mono grow">{!open && <Visible text={summaryOf(rule)} />}</span>
        <span className="muted num">{fact}</span>
      </button>
      {open && children}
    </section>
  );
}

/** The number of decisions of a rule in the last 30 days, and the time of the last one. */
export function HitCount({ hits }: { hits: RuleHits | undefined }) {
  const t = useWords();
  const words = useCardWords();
  if (!hits) return null;
  const last = hits.lastAt ? Date.now() - Date.parse(hits.lastAt) : undefined;
  return (
    <span title={hits.lastAt ? fullDate(hits.lastAt) : undefined}>
      {t("policy.hits", { count: hits.hits })}
      {last !== undefined && <span className="lasthit"> · {t("policy.lastHit", { age: age(words, last) })}</span>}
    </span>
  );
}
