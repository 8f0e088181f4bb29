import {
  type Ask,
  ConnectionError,
  type FeedEvent,
  HttpTransport,
  RateLimitedError,
  type Sayso,
  UnauthorizedError,
} from "@sayso/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import { fails, until } from "./check";
import { WeakLine } from "./weakLine";
import { World } from "./world";

/** Broken connections, killed servers and invalid input. No event is lost, and no call takes effect twice. */
let server: Server;
let proxy: WeakLine;
/** A client that bypasses the proxy. */
let direct: World;
/** A client that uses the proxy. */
let world: World;

beforeEach(async () => {
  server = await Server.start();
  proxy = await WeakLine.before(server.url);
  direct = new World(server.url, server.token);
  world = new World(proxy.url, server.token);
});

afterEach(async () => {
  world.close();
  direct.close();
  await proxy.close();
  await server.stop();
});

const events = async (sayso: Sayso, upTo: (event: FeedEvent) => boolean): Promise<FeedEvent[]> => {
  const seen: FeedEvent[] = [];
  for await (const event of sayso.events({ since: 0 })) {
    if (event.seq !== undefined) seen.push(event);
    if (upTo(event)) break;
  }
  return seen;
};

describe("a call without a response", () => {
  it("is repeated and takes effect once", async () => {
    const { ask } = await direct.asked(direct.admin, "question");
    proxy.loseReplies = 2;
    const decided = await world.admin.replyQuestion(ask.id, [["SQLite"]]);
    expect(decided.status).toBe("answered");
    expect(proxy.seen.filter((call) => call.startsWith("POST"))).toHaveLength(3);
    proxy.breakReplies = 1;
    const session = await world.admin.sessions.create({ agent: "mock", prompt: "hello" });
    expect((await direct.admin.sessions.list()).data.filter(({ title }) => title === "hello")).toHaveLength(1);
    expect(session.info.title).toBe("hello");
  });

  it("is repeated if the server is stopping", async () => {
    const { ask } = await direct.asked(direct.admin, "question");
    proxy.refuseCalls = 2;
    expect((await world.admin.replyQuestion(ask.id, [["SQLite"]])).status).toBe("answered");
    proxy.refuseCalls = 6;
    expect((await world.admin.asks.wait(ask.id)).status).toBe("answered");
  });

  it("throws a specific error if no response arrives, and can be repeated safely", async () => {
    const { ask } = await direct.asked(direct.admin, "question");
    proxy.loseReplies = 4;
    const error = await fails(world.admin.replyQuestion(ask.id, [["SQLite"]]), ConnectionError, "connection_lost");
    expect(error.status).toBe(0);
    expect((await direct.admin.asks.get(ask.id)).status).toBe("answered");
    proxy.down = true;
    await fails(world.admin.asks.get(ask.id), ConnectionError, "connection_lost");
  });

  it("is not repeated if the response contains a secret", async () => {
    proxy.loseReplies = 1;
    await fails(world.admin.tokens.create({ role: "viewer", actor: "x" }), ConnectionError, "connection_lost");
    expect(proxy.seen).toEqual(["POST /v1/tokens"]);
  });

  it("rejects with the abort reason of the caller", async () => {
    proxy.down = true;
    const stop = new AbortController();
    const call = world.admin.asks.list({}, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });
});

describe("a stream with a broken connection", () => {
  it("resumes and delivers every event once, in order", async () => {
    const session = await direct.admin.sessions.create({ agent: "mock" });
    const seen: FeedEvent[] = [];
    const states: string[] = [];
    const stop = new AbortController();
    const following = (async () => {
      const options = { signal: stop.signal, onConnection: ({ state }: { state: string }) => void states.push(state) };
      for await (const event of world.admin.events(options)) if (event.seq !== undefined) seen.push(event);
    })();
    await until("it listens", () => proxy.streams === 1);
    for (let round = 0; round < 12; round++) {
      await session.message("question");
      const ask = await direct.ask(direct.admin, session.id);
      if (round % 3 === 0) proxy.cut();
      await direct.admin.replyQuestion(ask.id, [["SQLite"]]);
      if (round % 4 === 0) proxy.cut();
      await until("idle", async () => (await direct.admin.sessions.get(session.id)).info.status === "idle");
    }
    const { seq } = await direct.admin.asks.list({ limit: 1 });
    await until("the last event", () => seen.at(-1)?.seq === seq);
    stop.abort();
    await following;
    const first = seen[0]?.seq ?? 0;
    expect(seen.map((event) => event.seq)).toEqual(Array.from({ length: seq - first + 1 }, (_, at) => first + at));
    expect(seen.filter(({ type }) => type === "question.resolved")).toHaveLength(12);
    expect(states.filter((state) => state === "open").length).toBeGreaterThan(1);
    expect(states.slice(0, 4)).toEqual(["connecting", "open", "waiting", "connecting"]);
    expect(states.at(-1)).toBe("closed");
  });

  it("waits for a server that has not started", async () => {
    proxy.down = true;
    const next = world.admin.events({ since: 0 }).next();
    const { ask } = await direct.asked(direct.admin, "question");
    const told: Ask[] = [];
    world.admin.onQuestion((question) => void told.push(question));
    await until("it tries", () => proxy.seen.length >= 3);
    proxy.down = false;
    expect((await next).value?.seq).toBe(1);
    await until("the question", () => told.length === 1);
    expect(told[0]?.id).toBe(ask.id);
  });

  it("reports to a component that it reopened, and the pending asks", async () => {
    const { session, ask } = await direct.asked(direct.admin, "question");
    const types: string[] = [];
    const transport = new HttpTransport({ baseUrl: proxy.url, token: server.token });
    for await (const { type } of transport.stream(session.id)) {
      types.push(type);
      if (types.length === 2) proxy.cut();
      if (types.length === 5) break;
    }
    expect(types).toEqual(["session_status", "question_prompt", "reopened", "session_status", "question_prompt"]);
    expect((await direct.admin.asks.get(ask.id)).status).toBe("pending");
  });
});

describe("a killed server", () => {
  it("is reconnected: each ask and each event is delivered once", async () => {
    const { sayso } = await direct.team();
    const session = await sayso.sessions.create({ agent: "mock" });
    const told: string[] = [];
    const seen: number[] = [];
    sayso.onQuestion(({ id }) => void told.push(id));
    sayso.on("*", ({ seq }) => seq !== undefined && seen.push(seq));
    await session.message("question");
    await until("the first question", () => told.length === 1);
    const waiting = sayso.asks.wait(told[0] ?? "");
    await server.restart();
    await until("the stream is back", () => sayso.live.connection().state === "open");
    await sayso.replyQuestion(told[0] ?? "", [["SQLite"]]);
    expect((await waiting).status).toBe("answered");
    await until("idle", async () => (await sayso.sessions.get(session.id)).info.status === "idle");
    await session.message("question");
    await until("the second question", () => told.length === 2);
    expect(new Set(told).size).toBe(2);
    const all = await events(sayso, (event) => event.type === "question.requested" && event.data.id === told[1]);
    await until("all events", () => seen.at(-1) === all.at(-1)?.seq);
    expect(seen).toEqual(all.map(({ seq }) => seq).slice(-seen.length));
  });
});

describe("unknown input", () => {
  it("is ignored: unknown events, fields, comments and broken frames", async () => {
    const { sayso, errors } = await world.team();
    const heard: string[] = [];
    const told: Ask[] = [];
    sayso.on("*", ({ type }) => void heard.push(type));
    sayso.onQuestion((question) => void told.push(question));
    await until("it listens", () => proxy.streams === 1);
    proxy.inject(': hello\n\nevent: comet.seen\ndata: {"type":"comet.seen","data":{"tail":3},"orbit":[1]}\n\n');
    proxy.inject("data: {broken\n\ndata: 42\n\ndata: null\n\ndata: {}\n\nid: x\n\nnonsense\n\n");
    proxy.inject(
      'data: {"type":"question.requested",\r\ndata: "data":{"id":"ask_new","kind":"poem","status":"pending"}}\r\n\r\n',
    );
    const { ask } = await world.asked(sayso, "question");
    await until("the question", () => told.length > 0);
    expect(told.map(({ id }) => id)).toEqual([ask.id]);
    expect(heard.slice(0, 2)).toEqual(["comet.seen", "question.requested"]);
    expect(errors).toEqual([]);
  });

  it("a reset lists asks again: changes during the gap are applied, and each ask is delivered once", async () => {
    const { sayso } = await world.team();
    const first = await world.asked(sayso, "question");
    const told: string[] = [];
    const gone: string[] = [];
    let resets = 0;
    sayso.onQuestion(({ id }, { signal }) => {
      told.push(id);
      signal.addEventListener("abort", () => gone.push(id));
    });
    sayso.on("reset", () => void resets++);
    await until("the first", () => told.length === 1);
    await until("it listens", () => proxy.streams === 1);
    proxy.inject('event: reset\ndata: {"seq":0,"type":"reset","data":{}}\n\n');
    await until("the reset", () => resets === 1);
    expect(told).toEqual([first.ask.id]);

    // While the stream is down, one ask is decided and another one is opened.
    proxy.down = true;
    proxy.cut();
    await direct.admin.replyQuestion(first.ask.id, [["SQLite"]]);
    const session = await direct.admin.sessions.create({
      agent: "mock",
      prompt: "question",
      labels: first.session.info.labels,
    });
    const second = await direct.ask(direct.admin, session.id);
    proxy.down = false;
    await until("the second", () => told.length === 2 && gone.length === 1);
    expect([told, gone]).toEqual([[first.ask.id, second.id], [first.ask.id]]);
  });

  it("a large ask that is shortened in its event is delivered in full", async () => {
    let told: Ask | undefined;
    const approvals = await direct.as({ role: "viewer", actor: "screen" });
    approvals.onApproval((ask) => {
      told = ask;
    });
    await until("it listens", () => approvals.live.connection().state === "open");
    const text = "x".repeat(100_000);
    await direct.admin.asks.open({ approval: { tool: "write", action: "edit", input: { text }, title: "large" } });
    const ask = await until("the approval", () => told);
    expect(ask.truncated ?? false).toBe(false);
    expect(ask.approval?.input).toEqual({ text });
  });
});

describe("a revoked token", () => {
  it("ends streams with an error that listeners receive", async () => {
    const errors: unknown[] = [];
    const { token, id } = await direct.admin.tokens.create({ role: "viewer", actor: "screen" });
    const sayso = direct.connect(token ?? "", { onError: (error) => errors.push(error) });
    sayso.onQuestion(() => {});
    const iterator = sayso.events();
    const next = iterator.next();
    await until("it listens", () => sayso.live.connection().state === "open");
    await direct.admin.tokens.revoke(id);
    // The server notices the revoked token with the next event or the next keep-alive comment.
    await direct.admin.sessions.create({ agent: "mock" });
    await fails(next, UnauthorizedError, "unauthorized");
    await until("the error", () => errors.length === 1);
    expect(errors[0]).toBeInstanceOf(UnauthorizedError);
    expect(sayso.live.connection()).toMatchObject({ state: "closed", error: errors[0] });
  });

  it("differs from too many invalid tokens", async () => {
    const stranger = direct.connect("sayso_wrong");
    const error = await until("the limit", async () => {
      const thrown: unknown = await stranger.asks.list().catch((thrown: unknown) => thrown);
      return thrown instanceof UnauthorizedError ? undefined : thrown;
    });
    expect(error).toBeInstanceOf(RateLimitedError);
  });
});
