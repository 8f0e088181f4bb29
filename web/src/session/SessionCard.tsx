import { type Ask, AskCard } from "@sayso/react";
import { useState } from "react";
import { useShell } from "../app/shellContext";
import { useClient, useIsAdmin, useLive, useLiveAsk } from "../live/hooks";
import { useLiveSession } from "../live/useLiveSession";
import { RuleDialog } from "../rule/RuleDialog";
import { ruleActions } from "../rule/ruleActions";

interface SessionCardProps {
  ask: Ask;
  active: boolean;
  place?: "inbox" | "session";
}

/** The card of an ask in the transcript. The feed is newer than the loaded transcript. */
export function SessionCard({ ask, active, place = "session" }: SessionCardProps) {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const { store } = useLive();
  const { setDialog } = useShell();
  const [rule, setRule] = useState(false);
  const live = useLiveAsk(ask.id);
  const external = useLiveSession(ask.sessionId ?? "")?.external ?? false;
  const showRule = (shown: boolean) => {
    setRule(shown);
    setDialog(shown ? "rule" : "none");
  };
  const newest = live && (ask.status === "pending" || live.status !== "pending") ? live : ask;
  return (
    <>
      <AskCard
        ask={newest}
        active={active}
        place={place}
        actions={{
          ...(isAdmin ? ruleActions(() => showRule(true)) : {}),
          showNow: ({ id }) => void client.snooze(id, null).then((fresh) => store.takeAsks([fresh])),
          ...(ask.sessionId && !external
            ? { sendAsMessage: (_, text: string) => void client.message(ask.sessionId ?? "", text, "queue") }
            : {}),
        }}
      />
      {rule && <RuleDialog ask={newest} open onClose={() => showRule(false)} />}
    </>
  );
}
