import { type KeyboardEvent, useEffect, useRef } from "react";
import { useHost } from "../host";
import type { AskCardModel, WrittenField } from "../useAskCard";
import { sendOnEnter } from "./fields";

/** The field takes the focus when the person opens it, and never by itself: a card that is shown again keeps its keys. */
export function useWrittenField(model: AskCardModel, field: WrittenField) {
  const element = useRef<HTMLTextAreaElement>(null);
  const count = model.writing?.field === field ? model.writing.count : 0;
  useEffect(() => {
    if (count > 0) element.current?.focus();
  }, [count]);
  return element;
}

/** Escape closes a field in which nothing was changed, and else only leaves it. */
export function leaveOnEscape(event: KeyboardEvent<HTMLElement>, model: AskCardModel, field: WrittenField): void {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.currentTarget.blur();
  model.leaveField(field);
}

/** Words that go with the answer. */
export function NoteField({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const field = useWrittenField(model, "note");
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
          onKeyDown={(event) => leaveOnEscape(event, model, "note")}
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
  const field = useWrittenField(model, "reason");
  if (reason === null) return null;
  const question = model.ask.kind === "question";
  const label = t(question ? "approval.rejectReason" : "approval.reason");
  const send = () => model.no({ message: reason });
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    leaveOnEscape(event, model, "reason");
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
