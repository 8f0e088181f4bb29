import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FORMS, type Run } from "./apps/forms.ts";
import { ask, type Call, send } from "./apps/models.ts";
import { Person, Server, until } from "./world.ts";

const CANCELLED = new Error("The run was cancelled.");
/** What the model reads before the result of a call whose arguments a person edited. */
const EDITED = 'The user changed the arguments of this call to {"to":"eve"}. Result: ';

describe.each(Object.entries(FORMS))("%s", (name, form) => {
  const denied = (reason: string) => `${form.denied ?? ""}${reason}`;
  let server: Server;
  beforeAll(async () => {
    server = await Server.start();
  });
  afterAll(() => server.stop());

  /** A run, its tool calls, and the person who decides them. */
  async function start(calls: Call[], options: Partial<Run> = {}, on = server) {
    const person = await Person.on(on);
    const sent: string[] = [];
    const again = (client = person.client()) => {
      const sending = (to: string) => {
        sent.push(to);
        return `sent to ${to}`;
      };
      const read = form.run(calls, { client, send: sending, ...options });
      // A test that decides first looks at the result later.
      read.catch(() => {});
      return read;
    };
    return { person, sent, again };
  }

  it("approved tool runs", async () => {
    const { person, sent, again } = await start([send("ada")]);
    const read = again();
    await person.act("approve");
    expect([await read, sent]).toEqual([["sent to ada"], ["ada"]]);
  });

  it("denied tool does not run and the model reads why", async () => {
    const { person, sent, again } = await start([send("ada")]);
    const read = again();
    await person.act("deny", { message: "Not on a Friday." });
    expect([await read, sent]).toEqual([[denied("Not on a Friday.")], []]);
  });

  it("edited arguments are used where the framework takes them", async () => {
    const { person, sent, again } = await start([send("ada")]);
    const read = again();
    const { id, approval } = await person.act("approve", form.edits ? { input: { to: "eve" } } : {});
    expect(approval?.editable).toBe(form.edits);
    const to = form.edits ? "eve" : "ada";
    expect([await read, sent]).toEqual([[`${form.edits ? EDITED : ""}sent to ${to}`], [to]]);
    expect((await server.readAsk(id)).delivery).toBe("delivered");
  });

  it("edit that does not fit is refused", async () => {
    const { person, sent, again } = await start([send("ada")]);
    const read = again();
    const asked = await person.next();
    const edit = person.decide("approve", asked, { input: { unknown: 1 } });
    await expect(edit).rejects.toThrow(form.edits ? "invalid_input" : "422");
    await person.decide("deny", asked);
    expect([await read, sent]).toEqual([[denied("User denied tool execution")], []]);
  });

  if (form.edits) {
    it("edit that does not fit never runs, also if the server has no schema", async () => {
      const { person, sent, again } = await start([send("ada")]);
      const refused: string[] = [];
      const fetch: typeof globalThis.fetch = async (input, init) => {
        if (!String(init?.body).includes("inputSchema")) return globalThis.fetch(input, init);
        refused.push(String(input));
        const problem = { status: 422, code: "invalid_schema", detail: "inputSchema cannot be used" };
        return new Response(JSON.stringify(problem), { status: 422 });
      };
      const read = again(person.client({ fetch }));
      const { approval } = await person.act("approve", { input: { unknown: 1 } });
      expect([approval?.inputSchema, refused.length]).toEqual([undefined, 1]);
      // The OpenAI Agents SDK does not tell the model what was wrong, unless the tool has an `errorFunction`.
      expect((await read)[0]).toMatch(/expected string|An error occurred while running the tool/);
      expect(sent).toEqual([]);
    });

    it("tool whose schema the server cannot use is asked without it", async () => {
      const { person, sent, again } = await start([send("ada")], { recursive: true });
      const read = again();
      const { approval } = await person.act("approve", { input: { to: "eve" } });
      expect(approval?.inputSchema).toBeUndefined();
      expect([await read, sent]).toEqual([[`${EDITED}sent to eve`], ["eve"]]);
    });

    it("result that is not text also says that the arguments were edited", async () => {
      const { person, again } = await start([send("ada")], { send: (to) => ({ to }) });
      const read = again();
      await person.act("approve", { input: { to: "eve" } });
      expect(await read).toEqual([`${EDITED}{"to":"eve"}`]);
    });
  }

  if (form.always) {
    it("always allows the tool in this run", async () => {
      const { person, sent, again } = await start([send("ada", 1, 1), send("bob", 2, 2)]);
      const read = again();
      await person.act("approve", { choice: "always" });
      expect([await read, sent]).toEqual([
        ["sent to ada", "sent to bob"],
        ["ada", "bob"],
      ]);
    });
  }

  it("question is answered or rejected", async () => {
    const { person, again } = await start([ask("Which colour?", ["red", "blue"])]);
    let read = again();
    await person.act("answer", { answers: [["blue"]] });
    expect(await read).toEqual(["blue"]);
    read = again();
    await person.act("reject", { message: "Decide yourself." });
    expect(await read).toEqual(["Decide yourself."]);
  });

  it("several calls of one turn", async () => {
    const { person, sent, again } = await start([send("ada", 1), send("bob", 2)]);
    const read = again();
    for (let left = 2; left > 0; left--) {
      const [asked] = await person.several(form.atOnce ? left : 1);
      if (!asked) throw new Error("nothing was asked");
      await person.decide(asked.approval?.input?.to === "ada" ? "approve" : "deny", asked);
    }
    expect((await read).sort()).toEqual([denied("User denied tool execution"), "sent to ada"]);
    expect(sent).toEqual(["ada"]);
  });

  it("approval survives the kill of the server", async () => {
    const own = await Server.start();
    try {
      const { person, sent, again } = await start([send("ada")], {}, own);
      const read = again();
      const asked = await person.next();
      await own.restart();
      await person.decide("approve", asked);
      expect([await read, sent]).toEqual([["sent to ada"], ["ada"]]);
    } finally {
      await own.stop();
    }
  });

  it("killed program continues its ask when it is started again", async () => {
    const person = await Person.on(server);
    const folder = mkdtempSync(join(tmpdir(), "sayso-waiting-"));
    const killed = person.program("apps/waiting.ts", [name], folder);
    const asked = await person.next();
    await killed.signal("SIGKILL");
    await person.decide("approve", asked);
    const again = person.program("apps/waiting.ts", [name], folder);
    expect(await again.output()).toBe('["sent to ada"]\n');
    expect(readFileSync(join(folder, "sent.txt"), "utf8")).toBe("ada\n");
    expect(await person.asks()).toEqual([]);
  });

  it("aborted run withdraws its ask and runs no tool", async () => {
    const stop = new AbortController();
    const { person, sent, again } = await start([send("ada")], { signal: stop.signal });
    const read = again();
    await person.next();
    stop.abort(CANCELLED);
    await expect(read).rejects.toThrow();
    await person.withdrawn();
    expect(sent).toEqual([]);
  });

  it("abort after the approval denies", async () => {
    const stop = new AbortController();
    const { person, sent, again } = await start([send("ada")], { signal: stop.signal });
    // The abort comes when the approval is on its way to the program.
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await globalThis.fetch(input, init);
      if (String(input).includes("/receipt")) stop.abort(CANCELLED);
      return response;
    };
    const read = again(person.client({ fetch }));
    await person.act("approve");
    await expect(read).rejects.toThrow();
    expect(sent).toEqual([]);
  });

  it("abort after one of two approvals runs no other tool", async () => {
    const stop = new AbortController();
    const { person, sent, again } = await start([send("ada", 1), send("bob", 2)], { signal: stop.signal });
    const read = again();
    const asks = await person.several(form.atOnce ? 2 : 1);
    const first = asks.find(({ approval }) => approval?.input?.to === "ada");
    if (!first) throw new Error("nothing was asked about ada");
    await person.decide("approve", first);
    if (form.alone) await until("the approved tool runs", () => sent.length === 1);
    await until("the other call waits", async () => (await person.next()).approval?.input?.to === "bob");
    stop.abort(CANCELLED);
    await expect(read).rejects.toThrow();
    await person.withdrawn();
    expect(sent).toEqual(form.alone ? ["ada"] : []);
  });

  if (form.timeouts) {
    it("timeout of the run withdraws its ask and runs no tool", async () => {
      const { person, sent, again } = await start([send("ada")], { timeout: 3000 });
      await expect(again()).rejects.toThrow();
      await until("nothing is pending", async () => (await person.asks()).length === 0);
      expect(sent).toEqual([]);
    });
  }

  it("timeout of the policy denies", async () => {
    const own = await Server.start({ policy: '[approvals]\ntimeout = "1s"\n' });
    try {
      const { sent, again } = await start([send("ada")], {}, own);
      expect(await again()).toEqual([denied("Tool approval timed out after 1 second")]);
      expect(sent).toEqual([]);
    } finally {
      await own.stop();
    }
  });

  it("revoked token runs no tool", async () => {
    const { person, sent, again } = await start([send("ada")]);
    const read = again();
    await person.next();
    await server.api("DELETE", `/tokens/${person.tokenId}`);
    if (form.ends) await expect(read).rejects.toThrow("bearer token");
    else expect((await read)[0]).toMatch(/token/i);
    expect(sent).toEqual([]);
  });
});
