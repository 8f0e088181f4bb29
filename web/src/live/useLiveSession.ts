import { useSyncExternalStore } from "react";
import type { Session } from "../api/client";
import { useLive } from "./hooks";

export function useLiveSession(id: string): Session | undefined {
  const { store } = useLive();
  return useSyncExternalStore(store.subscribe, () => store.session(id));
}
