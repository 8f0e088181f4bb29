import { useId } from "react";
import { useHost } from "../host";
import { optionLabel } from "../model/draft";
import { takesTyping, yesNoQuestion } from "../model/view";
import { focusMissing } from "../setKeys";
import { type AskCardModel, optionCount } from "../useAskCard";
import { Kbd } from "./Kbd";
import { ButtonWords, NoteField, ReasonField, ReasonFooter } from "./notes";

/** Buttons for send, note and reject. Reject is always shown. */
export function QuestionFooter({ model }: { model: AskCardModel }) {
  const { draft } = model;
  return (
    <>
      <NoteField model={model} />
      <ReasonField model={model} />
      {draft.reason === null ? <Actions model={model} /> : <ReasonFooter model={model} />}
    </>
  );
}

function Actions({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const hint = useId();
  const { ask, draft } = model;
  const questions = ask.questions ?? [];
  const many = questions.length > 1;
  const ready = model.missing.length === 0;
  // With a typed answer, letters are text. On a yes/no question, `d` answers No.
  const letters = !takesTyping(ask);
  const rejectKey = letters && !yesNoQuestion(ask);
  const progress =
    many && !ready
      ? t("question.progress", {
          answered: questions.length - model.missing.length,
          total: questions.length,
          missing: model.missing[0] ?? "",
        })
      : "";
  return (
    <div className="actions">
      <div className="foot">
        {model.oneClick ? (
          <SendChoice model={model} />
        ) : (
          <button
            type="button"
            className="btn primary"
            aria-disabled={!ready}
            aria-describedby={progress ? hint : undefined}
            aria-keyshortcuts="Control+Enter"
            data-submit
            onClick={(event) => model.submit() || focusMissing(event.currentTarget)}
          >
            {t("button.submit")} <Kbd>{many || questions[0]?.multiple ? "Ctrl ↵" : "Enter"}</Kbd>
          </button>
        )}
        {progress && (
          <span className="muted" id={hint}>
            {progress}
          </span>
        )}
        <span className="gap" />
        {draft.note === null && (
          <button
            type="button"
            className="btn ghost"
            aria-label={t("button.note")}
            aria-keyshortcuts={letters ? "n" : undefined}
            onClick={() => model.write("note")}
          >
            <ButtonWords long={t("button.note")} short={t("button.noteShort")} /> {letters && <Kbd>n</Kbd>}
          </button>
        )}
        <button
          type="button"
          className="btn ghost"
          aria-label={t("button.rejectReason")}
          aria-keyshortcuts={letters ? "r" : undefined}
          onClick={() => model.write("reason")}
        >
          <ButtonWords long={t("button.rejectReason")} short={t("button.reasonShort")} /> {letters && <Kbd>r</Kbd>}
        </button>
        <button
          type="button"
          className="btn no"
          aria-keyshortcuts={rejectKey ? "d" : undefined}
          onClick={() => model.no()}
        >
          {t(many ? "button.rejectAll" : "button.reject")} {rejectKey && <Kbd>d</Kbd>}
        </button>
      </div>
    </div>
  );
}

/** On a one-click card: sends the highlighted option or the typed text. */
function SendChoice({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const question = model.ask.questions?.[0];
  const typed = model.draft.questions[0]?.other ? model.answers[0]?.[0] : undefined;
  const { highlight } = model;
  const highlighted = highlight !== null && highlight < optionCount(model.ask) ? highlight : undefined;
  const yesNo = [t("question.yes"), t("question.no")];
  const option = highlighted === undefined ? undefined : question?.options?.[highlighted];
  const label =
    highlighted !== undefined && question?.input === "yesNo" ? yesNo[highlighted] : option && optionLabel(option);
  const answer = typed ?? label;
  const preselected =
    highlighted === undefined && typed === undefined && model.missing.length === 0 ? model.answers[0]?.[0] : undefined;
  const shown = answer ?? preselected;
  const send = () => {
    if (typed !== undefined || preselected !== undefined) model.submit();
    else if (highlighted !== undefined) model.sendOption(highlighted);
  };
  return (
    <button
      type="button"
      className="btn primary quick"
      aria-disabled={shown === undefined}
      aria-keyshortcuts="Enter"
      onClick={send}
    >
      <span className="cut">{shown === undefined ? t("button.send") : t("button.sendAnswer", { answer: shown })}</span>{" "}
      <Kbd>Enter</Kbd>
    </button>
  );
}
