import { type Ask, baseName, plain, titleOf } from "@sayso/react";
import type { FeedEvent } from "@sayso/sdk";
import { useEffect, useRef, useState } from "react";
import { useWords, type Words } from "../i18n";
import { askOf } from "../live/events";
import { useConnection, useLive, usePending } from "../live/hooks";
import { closeNotification, showPageNotification } from "../settings/push";
import { readPrefs } from "./prefs";
import { useDecisionAnnouncement } from "./useDecisionAnnouncement";

const PAUSE_MS = 5000;

/** Announces new asks to screen readers, at most once in five seconds, and shows notifications while the page is hidden. */
export function Announcer() {
  const t = useWords();
  const live = useLive();
  const waiting = usePending().length;
  const connection = useConnection();
  const [polite, setPolite] = useState("");
  const said = useDecisionAnnouncement();
  const queue = useRef<Ask[]>([]);
  const words = useRef({ t, waiting });
  words.current = { t, waiting };

  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Sayso` : "Sayso";
  }, [waiting]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const say = () => {
      timer = undefined;
      const asks = queue.current.splice(0);
      if (asks.length === 0) return;
      setPolite(announcement(words.current.t, asks, words.current.waiting));
      timer = setTimeout(say, PAUSE_MS);
    };
    const onEvent = (event: FeedEvent) => {
      const ask = askOf(event);
      if (!ask) return;
      if (event.type.endsWith(".resolved")) return void closeNotification(ask.id).catch(() => {});
      queue.current.push(ask);
      timer ??= setTimeout(say, 50);
      void notify(words.current.t, ask).catch(() => {});
    };
    const stop = live.onEvent(onEvent);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live]);

  return (
    <>
      <div className="hidden" aria-live="polite" role="status">
        {polite}
      </div>
      <div className="hidden" aria-live="polite" role="status" data-said>
        {said}
      </div>
      <div className="hidden" aria-live="assertive">
        {connection.state === "waiting" ? t("live.disconnected") : ""}
      </div>
    </>
  );
}

function announcement(t: Words, asks: Ask[], waiting: number): string {
  const [ask, second] = asks;
  if (!ask) return "";
  if (second) return t("say.several", { n: asks.length, waiting });
  const about = {
    agent: plain(ask.agent),
    project: plain(baseName(ask.project)),
    title: plain(titleOf(ask).text).slice(0, 200),
    waiting,
  };
  return t(ask.kind === "approval" ? "say.approval" : "say.question", about);
}

/** Shows a system notification. It contains the title of the ask only if the person allows that. */
async function notify(t: Words, ask: Ask): Promise<void> {
  const { notify: wanted, notifyContent } = readPrefs();
  if (!wanted || !document.hidden || typeof Notification !== "function" || Notification.permission !== "granted")
    return;
  const body = notifyContent ? plain(titleOf(ask).text).slice(0, 200) : undefined;
  await showPageNotification(t("notify.title"), { tag: ask.id, ...(body ? { body } : {}) });
}
