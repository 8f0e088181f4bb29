import type { Ask, Question } from "./api/index.js";
import { InvalidAnswersError } from "./errors.js";
import type { Sayso } from "./sayso.js";
import type { Services } from "./transport.js";

/** Implements the services of {@link DirectTransport} with a Sayso client, for hosts that keep the token from their pages. */
export function servicesOf(sayso: Sayso): Services {
  return {
    async submitAnswers(sessionId, toolCallId, answers) {
      const ask = await askOf(sayso, sessionId, toolCallId, "question");
      if (!ask) return false;
      const given = ask.status === "pending" ? (ask.questions ?? []).map((one, at) => entries(one, at, answers)) : [];
      await sayso.asks.answer(ask.id, given);
      return true;
    },
    async approveTool(sessionId, toolCallId) {
      const ask = await askOf(sayso, sessionId, toolCallId, "approval");
      if (ask) await sayso.asks.approve(ask.id);
      return ask !== undefined;
    },
    async denyTool(sessionId, toolCallId) {
      const ask = await askOf(sayso, sessionId, toolCallId, "approval");
      if (ask) await sayso.asks.deny(ask.id);
      return ask !== undefined;
    },
    stream: (sessionId, options) => sayso.transport.stream(sessionId, options),
  };
}

/** The ask of a tool call: the pending one, or the latest one, so that late callers learn the outcome. */
async function askOf(sayso: Sayso, session: string, call: string, kind: Ask["kind"]): Promise<Ask | undefined> {
  await sayso.sessions.get(session);
  for (const status of ["pending", "resolved"] as const) {
    let cursor: string | undefined;
    do {
      const page = await sayso.asks.list({ status, session, kind, limit: 200, ...(cursor ? { cursor } : {}) });
      const found = page.data.find((ask) => ask.toolCallId === call);
      if (found) return found;
      cursor = page.nextCursor ?? undefined;
    } while (cursor);
  }
  return undefined;
}

/** Reads a value as a list only if the question accepts several options. Otherwise the value is text. */
function entries(question: Question, index: number, answers: Record<string, string>): string[] {
  const text = answers[index];
  if (text === undefined) {
    if (question.required === false) return [];
    const said = `question ${index} has no answer: the key "${index}" is missing`;
    throw new InvalidAnswersError("invalid_answers", said, 422);
  }
  if (!question.multiple) return [text];
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((entry) => typeof entry === "string")) return list;
  } catch {
    // A free-text answer.
  }
  return [text];
}
