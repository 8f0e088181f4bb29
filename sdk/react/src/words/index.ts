import { en, type WordKey, type Words } from "./en";

export { en, type WordKey, type Words } from "./en";
export { zhCN } from "./zh-CN";

export type Params = Record<string, string | number>;
/** Returns the words of a key, with its parameters filled in. */
export type Translate = (key: WordKey, params?: Params) => string;

/** Creates a translator from a table of words. */
export function translator(words: Words = en): Translate {
  const table: Record<string, string> = words;
  return (key, params = {}) => {
    const form = params.count === undefined ? key : `${key}_${params.count === 1 ? "one" : "other"}`;
    const text = table[form] ?? key;
    return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(params[name] ?? ""));
  };
}
