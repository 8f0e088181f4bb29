import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** A program in the documentation, and its output. */
export interface Example {
  name: string;
  language: string;
  code: string;
  /** The text block after the program. */
  prints: string | undefined;
}

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

/** Writes an example into a folder of the package that it imports, and returns its path. */
export function place(folder: string, { name, code }: Example, ending: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.${ending}`);
  writeFileSync(path, code);
  return path;
}

/** The compiler errors of these files, with the options of a `tsconfig.json`. */
export function typeErrors(files: string[], tsconfig: string): string[] {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} };
  const config = ts.getParsedCommandLineOfConfigFile(tsconfig, {}, host);
  const program = ts.createProgram(files, config?.options ?? {});
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName.split("/").at(-1)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}
