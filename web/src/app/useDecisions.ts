import { useHost } from "@sayso/react";
import { useEffect, useSyncExternalStore } from "react";
import { useConnection, useLive } from "../live/hooks";

/** Sends queued decisions when the connection is back, and drops decisions about asks that somebody else decided. */
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

/** How many decisions wait for the connection. */
export function useQueued(): number {
  const { sender } = useHost();
  return useSyncExternalStore(sender.subscribe, () => sender.queued());
}
