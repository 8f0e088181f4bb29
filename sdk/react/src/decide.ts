import type { Sayso, SaysoError } from "@sayso/sdk";
import { type Decide, DecideError } from "./model/sender";

/** The way of a card's decision to the server, by its client. */
export function decideWith({ asks }: Sayso): Decide {
  return async (askId, decision, { last }) => {
    const options = { keepalive: last };
    try {
      switch (decision.kind) {
        case "answer": {
          const { answers, note } = decision;
          await asks.answer(askId, answers, note === undefined ? {} : { note }, options);
          break;
        }
        case "approve": {
          const { kind: _, ...how } = decision;
          await asks.approve(askId, how, options);
          break;
        }
        case "reject":
        case "deny": {
          const { kind, ...words } = decision;
          await asks[kind](askId, words, options);
          break;
        }
      }
    } catch (thrown) {
      throw decideError(thrown);
    }
  };
}

/** What the client threw, as the card shows it. */
export function decideError(thrown: unknown): DecideError {
  const { message, status, problem } = thrown as Partial<SaysoError>;
  if (!problem) return new DecideError(String(message ?? thrown));
  const { outcome, own, problems } = problem;
  return new DecideError(message ?? "", {
    ...(status === 0 ? { offline: true } : {}),
    ...(outcome ? { outcome } : {}),
    ...(own === undefined || own === null ? {} : { own }),
    ...(problems ? { problems } : {}),
  });
}
