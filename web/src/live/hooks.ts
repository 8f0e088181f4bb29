import type { Ask, Connection } from "@sayso/sdk";
import { createContext, useContext, useSyncExternalStore } from "react";
import type { Client, Session, Token } from "../api/client";
import type { Live } from "./live";

export const LiveContext = createContext<{ live: Live; client: Client; role: Token["role"] } | undefined>(undefined);

function useContextValue() {
  const value = useContext(LiveContext);
  if (!value) throw new Error("LiveContext is missing");
  return value;
}

export const useClient = (): Client => useContextValue().client;
export const useLive = (): Live => useContextValue().live;

/** Whether the person is an admin, who can change rules, tokens and devices. */
export const useIsAdmin = (): boolean => useContextValue().role === "admin";

/** Whether the person can answer asks and send messages to agents. */
export const useMayAnswer = (): boolean => useContextValue().role !== "viewer";

export function usePending(): Ask[] {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.pending);
}

export function useLoaded(): boolean {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, () => store.loaded);
}

export function useLiveAsk(id: string | undefined): Ask | undefined {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, () => (id ? store.ask(id) : undefined));
}

export function useSessions(): Session[] {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, store.sessions);
}

export function useConnection(): Connection {
  const live = useLive();
  return useSyncExternalStore(live.subscribe, live.connection);
}
