import type { Ask } from "@sayso/react";
import { useMemo } from "react";
import { go } from "../app/route";
import { useClient, useLive } from "../live/hooks";
import { copyText } from "../ui/copy";

const SNOOZE_MS = 30 * 60_000;

/** What can be done with an ask beside deciding it. */
export function useAskActs() {
  const client = useClient();
  const { store } = useLive();
  return useMemo(
    () => ({
      /** Hides it for half an hour and goes on to the next, or brings it back. */
      snooze: (ask: Ask, next: Ask | undefined) => {
        if (next && !ask.snoozedUntil) go({ page: "inbox", ask: next.id }, { replace: true });
        const until = ask.snoozedUntil ? null : new Date(Date.now() + SNOOZE_MS).toISOString();
        void client.snooze(ask.id, until).then((fresh) => store.takeAsks([fresh]));
      },
      copy: (ask: Ask) => copyText(textOf(ask)),
    }),
    [client, store],
  );
}

/** An ask as plain text. */
export function textOf(ask: Ask): string {
  if (ask.approval)
    return ask.approval.command ?? ask.approval.url ?? JSON.stringify(ask.approval.input ?? {}, null, 2);
  if (ask.link) return ask.link.url;
  return (ask.questions ?? [])
    .map((question) => [question.text, ...(question.options ?? []).map((option) => `- ${option.label}`)].join("\n"))
    .join("\n\n");
}
