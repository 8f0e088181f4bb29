import { en as cardEn, type Translate, translator } from "@sayso/react";
import cardZh from "@sayso/react/words/zh-CN.json?url";
import { useSyncExternalStore } from "react";
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

/** The words of the card and the page, by language. English is bundled. Other languages are fetched when they are selected. */
const translators = new Map<Language, Translate>([["en", translator({ ...cardEn, ...en })]]);
const listeners = new Set<() => void>();
let current: Translate = translators.get("en") ?? translator();

/** Switches the language. */
export async function setLanguage(language: Language): Promise<void> {
  wanted = language;
  if (!translators.has(language)) {
    const read = async (address: string) => (await fetch(address)).json() as Promise<Record<string, string>>;
    const [card, page] = await Promise.all([read(cardZh), read(pageZh)]);
    translators.set(language, translator({ ...cardEn, ...en, ...card, ...page }));
  }
  // The person may have selected another language during the fetch.
  if (wanted !== language) return;
  current = translators.get(language) ?? current;
  for (const listener of listeners) listener();
}

let wanted: Language = "en";

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The words of the card in the selected language. */
export const useCardWords = (): Translate => useSyncExternalStore(subscribe, () => current);

/** The words of the page in the selected language. */
export const useWords = (): Words => useCardWords() as Words;
