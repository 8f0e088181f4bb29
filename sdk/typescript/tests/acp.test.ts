import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { client, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { Sayso } from "@sayso/sdk";
import { afterAll, beforeAll, describe, it } from "vitest";
import { Server } from "../../../web/e2e/server";
import { ok, same, until } from "./check";

const BINARY = process.env.SAYSO_BIN ?? fileURLToPath(new URL("../../../target/debug/sayso", import.meta.url));

interface Question {
  sessionId: string;
  questionId: string;
  prompt: string;
  options: [string, string][];
}

/** Accepts the parameters of the extension unchanged. */
const question = (params: unknown) => params as Question;

/** Everything that a client received in a turn: requests, messages and cancellations. */
class Seen {
  asked: string[] = [];
  said = "";
  takenBack = 0;
}

/** The official client. It answers all requests, except while it waits for another client to answer. */
function person(state: { seen: Seen; elsewhere: boolean }) {
  const noted = (way: string, signal: AbortSignal): Promise<boolean> => {
    const { seen } = state;
    seen.asked.push(way);
    if (!state.elsewhere) return Promise.resolve(true);
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        seen.takenBack += 1;
        resolve(false);
      });
    });
  };
  return client({ name: "sayso-test" })
    .onNotification("session/update", ({ params: { update } }) => {
      if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
      state.seen.said += update.content.text;
    })
    .onRequest("session/request_permission", async ({ params, signal }) => {
      if (!(await noted("permission", signal))) return { outcome: { outcome: "cancelled" } };
      const once = params.options.find(({ kind }) => kind === "allow_once");
      return { outcome: { outcome: "selected", optionId: once?.optionId ?? "" } };
    })
    .onRequest("elicitation/create", async ({ params, signal }) => {
      await noted("elicitation", signal);
      if (params.mode !== "form") return { action: "accept" };
      const fields = (params as { requestedSchema: { properties: Record<string, Field> } }).requestedSchema.properties;
      const chosen = Object.entries(fields).filter(([name]) => !name.endsWith("_custom"));
      return { action: "accept", content: Object.fromEntries(chosen.map(([name, field]) => [name, first(field)])) };
    })
    .onRequest("_sandboxagent/session/request_question", question, async ({ params, signal }) =>
      (await noted("question", signal))
        ? { status: "answered", answers: [[params.options[1]?.[0]]] }
        : { status: "rejected" },
    );
}

interface Field {
  type: string;
  minimum?: number;
  oneOf?: { const: string }[];
  items?: { anyOf: { const: string }[] };
}

function first({ type, minimum, oneOf, items }: Field): string | number | boolean | string[] {
  if (items) return [items.anyOf[0]?.const ?? ""];
  if (type === "integer" || type === "number") return minimum ?? 1;
  return type === "boolean" ? true : (oneOf?.[0]?.const ?? "text");
}

/** The official ACP client, over HTTP and over stdio. */
describe("the official ACP client", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start();
  });
  afterAll(() => server.stop());

  const transports: [string, () => { stream: Stream; gone: () => Promise<unknown> }][] = [
    [
      "over HTTP",
      () => ({
        stream: createHttpStream(`${server.url}/acp`, { headers: { Authorization: `Bearer ${server.token}` } }),
        gone: async () => {},
      }),
    ],
    [
      "on standard input and output",
      () => {
        const env = { PATH: process.env.PATH, HOME: server.home, SAYSO_URL: server.url, SAYSO_TOKEN: server.token };
        const acp = spawn(BINARY, ["acp"], { env, stdio: ["pipe", "pipe", "inherit"] });
        const ended = new Promise((resolve) => acp.once("exit", resolve));
        const stream = ndJsonStream(
          Writable.toWeb(acp.stdin) as WritableStream<Uint8Array>,
          Readable.toWeb(acp.stdout) as ReadableStream<Uint8Array>,
        );
        return {
          stream,
          gone: () => {
            acp.stdin.end();
            return ended;
          },
        };
      },
    ],
  ];

  for (const [name, connect] of transports) {
    it(`is asked, answers, and receives decisions of others ${name}`, async () => {
      const sayso = Sayso.connect({ baseUrl: server.url, token: server.token });
      const state = { seen: new Seen(), elsewhere: false };
      const { stream, gone } = connect();
      await person(state).connectWith(stream, async (agent) => {
        const met = await agent.request("initialize", {
          protocolVersion: 1,
          clientCapabilities: {
            elicitation: { form: {}, url: {} },
            _meta: { extensions: { sessionRequestQuestion: true } },
          },
        });
        same([met.protocolVersion, met.agentCapabilities?.loadSession, met.agentInfo?.name], [1, true, "sayso"]);
        same(met._meta, { extensions: { sessionRequestQuestion: true } });
        const { sessionId } = await agent.request("session/new", {
          cwd: server.home,
          mcpServers: [],
          _meta: { sayso: { agent: "mock" } },
        });
        const turn = async (text: string) => {
          state.seen = new Seen();
          const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
          return { ...state.seen, stopReason };
        };
        same(await turn("hello"), { asked: [], said: "hello", takenBack: 0, stopReason: "end_turn" });
        for (const [prompt, method, words] of [
          ["question", "question", "PostgreSQL"],
          ["questions", "elicitation", "SQLite"],
          ["form", "elicitation", ""],
          ["link", "elicitation", ""],
          ["approve", "permission", ""],
        ] as const) {
          const { asked, said, stopReason } = await turn(prompt);
          same([asked, stopReason], [[method], "end_turn"], prompt);
          ok(said.includes(words), `${prompt}: ${said}`);
        }

        state.elsewhere = true;
        const ended = turn("question");
        const pending = async () => (await sayso.asks.list({ status: "pending", session: sessionId })).data[0];
        const ask = await until("the mock asks", pending);
        await until("the client was asked", () => state.seen.asked.length === 1);
        await sayso.replyQuestion(ask.id, [["SQLite"]]);
        const { takenBack, stopReason } = await ended;
        same([takenBack, stopReason], [1, "end_turn"]);

        const cancelled = turn("question");
        await until("the client was asked", () => state.seen.asked.length === 1);
        await agent.notify("session/cancel", { sessionId });
        same((await cancelled).stopReason, "cancelled");
        state.elsewhere = false;

        const { sessions } = await agent.request("session/list", {});
        ok(
          sessions.some((session) => session.sessionId === sessionId),
          "the session is listed",
        );
        state.seen = new Seen();
        await agent.request("session/load", { sessionId, cwd: server.home, mcpServers: [] });
        ok(state.seen.said.startsWith("hello"), `earlier messages are repeated: ${state.seen.said}`);
      });
      await gone();
      sayso.close();
    });
  }
});
