import { type Ask, AskCard, age, baseName, Kbd, titleOf, useHost, useNow, Visible } from "@sayso/react";
import { ConnectionError } from "@sayso/sdk";
import { type ReactNode, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { usePrefs } from "../app/prefs";
import { go, hrefOf } from "../app/route";
import { useShell } from "../app/shellContext";
import { useCardWords, useWords } from "../i18n";
import { useClient, useIsAdmin, useLive, useLiveAsk, useLoaded } from "../live/hooks";
import { useLiveSession } from "../live/useLiveSession";
import { RuleDialog } from "../rule/RuleDialog";
import { RuleHint } from "../rule/RuleHint";
import { ruleActions } from "../rule/ruleActions";
import { SessionFacts } from "../session/SessionFacts";
import { useWidth } from "../ui/useWidth";
import { BatchCard } from "./BatchCard";
import { DetailBar } from "./DetailBar";
import { EmptyInbox } from "./EmptyInbox";
import { InboxList } from "./InboxList";
import { useInbox } from "./useInbox";
import { useInboxKeys } from "./useInboxKeys";
import { useSelection } from "./useSelection";

/** The list of waiting asks, and the open ask. */
export function InboxPage({ askId }: { askId: string | undefined }) {
  const t = useWords();
  const live = useLive();
  const loaded = useLoaded();
  const width = useWidth();
  const { dialog, setDialog } = useShell();
  const isAdmin = useIsAdmin();
  const inbox = useInbox(askId);
  const ask = useLiveAsk(askId);
  const { selected, setSelected, select, clear } = useSelection(inbox.rows, askId);
  const [reviewing, setReviewing] = useState(false);
  const [entered, setEntered] = useState({ id: "", count: 0 });
  const enter = useCallback(
    (id: string) => {
      clear();
      go({ page: "inbox", ask: id });
      setEntered(({ count }) => ({ id, count: count + 1 }));
    },
    [clear],
  );
  const onePane = width < 900;

  const missing = useMissingAsk(askId, loaded && !ask);
  const first = inbox.rows[0]?.id;
  useEffect(() => {
    if (!askId && first && !onePane) go({ page: "inbox", ask: first }, { replace: true });
  }, [askId, first, onePane]);
  const hasFilter = inbox.filter !== "" || inbox.project !== undefined;
  const isFilteredOut = hasFilter && loaded && askId !== undefined && inbox.at < 0 && ask?.status === "pending";
  useEffect(() => {
    if (isFilteredOut) go(first ? { page: "inbox", ask: first } : { page: "inbox" }, { replace: true });
  }, [isFilteredOut, first]);
  useNextAfterSend(askId, inbox.next, selected.size > 0);
  useInboxKeys({ inbox, ask, selected, setSelected, enabled: dialog === "none" });

  const chosen = [...selected].map((id) => live.store.ask(id)).filter((one) => one?.status === "pending") as Ask[];
  const batch = chosen.length > 1 && (!onePane || reviewing);
  const endBatch = () => {
    clear();
    setReviewing(false);
  };
  const openOne = (one: Ask) => {
    endBatch();
    inbox.unfold(one);
    go({ page: "inbox", ask: one.id });
  };
  const row = inbox.rows[inbox.at];
  const folded = ask && row && row.id === ask.id && row.ids.length > 1 ? row.ids : undefined;
  const showList = !onePane || !(askId || batch);
  if (loaded && inbox.pending.length === 0 && !ask && !missing) return <EmptyInbox />;
  return (
    <div className="two">
      {showList && (
        <div className="listpane">
          <InboxList inbox={inbox} askId={askId} selected={selected} onEnter={enter} onSelect={select} />
          {onePane && selected.size > 0 && (
            <SelectionBar count={chosen.length} onReview={() => setReviewing(true)} onCancel={clear} />
          )}
        </div>
      )}
      {!(onePane && showList) && (
        <section className="detail" id="open-ask" aria-label={t("inbox.open")} tabIndex={-1}>
          {ask && !batch && <DetailBar ask={ask} inbox={inbox} />}
          <div className="scroll">
            {missing && (
              <div className="empty" role="status">
                <h2>{t("inbox.missing")}</h2>
                <a className="btn" href={hrefOf({ page: "inbox" })}>
                  {t("nav.inbox")}
                </a>
              </div>
            )}
            {batch ? (
              <BatchCard
                asks={chosen}
                active={dialog === "none"}
                onDecided={endBatch}
                onCancel={endBatch}
                onOpen={openOne}
              />
            ) : (
              ask && (
                <>
                  <FoldedCard key={ask.id} ids={folded ?? []} active={dialog === "none"} onOpen={openOne}>
                    <OpenCard
                      ask={ask}
                      active={dialog === "none"}
                      entered={entered.id === ask.id ? entered.count : 0}
                    />
                  </FoldedCard>
                  {isAdmin && <RuleHint ask={ask} onMakeRule={() => setDialog("rule")} />}
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

interface FoldedCardProps {
  /** The identical asks of the row. Fewer than two if the row is one ask. */
  ids: string[];
  active: boolean;
  onOpen: (ask: Ask) => void;
  children: ReactNode;
}

/** Identical asks as one card. Asks that arrive while it is open are added only by the person. */
function FoldedCard({ ids, active, onOpen, children }: FoldedCardProps) {
  const { store } = useLive();
  const { sender } = useHost();
  const [shown, setShown] = useState<readonly string[]>(ids);
  const isSending = useSyncExternalStore(sender.subscribe, () => shown.some((id) => sender.get(id) !== undefined));
  const asks = shown.map((id) => store.ask(id)).filter((ask) => ask?.status === "pending") as Ask[];
  // `ids` is empty after the person unfolded the row.
  if (ids.length < 2 || asks.length < 2 || isSending) return children;
  const more = { count: ids.filter((id) => !shown.includes(id)).length, include: () => setShown(ids) };
  return <BatchCard asks={asks} active={active} onOpen={onOpen} more={more} />;
}

/** On a phone: the number of selected asks, and a button that opens them. */
function SelectionBar({ count, onReview, onCancel }: { count: number; onReview: () => void; onCancel: () => void }) {
  const t = useWords();
  const words = useCardWords();
  return (
    <div className="selbar">
      <button type="button" className="btn" onClick={onCancel}>
        {words("button.cancel")}
      </button>
      <button type="button" className="btn primary" disabled={count < 2} onClick={onReview}>
        {t("batch.review", { count })}
      </button>
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
 * Loads the ask of the address if the list does not have it, because it was decided long ago or does not exist. Returns true if
 * the server refuses. The page opens no other ask instead, so that the person never decides another ask than the linked one.
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
      .catch((error) => error instanceof ConnectionError || setRefused(askId));
  }, [askId, absent, client, store]);
  return absent && askId !== undefined && refused === askId;
}

/** Moves the focus to the list, or on a phone to the card, because a card that is being sent has no controls. */
function focusList(): void {
  const { activeElement } = document;
  if (activeElement && activeElement !== document.body && !activeElement.closest(".sayso-ask")) return;
  (document.getElementById("asks") ?? document.getElementById("open-ask"))?.focus();
}

/**
 * Shows the next ask after a decision, or after the decision is sent. The decided ask stays in the list until the cursor leaves
 * it.
 */
function useNextAfterSend(askId: string | undefined, next: () => Ask | undefined, batch: boolean): void {
  const { sender } = useHost();
  const { store } = useLive();
  const { advance } = usePrefs();
  const latest = useRef(next);
  latest.current = next;
  useEffect(() => {
    if (!askId) return;
    const isOnItsWay = () => ["held", "sending", "queued"].includes(sender.get(askId)?.phase ?? "");
    let onItsWay = isOnItsWay();
    return sender.subscribe(() => {
      const phase = sender.get(askId)?.phase;
      const decided = !onItsWay && (phase === "held" || phase === "sending");
      if (decided) focusList();
      const sent = onItsWay && phase === undefined && store.ask(askId)?.status !== "pending";
      onItsWay = isOnItsWay();
      const goesOn = (advance === "sent" && sent) || (advance === "atOnce" && (decided || sent));
      const ask = goesOn && !batch ? latest.current() : undefined;
      if (ask) go({ page: "inbox", ask: ask.id }, { replace: true });
    });
  }, [askId, sender, store, advance, batch]);
}
