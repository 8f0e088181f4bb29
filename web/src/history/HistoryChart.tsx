import { type Ask, duration } from "@sayso/react";
import { useMemo } from "react";
import { useCardWords, useWords } from "../i18n";
import { axisOf, type Day, dayOf, type Period, perDay, quantile, shares, waited, withEmptyDays } from "./model";

const HEIGHT = 84;
/** The height of the day below each bar. */
const LABEL = 20;
/** The maximum number of days with a label. */
const LABELS = 16;
const LONGEST = 90;

/** Two charts: how long agents waited for people, and who decided. */
export function HistoryChart({ asks, period }: { asks: Ask[]; period: Period }) {
  const t = useWords();
  const words = useCardWords();
  const days = useMemo(() => shownDays(perDay(asks), period), [asks, period]);
  const share = useMemo(() => shares(asks), [asks]);
  const axis = axisOf(Math.max(...days.map((day) => day.most)));
  const top = axis[2];
  const heightOf = (ms: number) => (ms / 60_000 / top) * HEIGHT;
  const every = Math.ceil(days.length / LABELS);
  const decided = days.some((day) => day.count > 0);
  const said = (day: string, median: number, most: number, count: number) =>
    `${day}: ${duration(words, median)} · ${duration(words, most)} · ${count}`;
  const all = share.person + share.policy + share.timeout;
  const percent = (n: number) => (all === 0 ? 0 : Math.round((n / all) * 100));
  const mine = asks.filter((ask) => ask.outcome?.by.kind === "person").map(waited);
  return (
    <div className="cards">
      <figure className="stats" aria-label={t("chart.waiting")}>
        <figcaption>
          <b>{t("chart.waiting")}</b>
          <span className="muted">{t("chart.perDay")}</span>
          <span className="grow" />
          <span className="key">
            <i className="d1" /> {t("chart.median")}
          </span>
          <span className="key">
            <i className="d0" /> {t("chart.most")}
          </span>
        </figcaption>
        {decided ? (
          <div className="bars">
            {axis.map((minutes) => (
              <span key={minutes} className="tick num" style={{ bottom: LABEL + (minutes / top) * HEIGHT }}>
                {minutes}
              </span>
            ))}
            {days.map(({ day, median, most, count }, index) => (
              <div key={day} className="day" title={count > 0 ? said(day, median, most, count) : day}>
                <div className="pillar" style={{ height: HEIGHT }}>
                  {count > 0 && <i className="d0" style={{ height: Math.max(3, heightOf(most)) }} />}
                  {count > 0 && <i className="d1" style={{ height: Math.max(2, heightOf(median)) }} />}
                </div>
                <span className="num">{(days.length - 1 - index) % every === 0 && Number(day.slice(8))}</span>
              </div>
            ))}
          </div>
        ) : (
          <p className="muted">{t("chart.none")}</p>
        )}
      </figure>
      <div className="stats">
        <b>{t("chart.who")}</b>
        <div className="share" aria-hidden="true">
          <i className="d1" style={{ flexGrow: share.person }} />
          <i className="d2" style={{ flexGrow: share.policy }} />
          <i className="d3" style={{ flexGrow: share.timeout }} />
        </div>
        <dl className="who3">
          {(
            [
              [
                "d1",
                t("by.person"),
                share.person,
                mine.length > 0 ? t("chart.medianOf", { time: duration(words, quantile(mine, 0.5)) }) : "",
              ],
              ["d2", t("by.policy"), share.policy, t("chart.atOnce")],
              ["d3", t("by.timeout"), share.timeout, ""],
            ] as const
          ).map(([dot, name, count, more]) => (
            <div key={dot}>
              <dt>
                <i className={dot} /> {name}
              </dt>
              <dd>
                <span className="big num">{count}</span>
                <span className="muted">{[`${percent(count)} %`, more].filter(Boolean).join(", ")}</span>
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  );
}

/** All days of the period up to today. For a custom range, the days from the first decision to the last. */
function shownDays(days: Day[], period: Period): Day[] {
  if (period !== "custom") return withEmptyDays(days, Math.max(7, period), dayOf(new Date()));
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  if (!first || !last) return [];
  const span = Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1;
  return withEmptyDays(days, Math.min(LONGEST, Math.max(7, span)), last);
}
