import { type RefObject, useEffect, useRef, useState } from "react";
import type { Ask } from "./api";
import { useHost } from "./host";
import { takesTyping } from "./model/view";
import { ApprovalBody } from "./parts/ApprovalBody";
import { Context } from "./parts/Context";
import { Controls } from "./parts/Controls";
import { ErrorLine } from "./parts/ErrorLine";
import { LinkBody } from "./parts/LinkBody";
import { QuestionBody } from "./parts/QuestionBody";
import { Result } from "./parts/Result";
import { SendingBody } from "./parts/SendingBody";
import { Source } from "./parts/Source";
import { StateStrip } from "./parts/StateStrip";
import { useAskCard } from "./useAskCard";
import { focusFirstField, isTyping, useCardKeys } from "./useCardKeys";
import { useCollapse } from "./useCollapse";

/** Actions that the page provides. A card shows a button only if its action is given. */
export interface AskCardActions {
  /** Opens a form that turns an approval into a rule. */
  makeRule?: (ask: Ask) => void;
  /** Opens the rule that decided the ask. */
  editRule?: (ask: Ask) => void;
  /** Sends an undelivered answer to the agent as a message. */
  sendAsMessage?: (ask: Ask, text: string) => void;
  /** Removes the card of an undelivered answer. */
  leave?: (ask: Ask) => void;
  /** Ends the snooze. */
  showNow?: (ask: Ask) => void;
}

/** Properties of {@link AskCard}. */
export interface AskCardProps {
  /** The ask to show. Pass the new value when it changes. */
  ask: Ask;
  /** Whether the card handles keys. Only one card of a page can be active. */
  active?: boolean;
  /** Whether the card is shown in its session: it leaves out the source, and focuses the text field. */
  place?: "inbox" | "session";
  /** The actions that the page provides. */
  actions?: AskCardActions;
  /** Counts how often the person opened this card by a click or Enter. Each time, the field of a typed answer gets the focus. */
  entered?: number;
}

/** One ask: the controls to decide it, and later its outcome. */
export function AskCard({ ask, active = false, place = "inbox", actions = {}, entered = 0 }: AskCardProps) {
  const { t, readOnly } = useHost();
  const takes = active && !readOnly;
  const model = useAskCard(ask);
  const [wholeContext, setWholeContext] = useState(false);
  const card = useRef<HTMLElement>(null);
  const makeRule = actions.makeRule && ask.approval ? () => actions.makeRule?.(ask) : undefined;
  const acceptsKeys = useCardKeys(model, {
    active: takes,
    card,
    onMakeRule: makeRule,
    toggleContext: () => setWholeContext((on) => !on),
  });
  useCollapse(card, model.open);
  useFocusField(card, place === "session" && takes && model.open, ask.id);
  useEnterField(card, takes && model.open && takesTyping(ask) ? entered : 0);

  return (
    <article
      ref={card}
      className="sayso-ask"
      data-state={model.state}
      data-ask={ask.id}
      data-accepts-keys={acceptsKeys}
      data-typed={takes && model.open && takesTyping(ask)}
      aria-labelledby={`title-${ask.id}`}
      aria-describedby={`state-${ask.id}`}
    >
      <StateStrip model={model} actions={actions} />
      {place === "inbox" && <Source ask={ask} />}
      {model.open && (
        <>
          {place === "inbox" && ask.context && (
            <Context text={ask.context} whole={wholeContext} toggle={() => setWholeContext((on) => !on)} />
          )}
          {model.state === "parked" && !readOnly && <p className="aside">{t("line.parked")}</p>}
          <ErrorLine model={model} />
          <Controls>
            {ask.kind === "question" && <QuestionBody model={model} compact={place === "session"} />}
            {ask.kind === "approval" && <ApprovalBody model={model} makeRule={makeRule} />}
            {ask.kind === "link" && <LinkBody model={model} />}
          </Controls>
        </>
      )}
      {model.state === "sending" && <SendingBody model={model} />}
      {!model.open && model.state !== "sending" && <Result model={model} actions={actions} />}
    </article>
  );
}

/** In a session, the text field of a new card gets the focus, unless the person is typing elsewhere. */
function useFocusField(card: RefObject<HTMLElement | null>, wanted: boolean, askId: string): void {
  useEffect(() => {
    if (!wanted || !askId || isTyping(document.activeElement)) return;
    focusFirstField(card);
  }, [card, wanted, askId]);
}

function useEnterField(card: RefObject<HTMLElement | null>, entered: number): void {
  useEffect(() => {
    if (entered > 0) focusFirstField(card);
  }, [card, entered]);
}
