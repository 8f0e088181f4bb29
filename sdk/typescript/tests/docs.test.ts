import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import { type Example, examples, place } from "./docs";

/** Checklist 0.47, 4.58 – 4.60. The examples of the documentation: each is checked, run with the built package, and prints what it says. */
const pages = ["sdk.md", "embedding.md", "interactive-tools.md"];
const all = pages.flatMap(examples);
const programs = all.filter(({ language }) => language === "ts");
const [agent] = examples("interactive-tools.md").filter(({ language }) => language === "js");
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let server: Server;
beforeAll(async () => {
  rmSync(here("../.docs"), { recursive: true, force: true });
  const lights = place(agent as Example, "mjs");
  server = await Server.start({ config: `[agents.lights]\ncommand = "${process.execPath}"\nargs = ["${lights}"]\n` });
});
afterAll(() => server.stop());

describe("the examples", () => {
  it.each(programs)("$name prints what it says", async (example) => {
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    const { outputText } = ts.transpileModule(example.code, { compilerOptions: options });
    const path = place({ ...example, code: outputText }, "mjs");
    const env = { PATH: process.env.PATH, SAYSO_URL: server.url, SAYSO_TOKEN: server.token };
    const { stdout } = await promisify(execFile)(process.execPath, [path], { env, timeout: 30_000 });
    expect(stdout).toBe(example.prints);
  });

  it("are there, and fit the types", { timeout: 300_000 }, () => {
    expect(programs.length).toBeGreaterThan(7);
    const typed = all.filter(({ language }) => language === "ts" || language === "tsx");
    const files = typed.map((example) => place(example, example.language));
    const config = ts.getParsedCommandLineOfConfigFile(
      here("../tsconfig.json"),
      {},
      {
        ...ts.sys,
        onUnRecoverableConfigFileDiagnostic: () => {},
      },
    );
    const program = ts.createProgram(files, config?.options ?? {});
    const wrong = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName.split("/").at(-1)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
    expect(wrong).toEqual([]);
  });
});
