import type { Words } from "./en";
import words from "./zh-CN.json";

/** The words of the card in Simplified Chinese. */
export const zhCN: Words = words;
