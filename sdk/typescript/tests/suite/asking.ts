import { type Ask, InvalidRequestError } from "@sayso/sdk";
import { ok, same, until } from "../check";
import type { Case } from "../world";

/** Return values of callbacks, and asks that callbacks leave pending. */
export const asking: Case[] = [
  {
    name: "what onQuestion returns is the answer",
    async run(world) {
      const { sayso } = await world.team();
      const session = await sayso.sessions.create({ agent: "mock", prompt: "question" });
      const told: Ask[] = [];
      session.onQuestion((question) => {
        told.push(question);
        return { answers: [["SQLite"]], note: "for now" };
      });
      const ask = await until("the question", () => told[0]);
      const decided = await sayso.asks.wait(ask.id);
      same(decided.status, "answered");
      same(decided.outcome?.answers, [["SQLite"]]);
      same(decided.outcome?.note, "for now");
      same([decided.outcome?.by.name, decided.outcome?.by.via], ["ada", "sdk"], "the name comes from the token");
      await until("the agent has it", async () => (await world.said(session)).some((text) => text.includes("SQLite")));
      same(told.length, 1);
    },
  },
  {
    name: "a callback that returns nothing leaves the question open, and it is answered later",
    async run(world) {
      const { sayso } = await world.team();
      const session = await sayso.sessions.create({ agent: "mock", prompt: "questions" });
      let given: AbortSignal | undefined;
      let told: Ask | undefined;
      session.onQuestion((question, { signal }) => {
        told = question;
        given = signal;
      });
      const ask = await until("the questions", () => told);
      same((await sayso.asks.get(ask.id)).status, "pending");
      same(given?.aborted, false);
      const answers = (ask.questions ?? []).map((one) =>
        one.options?.[0] ? [one.options[0].label] : ["three words here"],
      );
      same((await session.replyQuestion(ask.id, answers)).status, "answered");
      await until("the prompt is taken away", () => given?.aborted);
    },
  },
  {
    name: "one stream has the outcomes of all asks that the token opened",
    async run(world) {
      const bot = await world.as({ role: "agent", actor: "bot" });
      const page = await bot.asks.list({ limit: 1 });
      const asks = [];
      for (const text of ["One?", "Two?"]) asks.push(await bot.asks.open({ questions: [{ text, input: "text" }] }));
      const foreign = await world.admin.asks.open({ questions: [{ text: "Three?", input: "text" }] });
      for (const { id } of [foreign, ...asks].reverse()) await world.admin.asks.answer(id, [["yes"]]);
      const seen: string[] = [];
      for await (const event of bot.asks.outcomes({ since: page.seq })) {
        if (event.type !== "question.resolved") continue;
        seen.push(event.data.id);
        if (seen.length === asks.length) break;
      }
      same(seen, asks.map(({ id }) => id).reverse());
    },
  },
  {
    name: "a question is rejected with words or without",
    async run(world) {
      const { sayso } = await world.team();
      const { session: first, ask } = await world.asked(sayso, "question");
      same((await first.rejectQuestion(ask.id, "Decide yourself.")).outcome?.message, "Decide yourself.");
      const { session: second, ask: bare } = await world.asked(sayso, "question");
      const { outcome } = await second.rejectQuestion(bare.id);
      same(outcome?.status, "rejected");
      ok(outcome?.message, "the agent reads something in any case");
      const session = await sayso.sessions.create({ agent: "mock", prompt: "question" });
      let told: Ask | undefined;
      session.onQuestion((question) => {
        told = question;
        return { reject: "Not now." };
      });
      const decided = await sayso.asks.wait((await until("the question", () => told)).id);
      same([decided.status, decided.outcome?.message], ["rejected", "Not now."]);
    },
  },
  {
    name: "approvals are approved, with another input too, and denied with words",
    async run(world) {
      const { sayso } = await world.team();
      const replies = [
        "approve",
        { approve: { input: { command: "cargo check" } } },
        { deny: "Not on main." },
        "deny",
      ] as const;
      const outcomes = [];
      for (const reply of replies) {
        const session = await sayso.sessions.create({ agent: "mock", prompt: "approve" });
        let told: Ask | undefined;
        const leave = session.onApproval((approval) => {
          told = approval;
          return reply;
        });
        const { outcome } = await sayso.asks.wait((await until("the approval", () => told)).id);
        outcomes.push([outcome?.status, outcome?.input ?? outcome?.message ?? null]);
        leave();
      }
      same(outcomes, [
        ["approved", null],
        ["approved", { command: "cargo check" }],
        ["denied", "Not on main."],
        ["denied", "User denied tool execution"],
      ]);
      const { session, ask } = await world.asked(sayso, "approve");
      same((await session.approve(ask.id, { choice: "always" })).outcome?.choice, "always");
      const second = await world.asked(sayso, "plan");
      same((await second.session.deny(second.ask.id, "Smaller steps.")).outcome?.message, "Smaller steps.");
    },
  },
  {
    name: "a link is told to onLink",
    async run(world) {
      const { sayso } = await world.team();
      const session = await sayso.sessions.create({ agent: "mock", prompt: "link" });
      let told: Ask | undefined;
      session.onLink((link) => {
        told = link;
        return "approve";
      });
      const ask = await until("the link", () => told);
      ok(ask.link?.url.startsWith("http"), "a link has an address");
      same((await sayso.asks.wait(ask.id)).status, "approved");
    },
  },
  {
    name: "without a listener for its kind an ask waits",
    async run(world) {
      const { sayso, errors } = await world.team();
      const heard: string[] = [];
      sayso.on("*", ({ type }) => heard.push(type));
      sayso.onQuestion(() => [["SQLite"]]);
      const { session, ask } = await world.asked(sayso, "approve");
      await until("the event", () => heard.includes("approval.requested"));
      await session.message("and then?", { ifPending: "queue" });
      same((await sayso.asks.get(ask.id)).status, "pending");
      same(errors, []);
    },
  },
  {
    name: "a callback that throws or returns nonsense decides nothing, and the error is heard",
    async run(world) {
      const { sayso, errors } = await world.team();
      const nonsense: unknown[] = [
        42,
        true,
        "yes",
        [["SQLite"], "x"],
        [1],
        { approve: true },
        {},
        { answers: "SQLite" },
      ];
      const { session, ask } = await world.asked(sayso, "question");
      for (const value of nonsense) {
        errors.length = 0;
        const leave = session.onQuestion(() => value as never);
        const error = await until(`an error for ${JSON.stringify(value)}`, () => errors[0]);
        ok(error instanceof InvalidRequestError, String(error));
        leave();
      }
      errors.length = 0;
      session.onQuestion(() => Promise.reject(new Error("out of order")));
      same(String(await until("the error", () => errors[0])), "Error: out of order");
      same((await sayso.asks.get(ask.id)).status, "pending");

      const approval = await world.asked(sayso, "approve");
      for (const value of [true, 1, "yes", [["x"]], { approve: true }, { deny: true }, {}]) {
        errors.length = 0;
        const leave = approval.session.onApproval(() => value as never);
        ok((await until("an error", () => errors[0])) instanceof InvalidRequestError, JSON.stringify(value));
        leave();
      }
      same((await sayso.asks.get(approval.ask.id)).status, "pending");
    },
  },
  {
    name: "a late listener gets pending asks once",
    async run(world) {
      const { sayso } = await world.team();
      const { session } = await world.asked(sayso, "parallel");
      await until("all three", async () => (await sayso.asks.list({ status: "pending" })).data.length === 3);
      const counts = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
      const count = (index: number) => (ask: Ask) => {
        counts[index]?.set(ask.id, (counts[index]?.get(ask.id) ?? 0) + 1);
      };
      sayso.onQuestion(count(0));
      await until("both questions", () => counts[0]?.size === 2);
      session.onQuestion(count(1));
      session.onApproval(count(2));
      await until("the late ones too", () => counts[1]?.size === 2 && counts[2]?.size === 1);
      // Listen again: the callback is not called twice for an ask.
      const { ask } = await world.asked(sayso, "question");
      await until("the new question", () => counts[0]?.get(ask.id));
      same(
        counts.map((told) => [...told.values()]),
        [[1, 1, 1], [1, 1], [1]],
      );
    },
  },
  {
    name: "a session hears its own asks and events only",
    async run(world) {
      const { sayso } = await world.team();
      const mine = await sayso.sessions.create({ agent: "mock" });
      const other = await sayso.sessions.create({ agent: "mock" });
      const told: (string | null | undefined)[] = [];
      mine.onQuestion(({ sessionId }) => void told.push(sessionId));
      mine.on("question.requested", ({ sessionId }) => void told.push(sessionId));
      await other.message("question");
      await world.ask(sayso, other.id);
      await mine.message("question");
      await until("mine", () => told.length >= 2);
      same(told, [mine.id, mine.id]);
    },
  },
];
