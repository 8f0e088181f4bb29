/** A word of a command line without its quotes, or an operator between words. */
export type ShellPart = { word: string } | { operator: string };

const OPERATOR = /(?:\d|&)?>>?\|?&?|<<?<?|&&|\|\||[;|&()\n]/y;

/**
 * Splits a command line into words and operators. Supports quotes and backslashes, and expands nothing. Use it only to highlight
 * paths for a person, not to decide anything.
 */
export function shellParts(text: string): ShellPart[] {
  const parts: ShellPart[] = [];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) parts.push({ word });
    word = undefined;
  };
  for (let at = 0; at < text.length; ) {
    const here = text[at] ?? "";
    OPERATOR.lastIndex = at;
    const operator = word !== undefined && /\d/.test(here) ? undefined : OPERATOR.exec(text)?.[0];
    if (here === "'" || here === '"') {
      const close = closingQuote(text, at);
      word = (word ?? "") + unquote(text.slice(at + 1, close), here);
      at = close + 1;
    } else if (here === "\\") {
      if (text[at + 1] !== "\n") word = (word ?? "") + (text[at + 1] ?? "");
      at += 2;
    } else if (operator) {
      end();
      parts.push({ operator });
      at += operator.length;
    } else if (/\s/.test(here)) {
      end();
      at += 1;
    } else {
      word = (word ?? "") + here;
      at += 1;
    }
  }
  end();
  return parts;
}

function closingQuote(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === "\\" && text[open] === '"') at += 1;
    else if (text[at] === text[open]) return at;
  }
  return text.length;
}

const unquote = (text: string, quote: string): string => (quote === '"' ? text.replace(/\\(["\\$`])/g, "$1") : text);
