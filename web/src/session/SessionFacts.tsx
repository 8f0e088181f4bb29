import { age, KindIcon, plain, titleOf, useNow, Visible, whenWords } from "@sayso/react";
import { useQuery } from "../api/useQuery";
import { hrefOf } from "../app/route";
import { useCardWords, useWords } from "../i18n";
import { useClient, useLive, usePending } from "../live/hooks";
import { useLiveSession } from "../live/useLiveSession";

/** The facts about a session. */
export function SessionFacts({ id }: { id: string }) {
  const t = useWords();
  const words = useCardWords();
  const client = useClient();
  const { store } = useLive();
  const now = useNow(15_000);
  const session = useLiveSession(id);
  const waiting = usePending().filter((ask) => ask.sessionId === id);
  useQuery({
    queryKey: ["session", id],
    enabled: !session,
    queryFn: async () => {
      const fresh = await client.session(id);
      store.takeSessions([fresh]);
      return fresh;
    },
  });
  const decided = useQuery({
    queryKey: ["decided", id, waiting.length],
    queryFn: () => client.asks({ status: "resolved", session: id, limit: 500 }),
  });
  if (!session) return <aside className="facts" aria-label={t("nav.session")} />;
  const asks = decided.data?.data ?? [];
  const by = (kind: string) => asks.filter((ask) => ask.outcome?.by.kind === kind).length;
  const facts: [string, string][] = [
    [t("facts.agent"), session.agent],
    [t("facts.model"), session.model ?? t("facts.defaultModel")],
    [t("facts.project"), session.cwd],
    [t("facts.branch"), session.branch ?? "–"],
    [t("facts.mode"), session.permissionMode],
    [t("facts.started"), whenWords(words, session.createdAt, now)],
  ];
  return (
    <aside className="facts" aria-label={t("nav.session")}>
      {waiting.length > 0 && (
        <section>
          <h2>{t("facts.waiting")}</h2>
          {waiting.map((ask) => (
            <a key={ask.id} className="wait" href={hrefOf({ page: "inbox", ask: ask.id })}>
              <KindIcon ask={ask} size={14} />
              <span className="cut grow">
                <Visible text={ask.questions?.[0]?.header || titleOf(ask).text} />
              </span>
              <span className="muted">{age(words, now - Date.parse(ask.openedAt))}</span>
            </a>
          ))}
        </section>
      )}
      <section>
        <h2>{t("nav.session")}</h2>
        <dl className="kv">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{plain(value)}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <h2>{t("facts.decided")}</h2>
        <dl className="kv">
          <div>
            <dt>{t("facts.byYou")}</dt>
            <dd>{t("facts.asks", { count: by("person") + by("message") })}</dd>
          </div>
          <div>
            <dt>{t("facts.byRule")}</dt>
            <dd>{t("facts.asks", { count: by("policy") })}</dd>
          </div>
          <div>
            <dt>{t("facts.byTimeout")}</dt>
            <dd>{t("facts.asks", { count: by("timeout") })}</dd>
          </div>
        </dl>
      </section>
    </aside>
  );
}
