import {
  AlreadyResolvedError,
  DirectTransport,
  emptyView,
  HttpTransport,
  InvalidAnswersError,
  InvalidRequestError,
  NotFoundError,
  type Sayso,
  type SessionView,
  servicesOf,
  type ToolCallState,
  type Transport,
  viewAfter,
} from "@sayso/sdk";
import { fails, ok, same, until } from "../check";
import type { Case, World } from "../world";

/** Tests for both transports. */
const kinds: [string, (world: World, sayso: Sayso, token: string) => Transport][] = [
  ["HttpTransport", (world, _, token) => new HttpTransport({ baseUrl: world.url, token })],
  ["DirectTransport", (_, sayso) => new DirectTransport(servicesOf(sayso))],
];

async function setUp(world: World, make: (typeof kinds)[number][1]) {
  const labels = { team: `transport-${crypto.getRandomValues(new Uint32Array(1))[0]}` };
  const token = await world.secret({ role: "answerer", actor: "ada", labels });
  const sayso = world.connect(token);
  return { sayso, transport: make(world, sayso, token) };
}

const calls = ({ items }: SessionView): ToolCallState[] =>
  items.flatMap((item) => (item.kind === "tool" ? [item.call] : []));

export const transports: Case[] = kinds.flatMap(([name, make]): Case[] => [
  {
    name: `${name}: answers by position, several as a list, own words as they are`,
    async run(world) {
      const { sayso, transport } = await setUp(world, make);
      const { session, ask } = await world.asked(sayso, "questions");
      const [, second] = ask.questions ?? [];
      const several = (second?.options ?? []).slice(0, 2).map(({ label }) => label);
      const first = ask.questions?.[0]?.options?.[0]?.label ?? "";
      const answers = { "0": first, "1": JSON.stringify(several), "2": '["not","a list"]' };
      same(await transport.submitAnswers(session.id, ask.toolCallId, answers), { ok: true });
      same((await sayso.asks.get(ask.id)).outcome?.answers, [[first], several, ['["not","a list"]']]);
    },
  },
  {
    name: `${name}: approves and denies tools`,
    async run(world) {
      const { sayso, transport } = await setUp(world, make);
      const one = await world.asked(sayso, "approve");
      same(await transport.approveTool(one.session.id, one.ask.toolCallId), { ok: true });
      same((await sayso.asks.get(one.ask.id)).status, "approved");
      const two = await world.asked(sayso, "approve");
      same(await transport.denyTool(two.session.id, two.ask.toolCallId), { ok: true });
      same((await sayso.asks.get(two.ask.id)).status, "denied");
    },
  },
  {
    name: `${name}: mistakes have the same names`,
    async run(world) {
      const { sayso, transport } = await setUp(world, make);
      const { session, ask } = await world.asked(sayso, "questions");
      const { id } = session;
      await fails(transport.submitAnswers(id, ask.toolCallId, { "0": "x" }), InvalidAnswersError, "invalid_answers");
      await fails(transport.submitAnswers(id, "", {}), InvalidRequestError, "malformed_request");
      await fails(
        transport.submitAnswers(id, ask.toolCallId, undefined as never),
        InvalidRequestError,
        "malformed_request",
      );
      await fails(transport.approveTool(id, ""), InvalidRequestError, "malformed_request");
      await fails(transport.denyTool(id, ""), InvalidRequestError, "malformed_request");
      const unknown = await fails(transport.submitAnswers(id, "nothing", {}), NotFoundError, "ask_not_found");
      same(unknown.message, "No pending question");
      await fails(transport.approveTool(id, ask.toolCallId), NotFoundError, "ask_not_found");
      await fails(transport.submitAnswers("ses_nothing", ask.toolCallId, {}), NotFoundError, "session_not_found");
      same((await sayso.asks.get(ask.id)).status, "pending");
      await sayso.rejectQuestion(ask.id);
      const late = await fails(
        transport.submitAnswers(id, ask.toolCallId, {}),
        AlreadyResolvedError,
        "ask_already_resolved",
      );
      same([late.winner, late.own], ["ada", true]);
    },
  },
  {
    // A tool call and its ask are one entry.
    name: `${name}: a stream makes one entry per tool call, from pending to complete`,
    async run(world) {
      const { sayso, transport } = await setUp(world, make);
      const { session, ask } = await world.asked(sayso, "question");
      const stop = new AbortController();
      let view = emptyView;
      const statuses: string[] = [];
      const following = (async () => {
        for await (const event of transport.stream(session.id, { signal: stop.signal })) {
          view = viewAfter(view, event);
          const now = calls(view).map(({ toolCallId, status }) => `${toolCallId} ${status}`);
          if (now.join() !== statuses.at(-1)) statuses.push(now.join());
        }
      })();
      await until("the pending question, though we came late", () => calls(view)[0]?.status === "pending");
      const [question] = calls(view);
      same([question?.interactiveType, question?.toolCallId], ["question", ask.toolCallId]);
      same(
        question?.questions?.[0]?.options.map(({ label }) => label),
        ["SQLite", "PostgreSQL"],
      );
      await transport.submitAnswers(session.id, ask.toolCallId, { "0": "SQLite" });
      await until("the turn ends", () => calls(view)[0]?.status === "complete");
      await session.message("approve");
      const approval = await until("the approval", () => calls(view).find(({ status }) => status === "pending"));
      same([approval.interactiveType, approval.toolName], ["approval", "Bash"]);
      same(JSON.parse(approval.input), { command: "cargo test --workspace" });
      await transport.approveTool(session.id, approval.toolCallId);
      await until("the result", () => calls(view)[1]?.status === "complete");
      same(calls(view).length, 2, "one entry per call");
      ok(calls(view)[1]?.result?.includes("12 passed"), "the result is there");
      stop.abort();
      await following;
      same(statuses.filter((status) => status.includes("pending")).length >= 2, true);
    },
  },
  {
    name: `${name}: the stream of an unknown session ends with an error`,
    async run(world) {
      const { transport } = await setUp(world, make);
      const next = transport.stream("ses_nothing")[Symbol.asyncIterator]().next();
      await fails(next, NotFoundError, "session_not_found");
    },
  },
]);

/** The first answer wins, on any surface. */
export const races: Case[] = [
  {
    name: "clients race on different surfaces, and one of them wins",
    async run(world) {
      const { sayso, labels } = await world.team();
      for (let round = 0; round < 10; round++) {
        const { session, ask } = await world.asked(sayso, "question");
        const token = await world.secret({ role: "answerer", actor: `http-${round}`, labels });
        const rival = world.connect(token);
        const raw = (path: string) =>
          fetch(`${world.url}/v1${path}`, {
            method: "POST",
            headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
            body: JSON.stringify({ answers: [["PostgreSQL"]] }),
          }).then(async (response) => {
            if (!response.ok) throw Object.assign(new Error(), await response.json());
          });
        const results = await Promise.allSettled([
          sayso.replyQuestion(ask.id, [["SQLite"]]),
          rival.rejectQuestion(ask.id),
          new HttpTransport({ baseUrl: world.url, token }).submitAnswers(session.id, ask.toolCallId, { "0": "SQLite" }),
          new DirectTransport(servicesOf(rival)).submitAnswers(session.id, ask.toolCallId, { "0": "PostgreSQL" }),
          raw(`/sessions/${session.id}/questions/${ask.id}/reply`),
        ]);
        same(results.filter(({ status }) => status === "fulfilled").length, 1, "one winner");
        const { outcome } = await sayso.asks.get(ask.id);
        for (const result of results) {
          if (result.status === "fulfilled") continue;
          const { code, problem = result.reason } = result.reason;
          same([code, problem.outcome.by, problem.outcome.at], ["ask_already_resolved", outcome?.by, outcome?.at]);
        }
      }
    },
  },
];
