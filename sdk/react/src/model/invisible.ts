/** A piece of text: visible text, or one invisible character. */
export type Piece = { text: string } | { code: string };

// Controls except tab and newline, soft hyphen, Arabic letter mark, Mongolian vowel separator, zero-width and
// directional marks, line and paragraph separators, bidirectional controls, invisible operators, the byte order mark,
// interlinear annotation, variation selectors, tags, fillers, and lone surrogates.
const RANGES = [
  "\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad",
  "\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f",
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164",
  "\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff9-\\ufffb",
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\p{Cs}",
];
const INVISIBLE = new RegExp(`[${RANGES.join("")}]`, "gu");

const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Splits text into visible text and invisible characters. A carriage return before a newline is part of the line break. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    const isLineEnd = match[0] === "\r" && text[match.index + 1] === "\n";
    if (isLineEnd) continue;
    if (match.index > from) found.push({ text: text.slice(from, match.index) });
    found.push({ code: nameOf(match[0]) });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}

/** The same as plain text, for titles, the browser tab and notifications, which cannot contain elements. */
export const plain = (text: string): string =>
  pieces(text)
    .map((piece) => ("text" in piece ? piece.text : `[${piece.code}]`))
    .join("");

/** The host of an address that can be opened: only http and https. */
export function webAddress(address: string): { before: string; host: string; after: string } | undefined {
  const match = /^(https?:\/\/(?:[^/?#\\]*@)?)([^/?#\\@]+)(.*)$/is.exec(address);
  if (!match || pieces(address).some((piece) => "code" in piece) || /\s/.test(address)) return undefined;
  try {
    const { protocol } = new URL(address);
    if (protocol !== "http:" && protocol !== "https:") return undefined;
  } catch {
    return undefined;
  }
  const [, before = "", host = "", after = ""] = match;
  return { before, host, after };
}
