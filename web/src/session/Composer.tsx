import { baseName, Kbd, plain } from "@sayso/react";
import { AskPendingError } from "@sayso/sdk";
import { Folder } from "lucide-react";
import { useState } from "react";
import type { Session } from "../api/client";
import { useMutation } from "../api/useQuery";
import { useWords } from "../i18n";
import { useClient, useLive, useMayAnswer, usePending } from "../live/hooks";
import { isOver } from "./status";

/** The message field. While one question is waiting, the message answers it. */
export function Composer({ session }: { session: Session }) {
  const t = useWords();
  const client = useClient();
  const mayAnswer = useMayAnswer();
  const { store } = useLive();
  const [text, setText] = useState("");
  const pending = usePending().filter((ask) => ask.sessionId === session.id);
  const send = useMutation({
    mutationFn: (ifPending?: "queue") => client.message(session.id, text, ifPending),
    onSuccess: ({ answered }) => {
      if (answered) store.takeAsks([answered]);
      setText("");
    },
  });
  const blocked = send.error instanceof AskPendingError;
  const agent = plain(session.agent);
  const approval = pending.find((ask) => ask.kind === "approval");
  const label = approval
    ? t("composer.approval", { agent })
    : pending.length === 1
      ? t("composer.answers", { agent })
      : t("composer.message", { agent });
  if (!mayAnswer || (isOver(session.status) && !session.resumable)) return null;
  if (session.external) return <p className="composer elsewhere">{t("composer.external")}</p>;
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") send.mutate(undefined);
      }}
    >
      <textarea
        rows={Math.min(8, text.split("\n").length)}
        value={text}
        placeholder={label}
        aria-label={label}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          if (text.trim() !== "") send.mutate(undefined);
        }}
      />
      {send.error && (
        <p className="wrong" role="alert">
          {blocked ? t("composer.blocked") : send.error.message}{" "}
          {blocked && (
            <button type="button" className="link" onClick={() => send.mutate("queue")}>
              {t("composer.queue")}
            </button>
          )}
        </p>
      )}
      <div className="hstack">
        <span className="chip line" title={plain(session.cwd)}>
          <Folder size={12} aria-hidden="true" />
          {plain(baseName(session.cwd))}
        </span>
        <span className="chip line">{session.permissionMode}</span>
        <span className="grow" />
        <span className="muted hint">
          <Kbd>Enter</Kbd> {t("composer.sends")} <Kbd>Shift ↵</Kbd> {t("composer.newLine")}
        </span>
        <button type="submit" className="btn primary sm" disabled={text.trim() === "" || send.isPending}>
          {t("button.send")}
        </button>
      </div>
    </form>
  );
}
