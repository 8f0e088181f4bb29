import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import { Sayso } from "../src";
import { place, typeErrors } from "./docs";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const source = (name: string) => here(`../../../examples/typescript/${name}.ts`);

/** Runs a program of `examples/typescript` with the built package, and returns its lines in alphabetical order. */
async function run(name: string, server: Server): Promise<string[]> {
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const code = ts.transpileModule(readFileSync(source(name), "utf8"), { compilerOptions: options }).outputText;
  const path = place(here("../.docs"), { name: `example-${name}`, language: "ts", code, prints: undefined }, "mjs");
  const env = { PATH: process.env.PATH, SAYSO_URL: server.url, SAYSO_TOKEN: server.token };
  const { stdout } = await promisify(execFile)(process.execPath, [path], { env, timeout: 30_000 });
  return stdout.trimEnd().split("\n").sort();
}

describe("examples/typescript", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start();
  });
  afterAll(() => server.stop());

  it("type-checks", { timeout: 300_000 }, () => {
    const config = here("../../../examples/tsconfig.json");
    expect(typeErrors([source("ask"), source("answer")], config)).toEqual([]);
  });

  it("asks and prints the answer", async () => {
    const person = Sayso.connect({ baseUrl: server.url, token: server.token });
    person.onQuestion(({ title }) => (title === "Nightly backup" ? [["NAS"]] : undefined));
    expect(await run("ask", server)).toEqual(["Backing up to NAS"]);
    person.close();
  });

  it("answers questions and denies approvals", async () => {
    expect(await run("answer", server)).toEqual(["answered", "answered", "denied"]);
  });
});
