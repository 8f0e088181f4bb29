import { type KeyboardEvent, useEffect, useRef } from "react";
import { useHost } from "../host";
import { allows } from "../model/view";
import type { AskCardModel, WrittenField } from "../useAskCard";
import { sendOnEnter } from "./fields";
import { Kbd } from "./Kbd";

/** Focuses a field only when the person opens it, so that a card that is shown again keeps its shortcuts. */
export function useWrittenField(model: AskCardModel, field: WrittenField) {
  const element = useRef<HTMLTextAreaElement>(null);
  const count = model.writing?.field === field ? model.writing.count : 0;
  useEffect(() => {
    if (count === 0 || !element.current) return;
    element.current.focus();
    element.current.setSelectionRange(element.current.value.length, element.current.value.length);
  }, [count]);
  return element;
}

/** Escape closes an unchanged field, and leaves a changed one. */
export function leaveOnEscape(event: KeyboardEvent<HTMLElement>, model: AskCardModel, field: WrittenField): void {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.currentTarget.blur();
  model.leaveField(field);
}

/** The note that is sent with an answer. */
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

const reasonLabel = (model: AskCardModel) =>
  model.ask.kind === "question" ? ("approval.rejectReason" as const) : ("approval.reason" as const);

/** The reason of a denial or rejection, which is sent to the agent. */
export function ReasonField({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const { reason } = model.draft;
  const field = useWrittenField(model, "reason");
  if (reason === null) return null;
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    leaveOnEscape(event, model, "reason");
    sendOnEnter(event, () => model.no());
  };
  return (
    <div className="extra">
      <label>
        <span className="cap">{t(reasonLabel(model))}</span>
        <span className="field area">
          <textarea
            ref={field}
            rows={2}
            value={reason}
            onKeyDown={onKeyDown}
            onChange={(event) => model.change({ reason: event.target.value })}
          />
        </span>
      </label>
    </div>
  );
}

/** The footer while a reason is typed: only the actions that use the reason. */
export function ReasonFooter({ model }: { model: AskCardModel }) {
  const { t } = useHost();
  const { kind } = model.ask;
  return (
    <div className="actions">
      <div className="foot">
        <button type="button" className="btn no" onClick={() => model.no()}>
          {t(kind === "question" ? "button.rejectReason" : "button.denyReason")} <Kbd>Enter</Kbd>
        </button>
        {kind === "approval" && (
          <button type="button" className="btn ghost" onClick={() => model.no({ stop: true })}>
            {t("button.denyStop")}
          </button>
        )}
        <button type="button" className="btn ghost" onClick={() => model.change({ reason: null })}>
          {t("button.cancel")}
        </button>
        <span className="gap" />
        {kind === "approval" && allows(model.ask, "approve") && (
          <button type="button" className="btn ghost" onClick={() => model.approve()}>
            {t("button.approveInstead")}
          </button>
        )}
      </div>
    </div>
  );
}

/** The text of a button: the long form, or the short form on narrow cards. The accessible name is the long form. */
export function ButtonWords({ long, short }: { long: string; short: string }) {
  return (
    <>
      <span className="long">{long}</span>
      <span className="short">{short}</span>
    </>
  );
}
