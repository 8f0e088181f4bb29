import { type Ask, duration, Markdown, useNow, Visible } from "@sayso/react";
import {
  ArrowLeft,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleSlash,
  LoaderCircle,
  type LucideIcon,
  Square,
} from "lucide-react";
import type { RunStep } from "../api/client";
import { queries, useMutation } from "../api/useQuery";
import { hrefOf } from "../app/route";
import { useShell } from "../app/shellContext";
import { useCardWords, useWords } from "../i18n";
import { useClient, useMayAnswer, usePending } from "../live/hooks";
import { SessionCard } from "../session/SessionCard";
import { RunTrace } from "./RunTrace";
import { isRunOver, runStatus, type StepStatus, stepStatus } from "./status";
import { useRun, useRunAsks } from "./useRuns";

const ICONS: Record<StepStatus, LucideIcon> = {
  pending: CircleDashed,
  running: LoaderCircle,
  waiting: CircleHelp,
  completed: CircleCheck,
  failed: CircleAlert,
  cancelled: CircleSlash,
};

/** One run: its steps, their output, and the asks that it waits for. */
export function RunView({ id }: { id: string }) {
  const t = useWords();
  const client = useClient();
  const mayAnswer = useMayAnswer();
  const { dialog } = useShell();
  const { data: run, error } = useRun(id);
  const asks = useRunAsks(id);
  const pending = usePending();
  const cancel = useMutation({
    mutationFn: () => client.cancelRun(id),
    onSettled: () => queries.invalidate(["runs"]),
  });
  if (error && !run) return <p className="none">{t("run.notFound")}</p>;
  if (!run) return null;
  const status = runStatus(run, pending);
  const active = asks.find((ask) => ask.status === "pending")?.id;
  const input = Object.entries(run.input);
  const RunEnd = ICONS[status];
  return (
    <>
      <div className="bar">
        <a className="back" href={hrefOf({ page: "runs" })} aria-label={t("nav.runs")}>
          <ArrowLeft size={16} aria-hidden="true" />
        </a>
        <h2 className="cut">
          <Visible text={run.workflow} />
        </h2>
        <span className="chip" data-status={status}>
          <span className="dot" data-status={status} />
          <span className="word">{t(`runStatus.${status}`)}</span>
        </span>
        <span className="grow" />
        {mayAnswer && !isRunOver(status) && (
          <button type="button" className="btn sm" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            <Square size={12} aria-hidden="true" />
            {t("button.cancelRun")}
          </button>
        )}
      </div>
      <div className="scroll run">
        {cancel.error && <p className="wrong">{cancel.error.message}</p>}
        {run.reason && (
          <p className="runend" data-status={status}>
            <RunEnd size={16} strokeWidth={1.75} aria-hidden="true" />
            <b>{t("run.ended", { status: t(`runStatus.${status}`) })}</b>
            <Visible text={run.reason} />
          </p>
        )}
        <h3>{t("run.title")}</h3>
        <ol className="steps">
          {run.steps.map((step) => (
            <Step
              key={step.id}
              step={step}
              asks={asks.filter((ask) => ask.stepId === step.id)}
              active={dialog === "none" ? active : undefined}
            />
          ))}
        </ol>
        <RunTrace run={run} />
        {input.length > 0 && (
          <>
            <h3>{t("run.input")}</h3>
            <dl className="kv">
              {input.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    <Visible text={value} />
                  </dd>
                </div>
              ))}
            </dl>
          </>
        )}
      </div>
    </>
  );
}

function Step({ step, asks, active }: { step: RunStep; asks: Ask[]; active: string | undefined }) {
  const t = useWords();
  const status = stepStatus(step, asks);
  const Icon = ICONS[status];
  return (
    <li className="step" data-status={status} data-step={step.id}>
      <div className="line">
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
        <b>
          <Visible text={step.id} />
        </b>
        <span className="hidden">{t(`runStatus.${status}`)}</span>
        <span className="muted cut">
          <Visible text={step.agent ?? t("run.checkpoint")} />
          {step.attempts > 1 && `, ${t("run.attempts", { n: step.attempts })}`}
        </span>
        <span className="grow" />
        {step.sessionId && (
          <a className="link" href={hrefOf({ page: "session", id: step.sessionId, tab: "transcript" })}>
            {t("button.session")}
          </a>
        )}
        <StepDuration step={step} />
      </div>
      {(step.onQuestion ?? step.question) && (
        <p className="muted">
          <Visible text={step.question ?? `${t("policy.questions")}: ${step.onQuestion}`} />
        </p>
      )}
      {step.reason && (
        <p className="wrong">
          <Visible text={step.reason} />
        </p>
      )}
      {asks.map((ask) => (
        <SessionCard key={ask.id} ask={ask} active={ask.id === active} place="inbox" />
      ))}
      {step.output && <Output text={step.output} />}
    </li>
  );
}

/** The duration of a step up to its end, or up to now. */
function StepDuration({ step }: { step: RunStep }) {
  const words = useCardWords();
  const now = useNow(1000);
  if (!step.startedAt) return null;
  const end = step.endedAt ? Date.parse(step.endedAt) : now;
  return <span className="muted num took">{duration(words, Math.max(0, end - Date.parse(step.startedAt)))}</span>;
}

/** The last message of a step: one line, expandable. */
function Output({ text }: { text: string }) {
  const [first = ""] = text.trim().split("\n");
  return (
    <details className="output">
      <summary className="cut">
        <Visible text={first} />
      </summary>
      <Markdown text={text} />
    </details>
  );
}
