import { type Ask, AskCard, age, baseName, Kbd, titleOf, useHost, useNow, Visible } from "@sayso/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { usePrefs } from "../app/prefs";
import { go, hrefOf } from "../app/route";
import { useShell } from "../app/shellContext";
import { useCardWords, useWords } from "../i18n";
import { useClient, useIsAdmin, useLive, useLiveAsk, useLoaded } from "../live/hooks";
import { useLiveSession } from "../live/useLiveSession";
import { RuleDialog } from "../rule/RuleDialog";
import { ruleActions } from "../rule/ruleActions";
import { SessionFacts } from "../session/SessionFacts";
import { useWidth } from "../ui/useWidth";
import { BatchCard } from "./BatchCard";
import { DetailBar } from "./DetailBar";
import { EmptyInbox } from "./EmptyInbox";
import { InboxList } from "./InboxList";
import { useInbox } from "./useInbox";
import { useInboxKeys } from "./useInboxKeys";

/** Everything that waits, and the one that is open. */
export function InboxPage({ askId }: { askId: string | undefined }) {
  const t = useWords();
  const live = useLive();
  const loaded = useLoaded();
  const width = useWidth();
  const { dialog, setDialog } = useShell();
  const inbox = useInbox(askId);
  const ask = useLiveAsk(askId);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [entered, setEntered] = useState({ id: "", count: 0 });
  const enter = useCallback((id: string) => {
    go({ page: "inbox", ask: id });
    setEntered(({ count }) => ({ id, count: count + 1 }));
  }, []);
  const onePane = width < 900;

  const missing = useMissingAsk(askId, loaded && !ask);
  const first = inbox.shown[0]?.id;
  useEffect(() => {
    if (!askId && first && !onePane) go({ page: "inbox", ask: first }, { replace: true });
  }, [askId, first, onePane]);
  useNextAfterSend(askId, inbox.next, selected.size > 0);
  useInboxKeys({ inbox, ask, selected, setSelected, enabled: dialog === "none" });

  const chosen = [...selected].map((id) => live.store.ask(id)).filter((one) => one?.status === "pending") as Ask[];
  if (loaded && inbox.pending.length === 0 && !ask && !missing) return <EmptyInbox />;
  return (
    <div className="two">
      {!(onePane && askId) && <InboxList inbox={inbox} askId={askId} selected={selected} onEnter={enter} />}
      {!(onePane && !askId) && (
        <section className="detail" id="open-ask" aria-label={t("inbox.open")} tabIndex={-1}>
          {ask && <DetailBar ask={ask} inbox={inbox} />}
          <div className="scroll">
            {missing && (
              <div className="empty" role="status">
                <h2>{t("inbox.missing")}</h2>
                <a className="btn" href={hrefOf({ page: "inbox" })}>
                  {t("nav.inbox")}
                </a>
              </div>
            )}
            {chosen.length > 1 ? (
              <BatchCard asks={chosen} onDone={() => setSelected(new Set())} />
            ) : (
              ask && (
                <>
                  <OpenCard
                    key={ask.id}
                    ask={ask}
                    active={dialog === "none"}
                    entered={entered.id === ask.id ? entered.count : 0}
                  />
                  <Next ask={inbox.next()} />
                </>
              )
            )}
          </div>
        </section>
      )}
      {width >= 1600 && ask?.sessionId && <SessionFacts id={ask.sessionId} />}
      {ask?.approval && <RuleDialog ask={ask} open={dialog === "rule"} onClose={() => setDialog("none")} />}
    </div>
  );
}

function OpenCard({ ask, active, entered }: { ask: Ask; active: boolean; entered: number }) {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const live = useLive();
  const { setDialog } = useShell();
  const session = useLiveSession(ask.sessionId ?? "");
  return (
    <AskCard
      ask={ask}
      active={active}
      entered={entered}
      actions={{
        ...(isAdmin ? ruleActions(() => setDialog("rule")) : {}),
        showNow: ({ id }) => void client.snooze(id, null).then((fresh) => live.store.takeAsks([fresh])),
        ...(ask.sessionId && !session?.external
          ? { sendAsMessage: (_, text: string) => void client.message(ask.sessionId ?? "", text, "queue") }
          : {}),
        leave: ({ id }) => live.store.forget(id),
      }}
    />
  );
}

function Next({ ask }: { ask: Ask | undefined }) {
  const t = useWords();
  const words = useCardWords();
  const now = useNow(15_000);
  if (!ask) return null;
  const title = titleOf(ask);
  return (
    <button type="button" className="next" onClick={() => go({ page: "inbox", ask: ask.id }, { replace: true })}>
      <span>{t("inbox.next")}</span>
      <span className={title.code ? "t mono cut" : "t cut"}>
        <Visible text={title.text} />
      </span>
      <span className="cut">
        <Visible
          text={[ask.agent, baseName(ask.project), age(words, now - Date.parse(ask.openedAt))]
            .filter(Boolean)
            .join(", ")}
        />
      </span>
      <span className="grow" />
      <Kbd>j</Kbd>
    </button>
  );
}

/**
 * Loads an ask that the address names and the list lacks: it was decided long ago, or it does not exist. Returns true when the
 * server refuses it. No other ask is opened instead: the person would decide something else than the link says.
 */
function useMissingAsk(askId: string | undefined, absent: boolean): boolean {
  const client = useClient();
  const { store } = useLive();
  const [refused, setRefused] = useState<string>();
  useEffect(() => {
    if (!askId || !absent) return;
    client
      .ask(askId)
      .then((ask) => store.takeAsks([ask]))
      .catch((error) => error instanceof ApiError && setRefused(askId));
  }, [askId, absent, client, store]);
  return absent && askId !== undefined && refused === askId;
}

/** After a decision the next ask is shown. The decided one stays in the list until the cursor is elsewhere. */
function useNextAfterSend(askId: string | undefined, next: () => Ask | undefined, batch: boolean): void {
  const { sender } = useHost();
  const { store } = useLive();
  const { nextAfterSend } = usePrefs();
  const latest = useRef(next);
  latest.current = next;
  useEffect(() => {
    if (!askId || !nextAfterSend || batch) return;
    let onItsWay = false;
    return sender.subscribe(() => {
      const phase = sender.get(askId)?.phase;
      const sent = onItsWay && phase === undefined && store.ask(askId)?.status !== "pending";
      onItsWay = phase === "held" || phase === "sending";
      const ask = sent ? latest.current() : undefined;
      if (ask) go({ page: "inbox", ask: ask.id }, { replace: true });
    });
  }, [askId, sender, store, nextAfterSend, batch]);
}
