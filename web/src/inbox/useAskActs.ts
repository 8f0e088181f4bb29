import type { Ask } from "@sayso/react";
import { useMemo } from "react";
import { showNotice } from "../app/notice";
import { go } from "../app/route";
import { useWords } from "../i18n";
import { useClient, useLive } from "../live/hooks";
import { copyText } from "../ui/copy";

const SNOOZE_MS = 30 * 60_000;

/** Actions on an ask other than deciding it. */
export function useAskActs() {
  const client = useClient();
  const { store } = useLive();
  const t = useWords();
  return useMemo(
    () => ({
      /** Snoozes the ask for half an hour and opens the next one, or ends the snooze. */
      snooze: (ask: Ask, next: Ask | undefined) => {
        if (next && !ask.snoozedUntil) go({ page: "inbox", ask: next.id }, { replace: true });
        const until = ask.snoozedUntil ? null : new Date(Date.now() + SNOOZE_MS).toISOString();
        void client.snooze(ask.id, until).then((fresh) => store.takeAsks([fresh]));
      },
      /** Copies the content of the card: a command, a diff, a plan, an address or the questions. */
      copy: (ask: Ask) => {
        copyText(textOf(ask));
        showNotice(t("button.copied"));
      },
    }),
    [client, store, t],
  );
}

/** An ask as plain text. */
export function textOf(ask: Ask): string {
  if (ask.approval) {
    const { preview, command, url, input } = ask.approval;
    if (preview?.type === "diff")
      return preview.files.map(({ path, diff }) => `--- ${path}\n+++ ${path}\n${diff}`).join("\n");
    if (preview?.type === "plan" || preview?.type === "text") return preview.text;
    return command ?? url ?? JSON.stringify(input ?? {}, null, 2);
  }
  if (ask.link) return ask.link.url;
  return (ask.questions ?? [])
    .map((question) => [question.text, ...(question.options ?? []).map((option) => `- ${option.label}`)].join("\n"))
    .join("\n\n");
}
