import type { Ask } from "@sayso/react";
import type { Run, RunStep } from "../api/client";

export type RunStatus = Run["status"];
export type StepStatus = RunStatus | "pending";

export const isRunOver = (status: StepStatus): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** The waiting asks of a run, oldest first. */
export function asksOf(run: string, pending: Ask[]): Ask[] {
  return pending.filter((ask) => ask.runId === run).sort((a, b) => a.openedAt.localeCompare(b.openedAt));
}

/** The status of a run. It is `waiting` while an ask of the run is pending, which the feed reports before the list. */
export function runStatus(run: Run, pending: Ask[]): RunStatus {
  if (isRunOver(run.status)) return run.status;
  return asksOf(run.id, pending).length > 0 ? "waiting" : "running";
}

/** The status of a step. A running step with a pending ask is `waiting`. */
export function stepStatus(step: RunStep, asks: Ask[]): StepStatus {
  const status = step.status as StepStatus;
  return status === "running" && asks.some((ask) => ask.status === "pending") ? "waiting" : status;
}

/** The current step of a run: the first active step, or the step where it stopped. Undefined before the start and at the end. */
export function currentStep(run: Run): { at: number; id: string } | undefined {
  const under = run.steps.findIndex(({ status }) => status === "running" || status === "waiting");
  const at = under === -1 ? run.steps.findIndex(({ status }) => status === "failed" || status === "cancelled") : under;
  const step = run.steps[at];
  return step && { at: at + 1, id: step.id };
}
