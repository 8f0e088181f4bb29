import type { QuestionItem } from "@sayso/sdk";
import { OneClick } from "../parts/OneClick";
import { QuestionSet } from "../parts/QuestionSet";
import { Frame } from "./Frame";
import { useQuestionPrompt } from "./useToolCall";

export interface QuestionPromptProps {
  sessionId: string;
  toolCallId: string;
  /** As the gateway's stream tells them. */
  questions: readonly QuestionItem[];
  /** Whether a click on an option of a single question sends it. Otherwise one chooses and submits. */
  oneClick?: boolean;
  /** It was decided elsewhere: nothing can be chosen any more. */
  settled?: boolean;
}

/** The questions of a tool call: choose, submit, and see what was chosen. */
export function QuestionPrompt({ settled = false, ...props }: QuestionPromptProps) {
  const card = useQuestionPrompt(props);
  const { model, host } = card;
  const [question] = model.ask.questions ?? [];
  const ready = model.missing.length === 0;
  return (
    <Frame card={card} settled={settled}>
      <div className="body">
        {model.oneClick && question ? (
          <OneClick model={model} question={question} compact />
        ) : (
          <QuestionSet model={model} />
        )}
      </div>
      <div className="foot">
        <button type="button" className="btn primary" aria-disabled={!ready} onClick={model.submit}>
          {host.t("button.submit")}
        </button>
      </div>
    </Frame>
  );
}
