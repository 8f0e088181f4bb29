import type { AskCardModel } from "./useAskCard";

// The keys of cards with radio buttons and checkboxes: several questions, or one question with several choices.

const MARK = "[role=radio], [role=checkbox], input[type=radio], input[type=checkbox]";
const STOP = `${MARK}, [data-field], [data-other]`;

const inside = <E extends HTMLElement>(root: Element | null | undefined, selector: string): E[] => [
  ...(root?.querySelectorAll<E>(selector) ?? []),
];

/** Whether the card uses the keys of this module: it has radio buttons, checkboxes, or several questions. */
export const hasMarks = (model: AskCardModel): boolean => {
  const questions = model.ask.questions ?? [];
  const isMarked = questions.some(({ input = "choice" }) => input === "yesNo" || input === "choice");
  return model.open && !model.oneClick && (isMarked || questions.length > 1);
};

/** Moves the focus to the first question that lacks a valid answer. Takes any element of the card. */
export function focusMissing(element: Element): void {
  const card = element.closest(".sayso-ask");
  inside(card?.querySelector("[data-missing=true]") ?? card, STOP)[0]?.focus();
}

/** Handles a key. Returns whether the key has a function here. */
export function handleSetKey(event: KeyboardEvent, model: AskCardModel, card: HTMLElement): boolean {
  const target = event.target instanceof HTMLElement ? event.target : undefined;
  const text = target?.matches("[data-field], [data-other]") ?? false;
  if (!text && target?.closest("input:not([type=radio]):not([type=checkbox]), textarea, select")) return false;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    return !target?.matches("textarea") && moveFocus(card, target, event.key === "ArrowDown" ? 1 : -1);
  }
  if (event.key === "Enter") return goOn(event, model, card, target);
  return !text && !event.repeat && chooseByDigit(event.key, card, target);
}

/** Moves the focus between options and fields without selecting anything. */
function moveFocus(card: HTMLElement, from: HTMLElement | undefined, step: 1 | -1): boolean {
  const stops = inside<HTMLElement>(card, STOP);
  const at = from ? stops.indexOf(from) : -1;
  const next = at < 0 ? (step === 1 ? 0 : stops.length - 1) : Math.min(stops.length - 1, Math.max(0, at + step));
  stops[next]?.focus();
  return stops.length > 0;
}

/** Enter moves to the next question, and after the last one to Submit. A single question is sent. */
function goOn(event: KeyboardEvent, model: AskCardModel, card: HTMLElement, target: HTMLElement | undefined): boolean {
  if (event.shiftKey || event.isComposing || event.keyCode === 229 || event.repeat) return false;
  const questions = inside<HTMLElement>(card, "[data-question]");
  const at = questions.findIndex((question) => question.contains(target ?? null));
  if (at < 0) {
    if (target?.closest("button, a")) return false;
    inside(card.querySelector("[data-current=true]") ?? questions[0], STOP)[0]?.focus();
    return true;
  }
  if (questions.length === 1) {
    if (!model.submit()) focusMissing(card);
    return true;
  }
  const next = questions[at + 1];
  if (next) inside(next, STOP)[0]?.focus();
  else card.querySelector<HTMLElement>("[data-submit]")?.focus();
  return true;
}

/** A digit selects an option of the focused question, or of the first question without an answer. */
function chooseByDigit(key: string, card: HTMLElement, target: HTMLElement | undefined): boolean {
  const digit = /^[1-9]$/.test(key) ? Number(key) : 0;
  if (digit === 0) return false;
  const questions = inside<HTMLElement>(card, "[data-question]");
  const focused = questions.find((question) => question.contains(target ?? null));
  const question = focused ?? card.querySelector("[data-current=true]");
  const mark = inside<HTMLElement>(question, MARK)[digit - 1];
  if (!mark) return false;
  const other = mark.closest(".opt")?.querySelector<HTMLElement>("[data-other]");
  const takenBack = isChecked(mark) && mark.matches("[role=checkbox], [type=checkbox]");
  mark.focus();
  mark.click();
  if (other && !takenBack) other.focus();
  return true;
}

const isChecked = (mark: HTMLElement): boolean =>
  mark instanceof HTMLInputElement ? mark.checked : mark.getAttribute("aria-checked") === "true";
