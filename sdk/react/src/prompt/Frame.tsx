import { type ReactNode, useRef } from "react";
import { HostContext } from "../host";
import { Controls } from "../parts/Controls";
import { ErrorLine } from "../parts/ErrorLine";
import { StateIcon } from "../parts/icons";
import { Result } from "../parts/Result";
import { SendingBody } from "../parts/SendingBody";
import { Visible } from "../parts/Visible";
import { stateWords } from "../stateWords";
import { useCollapse } from "../useCollapse";
import type { ToolCallCard } from "./useToolCall";

interface FrameProps {
  card: ToolCallCard;
  /** Whether the ask was decided elsewhere. */
  settled: boolean;
  children: ReactNode;
}

/** The card around a prompt: state, error and outcome. */
export function Frame({ card: { model, host }, settled, children }: FrameProps) {
  const { ask, state, sending } = model;
  const { t } = host;
  const over = settled && model.open;
  const article = useRef<HTMLElement>(null);
  useCollapse(article, model.open && !over);
  const words = over
    ? t("state.settled")
    : state === "sending" && sending
      ? t("state.sending", { answer: sending.label })
      : stateWords(t, ask, state, host.tokenId);
  return (
    <HostContext value={host}>
      <article
        ref={article}
        className="sayso-ask"
        data-state={over ? "withdrawn" : state}
        data-call={ask.toolCallId}
        aria-label={ask.approval?.tool ?? ask.questions?.[0]?.text}
      >
        <div className="state">
          <StateIcon ask={ask} state={over ? "withdrawn" : state} />
          <span className="cut">
            <Visible text={words} />
          </span>
        </div>
        {model.open && !over && (
          <>
            <ErrorLine model={model} />
            <Controls>{children}</Controls>
          </>
        )}
        {state === "sending" && <SendingBody model={model} />}
        {!model.open && state !== "sending" && <Result model={model} actions={{}} />}
      </article>
    </HostContext>
  );
}
