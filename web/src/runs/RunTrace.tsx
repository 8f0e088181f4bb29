import { clock, Visible } from "@sayso/react";
import { Copy } from "lucide-react";
import type { Run } from "../api/client";
import { useWords } from "../i18n";
import { copyText } from "../ui/copy";
import { traceOf, traceText } from "./trace";
import { useAllRunAsks } from "./useRuns";

/** The trace of a run. */
export function RunTrace({ run }: { run: Run }) {
  const t = useWords();
  const asks = useAllRunAsks(run);
  const lines = traceOf(t, run, asks);
  return (
    <section aria-label={t("trace.title")}>
      <div className="hstack">
        <h3 className="grow">{t("trace.title")}</h3>
        <button type="button" className="btn ghost sm" onClick={() => copyText(traceText(lines))}>
          <Copy size={14} aria-hidden="true" /> {t("button.copyAsk")}
        </button>
      </div>
      <ol className="trace">
        {lines.map(({ at, state, text }) => (
          <li key={`${at} ${text}`} data-state={state}>
            <time className="num" dateTime={at}>
              {clock(at, { seconds: true })}
            </time>
            <Visible text={text} />
          </li>
        ))}
      </ol>
    </section>
  );
}
