import { useWords } from "../i18n";

const DAY_MS = 86_400_000;
const LENGTHS = { day: DAY_MS, week: 7 * DAY_MS } as const;
type Length = keyof typeof LENGTHS;

/** When a rule ends: never, at the time that it says, or some time from now. */
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
      {until && <option value="set">{new Date(until).toLocaleString()}</option>}
      {(Object.keys(LENGTHS) as Length[]).map((length) => (
        <option key={length} value={length}>
          {t(`policy.in.${length}`)}
        </option>
      ))}
    </select>
  );
}
