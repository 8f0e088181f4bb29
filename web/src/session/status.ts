import type { Ask } from "@sayso/react";
import type { Session } from "../api/client";

export type Status = Session["status"];

export const isOver = (status: Status): boolean => status === "ended" || status === "failed";

/** The status of a session. It is `waiting` while one of its asks is pending. */
export function statusOf(session: Session, pending: Ask[]): Status {
  if (isOver(session.status)) return session.status;
  return pending.some((ask) => ask.sessionId === session.id) ? "waiting" : session.status;
}
