import { type Ask, isTyping, takesTyping } from "@sayso/react";
import { useEffect, useRef } from "react";
import { go } from "../app/route";
import { useMayAnswer, usePending } from "../live/hooks";
import { identicalAsks } from "./order";
import { useAskActs } from "./useAskActs";
import type { Inbox } from "./useInbox";

interface InboxKeys {
  inbox: Inbox;
  ask: Ask | undefined;
  selected: ReadonlySet<string>;
  setSelected: (selected: ReadonlySet<string>) => void;
  enabled: boolean;
}

/** The keys of the list. The card handles its own keys. */
export function useInboxKeys(keys: InboxKeys): void {
  const acts = useAskActs();
  const pending = usePending();
  const mayAnswer = useMayAnswer();
  const latest = useRef({ ...keys, acts, pending, mayAnswer });
  latest.current = { ...keys, acts, pending, mayAnswer };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (!latest.current.enabled || isTyping(event.target)) return;
      if (handle(event.key, latest.current)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

type Now = InboxKeys & { acts: ReturnType<typeof useAskActs>; pending: Ask[]; mayAnswer: boolean };

function handle(key: string, { inbox, ask, selected, setSelected, acts, pending, mayAnswer }: Now): boolean {
  const done = (what: unknown) => what !== false;
  switch (key) {
    case "j":
      return done(inbox.move(1));
    case "k":
      return done(inbox.move(-1));
    case "Escape":
      if (selected.size > 0) setSelected(new Set());
      else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      return true;
  }
  // On a card with a typed answer, letters are text, so only navigation keys work.
  if (!ask || (ask.status === "pending" && takesTyping(ask))) return false;
  switch (key) {
    case "y":
      return done(acts.copy(ask));
    case "o":
      return done(ask.sessionId ? go({ page: "session", id: ask.sessionId, tab: "transcript" }) : false);
  }
  if (!mayAnswer) return false;
  switch (key) {
    case "s":
      return done(ask.status === "pending" && acts.snooze(ask, inbox.next()));
    case "x":
      return done(setSelected(toggled(selected, ask.id)));
    case "X":
      return done(setSelected(new Set(identicalAsks(ask, pending).map((twin) => twin.id))));
    default:
      return false;
  }
}

function toggled(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}
