import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A program in the documentation, and what it prints. */
export interface Example {
  name: string;
  language: string;
  code: string;
  /** The block of text that follows it. */
  prints: string | undefined;
}

const folder = fileURLToPath(new URL("../.docs/", import.meta.url));

/** The code blocks of a page in `docs/`, in order. */
export function examples(page: string): Example[] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
    language,
    code,
  }));
  return blocks.flatMap(({ language, code }, index) => {
    if (language === "text") return [];
    const next = blocks[index + 1];
    const prints = next?.language === "text" ? next.code : undefined;
    return [{ name: `${page.replace(".md", "")}-${index}`, language, code, prints }];
  });
}

/** Writes an example where both packages are found, and says where. */
export function place({ name, code }: Example, ending: string): string {
  mkdirSync(folder, { recursive: true });
  const path = `${folder}${name}.${ending}`;
  writeFileSync(path, code);
  return path;
}
