import { useWords } from "../i18n";

interface SelectProps {
  label: string;
  value: string;
  options: { value: string; label: string }[];
  onChange: (value: string) => void;
}

/** A select box for a filter. */
export function Select({ label, value, options, onChange }: SelectProps) {
  const t = useWords();
  return (
    <select
      className="btn select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      data-set={value !== ""}
    >
      <option value="">
        {label}: {t("filter.all")}
      </option>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
