import { AgentTile, Kbd, plain, Visible } from "@sayso/react";
import {
  CircleHelp,
  History,
  Inbox,
  type LucideIcon,
  MessageSquare,
  Moon,
  Plus,
  Search,
  SlidersHorizontal,
  Workflow,
} from "lucide-react";
import { queries, useMutation, useQuery } from "../api/useQuery";
import type { PageKey } from "../i18n";
import { useWords } from "../i18n";
import { useClient, useConnection, useIsAdmin, useMayAnswer, usePending, useSessions } from "../live/hooks";
import { isRunOver } from "../runs/status";
import { useRuns } from "../runs/useRuns";
import { isOver, statusOf } from "../session/status";
import { isLoopback } from "../ui/loopback";
import { Brand } from "./Brand";
import { hrefOf, type Route } from "./route";
import { useShell } from "./shellContext";

const PAGES: { route: Route; icon: LucideIcon; words: PageKey }[] = [
  { route: { page: "inbox" }, icon: Inbox, words: "nav.inbox" },
  { route: { page: "sessions" }, icon: MessageSquare, words: "nav.sessions" },
  { route: { page: "runs" }, icon: Workflow, words: "nav.runs" },
  { route: { page: "history" }, icon: History, words: "nav.history" },
  { route: { page: "settings", section: "policy" }, icon: SlidersHorizontal, words: "nav.settings" },
];
const SHOWN = 12;

/** The main navigation, with the open sessions. */
export function Nav({ route, waiting }: { route: Route; waiting: number }) {
  const t = useWords();
  const { setDialog } = useShell();
  const isAdmin = useIsAdmin();
  const mayAnswer = useMayAnswer();
  const pending = usePending();
  const sessions = useSessions().filter((session) => !isOver(session.status));
  const counts: Partial<Record<Route["page"], number>> = {
    sessions: sessions.length,
    runs: useRuns().filter((run) => !isRunOver(run.status)).length,
  };
  const here = route.page === "session" ? "sessions" : route.page;
  return (
    <nav className="side" aria-label={t("nav.main")}>
      <Brand />
      <div className="pages">
        {PAGES.map(({ route: to, icon: Icon, words }) => (
          <a
            key={words}
            className="nav"
            href={hrefOf(to)}
            data-to={to.page}
            aria-current={here === to.page ? "page" : undefined}
            title={t(words)}
          >
            <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
            <span className="grow">{t(words)}</span>
            {to.page === "inbox" && waiting > 0 && <span className="badge">{waiting}</span>}
            {(counts[to.page] ?? 0) > 0 && <span className="num count">{counts[to.page]}</span>}
          </a>
        ))}
      </div>
      <div className="shead">
        <span className="grow">{t("nav.sessions")}</span>
        {mayAnswer && (
          <button
            type="button"
            aria-label={t("button.newSession")}
            title={t("button.newSession")}
            onClick={() => setDialog("new")}
          >
            <Plus size={16} strokeWidth={1.75} aria-hidden="true" />
          </button>
        )}
      </div>
      <div className="slist">
        {sessions.slice(0, SHOWN).map((session) => (
          <a
            key={session.id}
            className="srow"
            href={hrefOf({ page: "session", id: session.id, tab: "transcript" })}
            aria-current={route.page === "session" && route.id === session.id ? "page" : undefined}
            title={plain(session.title)}
          >
            <span className="dot" data-status={statusOf(session, pending)} />
            <span className="cut grow">
              <Visible text={session.title || session.agent} />
            </span>
            <AgentTile agent={session.agent} />
          </a>
        ))}
      </div>
      <div className="sfoot">
        {isAdmin && <Away />}
        <button
          type="button"
          className="nav"
          onClick={() => setDialog("palette")}
          title={t("palette.title")}
          aria-label={t("palette.title")}
          aria-keyshortcuts="Control+K Meta+K"
        >
          <Search size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className="grow">{t("palette.title")}</span>
          <Kbd>Ctrl K</Kbd>
        </button>
        <button type="button" className="nav" onClick={() => setDialog("keys")} title={t("nav.keys")}>
          <CircleHelp size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className="grow">{t("nav.keys")}</span>
          <Kbd>?</Kbd>
        </button>
        <ConnectionRow />
      </div>
    </nav>
  );
}

function Away() {
  const t = useWords();
  const client = useClient();
  const { data: policy } = useQuery({ queryKey: ["policy"], queryFn: client.policy });
  const change = useMutation({
    mutationFn: (on: boolean) => client.profile(on ? { name: "away", for: "2h" } : { name: null }),
    onSettled: () => queries.invalidate(["policy"]),
  });
  const away = policy?.profile?.name === "away";
  if (!policy || (!away && !/^\[profiles\.away\]/m.test(policy.text))) return null;
  return (
    <button
      type="button"
      className="nav"
      aria-pressed={away}
      onClick={() => change.mutate(!away)}
      title={t("nav.away")}
    >
      <Moon size={16} strokeWidth={1.75} aria-hidden="true" />
      <span className="grow">{t("nav.away")}</span>
      <span className="muted">{t(away ? "nav.on" : "nav.off")}</span>
    </button>
  );
}

function ConnectionRow() {
  const t = useWords();
  const { state } = useConnection();
  const words = state === "open" ? "live.connected" : state === "connecting" ? "live.connecting" : "live.disconnected";
  return (
    <div className="srow conn">
      <span className="dot" data-status={state === "open" ? "ok" : "waiting"} />
      <span className="grow">{t(words)}</span>
      <span className="muted cut">{isLoopback(location.hostname) ? t("live.here") : location.hostname}</span>
    </div>
  );
}
