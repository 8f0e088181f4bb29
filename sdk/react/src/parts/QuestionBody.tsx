import type { AskCardModel } from "../useAskCard";
import { Head, QuestionField } from "./fields";
import { OneClick } from "./OneClick";
import { QuestionFooter } from "./QuestionFooter";
import { QuestionSet } from "./QuestionSet";

/** The questions of an ask and their controls. */
export function QuestionBody({ model, compact }: { model: AskCardModel; compact: boolean }) {
  const [question, second] = model.ask.questions ?? [];
  if (!question) return null;
  const set =
    second !== undefined ||
    ((question.input ?? "choice") === "choice" && !model.oneClick) ||
    question.input === "yesNo";
  return (
    <>
      <div className="body">
        {model.oneClick && <OneClick model={model} question={question} compact={compact} />}
        {!model.oneClick && set && <QuestionSet model={model} />}
        {!model.oneClick && !set && (
          <>
            <Head question={question} titleId={`title-${model.ask.id}`} />
            <QuestionField model={model} index={0} question={question} />
          </>
        )}
      </div>
      <QuestionFooter model={model} />
    </>
  );
}
