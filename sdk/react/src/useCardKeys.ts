import { type RefObject, useEffect, useRef } from "react";
import { type AskCardModel, hasOther, inputText, optionCount } from "./useAskCard";

/** How long a card that has just appeared takes no keys: the hand may be meant for the one before. */
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

/** The keys of the open card. */
export function useCardKeys(model: AskCardModel, options: CardKeysOptions): void {
  const latest = useRef({ model, options });
  latest.current = { model, options };
  const { id } = model.ask;

  useEffect(() => {
    if (!options.active) return;
    const from = performance.now() + (id ? KEY_GRACE_MS : 0);
    const onKey = (event: KeyboardEvent) => {
      if (performance.now() < from || event.defaultPrevented || event.isComposing || event.altKey) return;
      const { model: card, options: now } = latest.current;
      if (handle(event, card, now)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [options.active, id]);
}

function handle(event: KeyboardEvent, model: AskCardModel, options: CardKeysOptions): boolean {
  const command = event.ctrlKey || event.metaKey;
  if (event.key === "Enter" && command) return submitSet(model);
  if (command || isTyping(event.target)) return false;
  if (event.key === "u" && model.state === "sending") return act(model.undo);
  if (!model.open) return false;
  return event.key === "Enter" ? enter(event, model, options) : letter(event, model, options);
}

function act(what: () => void): true {
  what();
  return true;
}

function submitSet(model: AskCardModel): boolean {
  if (!model.open) return false;
  if (model.ask.kind === "question") return model.missing.length === 0 && act(model.submit);
  return model.draft.input !== null && act(() => model.approve());
}

function enter(event: KeyboardEvent, model: AskCardModel, { card }: CardKeysOptions): boolean {
  const onControl = event.target instanceof Element && event.target.closest("button, a, [role=radio], [role=checkbox]");
  if (onControl || !model.oneClick) return false;
  const { highlight } = model;
  if (highlight !== null && highlight < optionCount(model.ask)) return act(() => model.sendOption(highlight));
  card.current?.querySelector<HTMLElement>("[data-option]")?.focus();
  return true;
}

function letter(event: KeyboardEvent, model: AskCardModel, options: CardKeysOptions): boolean {
  const { ask } = model;
  if (model.oneClick) {
    const count = optionCount(ask);
    const digit = Number.parseInt(event.key, 10);
    if (digit >= 1 && digit <= Math.min(9, count)) return act(() => model.sendOption(digit - 1));
    if (digit === count + 1 && hasOther(ask)) return act(() => focusOther(options));
    if (event.key === "ArrowDown" || event.key === "ArrowUp") return move(event.key, model, options);
  }
  switch (event.key) {
    case "a":
      return ask.kind !== "question" && act(() => model.approve());
    case "d":
      return act(() => model.no());
    case "D":
      return ask.kind === "approval" && act(() => model.no({ stop: true }));
    case "r":
      return act(() => model.change({ reason: model.draft.reason ?? "" }));
    case "n":
      return ask.kind === "question" && act(() => model.change({ note: model.draft.note ?? "" }));
    case "e":
      return ask.approval?.editable === true && act(() => model.change({ input: model.draft.input ?? inputText(ask) }));
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

/** Goes to what can be looked at: the preview of the next option that has one, or the command or diff. */
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

function focusOther({ card }: CardKeysOptions): void {
  card.current?.querySelector<HTMLElement>("[data-other]")?.focus();
}

function move(key: string, model: AskCardModel, { card }: CardKeysOptions): boolean {
  const count = optionCount(model.ask);
  const from = model.highlight ?? (key === "ArrowDown" ? -1 : count);
  const next = Math.min(count - 1, Math.max(0, from + (key === "ArrowDown" ? 1 : -1)));
  model.setHighlight(next);
  const group = card.current?.querySelector("[data-options]");
  if (group?.contains(document.activeElement)) group.querySelectorAll<HTMLElement>("[data-option]")[next]?.focus();
  return true;
}
