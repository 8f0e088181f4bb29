import { fullDate } from "@sayso/react";
import { useWords } from "../i18n";

const DAY_MS = 86_400_000;
const LENGTHS = { day: DAY_MS, week: 7 * DAY_MS } as const;
type Length = keyof typeof LENGTHS;

/** The end of a rule: never, at its current end, or after a period from now. */
export function RuleEnd({
  until,
  onChange,
}: {
  until: string | undefined;
  onChange: (until: string | undefined) => void;
}) {
  const t = useWords();
  const choose = (value: string) => {
    const length = LENGTHS[value as Length];
    if (length) onChange(new Date(Date.now() + length).toISOString());
    else if (value === "") onChange(undefined);
  };
  return (
    <select
      className="btn select"
      aria-label={t("policy.until")}
      value={until ? "set" : ""}
      onChange={(event) => choose(event.target.value)}
    >
      <option value="">{t("rule.for.noEnd")}</option>
      {until && <option value="set">{fullDate(until)}</option>}
      {(Object.keys(LENGTHS) as Length[]).map((length) => (
        <option key={length} value={length}>
          {t(`policy.in.${length}`)}
        </option>
      ))}
    </select>
  );
}
