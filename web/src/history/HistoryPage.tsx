import { type Ask, baseName, Kbd } from "@sayso/react";
import { Download, Search } from "lucide-react";
import { useMemo, useState } from "react";
import { useCardWords, useWords } from "../i18n";
import { useSessions } from "../live/hooks";
import { download } from "../ui/download";
import { blurOnEscape } from "../ui/keys";
import { Select } from "../ui/Select";
import { HistoryChart } from "./HistoryChart";
import { HistoryTable } from "./HistoryTable";
import { filtered, NO_FILTERS, PERIODS, type Period, toCsv } from "./model";
import { useHistory } from "./useHistory";

const OUTCOMES = ["answered", "approved", "rejected", "denied", "withdrawn"] as const;
const DECIDERS = ["person", "policy", "timeout", "message", "agent"] as const;

/** Decided asks, their outcomes and waiting times. */
export function HistoryPage() {
  const t = useWords();
  const words = useCardWords();
  const [filters, setFilters] = useState(NO_FILTERS);
  const { data: asks = [], isPending } = useHistory(filters);
  const projects = useProjects(asks, filters.project);
  const shown = useMemo(() => filtered(asks, filters), [asks, filters]);
  const agents = useMemo(() => [...new Set(asks.map((ask) => ask.agent))].sort(), [asks]);
  return (
    <section className="page" aria-label={t("nav.history")}>
      <div className="bar">
        <h1>{t("nav.history")}</h1>
        <span className="muted num">{t("history.count", { count: asks.length })}</span>
        <span className="grow" />
        <button
          type="button"
          className="btn sm"
          onClick={() => download("sayso-history.json", JSON.stringify(shown, null, 2), "application/json")}
        >
          <Download size={14} aria-hidden="true" />
          {t("history.json")}
        </button>
        <button
          type="button"
          className="btn sm"
          onClick={() => download("sayso-history.csv", toCsv(shown), "text/csv")}
        >
          {t("history.csv")}
        </button>
      </div>
      <HistoryChart asks={asks} period={filters.period} />
      <div className="tools">
        <label className="field find">
          <Search size={14} aria-hidden="true" />
          <input
            id="filter"
            value={filters.text}
            placeholder={t("history.search")}
            aria-label={t("history.search")}
            onChange={(event) => setFilters({ ...filters, text: event.target.value })}
            onKeyDown={blurOnEscape}
          />
          <Kbd>/</Kbd>
        </label>
        <Select
          label={t("history.outcome")}
          value={filters.outcome}
          options={OUTCOMES.map((value) => ({ value, label: words(`state.${value}`) }))}
          onChange={(outcome) => setFilters({ ...filters, outcome })}
        />
        <Select
          label={t("history.by")}
          value={filters.by}
          options={DECIDERS.map((value) => ({ value, label: t(`by.${value}`) }))}
          onChange={(by) => setFilters({ ...filters, by })}
        />
        <Select
          label={t("facts.agent")}
          value={filters.agent}
          options={agents.map((value) => ({ value, label: value }))}
          onChange={(agent) => setFilters({ ...filters, agent })}
        />
        <Select
          label={t("facts.project")}
          value={filters.project}
          options={projects.map((value) => ({ value, label: baseName(value) }))}
          onChange={(project) => setFilters({ ...filters, project })}
        />
        <span className="grow" />
        {filters.period === "custom" &&
          (["from", "to"] as const).map((end) => (
            <label key={end} className="field when">
              <span className="muted">{t(`history.${end}`)}</span>
              <input
                type="date"
                value={filters[end]}
                onChange={(event) => setFilters({ ...filters, [end]: event.target.value })}
              />
            </label>
          ))}
        <select
          className="btn select"
          aria-label={t("history.period")}
          value={filters.period}
          onChange={(event) => setFilters({ ...filters, period: periodOf(event.target.value) })}
        >
          {PERIODS.map((period) => (
            <option key={period} value={period}>
              {period === "custom" ? t("history.custom") : t("history.days", { count: period })}
            </option>
          ))}
        </select>
      </div>
      {!isPending && shown.length === 0 ? (
        <p className="none">{asks.length === 0 ? t("history.none") : t("inbox.noMatch", { text: filters.text })}</p>
      ) : (
        <HistoryTable asks={shown} />
      )}
    </section>
  );
}

const periodOf = (value: string): Period => PERIODS.find((period) => String(period) === value) ?? NO_FILTERS.period;

/** The options of the project filter: projects of the shown asks and of the sessions, and the selected one. */
function useProjects(asks: Ask[], chosen: string): string[] {
  const sessions = useSessions();
  return useMemo(() => {
    const known = [chosen, ...sessions.map((session) => session.cwd), ...asks.map((ask) => ask.project)];
    return [...new Set(known.filter((project): project is string => Boolean(project)))].sort();
  }, [asks, sessions, chosen]);
}
