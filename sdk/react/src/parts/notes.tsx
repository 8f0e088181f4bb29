import { type KeyboardEvent, useEffect, useRef } from "react";
import { useHost } from "../host";
import type { AskCardModel } from "../useAskCard";
import { sendOnEnter } from "./fields";

/** The field takes the focus when it appears, so that a key opens it and typing goes on. */
function useFocusAtStart(empty: boolean) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (empty) field.current?.focus();
  }, [empty]);
  return field;
}

function blurOnEscape(event: KeyboardEvent<HTMLElement>): void {
  if (event.key === "Escape") event.currentTarget.blur();
}

/** Words that go with the answer. */
export function NoteField({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const field = useFocusAtStart(model.draft.note === "");
  if (model.draft.note === null) return null;
  return (
    <div className="extra">
      <div className="field area">
        <textarea
          ref={field}
          rows={2}
          value={model.draft.note}
          placeholder={t("note.label")}
          aria-label={t("note.label")}
          onKeyDown={blurOnEscape}
          onChange={(event) => model.change({ note: event.target.value })}
        />
      </div>
    </div>
  );
}

/** Why not. The agent gets these words. */
export function ReasonField({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const { reason } = model.draft;
  const field = useFocusAtStart(reason === "");
  if (reason === null) return null;
  const question = model.ask.kind === "question";
  const label = t(question ? "approval.rejectReason" : "approval.reason");
  const send = () => model.no({ message: reason });
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    blurOnEscape(event);
    sendOnEnter(event, send);
  };
  return (
    <div className="extra hstack">
      <div className="field area">
        <textarea
          ref={field}
          rows={1}
          value={reason}
          placeholder={label}
          aria-label={label}
          onKeyDown={onKeyDown}
          onChange={(event) => model.change({ reason: event.target.value })}
        />
      </div>
      <button type="button" className="btn no" onClick={send}>
        {t(question ? "button.reject" : "button.deny")}
      </button>
      <button type="button" className="btn ghost" onClick={() => model.change({ reason: null })}>
        {t("button.cancel")}
      </button>
    </div>
  );
}
