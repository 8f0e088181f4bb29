import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@openai/agents";
import { RunClaim } from "@sayso/sdk/agent";
import { resume as resumeAi } from "@sayso/sdk/ai";
import { resume as resumeOpenai } from "@sayso/sdk/openai-agents";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ask, type Call, send } from "./apps/models.ts";
import { here, Person, type Program, Server, until } from "./world.ts";

/** The programs in `apps`, and what their frameworks can do. */
const APPS = [
  { app: "ai", edits: true, questions: true },
  // The OpenAI Agents SDK runs the arguments of the model, and asks only by tools that wait.
  { app: "openai", edits: false, questions: false },
];

const RESUMER = here("node_modules/@sayso/sdk/dist/agent/cli.js");

/** The environment of a worker that waits after its claim. */
const HANGS = { APP_HANGS: "yes" };

/** One run of a program, its folder, and the workers that resume it. Programs and workers are processes of their own. */
class Run {
  readonly folder = mkdtempSync(join(tmpdir(), "sayso-suspended-"));
  readonly workers: Program[] = [];
  #calls: Call[] = [];

  constructor(
    readonly person: Person,
    readonly app: string,
  ) {}

  /** Runs the program until it suspends its run and exits. Returns the group. */
  async start(calls: Call[], key = "run-1", more: Record<string, string> = {}): Promise<string> {
    this.#calls = calls;
    const program = this.person.program(`apps/${this.app}.ts`, [key], this.folder, { ...this.#variables, ...more });
    return (await program.output()).trim();
  }

  worker(options: string[] = [], more: Record<string, string> = {}): Program {
    const args = [`${here(`apps/${this.app}.ts`)}#resume`, ...options];
    const worker = this.person.program(RESUMER, args, this.folder, { ...this.#variables, ...more });
    this.workers.push(worker);
    return worker;
  }

  get #variables() {
    // Each test has runs of its own.
    return { APP_NAME: this.person.name, APP_CALLS: JSON.stringify(this.#calls) };
  }

  /** Lets a worker with `HANGS` resume its run. */
  continue(): void {
    writeFileSync(join(this.folder, "continue.txt"), "");
  }

  lines(file: string): string[] {
    try {
      return readFileSync(join(this.folder, `${file}.txt`), "utf8")
        .trimEnd()
        .split("\n");
    } catch {
      return [];
    }
  }

  group = (id: string) => this.person.client().groups.get(id);

  status = (id: string, status: string) =>
    until(`the group is ${status}`, async () => (await this.group(id)).status === status);

  claimed = (count = 1) => until("a worker has the claim", () => this.lines("hangs").length === count);
}

describe.each(APPS)("$app", ({ app, edits, questions }) => {
  let server: Server;
  let runs: Run[] = [];
  const owned: Server[] = [];
  beforeAll(async () => {
    server = await Server.start();
  });
  afterEach(async () => {
    await Promise.all(runs.flatMap(({ workers }) => workers).map((worker) => worker.signal("SIGKILL")));
    runs = [];
    await Promise.all(owned.splice(0).map((own) => own.stop()));
  });
  afterAll(() => server.stop());

  async function newRun(on = server): Promise<Run> {
    const run = new Run(await Person.on(on), app);
    runs.push(run);
    return run;
  }

  async function ownServer(policy?: string): Promise<Server> {
    const own = await Server.start(policy ? { policy } : {});
    owned.push(own);
    return own;
  }

  it("approved run is resumed in another process", async () => {
    const run = await newRun();
    const group = await run.start([send("ada")]);
    expect(run.lines("sent")).toEqual([]);
    run.worker();
    await run.person.act("approve");
    await run.status(group, "acknowledged");
    expect([run.lines("sent"), run.lines("read")]).toEqual([["ada"], ["sent to ada"]]);
    expect(run.lines("done")).toEqual([group, "done"]);
  });

  it("denied tool does not run and the model reads why", async () => {
    const run = await newRun();
    const group = await run.start([send("ada")]);
    await run.person.act("deny", { message: "Not on a Friday." });
    run.worker();
    await run.status(group, "acknowledged");
    expect([run.lines("sent"), run.lines("read")]).toEqual([[], ["Not on a Friday."]]);
  });

  it("edited arguments are used where the framework takes them", async () => {
    const run = await newRun();
    const group = await run.start([send("ada")]);
    const { approval } = await run.person.act("approve", edits ? { input: { to: "eve" } } : {});
    expect(approval?.editable).toBe(edits);
    run.worker();
    await run.status(group, "acknowledged");
    expect(run.lines("sent")).toEqual([edits ? "eve" : "ada"]);
  });

  if (edits) {
    it("edit that does not fit is refused if the program names its tools", async () => {
      const run = await newRun();
      const schemas = { APP_SCHEMAS: "yes" };
      const group = await run.start([send("ada")], "run-1", schemas);
      const asked = await run.person.next();
      await expect(run.person.decide("approve", asked, { input: { unknown: 1 } })).rejects.toThrow("invalid_input");
      await run.person.decide("approve", asked, { input: { to: "eve" } });
      run.worker([], schemas);
      await run.status(group, "acknowledged");
      expect(run.lines("sent")).toEqual(["eve"]);
    });

    it("edit that does not fit never runs", async () => {
      const run = await newRun();
      const group = await run.start([send("ada")]);
      await run.person.act("approve", { input: { unknown: 1 } });
      run.worker();
      await run.status(group, "acknowledged");
      expect(run.lines("sent")).toEqual([]);
      expect(run.lines("read").join("\n")).toContain("Invalid input for tool send_email");
    });
  }

  if (edits) {
    it("edit is not offered if the arguments are signed", async () => {
      const run = await newRun();
      const secret = { APP_SECRET: "a secret of the program" };
      const group = await run.start([send("ada")], "run-1", secret);
      expect((await run.person.act("approve")).approval?.editable).toBe(false);
      run.worker([], secret);
      await run.status(group, "acknowledged");
      expect(run.lines("sent")).toEqual(["ada"]);
    });
  }

  if (questions) {
    it("question is answered", async () => {
      const run = await newRun();
      const group = await run.start([ask("Which colour?", ["red", "green"])]);
      await run.person.act("answer", { answers: [["green"]], note: "It is calmer." });
      run.worker();
      await run.status(group, "acknowledged");
      expect(run.lines("read")).toEqual(["green", "", "It is calmer."]);
    });
  }

  it("run is resumed when all its asks are decided", async () => {
    const run = await newRun();
    const lookup: Call = { name: "lookup", input: {}, id: "call-0" };
    const group = await run.start([
      lookup,
      send("ada", 1),
      send("bob", 2),
      ...(questions ? [ask("Which colour?")] : []),
    ]);
    run.worker();
    const asks = await run.person.several(questions ? 3 : 2);
    for (const asked of asks) {
      expect(run.lines("sent")).toEqual([]);
      if (asked.kind === "question") await run.person.decide("answer", asked, { answers: [["red"]] });
      else await run.person.decide(asked.approval?.input?.to === "ada" ? "approve" : "deny", asked);
    }
    await run.status(group, "acknowledged");
    expect(run.lines("sent")).toEqual(["ada"]);
    const read = ["looked up", "sent to ada", "User denied tool execution", ...(questions ? ["red"] : [])];
    expect(run.lines("read").sort()).toEqual(read.sort());
  });

  it("killed server loses nothing", async () => {
    const own = await ownServer();
    const run = await newRun(own);
    run.worker();
    const group = await run.start([send("ada")]);
    await own.restart();
    await run.person.act("approve");
    await run.status(group, "acknowledged");
    expect(run.lines("sent")).toEqual(["ada"]);
  });

  it("program that starts again joins its pause, also if the model chooses other ids", async () => {
    const run = await newRun();
    const random = { APP_RANDOM_IDS: "yes" };
    const group = await run.start([send("ada")], "run-1", random);
    expect(await run.start([send("ada")], "run-1", random)).toBe(group);
    await run.person.act("approve");
    run.worker([], random);
    await run.status(group, "acknowledged");
    expect(run.lines("sent")).toEqual(["ada"]);
    expect(await run.start([send("ada")], "run-1", random)).toBe(group);
    expect(await run.person.asks()).toEqual([]);
  });

  it("each pause of a run has its own key", async () => {
    const run = await newRun();
    const random = { APP_RANDOM_IDS: "yes" };
    const first = await run.start([send("ada", 1, 1), send("bob", 2, 2)], "run-1", random);
    run.worker([], random);
    await run.person.act("approve");
    await run.status(first, "acknowledged");
    const [second = ""] = run.lines("suspended");
    const keys = [(await run.group(first)).key, (await run.group(second)).key];
    expect(keys).toEqual(["run-1:1", "run-1:2"]);
    await run.person.act("approve");
    await run.status(second, "acknowledged");
    expect(run.lines("sent")).toEqual(["ada", "bob"]);
  });

  it("program that starts again with other calls is told that its run is suspended", async () => {
    const run = await newRun();
    await run.start([send("ada")]);
    await expect(run.start([send("bob")])).rejects.toThrow("The run run-1 is suspended already");
    expect(await run.person.several(1)).toHaveLength(1);
  });

  it("calls with the same id are refused before anybody is asked", async () => {
    const run = await newRun();
    // The OpenAI Agents SDK refuses them itself.
    const repeated = app === "ai" ? "have the id call-1" : "Tool call ID call-1 was reused";
    await expect(run.start([send("ada", 1), send("bob", 1)])).rejects.toThrow(repeated);
    expect([await run.person.asks(), run.lines("sent")]).toEqual([[], []]);
  });

  it("worker that lost its claim resumes nothing", async () => {
    const run = await newRun();
    await run.start([send("ada")]);
    await run.person.act("approve");
    const client = run.person.client();
    const claimed = () => client.groups.claim({ name: run.person.name, worker: "test" });
    const claim = await until("the group is complete", claimed);
    const lost = new RunClaim(claim, AbortSignal.abort(new Error("the claim is lost")));
    let calls = 0;
    const generate = async () => {
      calls++;
      return { responseMessages: [] };
    };
    const agent = new Agent({ name: "mailer" });
    const resumed = app === "ai" ? resumeAi(lost, generate, { client }) : resumeOpenai(lost, agent, { client });
    await expect(resumed).rejects.toThrow("the claim is lost");
    expect(calls).toBe(0);
  });

  if (app === "openai") {
    it("always allows the tool in this run", async () => {
      const run = await newRun();
      const group = await run.start([send("ada", 1, 1), send("bob", 2, 2)]);
      run.worker();
      await run.person.act("approve", { choice: "always" });
      await run.status(group, "acknowledged");
      expect([run.lines("sent"), run.lines("suspended")]).toEqual([["ada", "bob"], []]);
    });

    it("resumed run has the context of its worker, and keeps the tools that were always allowed", async () => {
      const run = await newRun();
      const calls = [send("ada", 1, 1), send("bob", 2, 2)];
      const group = await run.start(calls, "run-1", { APP_TENANT: "of the program" });
      run.worker([], { APP_TENANT: "of the worker" });
      await run.person.act("approve", { choice: "always" });
      await run.status(group, "acknowledged");
      expect(run.lines("tenant")).toEqual(["of the worker", "of the worker"]);
      expect(run.lines("sent")).toEqual(["ada", "bob"]);
    });

    it("agent with another name resumes nothing", async () => {
      const run = await newRun();
      const group = await run.start([send("ada")]);
      await run.person.act("approve");
      const worker = run.worker([], { APP_AGENT: "renamed" });
      await run.status(group, "uncertain");
      await until("the worker reports it", () => worker.stdout.includes("failed to resume"));
      expect(worker.stdout).toContain("mailer");
      expect(run.lines("sent")).toEqual([]);
    });
  }

  it("two resumers resume each run once", async () => {
    const run = await newRun();
    const groups: string[] = [];
    for (const key of ["run-1", "run-2", "run-3"]) groups.push(await run.start([send("ada")], key));
    for (const asked of await run.person.several(3)) await run.person.decide("approve", asked);
    run.worker();
    run.worker();
    for (const group of groups) await run.status(group, "acknowledged");
    expect(run.lines("sent")).toEqual(["ada", "ada", "ada"]);
    expect(
      run
        .lines("done")
        .filter((line) => line.startsWith("grp_"))
        .sort(),
    ).toEqual(groups.sort());
  });

  it("killed resumer leaves the decision to a person", async () => {
    const own = await ownServer();
    const run = await newRun(own);
    const group = await run.start([send("ada")]);
    await run.person.act("approve");
    const worker = run.worker(["--lease", "3"], HANGS);
    await run.claimed();
    await worker.signal("SIGKILL");
    await run.status(group, "uncertain");
    expect(run.lines("sent")).toEqual([]);
    run.worker();
    const { uncertainAsk } = await run.group(group);
    await own.api("POST", `/asks/${uncertainAsk}/answer`, { answers: [["resume"]] });
    await run.status(group, "acknowledged");
    expect(run.lines("sent")).toEqual(["ada"]);
  });

  it("resumer renews its lease while the run takes longer", async () => {
    const run = await newRun();
    const group = await run.start([send("ada")]);
    await run.person.act("approve");
    run.worker(["--lease", "6"], HANGS);
    await run.claimed();
    const { leaseUntil } = await run.group(group);
    await until("the lease is renewed", async () => (await run.group(group)).leaseUntil !== leaseUntil);
    run.continue();
    await run.status(group, "acknowledged");
    expect(run.lines("sent")).toEqual(["ada"]);
  });

  it("SIGTERM lets the current run finish", async () => {
    const run = await newRun();
    const groups = [await run.start([send("ada")], "run-1"), await run.start([send("ada")], "run-2")];
    for (const asked of await run.person.several(2)) await run.person.decide("approve", asked);
    const worker = run.worker([], HANGS);
    await run.claimed();
    worker.send("SIGTERM");
    run.continue();
    expect((await worker.ended).code).toBe(0);
    expect(run.lines("sent")).toEqual(["ada"]);
    const statuses = await Promise.all(groups.map(async (group) => (await run.group(group)).status));
    expect(statuses.sort()).toEqual(["acknowledged", "ready"]);
  });

  it("second SIGTERM gives the run up", async () => {
    const own = await ownServer();
    const run = await newRun(own);
    const group = await run.start([send("ada")]);
    await run.person.act("approve");
    const worker = run.worker([], HANGS);
    await run.claimed();
    worker.send("SIGTERM");
    // Signals of one kind that arrive together count once.
    const repeated = setInterval(() => worker.send("SIGTERM"), 100);
    expect((await worker.ended).code).toBe(0);
    clearInterval(repeated);
    await run.status(group, "uncertain");
    expect(run.lines("sent")).toEqual([]);
  });

  it("idle resumer ends with SIGTERM", async () => {
    const run = await newRun();
    const worker = run.worker();
    await until("it waits", () => worker.stdout.includes("waiting for runs of"));
    await worker.signal("SIGTERM");
    expect((await worker.ended).code).toBe(0);
  });

  it("withdrawn run is not resumed", async () => {
    const run = await newRun();
    const group = await run.start([send("ada")]);
    const { groups } = run.person.client();
    await groups.withdraw(group, "The run was cancelled.");
    expect([await run.person.asks(), await groups.ready(run.person.name)]).toEqual([[], 0]);
  });

  it("timeout of the policy denies the tool", async () => {
    const run = await newRun(await ownServer('[approvals]\ntimeout = "1s"\n'));
    run.worker();
    const group = await run.start([send("ada")]);
    await run.status(group, "acknowledged");
    expect([run.lines("sent"), run.lines("read")]).toEqual([[], ["Tool approval timed out after 1 second"]]);
  });

  it("state of another framework is refused before a tool runs", async () => {
    const run = await newRun();
    const { groups } = run.person.client();
    const approval = { tool: "send_email", action: "other" as const, input: { to: "ada" } };
    const state = JSON.stringify({ version: 1, framework: "pydantic_ai", runKey: null, state: {} });
    const { id } = await groups.open({ name: run.person.name, asks: [{ approval, toolCallId: "call-1" }], state });
    await run.person.act("approve");
    const worker = run.worker();
    await run.status(id, "uncertain");
    expect(worker.stdout).toContain("was not suspended by @sayso/sdk/");
    expect(run.lines("sent")).toEqual([]);
  });
});
