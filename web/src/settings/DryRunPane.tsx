import { useWords } from "../i18n";
import { useIsAdmin } from "../live/hooks";
import { DryRunList } from "../rule/DryRunList";
import { useDryRun } from "../rule/useDryRun";

interface DryRunPaneProps {
  text: string;
  enabled: boolean;
  changed: boolean;
}

/** The dry run of a policy on past and waiting asks. */
export function DryRunPane({ text, enabled, changed }: DryRunPaneProps) {
  const t = useWords();
  const isAdmin = useIsAdmin();
  const dry = useDryRun(text, enabled);
  return (
    <aside className="dry" tabIndex={0} aria-label={t("dry.title")}>
      <h2>{t("dry.title")}</h2>
      {dry.error && (
        <p className="wrong" role="alert">
          {dry.error.message}
        </p>
      )}
      {dry.data && !dry.error && (
        <>
          <div className="three">
            <Figure count={dry.data.decided.length} words={t("dry.decided")} />
            <Figure count={dry.data.otherwise.length} words={t("dry.otherwiseWord")} amber />
            <Figure count={dry.data.unchanged} words={t("dry.unchanged")} />
          </div>
          {isAdmin && !changed && <p className="muted">{t("dry.edit")}</p>}
          {dry.data.otherwise.length > 0 && <h3>{t("dry.first")}</h3>}
          {dry.data.otherwise.length > 0 && <DryRunList entries={dry.data.otherwise} otherwise={dry.data.otherwise} />}
          {dry.data.asYouDid.length > 0 && <h3>{t("dry.asYouDid", { count: dry.data.asYouDid.length })}</h3>}
          {dry.data.asYouDid.length > 0 && <DryRunList entries={dry.data.asYouDid} />}
          {dry.data.pending.length > 0 && <h3>{t("dry.waiting")}</h3>}
          {dry.data.pending.length > 0 && <DryRunList entries={dry.data.pending} />}
        </>
      )}
    </aside>
  );
}

function Figure({ count, words, amber }: { count: number; words: string; amber?: boolean }) {
  return (
    <div className="box figure">
      <span className="big num" data-amber={amber && count > 0}>
        {count}
      </span>
      <span className="muted">{words}</span>
    </div>
  );
}
