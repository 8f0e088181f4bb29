import { useHost } from "@sayso/react";
import { useEffect, useSyncExternalStore } from "react";
import { useConnection, useLive } from "../live/hooks";

/** Sends queued decisions when the connection is back, and cancels decisions about asks that were decided elsewhere. */
export function useDecisions(): void {
  const { sender } = useHost();
  const { store } = useLive();
  const isOpen = useConnection().state === "open";
  useEffect(() => {
    if (isOpen) void sender.resume();
  }, [isOpen, sender]);
  useEffect(
    () =>
      store.subscribe(() => {
        for (const id of sender.undoable()) {
          const outcome = store.ask(id)?.outcome;
          if (outcome) sender.lose(id, outcome);
        }
      }),
    [sender, store],
  );
}

/** The number of queued decisions. */
export function useQueued(): number {
  const { sender } = useHost();
  return useSyncExternalStore(sender.subscribe, () => sender.queued());
}
