import type { ReactNode } from "react";
import type { Client } from "../api/client";
import { type Prefs, setPrefs, usePrefs } from "../app/prefs";
import { LANGUAGES, useWords } from "../i18n";
import { useClient } from "../live/hooks";
import { Segments } from "../ui/Segments";
import { letMeSleep, wakeMe } from "./push";

const HOLDS = ["0", "3000", "5000"] as const;

/** What is set for this browser only. */
export function PageSettings({ onSignOut }: { onSignOut: () => void }) {
  const t = useWords();
  const prefs = usePrefs();
  const client = useClient();
  const languages = Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as Prefs["language"], label }));
  return (
    <section className="pane" aria-label={t("settings.page")}>
      <div className="bar">
        <h2>{t("settings.page")}</h2>
      </div>
      <div className="form prefs">
        <Line words={t("pref.theme")}>
          <Segments
            label={t("pref.theme")}
            value={prefs.theme}
            options={(["system", "light", "dark"] as const).map((value) => ({ value, label: t(`theme.${value}`) }))}
            onChange={(theme) => setPrefs({ theme })}
          />
        </Line>
        <Line words={t("pref.language")}>
          <Segments
            label={t("pref.language")}
            value={prefs.language}
            options={languages}
            onChange={(language) => setPrefs({ language })}
          />
        </Line>
        <Line words={t("pref.hold")}>
          <Segments
            label={t("pref.hold")}
            value={String(prefs.holdMs) as (typeof HOLDS)[number]}
            options={HOLDS.map((value) => ({
              value,
              label: value === "0" ? t("pref.holdOff") : `${Number(value) / 1000} s`,
            }))}
            onChange={(value) => setPrefs({ holdMs: Number(value) })}
          />
        </Line>
        <Check words={t("pref.oneClick")} on={prefs.oneClick} set={(oneClick) => setPrefs({ oneClick })} />
        <Check words={t("pref.next")} on={prefs.nextAfterSend} set={(nextAfterSend) => setPrefs({ nextAfterSend })} />
        <Check words={t("pref.notify")} on={prefs.notify} set={(notify) => void allowNotifications(client, notify)} />
        <Check
          words={t("pref.notifyContent")}
          on={prefs.notifyContent}
          set={(notifyContent) => setPrefs({ notifyContent })}
        />
        <button type="button" className="btn no" onClick={onSignOut}>
          {t("button.signOut")}
        </button>
      </div>
    </section>
  );
}

async function allowNotifications(client: Client, wanted: boolean): Promise<void> {
  const notify = wanted && typeof Notification === "function" && (await Notification.requestPermission()) === "granted";
  setPrefs({ notify });
  // Where this browser cannot be woken, it still tells while the page is open.
  await (notify ? wakeMe(client) : letMeSleep(client)).catch(() => {});
}

function Line({ words, children }: { words: string; children: ReactNode }) {
  return (
    <div className="pref">
      <span className="grow">{words}</span>
      {children}
    </div>
  );
}

function Check({ words, on, set }: { words: string; on: boolean; set: (on: boolean) => void }) {
  return (
    <label className="pref">
      <span className="grow">{words}</span>
      <input type="checkbox" checked={on} onChange={(event) => set(event.target.checked)} />
    </label>
  );
}
