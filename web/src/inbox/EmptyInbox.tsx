import { Kbd } from "@sayso/react";
import { CircleCheck, Inbox } from "lucide-react";
import { useMutation } from "../api/useQuery";
import { useShell } from "../app/shellContext";
import { useWords } from "../i18n";
import { useClient, useMayAnswer, useSessions } from "../live/hooks";

/** The empty inbox. New users can start a mock session. */
export function EmptyInbox() {
  const t = useWords();
  const client = useClient();
  const mayAnswer = useMayAnswer();
  const { setDialog } = useShell();
  const sessions = useSessions();
  const working = sessions.filter((session) => session.status === "running").length;
  const mock = useMutation({
    mutationFn: () => client.start({ agent: "mock", prompt: "ask me a question", labels: {} }),
  });
  const isNew = sessions.length === 0;
  return (
    <section className="list whole" aria-label={t("inbox.waiting")}>
      <div className="bar">
        <h1>{t("nav.inbox")}</h1>
      </div>
      <div className="empty">
        {isNew ? (
          <Inbox size={20} strokeWidth={1.75} aria-hidden="true" />
        ) : (
          <CircleCheck className="ok" size={20} strokeWidth={1.75} aria-hidden="true" />
        )}
        <h2>{t(isNew ? "empty.newTitle" : "empty.title")}</h2>
        <p>{isNew ? t("empty.new") : working === 0 ? t("empty.idle") : t("empty.working", { count: working })}</p>
        {isNew && <pre className="cmdline">sayso start claude "fix the login test"</pre>}
        {mayAnswer && (
          <div className="hstack">
            <button
              type="button"
              className={isNew ? "btn primary" : "btn"}
              disabled={mock.isPending}
              onClick={() => mock.mutate()}
            >
              {t("button.mock")}
            </button>
            <button type="button" className="btn" onClick={() => setDialog("new")}>
              {t("button.newSession")} <Kbd>c</Kbd>
            </button>
          </div>
        )}
        {mock.error && <p className="wrong">{mock.error.message}</p>}
      </div>
    </section>
  );
}
