import { age, fullDate, useNow, Visible } from "@sayso/react";
import { useEffect } from "react";
import type { Run } from "../api/client";
import { go, hrefOf } from "../app/route";
import { useCardWords, useWords } from "../i18n";
import { usePending } from "../live/hooks";
import { useKey } from "../ui/keys";
import { useWidth } from "../ui/useWidth";
import { RunView } from "./RunView";
import { currentStep, isRunOver, runStatus } from "./status";
import { useRuns } from "./useRuns";

/** The workflow runs, and the open run. */
export function RunsPage({ runId }: { runId: string | undefined }) {
  const t = useWords();
  const runs = useRuns();
  const onePane = useWidth() < 900;
  const active = runs.filter((run) => !isRunOver(run.status));
  const earlier = runs.filter((run) => isRunOver(run.status));
  const shown = [...active, ...earlier];
  const first = shown[0]?.id;
  useEffect(() => {
    if (!runId && first && !onePane) go({ page: "runs", run: first }, { replace: true });
  }, [runId, first, onePane]);
  const move = (step: number) => {
    const at = shown.findIndex((run) => run.id === runId);
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + step))];
    if (next) go({ page: "runs", run: next.id }, { replace: true });
  };
  useKey("j", () => move(1));
  useKey("k", () => move(-1));

  return (
    <div className="two">
      {!(onePane && runId) && (
        <section className="list" aria-label={t("run.list")}>
          <div className="bar">
            <h1>{t("nav.runs")}</h1>
            <span className="muted num">{t("run.active", { count: active.length })}</span>
          </div>
          <div className="rows">
            <Group words={t("run.group.active")} runs={active} open={runId} />
            <Group words={t("run.group.earlier")} runs={earlier} open={runId} />
            {runs.length === 0 && (
              <div className="none">
                <p>{t("run.none")}</p>
                <pre className="cmdline">sayso workflow run FILE</pre>
              </div>
            )}
          </div>
        </section>
      )}
      {!(onePane && !runId) && (
        <section className="detail" id="open-ask" aria-label={t("run.open")} tabIndex={-1}>
          {runId && <RunView key={runId} id={runId} />}
        </section>
      )}
    </div>
  );
}

function Group({ words, runs, open }: { words: string; runs: Run[]; open: string | undefined }) {
  if (runs.length === 0) return null;
  return (
    <>
      <h2 className="group">
        {words} <span className="num">{runs.length}</span>
      </h2>
      <ul>
        {runs.map((run) => (
          <RunRow key={run.id} run={run} open={run.id === open} />
        ))}
      </ul>
    </>
  );
}

function RunRow({ run, open }: { run: Run; open: boolean }) {
  const t = useWords();
  const words = useCardWords();
  const now = useNow(15_000);
  const status = runStatus(run, usePending());
  const step = currentStep(run);
  const where = !step
    ? t("run.steps", { count: run.steps.length })
    : isRunOver(status)
      ? t("run.stopped", { step: step.id })
      : t("run.at", { at: step.at, total: run.steps.length, step: step.id });
  return (
    <li>
      <a
        className="row"
        href={hrefOf({ page: "runs", run: run.id })}
        data-open={open}
        aria-current={open ? "true" : undefined}
      >
        <span className="dot" data-status={status} />
        <span className="t">
          <Visible text={run.workflow} />
        </span>
        <time className="age num" dateTime={run.createdAt} title={fullDate(run.createdAt)}>
          {age(words, now - Date.parse(run.createdAt))}
        </time>
        <span className="s">
          <span className="cut">
            <Visible text={where} />
          </span>
        </span>
        <span className={status === "waiting" ? "e due" : "e"} data-status={status}>
          {t(`runStatus.${status}`)}
        </span>
      </a>
    </li>
  );
}
