import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import { type Ask, Sayso } from "../src";
import { type Example, examples, place, typeErrors } from "./docs";

/** Each TypeScript example of the documentation type-checks, runs with the built package, and prints the documented output. */
const pages = ["sdk.md", "embedding.md", "interactive-tools.md"];
const programs = pages.flatMap(examples).filter(({ language }) => language === "ts");
const [agent] = examples("interactive-tools.md").filter(({ language }) => language === "js");
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = here("../.docs");

let server: Server;
/** The token of programs that ask, and the person who decides what they ask. */
let program: string;
let person: Sayso;
beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  const lights = place(folder, agent as Example, "mjs");
  server = await Server.start({ config: `[agents.lights]\ncommand = "${process.execPath}"\nargs = ["${lights}"]\n` });
  person = Sayso.connect({ baseUrl: server.url, token: server.token });
  program = (await person.tokens.create({ role: "agent", actor: "program" })).token ?? "";
  const isOwn = (ask: Ask) => ask.askedBy === "program";
  person.onQuestion((ask) =>
    isOwn(ask) ? ask.questions?.map(({ options = [] }) => [options[0]?.label ?? ""]) : undefined,
  );
  person.onApproval((ask) => (isOwn(ask) ? "approve" : undefined));
});
afterAll(async () => {
  person.close();
  await server.stop();
});

describe("the examples", () => {
  it.each(programs)("$name prints what it says", async (example) => {
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    const { outputText } = ts.transpileModule(example.code, { compilerOptions: options });
    const path = place(folder, { ...example, code: outputText }, "mjs");
    const env = {
      PATH: process.env.PATH,
      SAYSO_URL: server.url,
      SAYSO_TOKEN: server.token,
      SAYSO_AGENT_TOKEN: program,
    };
    const { stdout } = await promisify(execFile)(process.execPath, [path], { env, timeout: 30_000 });
    expect(stdout).toBe(example.prints);
  });

  it("exist and type-check", { timeout: 300_000 }, () => {
    expect(programs.length).toBeGreaterThan(7);
    const files = programs.map((example) => place(folder, example, example.language));
    expect(typeErrors(files, here("../tsconfig.json"))).toEqual([]);
  });
});
