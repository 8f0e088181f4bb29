import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import { AlreadyResolvedError, type Ask, OutcomeTakenError, UnauthorizedError } from "../src";
import {
  AgentClient,
  type AgentOptions,
  NoServerError,
  NoTokenError,
  QuestionRejectedError,
  resumeAll,
} from "../src/agent";
import { findToken, findUrl } from "../src/agent/discover";
import { until } from "./check";

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
