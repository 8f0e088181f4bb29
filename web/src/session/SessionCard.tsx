import { type Ask, AskCard } from "@sayso/react";
import { useState } from "react";
import { go } from "../app/route";
import { useShell } from "../app/shellContext";
import { useClient, useLive, useLiveAsk } from "../live/hooks";
import { RuleDialog } from "../rule/RuleDialog";

interface SessionCardProps {
  ask: Ask;
  active: boolean;
  place?: "inbox" | "session";
}

/** The card of an ask in its place. What the feed says of it is newer than what was read. */
export function SessionCard({ ask, active, place = "session" }: SessionCardProps) {
  const client = useClient();
  const { store } = useLive();
  const { setDialog } = useShell();
  const [rule, setRule] = useState(false);
  const live = useLiveAsk(ask.id);
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
          makeRule: () => showRule(true),
          editRule: ({ outcome }) => go({ page: "settings", section: "policy", rule: outcome?.by.rule ?? "" }),
          showNow: ({ id }) => void client.snooze(id, null).then((fresh) => store.takeAsks([fresh])),
          ...(ask.sessionId
            ? { sendAsMessage: (_, text: string) => void client.message(ask.sessionId ?? "", text, "queue") }
            : {}),
        }}
      />
      {rule && <RuleDialog ask={newest} open onClose={() => showRule(false)} />}
    </>
  );
}
