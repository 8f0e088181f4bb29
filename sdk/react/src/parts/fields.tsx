import { Eye, EyeOff, Lock } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import type { Question } from "../api";
import { useHost } from "../host";
import { plain } from "../model/invisible";
import type { AskCardModel } from "../useAskCard";
import type { Translate } from "../words";
import { Visible } from "./Visible";

const CHIP = 30;

/** Whether the device has no pointer that can hover. */
export const isTouch = (): boolean => matchMedia("(hover: none)").matches;

/** The header of a question as a chip, the kind of input, and its text. */
export function Head({ question, titleId, small }: { question: Question; titleId: string; small?: boolean }) {
  const header = question.header ? plain(question.header) : "";
  return (
    <>
      <div className="qhead">
        {header && (
          <span className="chip" title={header.length > CHIP ? header : undefined}>
            {header.length > CHIP ? `${header.slice(0, CHIP - 1)}…` : header}
          </span>
        )}
        <span className="muted">{useHint(question, small === true)}</span>
      </div>
      <h2 className={small ? "qtext m" : "qtext"} id={titleId}>
        <Visible text={question.text} />
      </h2>
    </>
  );
}

function useHint(question: Question, inSet: boolean): string {
  const { t, readOnly } = useHost();
  if (question.preselected && question.preselected.length > 0) return t("question.preselected");
  const words = [kindWords(question, t, inSet || readOnly)];
  if (question.required === false) words.push(t("question.optional"));
  else if (question.secret) words.push(t("question.required"));
  return words.join(", ");
}

function kindWords(question: Question, t: Translate, inSet: boolean): string {
  const { minimum: min, maximum: max } = question;
  switch (question.input ?? "choice") {
    case "number":
      if (min != null && max != null) return t("question.numberRange", { min, max });
      if (min != null) return t("question.numberMin", { min });
      return max != null ? t("question.numberMax", { max }) : t("question.number");
    case "yesNo":
      return t("question.yesNo");
    case "text":
      return t(question.secret ? "question.secret" : "question.text");
    case "choice":
      if (question.multiple) return t("question.chooseAny");
      if (inSet) return t("question.chooseOneSet");
      return t(isTouch() ? "question.chooseOneTap" : "question.chooseOne");
  }
}

interface FieldProps {
  model: AskCardModel;
  index: number;
  question: Question;
}

/** A field for text, a number or a secret. Enter sends it when it is the only question. */
export function QuestionField({ model, index, question }: FieldProps) {
  const { t } = useHost();
  const [shown, setShown] = useState(false);
  const hint = useId();
  const failed = model.sending?.phase === "failed" ? model.sending.error.details.problems : undefined;
  const problem = model.problems.get(index);
  const wrong = problem !== undefined || (failed?.some((one) => one.index === index) ?? false);
  const alone = (model.ask.questions ?? []).length === 1;
  const common = {
    value: model.draft.questions[index]?.text ?? "",
    "aria-label": t("question.answerFor", { question: plain(question.header || question.text) }),
    "aria-invalid": wrong || undefined,
    "data-field": true,
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      if (event.key === "Escape") event.currentTarget.blur();
      else if (alone) sendOnEnter(event, model.submit);
    },
  };
  if (question.secret) {
    return (
      <div className="field" data-wrong={wrong}>
        <Lock size={14} aria-hidden="true" />
        <input
          {...common}
          type={shown ? "text" : "password"}
          autoComplete="off"
          spellCheck={false}
          placeholder={t("question.secretHint")}
          onChange={(event) => model.type(index, event.target.value)}
        />
        <button
          type="button"
          aria-label={t(shown ? "question.hide" : "question.show")}
          onClick={() => setShown(!shown)}
        >
          {shown ? <EyeOff size={14} aria-hidden="true" /> : <Eye size={14} aria-hidden="true" />}
        </button>
      </div>
    );
  }
  if (question.input === "number") {
    return (
      <>
        <div className="field short" data-wrong={wrong}>
          <input
            {...common}
            aria-describedby={problem ? hint : undefined}
            inputMode="decimal"
            autoComplete="off"
            onChange={(event) => model.type(index, event.target.value)}
          />
        </div>
        {problem && (
          <p className="wrong" id={hint} role="alert">
            {problem}
          </p>
        )}
      </>
    );
  }
  return (
    <div className="field area" data-wrong={wrong}>
      <textarea {...common} rows={2} onChange={(event) => model.type(index, event.target.value)} />
    </div>
  );
}

/** Enter sends, and Shift+Enter inserts a line break. An Enter that ends an IME composition does neither. */
export function sendOnEnter(event: KeyboardEvent, send: () => void): void {
  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  send();
}
