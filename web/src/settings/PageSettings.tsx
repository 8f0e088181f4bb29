import { type ReactNode, useState } from "react";
import type { Client } from "../api/client";
import { ADVANCES, type Prefs, setPrefs, usePrefs } from "../app/prefs";
import { LANGUAGES, useWords, type Words } from "../i18n";
import { useClient } from "../live/hooks";
import { Segments } from "../ui/Segments";
import { subscribeToPush, unsubscribeFromPush } from "./push";

const HOLDS = ["0", "3000", "5000"] as const;

/** The preferences of this browser. */
export function PageSettings({ onSignOut }: { onSignOut: () => void }) {
  const t = useWords();
  const prefs = usePrefs();
  const client = useClient();
  const [reach, setReach] = useState("");
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
        <Line words={t("pref.advance")}>
          <Segments
            label={t("pref.advance")}
            value={prefs.advance}
            options={ADVANCES.map((value) => ({ value, label: t(`advance.${value}`) }))}
            onChange={(advance) => setPrefs({ advance })}
          />
        </Line>
        <Check words={t("pref.oneClick")} on={prefs.oneClick} set={(oneClick) => setPrefs({ oneClick })} />
        <Check
          words={t("pref.notify")}
          on={prefs.notify}
          set={(wanted) => void (wanted ? enableNotifications(client, t) : leaveMe(client)).then(setReach)}
        />
        {reach && (
          <p className="muted" role="status">
            {reach}
          </p>
        )}
        <Check
          words={t("pref.notifyContent")}
          on={prefs.notifyContent}
          set={(notifyContent) => setPrefs({ notifyContent })}
        />
        <button type="button" className="btn no" onClick={() => void leaveMe(client).then(onSignOut)}>
          {t("button.signOut")}
        </button>
      </div>
    </section>
  );
}

/** Turns notifications on, as far as the browser and the server support them. Returns a message about the result. */
async function enableNotifications(client: Client, t: Words): Promise<string> {
  if (!isSecureContext || typeof Notification !== "function") return t("notify.unable");
  if ((await Notification.requestPermission()) !== "granted") return t("notify.refused");
  setPrefs({ notify: true });
  try {
    return t((await subscribeToPush(client)) ? "notify.woken" : "notify.open");
  } catch (error) {
    return t("notify.failed", { reason: error instanceof Error ? error.message : String(error) });
  }
}

/** Turns notifications off. If the server cannot be reached, no worker is left that would show them. */
async function leaveMe(client: Client): Promise<string> {
  setPrefs({ notify: false });
  await unsubscribeFromPush(client).catch(() => {});
  return "";
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
