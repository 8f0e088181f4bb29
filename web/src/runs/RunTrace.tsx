import { Visible } from "@sayso/react";
import { Copy } from "lucide-react";
import type { Run } from "../api/client";
import { useWords } from "../i18n";
import { copyText } from "../ui/copy";
import { clockWithSeconds, traceOf, traceText } from "./trace";
import { useAllRunAsks } from "./useRuns";

/** What happened in a run, one line each. */
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
              {clockWithSeconds(at)}
            </time>
            <Visible text={text} />
          </li>
        ))}
      </ol>
    </section>
  );
}
