import { Visible } from "@sayso/react";
import { ArrowRight } from "lucide-react";
import type { Explained } from "../api/client";
import { useCardWords, useWords } from "../i18n";

const MORE = 20;

/** Past asks, what became of them, and what would have. */
export function DryRunList({ entries }: { entries: Explained[] }) {
  const t = useWords();
  const words = useCardWords();
  return (
    <div className="box">
      {entries.slice(0, MORE).map((one) => (
        <div key={one.askId} className="hit">
          <span className="mono cut">
            <Visible text={one.summary} />
          </span>
          <span className="hstack">
            <span className="muted">{one.status === "pending" ? "" : words(`state.${one.status}`)}</span>
            <ArrowRight className="arrow" size={12} aria-hidden="true" />
            <span className="chip" data-verdict={one.verdict}>
              {t(`verdict.${one.verdict as "approve" | "deny" | "answer" | "reject" | "ask"}`)}
            </span>
          </span>
          <span className="s">
            <Visible text={one.because} />
          </span>
        </div>
      ))}
      {entries.length > MORE && <p className="hit muted">{t("dry.more", { count: entries.length - MORE })}</p>}
    </div>
  );
}
