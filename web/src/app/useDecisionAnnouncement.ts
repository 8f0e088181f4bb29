import { serverText, useHost } from "@sayso/react";
import { useEffect, useRef, useState } from "react";
import { useCardWords, useWords } from "../i18n";
import { askOf } from "../live/events";
import { useLive } from "../live/hooks";

/** Delay before an event is announced. By then, the number of waiting asks is up to date. */
const ANNOUNCE_DELAY_MS = 50;

/** The text that screen readers announce when a decision is being sent or was made, or when an ask was withdrawn. */
export function useDecisionAnnouncement(): string {
  const t = useWords();
  const card = useCardWords();
  const { sender } = useHost();
  const live = useLive();
  const [said, setSaid] = useState("");
  const words = useRef({ t, card });
  words.current = { t, card };
  useEffect(() => {
    let before: string | undefined;
    return sender.subscribe(() => {
      const id = sender.newestHeld();
      const sending = id ? sender.get(id) : undefined;
      if (id !== before && sending?.phase === "held")
        setSaid(words.current.t("say.sending", { answer: sending.label }));
      before = id;
    });
  }, [sender]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live.onEvent((event) => {
      const outcome = event.type.endsWith(".resolved") ? askOf(event)?.outcome : undefined;
      if (!outcome || outcome.by.kind === "policy") return;
      const { status, message, messageCode } = outcome;
      if (status === "pending") return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        const state = words.current.card(`state.${status}`);
        const reason = serverText(words.current.card, message ?? "", messageCode).replace(/[.。]$/, "");
        const why = status === "withdrawn" && reason ? `: ${reason}` : "";
        setSaid(words.current.t("say.decided", { state: state + why, waiting: live.store.pending().length }));
      }, ANNOUNCE_DELAY_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live]);
  return said;
}
