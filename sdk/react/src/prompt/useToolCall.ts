import type { QuestionItem, Transport } from "@sayso/sdk";
import { useMemo, useRef, useState } from "react";
import type { Ask, Decision, Outcome } from "../api";
import { decideError } from "../decide";
import { type Host, useHost } from "../host";
import { Drafts } from "../model/draft";
import { type Decide, DecideError, Sender } from "../model/sender";
import { type AskCardModel, useAskCard } from "../useAskCard";

/** The model of a card about a tool call that is known only from the gateway stream. */
export interface ToolCallCard {
  /** The state and the actions of the card. */
  model: AskCardModel;
  /** The parts of the host that this card replaces. */
  host: Host;
}

interface Where {
  sessionId: string;
  toolCallId: string;
}

/** Headless questions of a tool call: state, draft and actions. Answers are sent with the transport. */
export function useQuestionPrompt(
  where: Where & { questions: readonly QuestionItem[]; oneClick?: boolean },
): ToolCallCard {
  const { sessionId, toolCallId, oneClick = false } = where;
  // Compare by content: a new array with the same questions must not reset the selection.
  const content = JSON.stringify(where.questions);
  const questions = useMemo(() => JSON.parse(content) as QuestionItem[], [content]);
  const ask = useMemo(
    () => ({
      ...bare(sessionId, toolCallId),
      kind: "question" as const,
      questions: questions.map(({ header, question, options, multiSelect }, index) => ({
        key: String(index),
        header,
        text: question,
        input: options.length > 0 || multiSelect ? ("choice" as const) : ("text" as const),
        multiple: multiSelect,
        custom: true,
        required: true,
        options: options.map(({ label, description }) => ({ value: label, label, description: description ?? null })),
      })),
    }),
    [sessionId, toolCallId, questions],
  );
  return useToolCall(ask, oneClick, (transport, decision) => {
    if (decision.kind !== "answer") return undefined;
    const entries = decision.answers.map((given, index) => {
      const several = questions[index]?.multiSelect ?? false;
      return [String(index), several ? JSON.stringify(given) : (given[0] ?? "")];
    });
    return transport.submitAnswers(sessionId, toolCallId, Object.fromEntries(entries));
  });
}

/** A headless approval of a tool call. */
export function useToolApproval(where: Where & { toolName: string; input: string }): ToolCallCard {
  const { sessionId, toolCallId, toolName, input } = where;
  const ask = useMemo(
    () => ({
      ...bare(sessionId, toolCallId),
      kind: "approval" as const,
      approval: { tool: toolName, action: "other" as const, title: "", ...parsedInput(input) },
    }),
    [sessionId, toolCallId, toolName, input],
  );
  return useToolCall(ask, false, (transport, decision) => {
    if (decision.kind === "approve") return transport.approveTool(sessionId, toolCallId);
    if (decision.kind === "deny") return transport.denyTool(sessionId, toolCallId);
    return undefined;
  });
}

type Send = (transport: Transport, decision: Decision) => Promise<{ ok: boolean }> | undefined;

function useToolCall(ask: Ask, oneClick: boolean, send: Send): ToolCallCard {
  const page = useHost();
  const { transport, tokenId = "own" } = page;
  const [decided, setDecided] = useState<{ ask: string; outcome: Outcome }>();
  const latestSend = useRef(send);
  latestSend.current = send;
  const own = useMemo(() => {
    const decide: Decide = async (_, decision) => {
      try {
        await via(transport, decision, latestSend.current);
        setDecided({ ask: ask.id, outcome: outcomeOf(decision, tokenId) });
      } catch (thrown) {
        const error = decideError(thrown);
        const { outcome } = error.details;
        if (outcome) setDecided({ ask: ask.id, outcome });
        throw error;
      }
    };
    return { sender: new Sender(decide), drafts: new Drafts(), holdMs: 0, oneClick, tokenId };
  }, [transport, tokenId, oneClick, ask]);
  const outcome = decided?.ask === ask.id ? decided.outcome : undefined;
  const now = useMemo(() => (outcome ? { ...ask, status: outcome.status, reach: null, outcome } : ask), [ask, outcome]);
  const host = useMemo(() => ({ ...page, ...own }), [page, own]);
  return { model: useAskCard(now, own), host };
}

async function via(transport: Transport | undefined, decision: Decision, send: Send): Promise<void> {
  if (!transport) throw new DecideError("SaysoProvider needs a `client` or a `transport`");
  const sent = send(transport, decision);
  if (!sent) throw new DecideError("the decision does not fit this tool call");
  if (!(await sent).ok) throw new DecideError("the server did not accept the decision");
}

function outcomeOf(decision: Decision, tokenId: string): Outcome {
  const by = { kind: "person", tokenId };
  const at = new Date().toISOString();
  switch (decision.kind) {
    case "answer":
      return { status: "answered", answers: decision.answers, by, at };
    case "approve":
      return { status: "approved", by, at };
    case "deny":
      return { status: "denied", by, at };
    case "reject":
      return { status: "rejected", by, at };
  }
}

const bare = (sessionId: string, toolCallId: string): Omit<Ask, "kind"> => ({
  id: `${sessionId}.${toolCallId}`,
  sessionId,
  toolCallId,
  agent: "",
  title: "",
  status: "pending",
  reach: "live",
  blocking: true,
  openedAt: new Date().toISOString(),
  labels: {},
});

/** The input as fields if it is an object, or as text. */
function parsedInput(input: string): Pick<NonNullable<Ask["approval"]>, "input" | "preview"> {
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { input: value as never };
  } catch {
    // Show invalid JSON unchanged.
  }
  return { input: {}, preview: { type: "text", text: input } };
}
