import { Root as Checkbox, Indicator as CheckMark } from "@radix-ui/react-checkbox";
import { Item as Radio, Root as RadioGroup, Indicator as RadioMark } from "@radix-ui/react-radio-group";
import { Check, CircleCheck, CircleDashed } from "lucide-react";
import type { Question, QuestionOption } from "../api";
import { useHost } from "../host";
import { optionValue } from "../model/draft";
import { plain } from "../model/invisible";
import { takesOther } from "../model/view";
import type { AskCardModel } from "../useAskCard";
import { Head, QuestionField } from "./fields";
import { OptionWords } from "./OneClick";

const OTHER = "\u0000other";

/** Several questions, or one that takes several options: marks, and then Submit. */
export function QuestionSet({ model }: { model: AskCardModel }) {
  const questions = model.ask.questions ?? [];
  return (
    <div className="qset" data-many={questions.length > 1}>
      {questions.map((question, index) => (
        <OneOfSet key={question.key ?? index} model={model} question={question} index={index} />
      ))}
    </div>
  );
}

interface PartProps {
  model: AskCardModel;
  question: Question;
  index: number;
}

function OneOfSet({ model, question, index }: PartProps) {
  const { t } = useHost();
  const many = (model.ask.questions ?? []).length > 1;
  const done = (model.answers[index] ?? []).length > 0;
  const titleId = index === 0 ? `title-${model.ask.id}` : `title-${model.ask.id}-${index}`;
  const Mark = done ? CircleCheck : CircleDashed;
  const field = question.input === "text" || question.input === "number";
  return (
    <section className="qone" data-done={done} data-field={field} aria-labelledby={titleId}>
      {many && <Mark className="i tick" size={16} strokeWidth={1.75} aria-hidden="true" />}
      <div>
        <Head question={question} t={t} titleId={titleId} small={many} />
        {field && <QuestionField model={model} index={index} question={question} />}
        {!field && question.multiple && <Checks model={model} question={question} index={index} />}
        {!field && !question.multiple && <Radios model={model} question={question} index={index} titleId={titleId} />}
      </div>
    </section>
  );
}

function Radios({ model, question, index, titleId }: PartProps & { titleId: string }) {
  const { t } = useHost();
  const draft = model.draft.questions[index];
  const options: QuestionOption[] =
    question.input === "yesNo"
      ? [
          { value: "true", label: t("question.yes") },
          { value: "false", label: t("question.no") },
        ]
      : (question.options ?? []);
  const value = draft?.other ? OTHER : (draft?.chosen[0] ?? "");
  const choose = (chosen: string) => (chosen === OTHER ? model.chooseOther(index, true) : model.choose(index, chosen));
  return (
    <RadioGroup className="opts grid" aria-labelledby={titleId} value={value} onValueChange={choose}>
      {options.map((option) => (
        <label key={optionValue(option)} className="opt compact" data-on={value === optionValue(option)}>
          <OptionWords
            option={option}
            t={t}
            leading={
              <Radio className="mark" value={optionValue(option)}>
                <RadioMark className="bullet" />
              </Radio>
            }
          />
        </label>
      ))}
      {takesOther(question) && (
        <div className="opt compact other" data-on={value === OTHER}>
          <Radio className="mark" value={OTHER} aria-label={t("question.otherLabel")}>
            <RadioMark className="bullet" />
          </Radio>
          <OtherField model={model} question={question} index={index} />
        </div>
      )}
    </RadioGroup>
  );
}

function Checks({ model, question, index }: PartProps) {
  const { t } = useHost();
  const draft = model.draft.questions[index];
  return (
    <div className="opts grid">
      {(question.options ?? []).map((option) => {
        const on = draft?.chosen.includes(optionValue(option)) ?? false;
        return (
          <label key={optionValue(option)} className="opt compact" data-on={on}>
            <OptionWords
              option={option}
              t={t}
              leading={
                <Checkbox
                  className="mark sq"
                  checked={on}
                  onCheckedChange={() => model.choose(index, optionValue(option))}
                >
                  <CheckMark>
                    <Check className="i" aria-hidden="true" />
                  </CheckMark>
                </Checkbox>
              }
            />
          </label>
        );
      })}
      {takesOther(question) && (
        <div className="opt compact other" data-on={draft?.other ?? false}>
          <Checkbox
            className="mark sq"
            aria-label={t("question.otherLabel")}
            checked={draft?.other ?? false}
            onCheckedChange={(on) => model.chooseOther(index, on === true)}
          >
            <CheckMark>
              <Check className="i" aria-hidden="true" />
            </CheckMark>
          </Checkbox>
          <OtherField model={model} question={question} index={index} />
        </div>
      )}
    </div>
  );
}

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
