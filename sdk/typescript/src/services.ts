import type { Ask, Question } from "./api/index.js";
import { InvalidAnswersError } from "./errors.js";
import type { Sayso } from "./sayso.js";
import type { Services } from "./transport.js";

/** The services of {@link DirectTransport} over a Sayso client: for a host that has one and gives its pages none. */
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

/** The ask of a tool call: the pending one, else the latest, so that who comes late learns who won. */
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

/** A value is a list only for a question that takes several; anywhere else it is text, whatever it looks like. */
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
    // Words of one's own.
  }
  return [text];
}
