import { type Ask, duration } from "@sayso/react";
import { useMemo } from "react";
import { useCardWords, useWords } from "../i18n";
import { perDay, quantile, shares, waited } from "./model";

const DAYS = 14;
const HEIGHT = 84;

/** Two small pictures: how long people let agents wait, and who decides. */
export function HistoryChart({ asks }: { asks: Ask[] }) {
  const t = useWords();
  const words = useCardWords();
  const days = useMemo(() => perDay(asks).slice(-DAYS), [asks]);
  const share = useMemo(() => shares(asks), [asks]);
  const most = Math.max(60_000, ...days.map((day) => day.most));
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
        <div className="bars">
          {days.map((day) => (
            <div
              key={day.day}
              className="day"
              title={`${day.day}: ${duration(words, day.median)} · ${duration(words, day.most)} · ${day.count}`}
            >
              <div className="pillar" style={{ height: HEIGHT }}>
                <i className="d0" style={{ height: Math.max(3, (day.most / most) * HEIGHT) }} />
                <i className="d1" style={{ height: Math.max(2, (day.median / most) * HEIGHT) }} />
              </div>
              <span className="num">{Number(day.day.slice(8))}</span>
            </div>
          ))}
          {days.length === 0 && <span className="muted">{t("history.none")}</span>}
        </div>
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
