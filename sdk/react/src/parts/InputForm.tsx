import { type KeyboardEvent, useEffect, useRef } from "react";
import { useHost } from "../host";
import { type FormField, fieldProblem, formValues, withValue } from "../model/schemaForm";
import { type AskCardModel, rangeWords } from "../useAskCard";
import { leaveOnEscape } from "./notes";
import { Visible } from "./Visible";

interface InputFormProps {
  model: AskCardModel;
  fields: FormField[];
}

/** The input of an approval as a form. The first field has the focus when the person opens it. */
export function InputForm({ model, fields }: InputFormProps) {
  const form = useRef<HTMLDivElement>(null);
  const count = model.writing?.field === "input" ? model.writing.count : 0;
  useEffect(() => {
    if (count > 0) form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }, [count]);
  return (
    <div className="editor form" ref={form}>
      {fields.map((field) => (
        <InputField key={field.name} model={model} field={field} />
      ))}
    </div>
  );
}

function InputField({ model, field }: { model: AskCardModel; field: FormField }) {
  const { t } = useHost();
  const text = model.draft.input ?? "{}";
  const value = formValues(text)[field.name];
  const problem = fieldProblem(field, value);
  const shown = value === undefined ? "" : String(value);
  const change = (typed: string | boolean) => model.change({ input: withValue(text, field, typed) });
  const common = {
    "aria-invalid": problem !== undefined || undefined,
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => leaveOnEscape(event, model, "input"),
  };
  return (
    <label>
      <span className="cap">
        <Visible text={field.title} />
        {!field.required && <span className="muted"> {t("question.optional")}</span>}
      </span>
      {field.description && (
        <span className="muted">
          <Visible text={field.description} />
        </span>
      )}
      {field.kind === "boolean" ? (
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => change(event.target.checked)}
        />
      ) : (
        <span className={field.kind === "number" ? "field short" : "field"} data-wrong={problem !== undefined}>
          {field.kind === "choice" ? (
            <select {...common} value={shown} onChange={(event) => change(event.target.value)}>
              {(!field.required || problem) && <option value="" />}
              {field.options.map((option) => (
                <option key={option}>{option}</option>
              ))}
            </select>
          ) : (
            <textarea
              {...common}
              rows={Math.min(12, shown.split("\n").length)}
              inputMode={field.kind === "number" ? "decimal" : undefined}
              value={shown}
              onChange={(event) => change(event.target.value)}
            />
          )}
        </span>
      )}
      {problem && (
        <span className="wrong">{problem === "missing" ? t("approval.fieldRequired") : rangeWords(t, field)}</span>
      )}
    </label>
  );
}
