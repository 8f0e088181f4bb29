import { CircleCheck, CircleDashed } from "lucide-react";
import { useId } from "react";
import type { Question, QuestionOption } from "../api";
import { useHost } from "../host";
import { optionValue } from "../model/draft";
import { plain } from "../model/invisible";
import { takesOther } from "../model/view";
import type { AskCardModel } from "../useAskCard";
import { Head, QuestionField } from "./fields";
import { Kbd } from "./Kbd";
import { OptionWords } from "./OneClick";

/** Several questions, or one with several choices: radio buttons or checkboxes, and Submit. */
export function QuestionSet({ model }: { model: AskCardModel }) {
  const questions = model.ask.questions ?? [];
  const open = (model.answers ?? []).findIndex((answer) => answer.length === 0);
  const current = questions.length === 1 ? 0 : open;
  return (
    <div className="qset" data-many={questions.length > 1}>
      {questions.map((question, index) => (
        <OneOfSet
          key={question.key ?? index}
          model={model}
          question={question}
          index={index}
          current={index === current}
        />
      ))}
    </div>
  );
}

interface PartProps {
  model: AskCardModel;
  question: Question;
  index: number;
}

function OneOfSet({ model, question, index, current }: PartProps & { current: boolean }) {
  const many = (model.ask.questions ?? []).length > 1;
  const done = (model.answers[index] ?? []).length > 0;
  const titleId = index === 0 ? `title-${model.ask.id}` : `title-${model.ask.id}-${index}`;
  const Mark = done ? CircleCheck : CircleDashed;
  const field = question.input === "text" || question.input === "number";
  const missing = model.problems.has(index) || (!done && question.required !== false);
  return (
    <section
      className="qone"
      data-question
      data-current={current}
      data-done={done}
      data-missing={missing}
      data-single={field}
      aria-labelledby={titleId}
    >
      {many && <Mark className="i tick" size={16} strokeWidth={1.75} aria-hidden="true" />}
      <div>
        <Head question={question} titleId={titleId} small={many} />
        {field && <QuestionField model={model} index={index} question={question} />}
        {!field && question.multiple && <Checks model={model} question={question} index={index} />}
        {!field && !question.multiple && <Radios model={model} question={question} index={index} titleId={titleId} />}
      </div>
    </section>
  );
}

function Radios({ model, question, index, titleId }: PartProps & { titleId: string }) {
  const { t } = useHost();
  const name = useId();
  const draft = model.draft.questions[index];
  const options: QuestionOption[] =
    question.input === "yesNo"
      ? [
          { value: "true", label: t("question.yes") },
          { value: "false", label: t("question.no") },
        ]
      : (question.options ?? []);
  const other = draft?.other ?? false;
  return (
    <div className="opts grid" role="radiogroup" aria-labelledby={titleId}>
      {options.map((option, at) => {
        const value = optionValue(option);
        const on = !other && draft?.chosen[0] === value;
        const mark = (
          <input className="mark" type="radio" name={name} checked={on} onChange={() => model.choose(index, value)} />
        );
        return (
          <label key={value} className="opt compact" data-on={on}>
            <OptionWords option={option} t={t} leading={mark} trailing={<MarkKey at={at} />} />
          </label>
        );
      })}
      {takesOther(question) && (
        <div className="opt compact other" data-on={other}>
          <label className="othermark">
            <input
              className="mark"
              type="radio"
              name={name}
              aria-label={t("question.otherLabel")}
              checked={other}
              onChange={() => model.chooseOther(index, true)}
            />
          </label>
          <OtherField model={model} question={question} index={index} />
        </div>
      )}
    </div>
  );
}

function Checks({ model, question, index }: PartProps) {
  const { t } = useHost();
  const draft = model.draft.questions[index];
  return (
    <div className="opts grid">
      {(question.options ?? []).map((option, at) => {
        const value = optionValue(option);
        const on = draft?.chosen.includes(value) ?? false;
        const mark = (
          <input className="mark" type="checkbox" checked={on} onChange={() => model.choose(index, value)} />
        );
        return (
          <label key={value} className="opt compact" data-on={on}>
            <OptionWords option={option} t={t} leading={mark} trailing={<MarkKey at={at} />} />
          </label>
        );
      })}
      {takesOther(question) && (
        <div className="opt compact other" data-on={draft?.other ?? false}>
          <label className="othermark">
            <input
              className="mark"
              type="checkbox"
              aria-label={t("question.otherLabel")}
              checked={draft?.other ?? false}
              onChange={(event) => model.chooseOther(index, event.target.checked)}
            />
          </label>
          <OtherField model={model} question={question} index={index} />
        </div>
      )}
    </div>
  );
}

/** The digit that chooses an option. */
const MarkKey = ({ at }: { at: number }) => (at < 9 ? <Kbd>{String(at + 1)}</Kbd> : null);

function OtherField({ model, question, index }: PartProps) {
  const { t } = useHost();
  return (
    <span className="field">
      <input
        data-other
        value={model.draft.questions[index]?.text ?? ""}
        placeholder={t("question.other")}
        aria-label={t("question.otherFor", { question: plain(question.header || question.text) })}
        onChange={(event) => model.type(index, event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
    </span>
  );
}
