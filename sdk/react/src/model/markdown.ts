import { Lexer, type MarkedToken } from "marked";

/** The tokens of Markdown text. Undefined if it cannot be read, for example because it is nested too deeply. */
export function readMarkdown(text: string): MarkedToken[] | undefined {
  try {
    return new Lexer({ gfm: true }).lex(text) as MarkedToken[];
  } catch {
    return undefined;
  }
}

/** Whether the text looks different when it is rendered. */
export const isFormatted = (tokens: MarkedToken[]): boolean =>
  tokens.some((token) => {
    if (token.type === "space" || token.type === "br") return false;
    if (token.type !== "paragraph" && token.type !== "text") return true;
    return token.tokens !== undefined && isFormatted(token.tokens as MarkedToken[]);
  });

/** The number of a list item as the agent wrote it. */
export const numberOf = (item: { raw: string }): number | undefined => {
  const number = /^\s*(\d{1,9})[.)]/.exec(item.raw)?.[1];
  return number === undefined ? undefined : Number(number);
};
