import { AskCard, MessageItem, QuestionPrompt, SaysoProvider, ToolApproval, useAsks, useSession } from "@sayso/react";
import { DirectTransport, type QuestionItem, Sayso, servicesOf, type ToolCallState, type Transport } from "@sayso/sdk";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Server } from "../../../web/e2e/server";

/** Components and hooks with the real server and the mock agent, from a page of another origin. */
let server: Server;
let sayso: Sayso;

beforeAll(async () => {
  server = await Server.start({ config: 'cors_origins = ["http://localhost:3000"]\n' });
});
afterAll(() => server.stop());
beforeEach(async () => {
  const labels = { test: String(Math.random()) };
  const admin = Sayso.connect({ baseUrl: server.url, token: server.token });
  const { token } = await admin.tokens.create({ role: "answerer", actor: "ada", labels });
  sayso = Sayso.connect({ baseUrl: server.url, token: token ?? "" });
});
afterEach(() => sayso.close());

const start = async (prompt: string) => (await sayso.sessions.create({ agent: "mock", prompt })).id;
const asked = (session: string) => server.asked(session);
const patiently = <T,>(look: () => T | Promise<T>) => waitFor(look, { timeout: 30_000 });
const click = (name: string | RegExp) => userEvent.click(screen.getByRole("button", { name }));
const transports: [string, () => Transport][] = [
  ["HttpTransport", () => sayso.transport],
  ["DirectTransport", () => new DirectTransport(servicesOf(sayso))],
];

const items: QuestionItem[] = [
  {
    header: "Database",
    question: "Which database should this feature use?",
    options: [{ label: "SQLite", description: "lightweight, file-based" }, { label: "PostgreSQL" }],
    multiSelect: false,
  },
];

describe.each(transports)("QuestionPrompt by %s", (_, transport) => {
  it("shows radios and Submit, sends the choice, and then shows it", async () => {
    const session = await start("question");
    const ask = await asked(session);
    render(
      <SaysoProvider transport={transport()}>
        <QuestionPrompt sessionId={session} toolCallId={ask.toolCallId} questions={items} />
      </SaysoProvider>,
    );
    expect(screen.getAllByRole("radio")).toHaveLength(3);
    const submit = screen.getByRole("button", { name: "Submit" });
    expect(submit.getAttribute("aria-disabled")).toBe("true");
    await userEvent.click(submit);
    expect((await server.readAsk(ask.id)).status).toBe("pending");
    await userEvent.click(screen.getByText("PostgreSQL"));
    await userEvent.click(submit);
    await patiently(() => expect(screen.getByText("Answered")).toBeTruthy());
    expect(screen.getByText("“PostgreSQL”")).toBeTruthy();
    expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["PostgreSQL"]]);
  });

  it("sends free text, and several choices as a list", async () => {
    const session = await start("questions");
    const ask = await asked(session);
    const questions = (ask.questions ?? []).map(({ header, text, options, multiple }) => ({
      header: header ?? "",
      question: text,
      options: (options ?? []).map(({ label }) => ({ label })),
      multiSelect: multiple ?? false,
    }));
    render(
      <SaysoProvider transport={transport()}>
        <QuestionPrompt sessionId={session} toolCallId={ask.toolCallId} questions={questions} />
      </SaysoProvider>,
    );
    const [first, second, third] = screen.getAllByRole("region");
    await userEvent.type(within(first as HTMLElement).getByRole("textbox"), "DuckDB");
    const boxes = within(second as HTMLElement).getAllByRole("checkbox");
    await userEvent.click(boxes[0] as HTMLElement);
    await userEvent.click(boxes[1] as HTMLElement);
    await userEvent.type(within(third as HTMLElement).getByRole("textbox"), "nothing else");
    await click("Submit");
    await patiently(async () => expect((await server.readAsk(ask.id)).status).toBe("answered"));
    const chosen = questions[1]?.options.slice(0, 2).map(({ label }) => label);
    expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["DuckDB"], chosen, ["nothing else"]]);
  });

  it("names the person who decided first", async () => {
    const session = await start("question");
    const ask = await asked(session);
    render(
      <SaysoProvider transport={transport()}>
        <QuestionPrompt sessionId={session} toolCallId={ask.toolCallId} questions={items} oneClick />
      </SaysoProvider>,
    );
    await server.api("POST", `/asks/${ask.id}/answer`, { answers: [["SQLite"]] });
    await click(/PostgreSQL/);
    await patiently(() =>
      expect(screen.getByText(/Already answered by .*\. Your answer “PostgreSQL” wasn’t sent/)).toBeTruthy(),
    );
  });

  it("shows the error and allows another attempt", async () => {
    const session = await start("question");
    const ask = await asked(session);
    const view = (call: string) => (
      <SaysoProvider transport={transport()}>
        <QuestionPrompt sessionId={session} toolCallId={call} questions={items} />
      </SaysoProvider>
    );
    const { rerender } = render(view("nothing"));
    await userEvent.click(screen.getByText("SQLite"));
    await click("Submit");
    expect((await screen.findByRole("alert", {}, { timeout: 30_000 })).textContent).toContain("No pending question");
    expect(screen.getByRole("button", { name: "Submit" })).toBeTruthy();
    rerender(view(ask.toolCallId));
    await userEvent.click(screen.getByText("SQLite"));
    await click("Submit");
    await patiently(async () => expect((await server.readAsk(ask.id)).status).toBe("answered"));
  });
});

describe.each(transports)("ToolApproval by %s", (_, transport) => {
  it.each([
    ["Approve", "approved"],
    ["Deny", "denied"],
  ])("%s", async (button, status) => {
    const session = await start("approve");
    const ask = await asked(session);
    const input = JSON.stringify(ask.approval?.input);
    render(
      <SaysoProvider transport={transport()}>
        <ToolApproval sessionId={session} toolCallId={ask.toolCallId} toolName="Bash" input={input} />
      </SaysoProvider>,
    );
    expect(screen.getByText(/cargo test --workspace/)).toBeTruthy();
    await click(button);
    await patiently(async () => expect((await server.readAsk(ask.id)).status).toBe(status));
    await patiently(() => expect(screen.queryByRole("button", { name: button })).toBeNull());
  });
});

function Chat({ session, seen }: { session: string; seen: (calls: ToolCallState[]) => void }) {
  const live = useSession(session);
  seen(live.toolCalls);
  return (
    <section aria-label={live.status} data-connection={live.connection.state}>
      {live.items.map((item, index) => (
        <MessageItem key={item.kind === "tool" ? item.call.toolCallId : index} sessionId={session} item={item} />
      ))}
    </section>
  );
}

describe("useSession and MessageItem", () => {
  it("shows a question prompt, then an approval, each as one entry that ends complete", async () => {
    const session = await start("question");
    const ask = await asked(session);
    let calls: ToolCallState[] = [];
    render(
      <SaysoProvider client={sayso}>
        <Chat session={session} seen={(now) => (calls = now)} />
      </SaysoProvider>,
    );
    await patiently(() => expect(calls).toHaveLength(1));
    expect(calls[0]).toMatchObject({ toolCallId: ask.toolCallId, status: "pending", interactiveType: "question" });
    expect(calls[0]?.questions).toEqual(items.map((item) => ({ ...item, options: expect.anything() })));
    await userEvent.click(screen.getByText("SQLite"));
    await click("Submit");
    await patiently(() => expect(calls[0]?.status).toBe("complete"));
    await patiently(() => expect(screen.getByText(/You answered: SQLite/)).toBeTruthy());

    await (await sayso.sessions.get(session)).message("approve");
    await patiently(() => expect(calls[1]?.status).toBe("pending"));
    expect(calls[1]).toMatchObject({ toolName: "Bash", interactiveType: "approval" });
    await click("Approve");
    await patiently(() => expect(calls.map(({ status }) => status)).toEqual(["complete", "complete"]));
    expect(calls[1]?.result).toContain("12 passed");
    expect(screen.getAllByRole("article")).toHaveLength(2);
  });

  it("removes a prompt that was answered elsewhere", async () => {
    const session = await start("parallel");
    let calls: ToolCallState[] = [];
    render(
      <SaysoProvider client={sayso}>
        <Chat session={session} seen={(now) => (calls = now)} />
      </SaysoProvider>,
    );
    await patiently(() => expect(calls.filter(({ status }) => status === "pending")).toHaveLength(3));
    const approval = (await server.pending(session)).find(({ kind }) => kind === "approval");
    await server.api("POST", `/asks/${approval?.id}/deny`, {});
    await patiently(() => expect(screen.queryByRole("button", { name: "Approve" })).toBeNull());
    expect(screen.getByText("Decided")).toBeTruthy();
    expect(screen.getAllByRole("button", { name: "Submit" })).toHaveLength(2);
  });

  it("shows the reason if the token cannot see the session", async () => {
    render(
      <SaysoProvider client={sayso}>
        <Chat session="ses_nothing" seen={() => {}} />
      </SaysoProvider>,
    );
    await patiently(() => expect(screen.getByRole("region").dataset.connection).toBe("closed"));
  });
});

function Inbox({ session, keep }: { session?: string; keep?: boolean }) {
  const { asks, loaded } = useAsks({ ...(session ? { session } : {}), ...(keep ? { keep } : {}) });
  return (
    <main data-loaded={loaded}>
      {asks.map((ask) => (
        <AskCard key={ask.id} ask={ask} />
      ))}
    </main>
  );
}

describe("useAsks", () => {
  const cards = () => [...document.querySelectorAll<HTMLElement>("article")].map((card) => card.dataset.ask);

  it("shows pending, new and decided asks with the card", async () => {
    const first = await asked(await start("question"));
    render(
      <SaysoProvider client={sayso} holdMs={0}>
        <Inbox keep />
      </SaysoProvider>,
    );
    await patiently(() => expect(cards()).toEqual([first.id]));
    const second = await asked(await start("approve"));
    await patiently(() => expect(cards()).toEqual([first.id, second.id]));
    await click(/SQLite/);
    await patiently(async () => expect((await server.readAsk(first.id)).outcome?.by.name).toBe("ada"));
    await server.api("POST", `/asks/${second.id}/deny`, { message: "Not now." });
    await patiently(() => expect(screen.getByText(/Denied by/)).toBeTruthy());
    expect(cards()).toEqual([first.id, second.id]);
  });

  it("with a session shows only its asks, and drops decided ones", async () => {
    const session = await start("question");
    const mine = await asked(session);
    await asked(await start("question"));
    render(
      <SaysoProvider client={sayso} holdMs={0}>
        <Inbox session={session} />
      </SaysoProvider>,
    );
    await patiently(() => expect(cards()).toEqual([mine.id]));
    await click("Reject");
    await patiently(() => expect(cards()).toEqual([]));
    expect((await server.readAsk(mine.id)).status).toBe("rejected");
  });
});
