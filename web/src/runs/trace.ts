import { type Ask, clock, titleOf } from "@sayso/react";
import type { Run } from "../api/client";
import { deciderOf } from "../history/decider";
import { answerText } from "../history/model";
import type { Words } from "../i18n";
import { isRunOver } from "./status";

export interface TraceLine {
  at: string;
  /** How the line is coloured: like the state of an ask. */
  state: "plain" | "pending" | "answered" | "rejected";
  text: string;
}

/** The trace of a run, oldest first: its steps, and the asks of their agents with their outcomes. */
export function traceOf(t: Words, run: Run, asks: Ask[]): TraceLine[] {
  const lines: TraceLine[] = [{ at: run.createdAt, state: "plain", text: t("trace.run", { workflow: run.workflow }) }];
  for (const { id, agent, status, reason, startedAt, endedAt } of run.steps) {
    const add = (at: string, state: TraceLine["state"], text: string) =>
      lines.push({ at, state, text: `${id}: ${text}` });
    if (startedAt) add(startedAt, "plain", agent ? t("trace.started", { agent }) : t("trace.pauses"));
    for (const ask of asks.filter(({ stepId }) => stepId === id)) {
      add(ask.openedAt, "pending", t("trace.asks", { title: ask.questions?.[0]?.header || titleOf(ask).text }));
      if (ask.outcome) add(ask.outcome.at, ...outcomeOf(t, ask));
    }
    if (endedAt) add(endedAt, status === "failed" ? "rejected" : "plain", ended(t, status, reason));
  }
  if (isRunOver(run.status)) {
    const text = `${run.workflow}: ${ended(t, run.status, undefined)}`;
    lines.push({ at: run.updatedAt, state: run.status === "failed" ? "rejected" : "plain", text });
  }
  // The sort is stable: lines with the same time keep the order above.
  return lines.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function outcomeOf(t: Words, ask: Ask): [TraceLine["state"], string] {
  const by = deciderOf(t, ask.outcome?.by);
  switch (ask.status) {
    case "answered":
      return ["answered", t("trace.answered", { answer: answerText(ask), by })];
    case "approved":
      return ["answered", t("trace.approved", { by })];
    case "rejected":
      return ["rejected", t("trace.rejected", { by })];
    case "denied":
      return ["rejected", t("trace.denied", { by })];
    default:
      return ["plain", t("trace.withdrawn")];
  }
}

function ended(t: Words, status: string, reason: string | null | undefined): string {
  const words = t(`runStatus.${status as Run["status"]}`);
  return reason ? `${words}: ${reason}` : words;
}

/** The trace as text, for the clipboard. */
export const traceText = (lines: TraceLine[]): string =>
  lines.map(({ at, text }) => `${clock(at, { seconds: true })} ${text}`).join("\n");
