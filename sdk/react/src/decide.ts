import type { Asks, CallOptions, Sayso, SaysoError } from "@sayso/sdk";
import type { Ask, Decision } from "./api";
import { type Decide, DecideError } from "./model/sender";

/** Sends a card's decisions with a client. `decided` gets each ask as the server returned it. */
export function decideWith({ asks }: Sayso, decided: (ask: Ask) => void = () => {}): Decide {
  return async (askId, decision, { last }) => {
    try {
      decided(await send(asks, askId, decision, { keepalive: last }));
    } catch (thrown) {
      throw decideError(thrown);
    }
  };
}

function send(asks: Asks, askId: string, decision: Decision, options: CallOptions): Promise<Ask> {
  switch (decision.kind) {
    case "answer": {
      const { answers, note } = decision;
      return asks.answer(askId, answers, note === undefined ? {} : { note }, options);
    }
    case "approve": {
      const { kind: _, ...how } = decision;
      return asks.approve(askId, how, options);
    }
    case "reject":
    case "deny": {
      const { kind, ...words } = decision;
      return asks[kind](askId, words, options);
    }
  }
}

/** Converts an error of the client for the card. */
export function decideError(thrown: unknown): DecideError {
  const { code, message, status, problem } = thrown as Partial<SaysoError>;
  if (!problem) return new DecideError(String(message ?? thrown));
  const { outcome, own, problems } = problem;
  return new DecideError(message ?? "", {
    ...(status === 0 ? { offline: true } : {}),
    ...(outcome ? { outcome } : {}),
    ...(own === undefined || own === null ? {} : { own }),
    ...(problems ? { problems } : {}),
    ...(code === "content_changed" ? { changes: problem.changes ?? [] } : {}),
  });
}
