import type { Sayso, Transport } from "@sayso/sdk";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import type { Ask, AskFiles } from "./api";
import { decideWith } from "./decide";
import { type Draft, Drafts, newDraft } from "./model/draft";
import { type Decide, Sender, type Sending } from "./model/sender";
import { contentOf } from "./model/view";
import { type Translate, translator } from "./words";

/** Settings and services that all cards of a page share. */
export interface Host {
  /** Returns the words of a key in the language of the page. */
  t: Translate;
  /** Holds and sends decisions. */
  sender: Sender;
  /** Answers that are not sent yet, by ask. */
  drafts: Drafts;
  /** How long a decision can be undone, in milliseconds. */
  holdMs: number;
  /** Whether a click on an option of a single question sends it. */
  oneClick: boolean;
  /** Whether the person has view-only access: cards show everything but accept no decisions. */
  readOnly: boolean;
  /** The id of the token of this page, to tell its own decisions from those of others. */
  tokenId: string | undefined;
  /** Copies a text to the clipboard. */
  copy: (text: string) => void;
  /** The name of the machine on which the agents run, if the page knows it. */
  machine: string | undefined;
  /** Reads the files that the command of an approval executes. */
  readFiles: ((askId: string) => Promise<AskFiles>) | undefined;
  /** The client, for hooks that read from the server. */
  client: Sayso | undefined;
  /** Answers asks by tool call, for components that know only its id. */
  transport: Transport | undefined;
}

export const HostContext = createContext<Host | undefined>(undefined);

/** Properties of {@link SaysoProvider}. */
export interface SaysoProviderProps {
  /** The client of the server. Cards send decisions with it, unless `decide` is given. */
  client?: Sayso;
  /** How `QuestionPrompt`, `ToolApproval` and `useSession` reach the agent; by default through the client. */
  transport?: Transport;
  /** Sends one decision; by default through the client. */
  decide?: Decide;
  /** Reads an ask again before a queued decision about it is sent; by default through the client. */
  readAsk?: (askId: string) => Promise<Ask>;
  /** Reads the files that the command of an approval executes; by default through the client. */
  readFiles?: (askId: string) => Promise<AskFiles>;
  /** The words of the cards; English by default. */
  translate?: Translate;
  /** How long a decision can be undone, in milliseconds. 3000 by default. */
  holdMs?: number;
  /** Whether a click on an option of a single question sends it. True by default. */
  oneClick?: boolean;
  /** For tokens of the role `viewer`: cards show everything but accept no decisions. */
  readOnly?: boolean;
  /** The id of the token of this page, to tell its own decisions from those of others. */
  tokenId?: string;
  /** Copies a text; by default to the clipboard. */
  copy?: (text: string) => void;
  /** The name of the machine on which the agents run. */
  machine?: string;
  /** The components that show asks. */
  children: ReactNode;
}

const english = translator();
const copyPlainly = (text: string) => void navigator.clipboard?.writeText(text);
const nowhere: Decide = () => Promise.reject(new Error("SaysoProvider needs a `client` or `decide`"));

/** Provides words, a connection to the server and storage for drafts to the cards inside. */
export function SaysoProvider(props: SaysoProviderProps) {
  const { client, translate = english, holdMs = 3000, oneClick = true, readOnly = false, tokenId } = props;
  const { machine, children } = props;
  const transport = props.transport ?? client?.transport;
  const byClient = useMemo(() => (client ? decideWith(client) : nowhere), [client]);
  const decide = props.decide ?? byClient;
  const copy = props.copy ?? copyPlainly;
  const drafts = useMemo(() => new Drafts(), []);
  const readAsk = props.readAsk ?? client?.asks.get;
  const readFiles = props.readFiles ?? client?.asks.files;
  const sender = useMemo(() => {
    const readContent = readAsk && (async (askId: string) => contentOf(await readAsk(askId)));
    return new Sender(decide, (askId) => drafts.delete(askId), readContent);
  }, [decide, drafts, readAsk]);
  useEffect(() => {
    const flush = () => sender.flush();
    const resume = () => void sender.resume();
    const warn = (event: BeforeUnloadEvent) => sender.queued() > 0 && event.preventDefault();
    window.addEventListener("pagehide", flush);
    window.addEventListener("online", resume);
    window.addEventListener("beforeunload", warn);
    return () => {
      window.removeEventListener("pagehide", flush);
      window.removeEventListener("online", resume);
      window.removeEventListener("beforeunload", warn);
    };
  }, [sender]);
  const host = useMemo(
    () => ({
      t: translate,
      sender,
      drafts,
      holdMs,
      oneClick,
      readOnly,
      tokenId,
      copy,
      machine,
      readFiles,
      client,
      transport,
    }),
    [translate, sender, drafts, holdMs, oneClick, readOnly, tokenId, copy, machine, readFiles, client, transport],
  );
  return <HostContext value={host}>{children}</HostContext>;
}

/** The settings and services that all cards of this page share. */
export function useHost(): Host {
  const host = useContext(HostContext);
  if (!host) throw new Error("cards must be inside a SaysoProvider");
  return host;
}

/** The decision about an ask that is being sent. */
export function useSending(sender: Sender, askId: string): Sending | undefined {
  return useSyncExternalStore(sender.subscribe, () => sender.get(askId));
}

/** The draft for an ask, and a function that changes it. */
export function useDraft(drafts: Drafts, ask: Ask): [Draft, (change: Partial<Draft>) => void] {
  const fresh = useMemo(() => newDraft(ask), [ask]);
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.get(ask.id)) ?? fresh;
  return [draft, (change) => drafts.set(ask.id, { ...(drafts.get(ask.id) ?? fresh), ...change })];
}

const ticks = { listeners: new Set<() => void>(), timer: undefined as ReturnType<typeof setInterval> | undefined };

function subscribeTicks(listener: () => void): () => void {
  ticks.listeners.add(listener);
  ticks.timer ??= setInterval(() => {
    for (const one of ticks.listeners) one();
  }, 1000);
  return () => {
    ticks.listeners.delete(listener);
    if (ticks.listeners.size > 0) return;
    clearInterval(ticks.timer);
    ticks.timer = undefined;
  };
}

/** The current time, updated at an interval. All users share one timer. */
export function useNow(step = 1000): number {
  const tick = useSyncExternalStore(subscribeTicks, () => Math.floor(Date.now() / step));
  return useMemo(() => Math.max(Date.now(), tick * step), [tick, step]);
}
