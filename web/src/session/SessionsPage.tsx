import { AgentTile, age, baseName, Kbd, useNow, Visible } from "@sayso/react";
import { useQuery } from "../api/useQuery";
import { hrefOf } from "../app/route";
import { useShell } from "../app/shellContext";
import { useCardWords, useWords } from "../i18n";
import { useClient, useLive, useMayAnswer, usePending, useSessions } from "../live/hooks";
import { STATUS_WORDS } from "./SessionPage";
import { statusOf } from "./status";

/** All sessions, newest first. */
export function SessionsPage() {
  const t = useWords();
  const words = useCardWords();
  const client = useClient();
  const { store } = useLive();
  const { setDialog } = useShell();
  const mayAnswer = useMayAnswer();
  const now = useNow(15_000);
  const pending = usePending();
  const sessions = useSessions();
  useQuery({
    queryKey: ["sessions"],
    queryFn: async () => {
      const page = await client.sessions({ limit: 200 });
      store.takeSessions(page.data);
      return page.data.length;
    },
  });
  return (
    <section className="page" aria-label={t("nav.sessions")}>
      <div className="bar">
        <h1>{t("nav.sessions")}</h1>
        <span className="muted num">{sessions.length}</span>
        <span className="grow" />
        {mayAnswer && (
          <button type="button" className="btn sm" onClick={() => setDialog("new")}>
            {t("button.newSession")} <Kbd>c</Kbd>
          </button>
        )}
      </div>
      <ul className="sessions">
        {sessions.map((session) => {
          const status = statusOf(session, pending);
          return (
            <li key={session.id}>
              <a href={hrefOf({ page: "session", id: session.id, tab: "transcript" })}>
                <AgentTile agent={session.agent} />
                <span className="cut grow">
                  <Visible text={session.title || session.agent} />
                </span>
                <span className="muted cut">
                  <Visible text={[baseName(session.cwd), session.branch].filter(Boolean).join(" · ")} />
                </span>
                <span className="chip" data-status={status}>
                  <span className="dot" data-status={status} />
                  {t(STATUS_WORDS[status])}
                </span>
                <time className="muted num" dateTime={session.createdAt}>
                  {age(words, now - Date.parse(session.createdAt))}
                </time>
              </a>
            </li>
          );
        })}
      </ul>
      {sessions.length === 0 && <p className="none">{t("empty.newTitle")}</p>}
    </section>
  );
}
