import type { Ask } from "@sayso/react";
import type { Run, RunStep } from "../api/client";

export type RunStatus = Run["status"];
export type StepStatus = RunStatus | "pending";

export const isRunOver = (status: StepStatus): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** The asks of a run that wait, first come first. */
export function asksOf(run: string, pending: Ask[]): Ask[] {
  return pending.filter((ask) => ask.runId === run).sort((a, b) => a.openedAt.localeCompare(b.openedAt));
}

/** A run waits exactly while one of its asks does: the feed knows that before the list is read again. */
export function runStatus(run: Run, pending: Ask[]): RunStatus {
  if (isRunOver(run.status)) return run.status;
  return asksOf(run.id, pending).length > 0 ? "waiting" : "running";
}

/** A step that runs and asks is waiting. */
export function stepStatus(step: RunStep, asks: Ask[]): StepStatus {
  const status = step.status as StepStatus;
  return status === "running" && asks.some((ask) => ask.status === "pending") ? "waiting" : status;
}

/** The step that a run is at: the first that is under way, or where it stopped. Undefined: it is through, or not begun. */
export function stepNow(run: Run): { at: number; id: string } | undefined {
  const under = run.steps.findIndex(({ status }) => status === "running" || status === "waiting");
  const at = under === -1 ? run.steps.findIndex(({ status }) => status === "failed" || status === "cancelled") : under;
  const step = run.steps[at];
  return step && { at: at + 1, id: step.id };
}
