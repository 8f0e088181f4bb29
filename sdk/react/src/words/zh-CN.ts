import type { Words } from "./en";
import words from "./zh-CN.json" with { type: "json" };

/** The words of the card in Simplified Chinese, with translations of the texts that the server writes (`code.*`). */
export const zhCN: Words = words;
