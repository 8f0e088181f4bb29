import { Visible } from "@sayso/react";
import { X } from "lucide-react";
import { useState } from "react";
import { useWords } from "../i18n";

interface TokensProps {
  label: string;
  add: string;
  values: string[];
  readOnly: boolean;
  onChange: (values: string[]) => void;
}

/** A list of short texts, each with a button that removes it. Enter or leaving the field adds one. */
export function Tokens({ label, add, values, readOnly, onChange }: TokensProps) {
  const t = useWords();
  const [text, setText] = useState("");
  const commit = () => {
    const wanted = text.trim();
    setText("");
    if (wanted && !values.includes(wanted)) onChange([...values, wanted]);
  };
  return (
    <div className="toks">
      {values.map((value) => (
        <span key={value} className="tok mono" data-not={value.startsWith("!")}>
          <Visible text={value} />
          {!readOnly && (
            <button
              type="button"
              aria-label={t("policy.remove", { what: value })}
              onClick={() => onChange(values.filter((one) => one !== value))}
            >
              <X size={14} aria-hidden="true" />
            </button>
          )}
        </span>
      ))}
      {!readOnly && (
        <input
          className="tok mono new"
          aria-label={label}
          placeholder={add}
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.nativeEvent.isComposing) commit();
          }}
        />
      )}
    </div>
  );
}
