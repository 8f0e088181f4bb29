import { lazy, type MouseEvent, Suspense, useCallback, useMemo, useState } from "react";
import { HistoryPage } from "../history/HistoryPage";
import { useWords } from "../i18n";
import { InboxPage } from "../inbox/InboxPage";
import { usePending } from "../live/hooks";
import { Palette } from "../palette/Palette";
import { RunsPage } from "../runs/RunsPage";
import { NewSession } from "../session/NewSession";
import { SessionPage } from "../session/SessionPage";
import { SessionsPage } from "../session/SessionsPage";
import { useWidth } from "../ui/useWidth";
import { Announcer } from "./Announcer";
import { Banner } from "./Banner";
import { KeysDialog } from "./KeysDialog";
import { Nav } from "./Nav";
import { Notice } from "./Notice";
import { type Route, useRoute } from "./route";
import { ShellContext } from "./shellContext";
import { UndoToasts } from "./UndoToasts";
import { useDecisions } from "./useDecisions";
import { useListRefresh } from "./useListRefresh";
import { useNotificationClicks } from "./useNotificationClicks";
import { usePageKeys } from "./usePageKeys";

const SettingsPage = lazy(() =>
  import("../settings/SettingsPage").then((loaded) => ({ default: loaded.SettingsPage })),
);

export type Open = "none" | "new" | "keys" | "rule" | "palette";

/** The frame of all pages: navigation, banner, dialogs, announcements. */
export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const t = useWords();
  const route = useRoute();
  const waiting = usePending().length;
  const onePane = useWidth() < 900;
  const [open, setOpen] = useState<Open>("none");
  const close = useCallback(() => setOpen("none"), []);
  usePageKeys(open, setOpen);
  useListRefresh();
  useDecisions();
  useNotificationClicks();
  const value = useMemo(() => ({ dialog: open, setDialog: setOpen }), [open]);
  return (
    <ShellContext value={value}>
      <a className="skip" href="#content" onClick={skip}>
        {t("skip")}
      </a>
      <div className="app" data-page={route.page} data-detail={hasDetail(route)}>
        <Nav route={route} waiting={waiting} />
        <main className="main" id="content" tabIndex={-1}>
          <Banner />
          {onePane && hasDetail(route) && (
            <h1 className="hidden">{t(route.page === "runs" ? "nav.runs" : "nav.inbox")}</h1>
          )}
          {route.page === "inbox" && <InboxPage askId={route.ask} />}
          {route.page === "sessions" && <SessionsPage />}
          {route.page === "session" && <SessionPage key={route.id} id={route.id} tab={route.tab} />}
          {route.page === "runs" && <RunsPage runId={route.run} />}
          {route.page === "history" && <HistoryPage />}
          {route.page === "settings" && (
            <Suspense>
              <SettingsPage section={route.section} rule={route.rule} onSignOut={onSignOut} />
            </Suspense>
          )}
        </main>
      </div>
      <NewSession open={open === "new"} onClose={close} />
      <KeysDialog open={open === "keys"} onClose={close} />
      <Palette open={open === "palette"} onClose={close} />
      <UndoToasts />
      <Notice />
      <Announcer />
    </ShellContext>
  );
}

/** Whether the detail pane of a list is open. On a small screen it covers the list. */
const hasDetail = (route: Route): boolean =>
  (route.page === "inbox" && route.ask !== undefined) || (route.page === "runs" && route.run !== undefined);

/** Skips to the open ask, if there is one. The address does not change. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  (document.getElementById("open-ask") ?? document.getElementById("content"))?.focus();
}
