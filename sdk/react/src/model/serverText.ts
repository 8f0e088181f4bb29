import type { TextCode } from "../api";
import type { Translate, WordKey } from "../words";
import { spanWords } from "./time";

/**
 * A text of the server in the language of the card. The words of a language have a key `code.<code>` for each sentence that the
 * server writes. English has none: the server writes English. A text without a known code is returned unchanged.
 */
export function serverText(t: Translate, text: string, code: TextCode | null | undefined): string {
  return (code && lookUp(t, `code.${code.code}`, paramsOf(t, code))) ?? text;
}

/** A value of a server text, such as "a redirection", by its identifier `<name>Code`. */
export function serverValue(t: Translate, { params = {} }: TextCode, name: "found" | "kind"): string {
  return lookUp(t, `${name}.${params[`${name}Code`]}`) ?? params[name] ?? "";
}

function paramsOf(t: Translate, code: TextCode): Record<string, string> {
  const { params = {} } = code;
  return {
    ...params,
    ...(params.found && { found: serverValue(t, code, "found") }),
    ...(params.kind && { kind: serverValue(t, code, "kind") }),
    ...(params.after && { after: spanWords(t, params.after) }),
  };
}

/** The words of a key that not every language has. */
function lookUp(t: Translate, key: string, params?: Record<string, string>): string | undefined {
  const words = t(key as WordKey, params);
  return words === key ? undefined : words;
}

/** A text as a sentence: with a capital letter and a full stop. */
export function sentence(text: string): string {
  if (!text) return "";
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?。！？]$/.test(first) ? first : `${first}.`;
}
