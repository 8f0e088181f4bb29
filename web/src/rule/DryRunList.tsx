import { useNow, Visible, whenWords } from "@sayso/react";
import { ArrowRight } from "lucide-react";
import type { Explained } from "../api/client";
import { useQuery } from "../api/useQuery";
import { useCardWords, useWords } from "../i18n";
import { useClient } from "../live/hooks";

const MORE = 20;

/** The time and the reason of a different decision. */
function OldReason({ id }: { id: string }) {
  const words = useCardWords();
  const now = useNow(15_000);
  const client = useClient();
  const { data: ask } = useQuery({ queryKey: ["ask", id], queryFn: () => client.ask(id), staleTime: Infinity });
  const { outcome } = ask ?? {};
  if (!outcome) return null;
  const day = whenWords(words, outcome.at, now);
  return <Visible text={outcome.message ? `${day}: “${outcome.message}”` : day} />;
}

/** Past asks with their outcomes, and the outcomes under the edited policy. */
export function DryRunList({ entries, otherwise = [] }: { entries: Explained[]; otherwise?: Explained[] }) {
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
            <span
              className="chip"
              {...(otherwise.includes(one) ? { "data-status": "waiting" } : { "data-verdict": one.verdict })}
            >
              {t(`verdict.${one.verdict as "approve" | "deny" | "answer" | "reject" | "ask"}`)}
            </span>
          </span>
          <span className="s">
            {otherwise.includes(one) ? <OldReason id={one.askId} /> : <Visible text={one.because} />}
          </span>
        </div>
      ))}
      {entries.length > MORE && <p className="hit muted">{t("dry.more", { count: entries.length - MORE })}</p>}
    </div>
  );
}
