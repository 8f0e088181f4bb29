import {
  AlreadyResolvedError,
  AskPendingError,
  type FeedEvent,
  ForbiddenError,
  InvalidAnswersError,
  InvalidRequestError,
  NotFoundError,
  SaysoError,
  UnauthorizedError,
  type WorkflowStep,
  WrongKindError,
} from "@sayso/sdk";
import { fails, ok, same, until } from "../check";
import type { Case } from "../world";

const questionStep = (id: string): WorkflowStep => ({ id, agent: "mock", prompt: "question", questions: "forward" });

/** Sessions, asks, events, and the error class of each failure. */
export const calls: Case[] = [
  {
    name: "a session is created, listed, read, talked to, interrupted and closed",
    async run(world) {
      const { sayso, labels } = await world.team();
      const session = await sayso.sessions.create({ agent: "mock", prompt: "hello there", labels: { x: "y" } });
      same(session.info.labels, { ...labels, x: "y" });
      same(
        (await sayso.sessions.list({ open: true })).data.map(({ id }) => id),
        [session.id],
      );
      await until("an echo", async () => (await world.said(session)).length === 1);
      ok((await session.message("question")).messageId, "a message has an id");
      const ask = await world.ask(sayso, session.id);
      same(
        (await sayso.sessions.get(session.id)).info.asks?.map(({ id }) => id),
        [ask.id],
      );
      await session.interrupt();
      same((await sayso.asks.wait(ask.id)).status, "withdrawn");
      await session.close();
      await until("it is over", async () => (await sayso.sessions.get(session.id)).info.status === "ended");
      await fails(session.message("too late"), SaysoError, "session_ended");
    },
  },
  {
    name: "a message that answers nothing is refused with the ids of what waits",
    async run(world) {
      const { sayso } = await world.team();
      const { session, ask } = await world.asked(sayso, "approve");
      const error = await fails(session.message("yes, go on"), AskPendingError, "ask_pending");
      same(error.asks, [ask.id]);
    },
  },
  {
    name: "any program opens an ask, waits for it and takes its outcome",
    async run(world) {
      const program = await world.as({ role: "agent", actor: "backup" });
      const ask = await program.asks.open({ questions: [{ text: "Which key?", input: "text", secret: true }] });
      const waiting = program.asks.wait(ask.id);
      await world.admin.asks.answer(ask.id, [["hunter2"]]);
      same((await waiting).outcome?.answers, [{ secret: true }]);
      same((await program.asks.receipt(ask.id)).outcome?.answers, [["hunter2"]]);
      const second = await program.asks.open({ approval: { tool: "deploy", action: "run", command: "./deploy.sh" } });
      same((await program.asks.withdraw(second.id, "too late")).status, "withdrawn");
    },
  },
  {
    name: "waiting ends when its signal is given",
    async run(world) {
      const { sayso } = await world.team();
      const { ask } = await world.asked(sayso, "question");
      const gone = new AbortController();
      const waiting = sayso.asks.wait(ask.id, { signal: gone.signal });
      gone.abort(new Error("enough"));
      same(await waiting.catch((error: unknown) => String(error)), "Error: enough");
    },
  },
  {
    name: "a late answer gets the winner",
    async run(world) {
      const { sayso, labels } = await world.team();
      const bob = await world.as({ role: "answerer", actor: "bob", labels });
      const { ask } = await world.asked(sayso, "question");
      await bob.replyQuestion(ask.id, [["PostgreSQL"]]);
      const error = await fails(
        sayso.replyQuestion(ask.id, [["SQLite"]]),
        AlreadyResolvedError,
        "ask_already_resolved",
      );
      same([error.winner, error.own, error.outcome?.status], ["bob", false, "answered"]);
      same(error.message, "already answered by bob");
      const again = await fails(bob.rejectQuestion(ask.id), AlreadyResolvedError, "ask_already_resolved");
      same([again.winner, again.own], ["bob", true]);
    },
  },
  {
    name: "answers that do not fit leave the question open",
    async run(world) {
      const { sayso } = await world.team();
      const { ask } = await world.asked(sayso, "questions");
      const error = await fails(
        sayso.replyQuestion(ask.id, [["a", "b"], [], []]),
        InvalidAnswersError,
        "invalid_answers",
      );
      ok(
        error.problems.some(({ index }) => index === 0),
        JSON.stringify(error.problems),
      );
      await fails(sayso.replyQuestion(ask.id, []), InvalidAnswersError, "invalid_answers");
      await fails(sayso.replyQuestion(ask.id, "SQLite" as never), InvalidRequestError, "invalid_request");
      await fails(sayso.replyQuestion(ask.id, [[1]] as never), InvalidRequestError, "invalid_request");
      await fails(sayso.approve(ask.id), WrongKindError, "wrong_kind");
      same((await sayso.asks.get(ask.id)).status, "pending");
    },
  },
  {
    name: "unknown ids are not found, and invalid requests are refused",
    async run(world) {
      const { sayso } = await world.team();
      const id = "ses_00000000000070008000000000000000";
      await fails(sayso.sessions.get(id), NotFoundError, "session_not_found");
      await fails(sayso.sessions.get("../asks"), NotFoundError, "session_not_found");
      for (const nothing of ["", ".", "..", undefined as never]) {
        await fails(sayso.sessions.get(nothing), NotFoundError, "not_found");
      }
      await fails(sayso.replyQuestion("ask_nothing", [["x"]]), NotFoundError, "ask_not_found");
      await fails(sayso.asks.wait("ask_nothing"), NotFoundError, "ask_not_found");
      await fails(sayso.sessions.create({ agent: "nobody" }), InvalidRequestError, "unknown_agent");
      await fails(
        sayso.sessions.create({ agent: "mock", promt: "typo" } as never),
        InvalidRequestError,
        "invalid_request",
      );
      await fails(world.admin.asks.open({} as never), InvalidRequestError, "invalid_request");
      const unseen = sayso.events({ since: 0 });
      await unseen.return?.();
      const { session } = await world.asked(sayso, "question");
      await fails(world.connect("sayso_wrong").sessions.get(session.id), UnauthorizedError, "unauthorized");
    },
  },
  {
    // A server without workflows has no such route; callers cannot tell the difference.
    name: "questions of a run that is unknown are not found",
    async run(world) {
      const run = "run_00000000000070008000000000000000";
      const { runs } = world.admin;
      for (const call of [
        () => runs.answerQuestion(run, "ask_nothing", [["x"]]),
        () => runs.rejectQuestion(run, "ask_nothing"),
        () => runs.get(run),
      ]) {
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        ok(error instanceof NotFoundError, String(error));
      }
    },
  },
  {
    name: "a run is started, followed by its events and cancelled",
    async run(world) {
      const { runs } = world.admin;
      const since = (await world.admin.asks.list({ limit: 1 })).seq;
      const run = await runs.start({ workflow: { name: "one question", steps: [questionStep("plan")] } });
      same([run.status, run.steps.map(({ id }) => id)], ["running", ["plan"]]);
      const seen: string[] = [];
      for await (const event of world.admin.events({ since })) {
        switch (event.type) {
          case "run.started":
          case "run.cancelled":
            if (event.data.runId === run.id) seen.push(`${event.type} ${event.data.workflow}`);
            break;
          case "step.started":
          case "step.cancelled":
            if (event.data.runId === run.id) seen.push(`${event.type} ${event.data.stepId} ${event.data.attempts}`);
            break;
          case "agent_question_asked":
            if (event.data.runId === run.id) same((await runs.cancel(run.id)).status, "cancelled");
            break;
        }
        if (seen.at(-1)?.startsWith("run.cancelled")) break;
      }
      const steps = ["step.started plan 1", "step.cancelled plan 1"];
      same(seen, ["run.started one question", ...steps, "run.cancelled one question"]);
      ok(
        (await runs.list({ limit: 10 })).data.some(({ id, status }) => id === run.id && status === "cancelled"),
        "listed",
      );
    },
  },
  {
    name: "questions of a run are answered and rejected, and its agent goes on",
    async run(world) {
      const { runs } = world.admin;
      const steps = ["plan", "build"].map((id) => questionStep(id));
      const { id: run } = await runs.start({ workflow: { name: "two questions", steps } });
      const asked = () => until("the run asks", async () => (await runs.get(run)).pendingQuestions?.[0]?.id);
      const first = await asked();
      same(await runs.answerQuestion(run, first, [["SQLite"]]), { status: "answered" });
      await fails(runs.answerQuestion(run, first, [["PostgreSQL"]]), AlreadyResolvedError, "ask_already_resolved");
      const second = await until("the next step asks", async () => {
        const pending = (await runs.get(run)).pendingQuestions?.[0];
        return pending !== undefined && pending.id !== first && pending.id;
      });
      same(await runs.rejectQuestion(run, second, "not now"), { status: "rejected" });
      const done = await until("the run ends", async () => {
        const now = await runs.get(run);
        return now.status === "completed" && now;
      });
      same(done.pendingQuestions, []);
      const { outcome } = await world.admin.asks.get(second);
      same([outcome?.status, outcome?.message], ["rejected", "not now"]);
    },
  },
  {
    name: "tokens that are missing, wrong, expired, revoked or of another role are refused by name",
    async run(world) {
      for (const token of ["", "sayso_wrong", "nonsense"]) {
        await fails(world.connect(token).asks.list(), UnauthorizedError, "unauthorized");
        await fails(world.connect(token).events().next(), UnauthorizedError, "unauthorized");
      }
      const brief = await world.as({ role: "viewer", actor: "screen", expiresIn: "1s" });
      const error = await until("it expires", async () => {
        return brief.asks.list().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      });
      ok(error instanceof UnauthorizedError, String(error));

      const { token, id } = await world.admin.tokens.create({ role: "viewer", actor: "screen" });
      const viewer = world.connect(token ?? "");
      await viewer.asks.list();
      const { ask } = await world.asked(world.admin, "question");
      await fails(viewer.replyQuestion(ask.id, [["SQLite"]]), ForbiddenError, "forbidden");
      await fails(viewer.tokens.create({ role: "admin", actor: "me" }), ForbiddenError, "forbidden");
      await world.admin.tokens.revoke(id);
      await fails(viewer.asks.list(), UnauthorizedError, "unauthorized");

      const agent = await world.as({ role: "agent", actor: "ci" });
      const own = await agent.asks.open({ questions: [{ text: "Which?" }] });
      await fails(agent.replyQuestion(own.id, [["mine"]]), ForbiddenError, "forbidden");
      await fails(agent.sessions.create({ agent: "mock" }), ForbiddenError, "forbidden");
      await fails(agent.asks.get(ask.id), NotFoundError, "ask_not_found");
    },
  },
  {
    name: "a token of one session or of labels sees nothing else, and its name is the one who decides",
    async run(world) {
      const mine = await world.asked(world.admin, "question");
      const other = await world.asked(world.admin, "question");
      const scoped = await world.as({ role: "answerer", actor: "carol", sessionId: mine.session.id, expiresIn: "1h" });
      same(
        (await scoped.asks.list()).data.map(({ id }) => id),
        [mine.ask.id],
      );
      same(
        (await scoped.sessions.list()).data.map(({ id }) => id),
        [mine.session.id],
      );
      await fails(scoped.asks.get(other.ask.id), NotFoundError, "ask_not_found");
      await fails(scoped.replyQuestion(other.ask.id, [["SQLite"]]), NotFoundError, "ask_not_found");
      await fails(scoped.sessions.get(other.session.id), NotFoundError, "session_not_found");
      await fails(
        scoped.transport.submitAnswers(other.session.id, other.ask.toolCallId, {}),
        NotFoundError,
        "session_not_found",
      );
      await fails(scoped.sessions.create({ agent: "mock" }), ForbiddenError, "forbidden");
      const heard: (string | null | undefined)[] = [];
      scoped.on("*", ({ sessionId }) => heard.push(sessionId));
      await until("it listens", () => scoped.live.connection().state === "open");
      await world.admin.replyQuestion(other.ask.id, [["SQLite"]]);
      const decided = await scoped.replyQuestion(mine.ask.id, [["SQLite"]]);
      same([decided.outcome?.by.name, decided.outcome?.by.kind], ["carol", "person"]);
      await until("its own events", () => heard.length > 0);
      same([...new Set(heard)], [mine.session.id]);
      await fails(
        world.admin.tokens.create({ role: "answerer", actor: "x", sessionId: mine.session.id, labels: { a: "b" } }),
        InvalidRequestError,
        "invalid_request",
      );
    },
  },
  {
    name: "a token may be a function, asked anew for each call",
    async run(world) {
      const first = await world.admin.tokens.create({ role: "viewer", actor: "screen" });
      let secret = first.token ?? "";
      const sayso = world.connect(() => secret);
      await sayso.asks.list();
      await world.admin.tokens.revoke(first.id);
      await fails(sayso.asks.list(), UnauthorizedError, "unauthorized");
      secret = await world.secret({ role: "viewer", actor: "screen" });
      await sayso.asks.list();
    },
  },
  {
    name: "events come in order and without gaps, from the past into the present",
    async run(world) {
      const { sayso } = await world.team();
      const { session, ask } = await world.asked(sayso, "question");
      const seen: FeedEvent[] = [];
      for await (const event of session.events({ since: 0 })) {
        if (event.seq !== undefined) seen.push(event);
        if (event.type === "question.requested") await sayso.replyQuestion(ask.id, [["SQLite"]]);
        if (event.type === "session.status" && event.data.status === "idle") break;
      }
      same(
        seen.map(({ type }) => type),
        [
          "session.created",
          "message.completed",
          "message.completed",
          "question.requested",
          "question.resolved",
          "ask.delivery",
          "message.completed",
          "session.status",
        ],
      );
      const places = seen.map(({ seq }) => seq ?? 0);
      same(
        places,
        [...new Set(places)].sort((a, b) => a - b),
      );
    },
  },
  {
    name: "an iterator ends while a caller waits for its next event",
    async run(world) {
      const { sayso } = await world.team();
      const iterator = sayso.events();
      const next = iterator.next();
      await iterator.return?.();
      same((await next).done, true);
      const stop = new AbortController();
      const waiting = sayso.events({ signal: stop.signal }).next();
      stop.abort();
      same((await waiting).done, true);
    },
  },
  {
    name: "a past that is gone is told as a reset, and the stream goes on",
    async run(world) {
      const { sayso } = await world.team();
      const types: string[] = [];
      let session = "";
      for await (const event of sayso.events({ since: 999_999_999 })) {
        if (event.type === "reset") {
          ok(typeof event.seq === "number" && event.seq < 999_999_999, "a reset says where it goes on");
          session = (await sayso.sessions.create({ agent: "mock" })).id;
        } else if (event.sessionId === session) {
          types.push(event.type);
          break;
        }
      }
      same(types, ["session.created"]);
    },
  },
];
