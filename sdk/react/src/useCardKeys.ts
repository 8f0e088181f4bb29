import { type RefObject, useEffect, useRef, useState } from "react";
import { isHeldDown } from "./heldKeys";
import { allows, contentOf, takesTyping, yesNoQuestion } from "./model/view";
import { focusMissing, handleSetKey, hasMarks } from "./setKeys";
import { type AskCardModel, hasOther, optionCount } from "./useAskCard";

/** How long a new card ignores keys, in milliseconds. The person may have meant the previous card. */
export const KEY_GRACE_MS = 400;

const EDITABLE = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable=true]";

/** Whether the person types into a field, so that single keys are text. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(EDITABLE) !== null;

export interface CardKeysOptions {
  active: boolean;
  card: RefObject<HTMLElement | null>;
  onMakeRule?: (() => void) | undefined;
  toggleContext: () => void;
}

/** Handles the keys of the open card. Returns whether the card accepts keys now. */
export function useCardKeys(model: AskCardModel, options: CardKeysOptions): boolean {
  const latest = useRef({ model, options });
  latest.current = { model, options };
  const accepting = useKeyGrace(model.ask.id + contentOf(model.ask), options);
  const accepts = useRef(accepting);
  accepts.current = accepting;

  useEffect(() => {
    if (!options.active) return;
    const onKey = (event: KeyboardEvent) => {
      if (!accepts.current || event.defaultPrevented || event.isComposing || event.altKey) return;
      const { model: card, options: now } = latest.current;
      if (handle(event, card, now)) event.preventDefault();
    };
    // Runs before the handlers of the controls: an arrow key would select a radio button.
    const onSetKey = (event: KeyboardEvent) => {
      const { model: card, options: now } = latest.current;
      if (!accepts.current || event.altKey || event.ctrlKey || event.metaKey || isModalOpen()) return;
      if (!hasMarks(card) || !now.card.current || (isHeldDown(event) && !event.key.startsWith("Arrow"))) return;
      if (!handleSetKey(event, card, now.card.current)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener("keydown", onSetKey, true);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onSetKey, true);
      document.removeEventListener("keydown", onKey);
    };
  }, [options.active]);
  return accepting;
}

/**
 * Whether the grace period of a card is over. It starts when the card becomes active or its content changes, and ends after
 * `KEY_GRACE_MS`, or with the first click or text input inside the card.
 */
export function useKeyGrace(content: string, { active, card }: Pick<CardKeysOptions, "active" | "card">): boolean {
  const [ended, setEnded] = useState<string>();
  useEffect(() => {
    if (!active) return;
    const end = () => setEnded(content);
    const endIfInside = ({ target }: Event) => {
      if (target instanceof Node && card.current?.contains(target)) end();
    };
    const timer = setTimeout(end, KEY_GRACE_MS);
    // On the document, so that it runs after the handlers of React: an earlier render would reset the text of a controlled field.
    document.addEventListener("pointerdown", endIfInside);
    document.addEventListener("input", endIfInside);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerdown", endIfInside);
      document.removeEventListener("input", endIfInside);
      setEnded(undefined);
    };
  }, [active, card, content]);
  return active && ended === content;
}

function handle(event: KeyboardEvent, model: AskCardModel, options: CardKeysOptions): boolean {
  const command = event.ctrlKey || event.metaKey;
  if (event.key === "Enter" && command) return submitSet(model, options);
  if (command || isTyping(event.target)) return false;
  // A key that is held down must not decide several cards.
  if (isHeldDown(event) && !event.key.startsWith("Arrow")) return false;
  if (event.key === "u" && model.state === "sending") return act(model.undo);
  if (!model.open) return false;
  return event.key === "Enter" ? enter(event, model, options) : letter(event, model, options);
}

function act(what: () => void): true {
  what();
  return true;
}

const isModalOpen = (): boolean => document.querySelector("dialog[open]") !== null;

/** Submits the answers, or moves the focus to the first question that needs an answer. */
function submitSet(model: AskCardModel, { card }: CardKeysOptions): boolean {
  if (!model.open) return false;
  if (model.ask.kind === "question") {
    if (!model.submit() && card.current) focusMissing(card.current);
    return true;
  }
  return model.draft.input !== null && act(() => model.approve());
}

/** Focuses the first field for a typed answer. */
export function focusFirstField(card: RefObject<HTMLElement | null>): boolean {
  const field = card.current?.querySelector<HTMLElement>("[data-field], [data-other]");
  field?.focus();
  return field !== null && field !== undefined;
}

function enter(event: KeyboardEvent, model: AskCardModel, { card }: CardKeysOptions): boolean {
  const onControl = event.target instanceof Element && event.target.closest("button, a, input");
  if (onControl) return false;
  if (takesTyping(model.ask)) return focusFirstField(card);
  if (!model.oneClick) return false;
  const { highlight } = model;
  if (highlight !== null && highlight < optionCount(model.ask)) return act(() => model.sendOption(highlight));
  card.current?.querySelector<HTMLElement>("[data-option]")?.focus();
  return true;
}

function letter(event: KeyboardEvent, model: AskCardModel, options: CardKeysOptions): boolean {
  const { ask } = model;
  if (takesTyping(ask)) return false;
  if (yesNoQuestion(ask) && (event.key === "a" || event.key === "d")) return act(() => answerYesNo(model, event.key));
  if (model.oneClick) {
    const count = optionCount(ask);
    const digit = Number.parseInt(event.key, 10);
    if (digit >= 1 && digit <= Math.min(9, count)) return act(() => model.sendOption(digit - 1));
    if (digit === count + 1 && hasOther(ask)) return act(() => focusOther(options));
    if (event.key === "ArrowDown" || event.key === "ArrowUp") return move(event.key, model, options);
  }
  switch (event.key) {
    case "a":
      // While a reason is typed, the footer has no plain Approve button.
      return ask.kind !== "question" && model.draft.reason === null && act(() => model.approve());
    case "d":
      return act(() => model.no());
    case "D":
      return ask.kind === "approval" && act(() => model.no({ stop: true }));
    case "r":
      return allows(ask, "deny") && act(() => model.write("reason"));
    case "n":
      return ask.kind === "question" && act(() => model.write("note"));
    case "e":
      return Boolean(ask.approval) && allows(ask, "edit") && act(() => model.write("input"));
    case "m":
      return options.onMakeRule !== undefined && act(options.onMakeRule);
    case "p":
      return showPreview(model, options);
    case "t":
      return Boolean(ask.context) && act(options.toggleContext);
    default:
      return false;
  }
}

/** Answers a yes/no question. On cards with a Submit button, it only selects the answer. */
function answerYesNo(model: AskCardModel, key: string): void {
  if (model.oneClick) model.sendOption(key === "a" ? 0 : 1);
  else model.choose(0, key === "a" ? "true" : "false");
}

/** Moves the focus to the preview of the next option that has one, or to the command or diff. */
function showPreview(model: AskCardModel, { card }: CardKeysOptions): boolean {
  const shown = model.ask.questions?.[0]?.options?.flatMap(({ preview }, index) => (preview ? [index] : [])) ?? [];
  if (!model.oneClick || shown.length === 0) {
    const region = card.current?.querySelector<HTMLElement>("[data-preview]");
    region?.focus();
    return region !== null && region !== undefined;
  }
  const { highlight } = model;
  const next = shown.find((index) => highlight !== null && index > highlight) ?? shown[0] ?? null;
  return act(() => model.setHighlight(next));
}

function focusOther({ card }: Pick<CardKeysOptions, "card">): void {
  card.current?.querySelector<HTMLElement>("[data-other]")?.focus();
}

function move(key: string, model: AskCardModel, { card }: CardKeysOptions): boolean {
  const count = optionCount(model.ask);
  const from = model.highlight ?? (key === "ArrowDown" ? -1 : count);
  const next = Math.min(count - 1, Math.max(0, from + (key === "ArrowDown" ? 1 : -1)));
  const group = card.current?.querySelector("[data-options]");
  const inside = group?.contains(document.activeElement) ?? false;
  if (inside && key === "ArrowDown" && from === count - 1 && hasOther(model.ask))
    return act(() => focusOther({ card }));
  model.setHighlight(next);
  if (inside) group?.querySelectorAll<HTMLElement>("[data-option]")[next]?.focus();
  return true;
}
