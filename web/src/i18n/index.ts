import { en as cardEn, type Translate } from "@sayso/react";
import cardZh from "@sayso/react/words/zh-CN.json?url";
import i18next from "i18next";
import { useMemo, useSyncExternalStore } from "react";
import { en, type PageWords } from "./en";
import pageZh from "./zh-CN.json?url";

export const LANGUAGES = { en: "English", "zh-CN": "简体中文" } as const;
export type Language = keyof typeof LANGUAGES;

export type PageKey = keyof PageWords extends infer K
  ? K extends `${infer Stem}_one` | `${infer Stem}_other`
    ? Stem
    : K
  : never;
export type Words = (key: PageKey, params?: Record<string, string | number>) => string;

void i18next.init({
  lng: "en",
  fallbackLng: "en",
  keySeparator: false,
  nsSeparator: false,
  interpolation: { escapeValue: false },
  resources: { en: { translation: { ...cardEn, ...en } } },
});

/** Switches the language. English is always here; another one is fetched first. */
export async function setLanguage(language: Language): Promise<void> {
  if (!i18next.hasResourceBundle(language, "translation")) {
    const read = async (address: string) => (await fetch(address)).json() as Promise<Record<string, string>>;
    const [card, page] = await Promise.all([read(cardZh), read(pageZh)]);
    i18next.addResourceBundle(language, "translation", { ...card, ...page });
  }
  await i18next.changeLanguage(language);
}

function subscribe(listener: () => void): () => void {
  i18next.on("languageChanged", listener);
  return () => i18next.off("languageChanged", listener);
}

/** The words of the page, in the language that is set. */
export function useWords(): Words {
  const language = useSyncExternalStore(subscribe, () => i18next.language);
  return useMemo(() => {
    const t = i18next.getFixedT(language);
    return (key, params) => t(key, params ?? {});
  }, [language]);
}

/** The words of the card, in the same language. */
export function useCardWords(): Translate {
  const language = useSyncExternalStore(subscribe, () => i18next.language);
  return useMemo(() => {
    const t = i18next.getFixedT(language);
    return (key, params) => t(key, params ?? {});
  }, [language]);
}
