import type { QuestionItem } from "@sayso/sdk";
import { OneClick } from "../parts/OneClick";
import { QuestionSet } from "../parts/QuestionSet";
import { Frame } from "./Frame";
import { useQuestionPrompt } from "./useToolCall";

/** Properties of {@link QuestionPrompt}. */
export interface QuestionPromptProps {
  /** The session of the tool call. */
  sessionId: string;
  /** The tool call that asks. */
  toolCallId: string;
  /** The questions of the gateway stream. */
  questions: readonly QuestionItem[];
  /** Whether a click on an option of a single question sends it. Otherwise the person selects and submits. */
  oneClick?: boolean;
  /** Whether the ask was decided elsewhere. Then the card is read-only. */
  settled?: boolean;
}

/** The questions of a tool call: select, submit, and review the answer. */
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
