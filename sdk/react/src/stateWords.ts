import type { Ask, Outcome } from "./api";
import type { Sending } from "./model/sender";
import { sentence, serverText } from "./model/serverText";
import { spanWords, timeOrDate } from "./model/time";
import type { CardState } from "./model/view";
import type { Translate } from "./words";

const isYes = (outcome: Outcome): boolean => outcome.status === "answered" || outcome.status === "approved";

/** Whether the decision was made with the token of this page. */
export const isOwn = (outcome: Outcome, tokenId: string | undefined): boolean =>
  outcome.by.kind === "person" && tokenId !== undefined && outcome.by.tokenId === tokenId;

function placeWords(t: Translate, via: string | null | undefined): string {
  if (via === "terminal" || via === "cli") return t("where.terminal");
  if (via === "page") return t("where.page");
  if (!via || via === "http") return t("where.http");
  return t("where.other", { via });
}

/** The actor who decided first, for use in a sentence. */
export function winnerWords(t: Translate, { status, by }: Outcome): string | undefined {
  if (status === "withdrawn") return undefined;
  if (by.kind === "person") return t("winner.person", { name: by.name ?? "", where: placeWords(t, by.via) });
  if (by.kind === "policy") return t("winner.rule", { rule: by.rule ?? "" });
  return by.kind === "timeout" ? t("winner.timeout") : undefined;
}

/** The state of a decision that is being sent, or of all decisions of its batch. */
export function sendingWords(t: Translate, sending: Sending): string {
  if (sending.phase === "queued") return t("state.queued", { answer: sending.label });
  const batch = sending.phase === "held" ? sending.batch : undefined;
  if (!batch) return t("state.sending", { answer: sending.label });
  const count = batch.askIds.length;
  if (batch.kind === "approve") return t("state.approvingAll", { count });
  return t(batch.kind === "deny" ? "state.denyingAll" : "state.decliningAll", { count });
}

/** The text of the state strip. */
export function stateWords(t: Translate, ask: Ask, state: CardState, tokenId: string | undefined): string {
  if (state === "snoozed") return t("state.snoozed", { time: timeOrDate(ask.snoozedUntil ?? 0) });
  if (state === "parked") return t("state.parked");
  const { outcome } = ask;
  if (!outcome) return t(ask.kind === "approval" ? "state.approval" : "state.question");
  if (state === "undelivered") return t("state.undelivered");
  if (ask.delivery === "withheld") return t("state.withheld");
  if (outcome.status === "withdrawn" || outcome.status === "pending") return t("state.withdrawn");
  const { by } = outcome;
  if (by.kind === "policy") return t(ruleKey(outcome), { rule: by.rule ?? "" });
  if (by.kind === "timeout" && !isYes(outcome)) return t("state.timedOut", { after: spanWords(t, by.after ?? "") });
  if (by.kind === "message") return t("state.byMessage");
  if (by.kind === "person" && !isOwn(outcome, tokenId)) {
    return t(`state.elsewhere.${outcome.status}`, { name: by.name ?? "", where: placeWords(t, by.via) });
  }
  return t(outcome.status === "denied" && outcome.stop ? "state.stopped" : `state.${outcome.status}`);
}

function ruleKey(outcome: Outcome) {
  if (outcome.status === "approved") return "state.byRule.allow";
  if (outcome.status === "answered") return "state.byRule.answer";
  return outcome.status === "denied" ? "state.byRule.deny" : "state.byRule.reject";
}

/** The grey line under a result: the actor, the surface, and the state of the delivery. */
export function secondLine(t: Translate, ask: Ask, tokenId: string | undefined): string {
  const { outcome, delivery } = ask;
  if (!outcome) return "";
  const { by } = outcome;
  if (outcome.status === "withdrawn") return withdrawnWords(t, outcome);
  if (by.kind === "timeout") {
    if (isYes(outcome)) return t("line.timeoutFirst");
    return t(outcome.status === "denied" ? "line.timeoutDeny" : "line.timeoutReject");
  }
  if (by.kind === "policy") return t("line.notAsked");
  // The strip names other people and the surface that they used.
  const who = isOwn(outcome, tokenId) ? [t("line.you")] : [];
  const how: string[] = [];
  if (outcome.choice) {
    const choice = ask.approval?.choices?.find((one) => one.id === outcome.choice);
    how.push(t("line.choice", { choice: choice?.label ?? outcome.choice }));
  }
  if (outcome.input) how.push(t("line.edited"));
  if (outcome.stop) how.push(t("line.interrupted"));
  else if (!isYes(outcome) && outcome.message) how.push(t("line.words"));
  else if (delivery === "queued") how.push(t("line.queued"));
  else if (delivery === "delivered") how.push(t("line.delivered"));
  else if (delivery === "confirmed") how.push(t("line.confirmed"));
  else if (delivery === "withheld") how.push(t("line.withheld"));
  return [...who, ...how].join(" ");
}

function withdrawnWords(t: Translate, { message, messageCode }: Outcome): string {
  return [sentence(serverText(t, message ?? "", messageCode)), t("line.nothingSent")].join(" ").trim();
}
