import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { examples, place, typeErrors } from "../tests/docs.ts";
import { here, Person, Server, until } from "./world.ts";

/** The programs of docs/frameworks.md and `examples/typescript` that use a framework, with scripted models. */
const folder = here(".docs");
const models: Record<string, string> = {
  "@sayso/sdk/ai": "aiModel",
  "@sayso/sdk/openai-agents": "openaiModel",
};
const outputs: Record<string, string> = {
  "ai_agent.ts": "sent to ada@example.com\nThat is all.\n",
  "openai_agents_agent.ts": "sent to ada@example.com\nThat is all.\n",
  "suspended_run.ts": "suspended\nsent to ada@example.com\nThat is all.\n",
};
/** These use no framework, and are tested in `tests/`. */
const others = ["answer.ts", "ask.ts"];

const RESUMER = here("node_modules/@sayso/sdk/dist/agent/cli.js");

const documented = examples("frameworks.md").filter(({ language }) => language === "ts");
const suspending = documented.filter(({ code }) => code.includes("resumer("));
const waiting = documented.filter((example) => !suspending.includes(example));

/** Writes an example that has a scripted model, and returns its path. */
function placeScripted(example: (typeof documented)[number]): string {
  const found = Object.entries(models).find(([module]) => example.code.includes(`"${module}"`));
  const name = found?.[1] ?? "";
  const scripted = `import { ${name}, send } from "../apps/models.ts";\nconst model = ${name}([send("ada@example.com")]);\n`;
  return place(folder, { ...example, code: scripted + example.code }, "ts");
}

let server: Server;
beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  server = await Server.start();
});
afterAll(() => server.stop());

/** What a program prints while a person approves what it asks. */
async function run(path: string): Promise<string> {
  const person = await Person.on(server);
  const program = person.program(path, [], mkdtempSync(join(tmpdir(), "sayso-program-")));
  let ended = false;
  const deciding = (async () => {
    while (!ended) {
      for (const ask of await person.asks()) await person.decide("approve", ask);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  try {
    return await program.output();
  } finally {
    ended = true;
    await deciding;
  }
}

it.each(waiting)("$name of docs/frameworks.md runs", async (example) => {
  expect(await run(placeScripted(example))).toBe("done\n");
});

it.each(suspending)("$name of docs/frameworks.md is suspended, and resumed by sayso-resume", async (example) => {
  const path = placeScripted(example);
  const cwd = mkdtempSync(join(tmpdir(), "sayso-program-"));
  const person = await Person.on(server);
  await person.program(path, [], cwd).output();
  await person.act("approve");
  await until("the group is complete", async () => (await person.client().groups.ready("mailer", 30)) > 0);
  expect(await person.program(RESUMER, [`${path}#resume`, "--once"], cwd).output()).toContain("\ndone\n");
});

it.each(Object.entries(outputs))("examples/typescript/%s prints its result", async (name, output) => {
  const path = join(folder, name);
  copyFileSync(here(`../../../examples/typescript/${name}`), path);
  expect(await run(path)).toBe(output);
});

it("every program is tested, and type-checks", { timeout: 300_000 }, () => {
  expect(documented).toHaveLength(4);
  expect(readdirSync(here("../../../examples/typescript")).sort()).toEqual([...Object.keys(outputs), ...others].sort());
  const files = readdirSync(folder).map((name) => join(folder, name));
  expect(typeErrors(files, here("tsconfig.json"))).toEqual([]);
});
