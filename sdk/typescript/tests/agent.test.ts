import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import {
  AlreadyResolvedError,
  type Ask,
  ClaimLostError,
  DecisionNotAllowedError,
  DedupeKeyReusedError,
  GroupEndedError,
  GroupNotReadyError,
  InvalidAnswersError,
  InvalidInputError,
  InvalidSchemaError,
  NotFoundError,
  OutcomeTakenError,
  Sayso,
  UnauthorizedError,
  UnknownCallbackError,
} from "../src";
import {
  AgentClient,
  type AgentOptions,
  NoServerError,
  NoTokenError,
  QuestionRejectedError,
  resumeAll,
  SecretLostError,
  ServerTooOldError,
} from "../src/agent";
import { findToken, findUrl } from "../src/agent/discover";
import { answersOf } from "../src/agent/results";
import { until } from "./check";
import { WeakLine } from "./weakLine";

/** Programs that ask, with `@sayso/sdk/agent`. */
describe("an agent program", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start();
  });
  afterAll(() => server.stop());

  let made = 0;
  /** A client with a token of its own, and the person who decides its asks. */
  async function program(on = server) {
    const actor = `program-${made++}`;
    const created = await on.api<{ id: string; token: string }>("POST", "/tokens", { role: "agent", actor });
    const asks = async (status = "pending") =>
      (await on.api<{ data: Ask[] }>("GET", `/asks?status=${status}&agent=${actor}&limit=500`)).data;
    const several = (count: number) =>
      until(`${count} asks are pending`, async () => {
        const found = await asks();
        return found.length === count && found;
      });
    const act = async (how: string, body: object = {}) => {
      const [ask] = await several(1);
      return on.api<Ask>("POST", `/asks/${ask?.id}/${how}`, body);
    };
    const client = (options: AgentOptions = {}) =>
      new AgentClient({ url: on.url, token: created.token, agent: actor, ...options });
    return { actor, ...created, asks, several, act, client };
  }

  it("asks, selects, confirms and approves", async () => {
    const { client, act } = await program();
    const sayso = client();
    const ask = sayso.ask("Which database?", { options: ["SQLite", "PostgreSQL"], header: "Database" });
    expect((await act("answer", { answers: [["SQLite"]] })).questions?.[0]?.header).toBe("Database");
    expect(await ask).toBe("SQLite");
    const select = sayso.select("Which parts?", ["Auth", "Billing", "Search"]);
    await act("answer", { answers: [["Auth", "Billing"]] });
    expect(await select).toEqual(["Auth", "Billing"]);
    const confirm = sayso.confirm("Continue?");
    await act("answer", { answers: [["true"]] });
    expect(await confirm).toBe(true);
    const approve = sayso.approve("send_email", { to: "ada" }, { editable: true, summary: "Mail to Ada" });
    expect((await act("approve", { input: { to: "eve" } })).approval?.title).toBe("Mail to Ada");
    expect(await approve).toMatchObject({ approved: true, input: { to: "eve" }, status: "approved", by: "you" });
  });

  it("reads why something was denied or rejected", async () => {
    const { client, act } = await program();
    const sayso = client();
    const approve = sayso.approve("send_email", {});
    await act("deny");
    expect(await approve).toMatchObject({ approved: false, message: "User denied tool execution", stop: false });
    const ask = sayso.ask("Which database?");
    await act("reject", { message: "Decide yourself.", stop: true });
    const error = await ask.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(QuestionRejectedError);
    expect(error).toMatchObject({ message: "Decide yourself.", stop: true });
  });

  it("waits for many asks over one connection", async () => {
    const { client, several } = await program();
    const opened: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      if (init?.method !== "POST") opened.push(new URL(String(input)).pathname);
      return globalThis.fetch(input, init);
    };
    const sayso = client({ fetch });
    const answers = Promise.all(Array.from({ length: 20 }, (_, number) => sayso.ask(`Number ${number}?`)));
    for (const { id, questions } of (await several(20)).reverse()) {
      await server.api("POST", `/asks/${id}/answer`, { answers: [[questions?.[0]?.text]] });
    }
    expect(await answers).toEqual(Array.from({ length: 20 }, (_, number) => `Number ${number}?`));
    expect(opened.filter((path) => path === "/v1/outcomes")).toHaveLength(1);
  });

  it("keeps waiting while the server restarts", async () => {
    const own = await Server.start();
    try {
      const { client, act, several } = await program(own);
      const waiting = client().approve("send_email", {}, { key: "run-1:call-1" });
      await several(1);
      await own.restart();
      await act("approve");
      expect((await waiting).approved).toBe(true);
    } finally {
      await own.stop();
    }
  });

  it("withdraws the ask when the wait is aborted, before and after it was opened", async () => {
    const { client, asks, several } = await program();
    const stop = new AbortController();
    const waiting = client().ask("Still there?", { signal: stop.signal });
    await several(1);
    stop.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
    await until("it is withdrawn", async () => (await asks("withdrawn")).length === 1);

    const early = new AbortController();
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (init?.method === "POST") early.abort(new Error("stopped"));
      return globalThis.fetch(input, init);
    };
    await expect(client({ fetch }).ask("Still there?", { signal: early.signal })).rejects.toThrow("stopped");
    await until("it is withdrawn", async () => (await asks("withdrawn")).length === 2);
    expect(await asks()).toEqual([]);
  });

  it("continues its ask by key, and uses an approval once", async () => {
    const { client, act, asks } = await program();
    const call = () => client().approve("send_email", { to: "ada" }, { key: "run-1:call-1" });
    const both = Promise.allSettled([call(), call()]);
    await act("approve");
    const [one, other] = await both;
    const refused = [one, other].filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toBeInstanceOf(OutcomeTakenError);
    expect(await asks()).toEqual([]);
  });

  it("ends with an error when its token is revoked", async () => {
    const { client, id, several } = await program();
    const waiting = client().ask("Which database?");
    const rejected = expect(waiting).rejects.toBeInstanceOf(UnauthorizedError);
    await several(1);
    await server.api("DELETE", `/tokens/${id}`);
    await rejected;
  });

  describe("that sets terms for decisions", () => {
    /** Decides the next ask twice: the first decision is refused. Returns the error of the refusal. */
    async function refusedFirst(
      several: (count: number) => Promise<Ask[]>,
      wrong: (asks: Sayso["asks"], id: string) => Promise<unknown>,
      right: (asks: Sayso["asks"], id: string) => Promise<unknown>,
    ): Promise<unknown> {
      const { asks } = Sayso.connect({ baseUrl: server.url, token: server.token });
      const id = (await several(1))[0]?.id ?? "";
      const refusal = await wrong(asks, id).catch((error: unknown) => error);
      await right(asks, id);
      return refusal;
    }

    it("edited input has to fit the schema", async () => {
      const { client, several } = await program();
      const inputSchema = { type: "object", properties: { copies: { type: "integer" } }, required: ["copies"] };
      const waiting = client().approve("print", { copies: 1 }, { editable: true, inputSchema });
      const refusal = await refusedFirst(
        several,
        (asks, id) => asks.approve(id, { input: { copies: "two" } }),
        (asks, id) => asks.approve(id, { input: { copies: 2 } }),
      );
      expect(refusal).toBeInstanceOf(InvalidInputError);
      expect((refusal as Error).message).toContain("`/copies`: ");
      expect((await waiting).input).toEqual({ copies: 2 });
    });

    it("only allowed decisions are possible", async () => {
      const { client, several } = await program();
      const waiting = client().approve("print", { copies: 1 }, { allowedDecisions: ["approve"] });
      const refusal = await refusedFirst(
        several,
        (asks, id) => asks.deny(id),
        (asks, id) => asks.approve(id),
      );
      expect(refusal).toBeInstanceOf(DecisionNotAllowedError);
      expect((await waiting).approved).toBe(true);
    });

    it("answer of the person's own has to fit the schema", async () => {
      const { client, several } = await program();
      const waiting = client().ask("Which port?", { schema: { type: "integer" } });
      const refusal = await refusedFirst(
        several,
        (asks, id) => asks.answer(id, [["eighty"]]),
        (asks, id) => asks.answer(id, [["8080"]]),
      );
      expect(refusal).toBeInstanceOf(InvalidAnswersError);
      expect(await waiting).toBe("8080");
    });

    it("schema that cannot be used is refused", async () => {
      const { client, asks } = await program();
      const approve = client().approve("print", {}, { editable: true, inputSchema: { type: "strin" } });
      const error = await approve.catch((error: unknown) => error);
      expect(error).toBeInstanceOf(InvalidSchemaError);
      expect((error as Error).message).toMatch(/\. Correct the schema, or ask without it\.$/);
      const question = client().ask("Which port?", { schema: { $ref: "https://example.com/port" } });
      await expect(question).rejects.toThrow("another document");
      expect(await asks()).toEqual([]);
    });
  });

  describe("with errors", () => {
    it("key for something else is refused", async () => {
      const { client, several, act } = await program();
      const first = client().approve("send_email", { to: "ada" }, { key: "call-1" });
      await several(1);
      const second = client().approve("send_email", { to: "bob" }, { key: "call-1" });
      const error = await second.catch((error: unknown) => error);
      expect(error).toBeInstanceOf(DedupeKeyReusedError);
      expect((error as Error).message).toContain("Use a key that is unique to the call");
      await act("deny");
      await first;
    });

    it("secret answer is handed out once", async () => {
      const { client, act } = await program();
      const waiting = client().ask("Password?", { secret: true });
      const { id } = await act("answer", { answers: [["hunter2"]] });
      expect(await waiting).toBe("hunter2");
      const again = await client().asks.receipt(id);
      expect(() => answersOf(again)).toThrow(SecretLostError);
    });

    it("groups have typed errors with a next step", async () => {
      const { client, act, actor } = await program();
      const { groups } = client();
      const approval = { tool: "send_email", action: "other", input: {} } as const;
      const open = (more: object = {}) => groups.open({ name: actor, key: "run-1", asks: [{ approval }], ...more });
      const { id } = await open();
      const refused = async (call: Promise<unknown>, kind: new (...args: never) => Error, step: string) => {
        const error = await call.catch((error: unknown) => error);
        expect(error).toBeInstanceOf(kind);
        expect((error as Error).message).toContain(step);
      };
      await refused(groups.claim({ group: id, worker: "w" }), GroupNotReadyError, "Wait until it is ready");
      await refused(open({ asks: [{ questions: [{ text: "Why?" }] }] }), DedupeKeyReusedError, "unique");
      await refused(open({ key: "run-2", callback: "nowhere" }), UnknownCallbackError, "Ask an admin");
      await refused(groups.get("grp_0"), NotFoundError, "Check the id");
      await act("approve");
      const claim = await until("a group is complete", () => groups.claim({ name: actor, worker: "w" }));
      await groups.release(claim, false);
      await refused(groups.renew(claim), ClaimLostError, "Stop the run");
      await groups.withdraw(id);
      await refused(groups.claim({ group: id, worker: "w" }), GroupEndedError, "Do not resume the run");
    });

    it("revoked token names the command that creates another one", async () => {
      const { client, id } = await program();
      await server.api("DELETE", `/tokens/${id}`);
      await expect(client().ask("Which database?")).rejects.toThrow("sayso token create");
    });
  });

  describe("with an older server", () => {
    it("waits without the stream of outcomes", async () => {
      const { client, several } = await program();
      const line = await WeakLine.before(server.url);
      try {
        line.unknown = /^\/v1\/(outcomes|groups)/;
        const sayso = client({ url: line.url });
        const stop = new AbortController();
        const answers = [1, 2].map((number) => sayso.ask(`Number ${number}?`));
        const aborted = expect(sayso.ask("Number 3?", { signal: stop.signal })).rejects.toThrow("stopped");
        await several(3);
        stop.abort(new Error("stopped"));
        await aborted;
        for (const { id, questions } of await several(2)) {
          await server.api("POST", `/asks/${id}/answer`, { answers: [[questions?.[0]?.text]] });
        }
        expect(await Promise.all(answers)).toEqual(["Number 1?", "Number 2?"]);
        const later = sayso.ask("Number 4?");
        const [ask] = await several(1);
        await server.api("POST", `/asks/${ask?.id}/answer`, { answers: [["later"]] });
        expect(await later).toBe("later");
        expect(line.seen.filter((call) => call.includes("/outcomes"))).toHaveLength(1);
      } finally {
        await line.close();
      }
    });

    it("refuses groups with an error that says what to do", async () => {
      const { client, actor } = await program();
      const line = await WeakLine.before(server.url);
      try {
        line.unknown = /^\/v1\/groups/;
        const sayso = client({ url: line.url });
        const approval = { tool: "send_email", action: "other", input: {} } as const;
        const open = sayso.openGroup({ name: actor, asks: [{ approval }] }).catch((error: unknown) => error);
        expect(await open).toBeInstanceOf(ServerTooOldError);
        expect(((await open) as Error).message).toContain("Upgrade the server");
        await expect(resumeAll(() => {}, actor, { client: sayso })).rejects.toBeInstanceOf(ServerTooOldError);
        // Servers refuse fields that they do not know.
        const unknown = sayso.settle({ approval, fieldOfTheFuture: true } as never);
        await expect(unknown).rejects.toBeInstanceOf(ServerTooOldError);
      } finally {
        await line.close();
      }
    });
  });

  it("finds the server and the agent token of this machine, and never the admin token", async () => {
    const environment = { SAYSO_DATA_DIR: join(server.home, "data") };
    expect(findUrl(environment).replace(/\/$/, "")).toBe(server.url.replace(/\/$/, ""));
    rmSync(join(server.home, "data", "agent-token"), { force: true });
    expect(() => findToken(undefined, environment)).toThrow(NoTokenError);
    writeFileSync(join(server.home, "data", "agent-token"), "abc\n");
    expect(findToken(undefined, environment)).toBe("abc");
    const empty = mkdtempSync(join(tmpdir(), "sayso-none-"));
    expect(() => findUrl({ SAYSO_DATA_DIR: empty })).toThrow(NoServerError);
    writeFileSync(join(empty, "server.json"), JSON.stringify({ url: "http://127.0.0.1:1", pid: 2 ** 22 + 1 }));
    expect(() => findUrl({ SAYSO_DATA_DIR: empty })).toThrow("has stopped");
  });

  describe("with suspended runs", () => {
    const asking = { toolCallId: "call-1", approval: { tool: "send_email", action: "other", input: {} } } as const;
    const cli = fileURLToPath(new URL("../dist/agent/cli.js", import.meta.url));

    it("resumes each run once, and leaves a failed run to a person", async () => {
      const { client, several, actor } = await program();
      const sayso = client();
      const groups = [];
      for (const state of ["one", "two", "bad"]) {
        groups.push(await sayso.openGroup({ name: actor, key: state, state, asks: [asking] }));
      }
      for (const { id } of await several(3)) await server.api("POST", `/asks/${id}/approve`, {});
      const resumed: (string | undefined)[] = [];
      const lines: string[] = [];
      const resume = resumeAll(
        (claim) => {
          resumed.push(claim.state);
          expect(claim.decision("call-1")?.approved).toBe(true);
          if (claim.state === "bad") throw new TypeError("a secret of the run");
        },
        actor,
        { client: sayso, once: true, report: (line) => lines.push(line) },
      );
      await resume;
      expect(resumed.sort()).toEqual(["bad", "one", "two"]);
      const after = await Promise.all(groups.map(({ id }) => sayso.groups.get(id)));
      expect(after.map(({ status }) => status)).toEqual(["acknowledged", "acknowledged", "uncertain"]);
      const asked = await server.readAsk(after[2]?.uncertainAsk ?? "");
      expect(JSON.stringify(asked)).toContain("TypeError");
      expect(JSON.stringify(asked)).not.toContain("a secret of the run");
      expect(lines.filter((line) => line.startsWith("resumed "))).toHaveLength(2);
    });

    it("gets the same claim again if the reply was lost", async () => {
      const { client, act, actor } = await program();
      const { id } = await client().openGroup({ name: actor, asks: [asking] });
      await act("approve");
      await until("a group is complete", async () => (await client().groups.ready(actor, 30)) > 0);
      const line = await WeakLine.before(server.url);
      try {
        // More replies than one call repeats by itself.
        line.lossy = /^\/v1\/groups\/claim/;
        line.loseReplies = 5;
        const resumed: string[] = [];
        const once = { client: client({ url: line.url }), once: true };
        await resumeAll((claim) => resumed.push(claim.groupId), actor, once);
        expect([resumed, line.loseReplies]).toEqual([[id], 0]);
        expect((await client().groups.get(id)).status).toBe("acknowledged");
      } finally {
        await line.close();
      }
    });

    it("stops its run when another worker has the claim", async () => {
      const { client, act, actor } = await program();
      const sayso = client();
      const group = await sayso.openGroup({ name: actor, asks: [asking] });
      await act("approve");
      const lines: string[] = [];
      const stop = new AbortController();
      const report = (line: string) => {
        lines.push(line);
        if (line.startsWith("lost")) stop.abort();
      };
      await resumeAll(
        async (claim) => {
          await sayso.groups.release(claim, true);
          // A run that ignores the signal.
          await new Promise(() => {});
        },
        actor,
        { client: sayso, lease: 2, stop: stop.signal, report },
      );
      expect(lines).toEqual([`resuming ${group.id}`, `lost the claim of ${group.id}`]);
    });

    it("is resumed by the command, in another process", { timeout: 180_000 }, async () => {
      const { actor, token, client, act } = await program();
      const sayso = client();
      const group = await sayso.openGroup({ name: actor, state: "hello", asks: [asking] });
      await act("approve");
      const folder = mkdtempSync(join(tmpdir(), "sayso-resume-"));
      const library = pathToFileURL(fileURLToPath(new URL("../dist/agent/index.js", import.meta.url))).href;
      const code = `import { writeFileSync } from "node:fs"; import { resumer } from "${library}";
        export const resume = resumer("${actor}", (claim) => writeFileSync("state.txt", claim.state));
        export const other = 1;`;
      writeFileSync(join(folder, "app.mjs"), code);
      const env = { PATH: process.env.PATH, SAYSO_URL: server.url, SAYSO_AGENT_TOKEN: token };
      const options = { cwd: folder, env };
      const run = (...args: string[]) => promisify(execFile)(process.execPath, [cli, ...args], options);
      const { stdout } = await run("./app.mjs#resume", "--once");
      expect(stdout).toBe(`waiting for runs of ${actor}\nresuming ${group.id}\nresumed ${group.id}\n`);
      expect(readFileSync(join(folder, "state.txt"), "utf8")).toBe("hello");
      expect((await sayso.groups.get(group.id)).status).toBe("acknowledged");

      await expect(run("./app.mjs")).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("#FUNCTION") });
      await expect(run("./app.mjs#other")).rejects.toMatchObject({ stderr: expect.stringContaining("exports no") });
      await expect(run("./none.mjs#resume")).rejects.toMatchObject({ stderr: expect.stringContaining("Cannot load") });

      const idle = spawn(process.execPath, [cli, "./app.mjs#resume"], { cwd: folder, env });
      const ended = new Promise((resolve) => idle.on("close", resolve));
      await new Promise((resolve) => idle.stdout.once("data", resolve));
      idle.kill("SIGTERM");
      expect(await ended).toBe(0);
    });
  });

  it("cannot decide its own asks", async () => {
    const { client, asks, several } = await program();
    const sayso = client();
    const waiting = sayso.approve("send_email", {});
    const [ask] = await several(1);
    await expect(sayso.asks.approve(ask?.id ?? "")).rejects.not.toBeInstanceOf(AlreadyResolvedError);
    expect(await asks()).toHaveLength(1);
    await server.api("POST", `/asks/${ask?.id}/deny`, {});
    expect((await waiting).approved).toBe(false);
  });
});
