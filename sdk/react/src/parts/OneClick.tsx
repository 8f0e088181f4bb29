import { Eye } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import type { Question, QuestionOption } from "../api";
import { useHost } from "../host";
import { optionLabel } from "../model/draft";
import { plain } from "../model/invisible";
import { takesOther } from "../model/view";
import type { AskCardModel } from "../useAskCard";
import type { Translate } from "../words";
import { Head, isTouch, sendOnEnter } from "./fields";
import { Kbd } from "./Kbd";
import { Visible } from "./Visible";

interface OneClickProps {
  model: AskCardModel;
  question: Question;
  compact: boolean;
}

/** One question whose options are buttons that send with one click or key. */
export function OneClick({ model, question, compact }: OneClickProps) {
  const { t } = useHost();
  const [pointed, setPointed] = useState<number | null>(null);
  const options = optionsOf(question, t);
  const titleId = `title-${model.ask.id}`;
  const first = options.findIndex((option) => option.preview);
  const hasPreview = first >= 0;
  const shown = pointed ?? model.highlight ?? first;
  return (
    <>
      <Head question={question} titleId={titleId} />
      <div className={hasPreview ? "withprev" : ""}>
        <fieldset className="opts" data-options aria-labelledby={titleId}>
          {options.map((option, index) => (
            <button
              key={option.value ?? option.label}
              type="button"
              className={compact ? "opt line" : "opt"}
              data-option
              data-on={model.highlight === index}
              aria-keyshortcuts={keyOf(question, index)}
              tabIndex={index === (model.highlight ?? 0) ? 0 : -1}
              onClick={() => model.sendOption(index)}
              onFocus={() => setPointed(index)}
              onBlur={() => setPointed(null)}
              onMouseEnter={() => setPointed(index)}
              onMouseLeave={() => setPointed(null)}
            >
              <OptionWords option={option} t={t} leading={<OptionKey name={keyOf(question, index)} />} />
            </button>
          ))}
          {takesOther(question) && <Other model={model} question={question} place={options.length + 1} />}
        </fieldset>
        {hasPreview && !isTouch() && <OptionPreview option={options[shown]} place={shown + 1} t={t} />}
        {isTouch() &&
          options.map(
            (option, index) =>
              option.preview && <OptionPreview key={option.label} option={option} place={index + 1} t={t} />,
          )}
      </div>
    </>
  );
}

/** The keys of an option: its number, and on a yes/no question also the keys for yes and no. */
function keyOf(question: Question, index: number): string | undefined {
  if (question.input === "yesNo") return ["a", "d"][index];
  return index < 9 ? String(index + 1) : undefined;
}

const OptionKey = ({ name }: { name: string | undefined }) => (name ? <Kbd>{name}</Kbd> : <span />);

function optionsOf(question: Question, t: Translate): QuestionOption[] {
  if (question.input !== "yesNo") return question.options ?? [];
  return [
    { value: "true", label: t("question.yes") },
    { value: "false", label: t("question.no") },
  ];
}

interface OptionWordsProps {
  option: QuestionOption;
  t: Translate;
  leading: ReactNode;
  trailing?: ReactNode;
}

/** The content of an option: mark, label, "Recommended", key, description. */
export function OptionWords({ option, t, leading, trailing }: OptionWordsProps) {
  return (
    <>
      {leading}
      <span className="l">
        <Visible text={optionLabel(option)} />
      </span>
      <span className="rec">
        {option.recommended ? t("question.recommended") : ""}
        {trailing}
      </span>
      {option.description && (
        <span className="d">
          <Visible text={option.description} />
        </span>
      )}
    </>
  );
}

/** Moves the focus from the field to the nearest option, where digits choose. In the field, digits are text. */
function leaveForOptions(event: KeyboardEvent<HTMLInputElement>, model: AskCardModel): void {
  const options = event.currentTarget.closest("[data-options]")?.querySelectorAll<HTMLElement>("[data-option]");
  if (!options?.length) return;
  const next = event.key === "ArrowUp" ? options.length - 1 : 0;
  event.preventDefault();
  options[next]?.focus();
  model.setHighlight(next);
}

function Other({ model, question, place }: { model: AskCardModel; question: Question; place: number }) {
  const { t } = useHost();
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Escape") event.currentTarget.blur();
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") leaveForOptions(event, model);
    else sendOnEnter(event, model.submit);
  };
  return (
    <div className="opt line other">
      <OptionKey name={keyOf(question, place - 1)} />
      <span className="field">
        <input
          data-other
          value={model.draft.questions[0]?.text ?? ""}
          placeholder={t("question.other")}
          aria-label={t("question.otherFor", { question: plain(question.header || question.text) })}
          onChange={(event) => model.type(0, event.target.value)}
          onFocus={() => model.setHighlight(null)}
          onKeyDown={onKeyDown}
        />
      </span>
    </div>
  );
}

function OptionPreview({ option, place, t }: { option: QuestionOption | undefined; place: number; t: Translate }) {
  return (
    <div className="prev" aria-live="off">
      <div className="cap">
        <Eye size={14} strokeWidth={1.75} aria-hidden="true" />
        {option?.preview ? t("question.preview", { key: place }) : t("question.previewEmpty")}
      </div>
      {option?.preview && (
        <pre>
          <Visible text={option.preview} />
        </pre>
      )}
    </div>
  );
}
