import { AgentTile, Visible } from "@sayso/react";
import { ChevronLeft, Info, RotateCcw, Square } from "lucide-react";
import { useState } from "react";
import { useMutation, useQuery } from "../api/useQuery";
import { hrefOf } from "../app/route";
import { type PageKey, useWords } from "../i18n";
import { useClient, useLive, useMayAnswer, usePending } from "../live/hooks";
import { useLiveSession } from "../live/useLiveSession";
import { Dialog } from "../ui/Dialog";
import { useWidth } from "../ui/useWidth";
import { EventsTab } from "./EventsTab";
import { SessionFacts } from "./SessionFacts";
import { SessionMenu } from "./SessionMenu";
import { isOver, type Status, statusOf } from "./status";
import { TranscriptTab } from "./TranscriptTab";

export const STATUS_WORDS: Record<Status, PageKey> = {
  running: "status.running",
  waiting: "status.waiting",
  idle: "status.idle",
  stalled: "status.stalled",
  ended: "status.ended",
  failed: "status.failed",
};

/** One conversation with one agent. */
export function SessionPage({ id, tab }: { id: string; tab: "transcript" | "events" }) {
  const t = useWords();
  const client = useClient();
  const { store } = useLive();
  const wide = useWidth() >= 1200;
  const [sheet, setSheet] = useState(false);
  const pending = usePending();
  const mayAnswer = useMayAnswer();
  const { error } = useQuery({
    queryKey: ["session", id],
    queryFn: async () => {
      const session = await client.session(id);
      store.takeSessions([session]);
      return session;
    },
  });
  const session = useLiveSession(id);
  const act = useMutation({
    mutationFn: (what: "interrupt" | "resume") => client[what](id),
    onSuccess: (fresh) => store.takeSessions([fresh]),
  });
  if (error && !session) return <p className="none">{t("session.notFound")}</p>;
  if (!session) return null;
  const status = statusOf(session, pending);
  return (
    <div className="sess">
      <div className="chat">
        <div className="bar">
          <a className="back" href={hrefOf({ page: "sessions" })} aria-label={t("nav.sessions")}>
            <ChevronLeft size={18} aria-hidden="true" />
          </a>
          <AgentTile agent={session.agent} />
          <h1 className="cut">
            <Visible text={session.title || session.agent} />
          </h1>
          <span className="chip" data-status={status}>
            <span className="dot" data-status={status} />
            {t(STATUS_WORDS[status])}
          </span>
          <nav className="tabs" aria-label={t("session.views")}>
            <a
              href={hrefOf({ page: "session", id, tab: "transcript" })}
              aria-current={tab === "transcript" ? "page" : undefined}
            >
              {t("session.transcript")}
            </a>
            <a
              href={hrefOf({ page: "session", id, tab: "events" })}
              aria-current={tab === "events" ? "page" : undefined}
            >
              {t("session.events")}
            </a>
          </nav>
          <span className="grow" />
          {mayAnswer && !session.external && (status === "running" || status === "waiting" || status === "stalled") && (
            <button
              type="button"
              className="btn sm"
              aria-label={t("button.interrupt")}
              onClick={() => act.mutate("interrupt")}
            >
              <Square size={12} aria-hidden="true" />
              <span className="words">{t("button.interrupt")}</span>
            </button>
          )}
          {mayAnswer && !session.external && (!isOver(status) || session.resumable) && (
            <SessionMenu session={session} />
          )}
          {!wide && (
            <button type="button" className="btn ghost sm" aria-label={t("facts.show")} onClick={() => setSheet(true)}>
              <Info size={16} aria-hidden="true" />
            </button>
          )}
          {mayAnswer && isOver(status) && session.resumable && (
            <button type="button" className="btn sm" onClick={() => act.mutate("resume")}>
              <RotateCcw size={14} aria-hidden="true" />
              {t("button.resume")}
            </button>
          )}
        </div>
        {act.error && <p className="wrong pad">{act.error.message}</p>}
        {tab === "transcript" ? <TranscriptTab session={session} /> : <EventsTab id={id} />}
      </div>
      {wide && tab === "transcript" && <SessionFacts id={id} />}
      <Dialog open={sheet && !wide} onClose={() => setSheet(false)} title={t("facts.show")} sheet>
        <SessionFacts id={id} />
      </Dialog>
    </div>
  );
}
