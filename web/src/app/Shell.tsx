import { useQueryClient } from "@tanstack/react-query";
import { lazy, type MouseEvent, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { HistoryPage } from "../history/HistoryPage";
import { useWords } from "../i18n";
import { InboxPage } from "../inbox/InboxPage";
import { useLive, usePending } from "../live/hooks";
import { NewSession } from "../session/NewSession";
import { SessionPage } from "../session/SessionPage";
import { SessionsPage } from "../session/SessionsPage";
import { Announcer } from "./Announcer";
import { Banner } from "./Banner";
import { KeysDialog } from "./KeysDialog";
import { Nav } from "./Nav";
import { useRoute } from "./route";
import { ShellContext } from "./shellContext";
import { UndoToast } from "./UndoToast";
import { usePageKeys } from "./usePageKeys";

const SettingsPage = lazy(() =>
  import("../settings/SettingsPage").then((loaded) => ({ default: loaded.SettingsPage })),
);

export type Open = "none" | "new" | "keys" | "rule";

/** What stands around every page: navigation, banner, dialogs, what is read aloud. */
export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const t = useWords();
  const route = useRoute();
  const waiting = usePending().length;
  const [open, setOpen] = useState<Open>("none");
  const close = useCallback(() => setOpen("none"), []);
  usePageKeys(open, setOpen);
  useFreshPolicy();
  const value = useMemo(() => ({ dialog: open, setDialog: setOpen }), [open]);
  return (
    <ShellContext value={value}>
      <a className="skip" href="#content" onClick={skip}>
        {t("skip")}
      </a>
      <div className="app" data-page={route.page} data-detail={route.page === "inbox" && route.ask !== undefined}>
        <Nav route={route} waiting={waiting} />
        <main className="main" id="content" tabIndex={-1}>
          <Banner />
          {route.page === "inbox" && <InboxPage askId={route.ask} />}
          {route.page === "sessions" && <SessionsPage />}
          {route.page === "session" && <SessionPage key={route.id} id={route.id} tab={route.tab} />}
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
      <UndoToast />
      <Announcer />
    </ShellContext>
  );
}

/** Reads the policy again when somebody changed it. */
function useFreshPolicy(): void {
  const live = useLive();
  const queries = useQueryClient();
  useEffect(
    () =>
      live.onEvent((event) => {
        if (event.type === "policy.changed") void queries.invalidateQueries({ queryKey: ["policy"] });
      }),
    [live, queries],
  );
}

/** To the open ask where there is one. The address stays: it says where the person is. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  (document.getElementById("open-ask") ?? document.getElementById("content"))?.focus();
}
