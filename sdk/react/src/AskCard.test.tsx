import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AskCard, type AskCardProps } from "./AskCard";
import type { Ask, Decision, Outcome } from "./api";
import { SaysoProvider } from "./host";
import { type Decide, DecideError } from "./model/sender";
import { clock } from "./model/time";
import { anApproval, anAsk, areas, database, token } from "./test/asks";
import { KEY_GRACE_MS } from "./useCardKeys";

interface Setup extends Partial<AskCardProps> {
  decide?: Decide;
  oneClick?: boolean;
  readOnly?: boolean;
  holdMs?: number;
}

function show(
  ask: Ask,
  { decide = async () => {}, oneClick = true, readOnly = false, holdMs = 0, ...props }: Setup = {},
) {
  const sent: Decision[] = [];
  const spy: Decide = async (id, decision, options) => {
    sent.push(decision);
    await decide(id, decision, options);
  };
  const view = (shown: Ask) => (
    <SaysoProvider decide={spy} holdMs={holdMs} oneClick={oneClick} readOnly={readOnly} tokenId="tok_me">
      <AskCard ask={shown} {...props} />
    </SaysoProvider>
  );
  const { rerender, container } = render(view(ask));
  const card = () => container.querySelector("article") as HTMLElement;
  return { sent, card, update: (next: Ask) => rerender(view(next)) };
}

const click = (name: string | RegExp) => userEvent.click(screen.getByRole("button", { name }));
const me = { kind: "person", name: "ada", via: "page", tokenId: "tok_me" };
const at = new Date(2026, 10, 15, 14, 1).toISOString();
const decided = (ask: Ask, outcome: Partial<Outcome> & Pick<Outcome, "status">, change: Partial<Ask> = {}): Ask => ({
  ...ask,
  status: outcome.status,
  reach: null,
  delivery: "confirmed",
  outcome: { by: me, at, ...outcome },
  ...change,
});

describe("a single question", () => {
  it("shows header, text, options with descriptions, Other and Reject, with nothing chosen", () => {
    const { card } = show(anAsk({ context: "The login route works." }));
    expect(card().dataset.state).toBe("pending");
    const group = screen.getByRole("group", { name: "Which database?" });
    expect(
      within(group)
        .getAllByRole("button")
        .map((button) => button.textContent),
    ).toEqual(["1SQLiteRecommendedone file", "2PostgreSQL"]);
    expect(screen.getByText("Database").className).toBe("chip");
    expect(screen.getByPlaceholderText("Other: type your answer")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Send" }).getAttribute("aria-disabled")).toBe("true");
    expect(screen.getByRole("button", { name: "Reject" })).toBeTruthy();
    expect(screen.getByText("The login route works.")).toBeTruthy();
  });

  it("sends an option with one click", async () => {
    const { sent } = show(anAsk());
    await click(/PostgreSQL/);
    expect(sent).toEqual([{ kind: "answer", answers: [["postgres"]] }]);
  });

  it("sends free text with Enter, but not with an Enter that ends a composition", async () => {
    const { sent } = show(anAsk());
    const field = screen.getByPlaceholderText("Other: type your answer");
    fireEvent.change(field, { target: { value: "DuckDB" } });
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
    expect(sent).toEqual([]);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(sent).toEqual([{ kind: "answer", answers: [["DuckDB"]] }]);
  });

  it("has no text field when the question accepts no free text", () => {
    show(anAsk({ questions: [{ ...database, custom: false }] }));
    expect(screen.queryByPlaceholderText("Other: type your answer")).toBeNull();
  });

  it("shortens a long header and shows all of it in the tooltip", () => {
    const header = "A header of more than thirty characters";
    show(anAsk({ questions: [{ ...database, header }] }));
    expect(screen.getByTitle(header).textContent).toBe("A header of more than thirty …");
  });

  it("is radio buttons and Submit when one click is off", async () => {
    const { sent } = show(anAsk(), { oneClick: false });
    const submit = screen.getByRole("button", { name: "Submit" });
    expect(submit.getAttribute("aria-disabled")).toBe("true");
    await userEvent.click(submit);
    await userEvent.click(screen.getByRole("radio", { name: /SQLite/ }));
    expect(sent).toEqual([]);
    await userEvent.click(submit);
    expect(sent).toEqual([{ kind: "answer", answers: [["sqlite"]] }]);
  });

  it("sends a note with the answer, and a reason with the rejection", async () => {
    const first = show(anAsk());
    await click("Add a note");
    await userEvent.type(screen.getByRole("textbox", { name: "Note for the agent" }), "for now");
    await click(/PostgreSQL/);
    expect(first.sent).toEqual([{ kind: "answer", answers: [["postgres"]], note: "for now" }]);
  });

  it("is rejected with a typed reason", async () => {
    const { sent } = show(anAsk());
    await click("Reject with reason");
    await userEvent.type(screen.getByRole("textbox", { name: /^Why\?/ }), "Decide yourself.{Enter}");
    expect(sent).toEqual([{ kind: "reject", message: "Decide yourself." }]);
  });
});

describe("an approval with terms", () => {
  const inputSchema = {
    type: "object",
    required: ["to", "copies"],
    properties: { to: { type: "string" }, copies: { type: "integer", maximum: 3 }, urgent: { type: "boolean" } },
  };
  const email = (change: object = {}) =>
    anApproval({
      tool: "send_email",
      action: "other",
      input: { to: "ada", copies: 1 },
      inputSchema,
      ...change,
    } as never);

  it("is edited in a form", async () => {
    const { sent } = show(email());
    await click("Edit input");
    expect(document.activeElement).toBe(screen.getByLabelText("to"));
    await userEvent.type(screen.getByLabelText("to"), "@example.com");
    const copies = screen.getByLabelText("copies");
    await userEvent.clear(copies);
    await userEvent.type(copies, "9");
    expect(screen.getByText("Enter a number of at most 3.")).toBeTruthy();
    await click("Approve with changes");
    expect(sent).toEqual([]);
    await userEvent.clear(copies);
    await userEvent.type(copies, "2");
    await userEvent.click(screen.getByRole("checkbox", { name: /urgent/ }));
    await click("Approve with changes");
    expect(sent).toEqual([{ kind: "approve", input: { to: "ada@example.com", copies: 2, urgent: true } }]);
  });

  it("is edited as JSON when a form would not show everything", async () => {
    show(email({ input: { to: "ada", copies: 1, other: [] } }));
    await click("Edit input");
    expect(screen.getByRole("textbox", { name: "Input to approve" })).toBeTruthy();
  });

  it("offers only the decisions that are allowed", async () => {
    const { sent } = show(email({ allowedDecisions: ["edit"] }));
    expect(screen.queryByRole("button", { name: /^(Approve|Deny|Always)/ })).toBeNull();
    await click("Edit input");
    await userEvent.type(screen.getByLabelText("to"), "!");
    await click("Approve with changes");
    expect(sent).toEqual([{ kind: "approve", input: { to: "ada!", copies: 1 } }]);
  });

  it("cannot be edited unless that is allowed", () => {
    show(email({ allowedDecisions: ["approve", "deny"], editable: false }));
    expect(screen.queryByRole("button", { name: "Edit input" })).toBeNull();
    expect(screen.getByRole("button", { name: "Approve" })).toBeTruthy();
  });
});

describe("several questions", () => {
  const set = anAsk({ questions: [database, areas, token] });

  it("are submitted together when all required ones are answered", async () => {
    const { sent } = show(set);
    const submit = screen.getByRole("button", { name: "Submit" });
    expect(screen.getByText("0 of 3 answered. Still needed: Database.")).toBeTruthy();
    await userEvent.click(screen.getByRole("radio", { name: /PostgreSQL/ }));
    await userEvent.click(screen.getByRole("checkbox", { name: "Billing" }));
    await userEvent.click(screen.getByRole("checkbox", { name: "Auth" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Other answer to Areas" }), "Search");
    expect(screen.getByText("2 of 3 answered. Still needed: Token.")).toBeTruthy();
    await userEvent.type(screen.getByLabelText("Answer to Token"), "s3cret");
    expect(submit.getAttribute("aria-disabled")).toBe("false");
    await userEvent.click(submit);
    expect(sent).toEqual([{ kind: "answer", answers: [["postgres"], ["Auth", "Billing", "Search"], ["s3cret"]] }]);
  });

  it("need text when Other is selected", async () => {
    show(anAsk({ questions: [database, areas] }));
    await userEvent.click(screen.getByRole("checkbox", { name: "Auth" }));
    await userEvent.click(screen.getByRole("radio", { name: "Other" }));
    expect(screen.getByRole("button", { name: "Submit" }).getAttribute("aria-disabled")).toBe("true");
  });
});

describe("a secret", () => {
  it("is nowhere in the document after it is sent", async () => {
    const ask = anAsk({ questions: [token] });
    const { update } = show(ask, { holdMs: 3000 });
    await userEvent.type(screen.getByLabelText("Answer to Token"), "s3cret");
    await click("Submit");
    expect(document.documentElement.outerHTML).not.toContain("s3cret");
    update(decided(ask, { status: "answered", answers: [{ secret: true }] }));
    expect(document.documentElement.outerHTML).not.toContain("s3cret");
    expect(screen.getByText("Secret sent, not stored")).toBeTruthy();
  });
});

describe("an approval", () => {
  it("shows the tool, the whole command and the reason", () => {
    const command = `echo ${"x".repeat(5000)}`;
    show(anApproval({ command, preview: { type: "command", command } }));
    expect(screen.getByRole("heading", { name: "Run a command" })).toBeTruthy();
    expect(document.querySelector("pre.cmd")?.textContent).toBe(command);
    expect(screen.getByText("No rule allows this command.")).toBeTruthy();
  });

  it("is approved once, or with the agent's Always", async () => {
    const first = show(anApproval());
    await click("Approve");
    expect(first.sent).toEqual([{ kind: "approve" }]);
  });

  it("names the owner of Always next to Make a rule", async () => {
    const makeRule = vi.fn();
    const { sent } = show(anApproval(), { actions: { makeRule } });
    await click("Make a rule");
    expect(makeRule).toHaveBeenCalledOnce();
    await click("Always (Claude, this project)");
    expect(sent).toEqual([{ kind: "approve", choice: "always" }]);
  });

  it("is approved with a changed input", async () => {
    const { sent } = show(anApproval());
    await click("Edit command");
    fireEvent.change(screen.getByRole("textbox", { name: "Input to approve" }), {
      target: { value: "cargo test -p core" },
    });
    await click("Approve with changes");
    expect(sent).toEqual([{ kind: "approve", input: { command: "cargo test -p core" } }]);
  });

  it("does not send an input that is not a JSON object", async () => {
    const { sent } = show(anApproval({ action: "other", input: { a: 1 } }));
    await click("Edit input");
    const field = screen.getByRole("textbox", { name: "Input to approve" });
    fireEvent.change(field, { target: { value: "[1]" } });
    await click("Approve with changes");
    expect([sent, field.getAttribute("aria-invalid")]).toEqual([[], "true"]);
  });

  it("is denied, with a reason, or with a stop", async () => {
    const first = show(anApproval());
    await click("Deny and stop");
    expect(first.sent).toEqual([{ kind: "deny", stop: true }]);
  });

  it("shows a diff with its numbers and a word for each change", () => {
    const files = [{ path: "src/a.rs", diff: "@@ -1 +1 @@\n-old\n+new\n" }];
    show(anApproval({ action: "edit", paths: ["src/a.rs"], preview: { type: "diff", files } }));
    const lines = within(screen.getByRole("region", { name: "Changes to src/a.rs" }));
    expect([lines.getByText("added"), lines.getByText("removed")].length).toBe(2);
    expect(screen.getByRole("heading", { name: "Edit a.rs" })).toBeTruthy();
  });
});

describe("a link", () => {
  const link = (url: string) => anAsk({ kind: "link", questions: [], link: { url, message: "Sign in" } });

  it("shows the whole address with its host in bold, and opens only with a click", () => {
    show(link("https://github.com/login/device?code=1"));
    const open = screen.getByRole("link", { name: "Open github.com" });
    expect([open.getAttribute("href"), open.getAttribute("rel")]).toEqual([
      "https://github.com/login/device?code=1",
      "noopener noreferrer",
    ]);
    expect(screen.getByText("github.com").tagName).toBe("B");
  });

  it("cannot be opened if it is not a web address", () => {
    show(link("javascript:alert(1)"));
    expect(screen.queryByRole("link")).toBeNull();
    expect(screen.getByText("javascript:alert(1)")).toBeTruthy();
  });
});

describe("states", () => {
  const strip = (card: HTMLElement) => card.querySelector(".state")?.textContent;

  it("sending: held without controls, and undo restores the input", async () => {
    const { card, sent } = show(anAsk(), { holdMs: 3000 });
    await userEvent.type(screen.getByPlaceholderText("Other: type your answer"), "DuckDB{Enter}");
    expect([card().dataset.state, strip(card())]).toEqual(["sending", "Sending “DuckDB”Undo u"]);
    expect(screen.queryByRole("button", { name: "Reject" })).toBeNull();
    await click("Undo");
    expect([card().dataset.state, sent]).toEqual(["pending", []]);
    expect(screen.getByDisplayValue("DuckDB")).toBeTruthy();
  });

  it("answered: one row per question, which expands to the question and the whole answer", async () => {
    const ask = anAsk({ questions: [database, { ...areas, header: null }] });
    const { card } = show(decided(ask, { status: "answered", answers: [["postgres"], ["Auth", "Search"]] }));
    expect([card().dataset.state, strip(card())]).toEqual(["answered", `Answered${clock(at)}`]);
    const rows = screen.getAllByRole("button").map((row) => row.textContent);
    expect(rows).toEqual(["[Database]Selected: “PostgreSQL”", "[Which areas?]Selected: “Auth”, “Search”"]);
    expect(screen.queryByRole("radio")).toBeNull();
    await click(/Which areas/);
    expect(screen.getByText("Offered: Auth, Billing. Other: “Search”")).toBeTruthy();
    expect(screen.getByText("You, here. Confirmed by the agent.")).toBeTruthy();
  });

  it("rejected: the question is kept, and the reason is quoted", () => {
    const { card } = show(decided(anAsk(), { status: "rejected", message: "Not now." }));
    expect([card().dataset.state, strip(card())]).toEqual(["rejected", `Rejected${clock(at)}`]);
    expect(screen.getByText("Which database?")).toBeTruthy();
    expect(card().querySelector(".quote")?.textContent).toBe("“Not now.”");
  });

  it("denied and stopped", () => {
    const { card } = show(decided(anApproval(), { status: "denied", stop: true }));
    expect(strip(card())).toBe(`Denied, agent stopped${clock(at)}`);
  });

  it("timed out", () => {
    const { card } = show(
      decided(anAsk(), { status: "rejected", by: { kind: "timeout", after: "10m" }, message: "User did not respond" }),
    );
    expect(strip(card())).toBe(`No answer within 10 min${clock(at)}`);
    expect(screen.getByText("Rejected automatically, and the agent was told why.")).toBeTruthy();
  });

  it("withdrawn: with its reason", () => {
    const { card } = show(
      decided(anAsk(), { status: "withdrawn", by: { kind: "agent" }, message: "the turn was interrupted" }),
    );
    expect([card().dataset.state, strip(card())]).toEqual(["withdrawn", `Withdrawn${clock(at)}`]);
    expect(screen.getByText("The turn was interrupted. Nothing was sent.")).toBeTruthy();
  });

  it("parked: still answerable", async () => {
    const { card, sent } = show(anAsk({ reach: "parked" }));
    expect([card().dataset.state, screen.getByText("The agent stopped. Answering restarts it.").tagName]).toEqual([
      "parked",
      "P",
    ]);
    await click(/SQLite/);
    expect(sent.length).toBe(1);
  });

  it("answered elsewhere: names the person, and keeps the unsent choice", async () => {
    const by = { kind: "person", name: "ada", via: "terminal", tokenId: "tok_other" };
    const outcome: Outcome = { status: "answered", answers: [["sqlite"]], by, at };
    const ask = anAsk();
    const { card, update } = show(ask, {
      decide: () => Promise.reject(new DecideError("decided", { outcome, own: false })),
    });
    await click(/PostgreSQL/);
    update(decided(ask, outcome));
    expect(strip(card())).toBe(`Answered by ada in the terminal${clock(at)}`);
    expect(
      screen.getByText(/Already answered by ada in the terminal. Your answer “PostgreSQL” wasn’t sent./),
    ).toBeTruthy();
    expect(screen.getByRole("button", { name: "Copy it" })).toBeTruthy();
  });

  it("decided by a rule: names the rule and links to it", async () => {
    const editRule = vi.fn();
    const { card } = show(decided(anApproval(), { status: "approved", by: { kind: "policy", rule: "tests" } }), {
      actions: { editRule },
    });
    expect(strip(card())).toBe(`Allowed by rule “tests”${clock(at)}`);
    await click("Edit the rule");
    expect(editRule).toHaveBeenCalledOnce();
  });

  it("undeliverable: offers the next steps", async () => {
    const sendAsMessage = vi.fn();
    const ask = decided(anAsk(), { status: "answered", answers: [["sqlite"]] }, { delivery: "undeliverable" });
    const { card } = show(ask, { actions: { sendAsMessage } });
    expect(card().dataset.state).toBe("undelivered");
    await click("Send as message");
    expect(sendAsMessage).toHaveBeenCalledWith(ask, "sqlite");
  });

  it("undeliverable to an agent without messages: shows the reason, and can be dismissed", () => {
    const change = { delivery: "undeliverable", deliveryReason: "The terminal was first." } as const;
    const ask = decided(anAsk(), { status: "answered", answers: [["sqlite"]] }, change);
    const { card } = show(ask, { actions: { leave: () => {} } });
    expect(card().textContent).toContain("The terminal was first.");
    expect(screen.getAllByRole("button").map((button) => button.textContent)).toContain("Dismiss");
    expect(screen.queryByRole("button", { name: "Send as message" })).toBeNull();
  });

  it("failed: shows the error, and keeps the input", async () => {
    const problems = [{ index: 0, reason: "must be between 0 and 100" }];
    const number = { ...database, header: "Coverage", input: "number" as const, options: [] };
    show(anAsk({ questions: [number] }), { decide: () => Promise.reject(new DecideError("invalid", { problems })) });
    await userEvent.type(screen.getByLabelText("Answer to Coverage"), "700{Enter}");
    expect((await screen.findByRole("alert")).textContent).toBe(
      "Not sent: Coverage: must be between 0 and 100. Change it and submit again.",
    );
    expect(screen.getByDisplayValue("700").getAttribute("aria-invalid")).toBe("true");
  });
});

describe("view-only access", () => {
  it.each([anAsk({}), anApproval({})])("sees all of it and can send nothing, case %#", async (ask) => {
    const { card, sent } = show(ask, { readOnly: true, active: true });
    fireEvent.pointerDown(card());
    expect(card().textContent).toContain("You have view-only access.");
    expect(card().textContent).toContain(ask.questions?.[0]?.text ?? ask.approval?.command);
    const buttons = screen.getAllByRole("button").filter((button) => button.matches(".foot button, .opt"));
    for (const button of buttons) expect(button.closest(".look[disabled]")).not.toBeNull();
    await userEvent.keyboard("1a{Enter}");
    expect(sent).toEqual([]);
  });
});

describe("keys", () => {
  const press = (key: string, more: KeyboardEventInit = {}, target: Element = document.body) =>
    act(() => void fireEvent.keyDown(target, { key, bubbles: true, ...more }));
  /** A click inside the newest card ends its grace period. */
  const settle = () => fireEvent.pointerDown(document.querySelectorAll("article").item(0));

  describe("in the grace period of a new card", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());
    const pass = (ms: number) => act(() => void vi.advanceTimersByTime(ms));

    it("are ignored, and digits send after it", () => {
      const { sent, card } = show(anAsk(), { active: true });
      pass(KEY_GRACE_MS - 1);
      press("2");
      expect([sent, card().dataset.acceptsKeys]).toEqual([[], "false"]);
      pass(1);
      expect(card().dataset.acceptsKeys).toBe("true");
      press("2");
      expect(sent).toEqual([{ kind: "answer", answers: [["postgres"]] }]);
    });

    it("work immediately after a click or text input inside the card", () => {
      const set = anAsk({ questions: [areas] });
      const clicked = show(set, { active: true });
      fireEvent.pointerDown(screen.getByRole("checkbox", { name: "Auth" }));
      fireEvent.click(screen.getByRole("checkbox", { name: "Auth" }));
      press("Enter", { ctrlKey: true });
      expect(clicked.sent).toEqual([{ kind: "answer", answers: [["Auth"]] }]);
      cleanup();

      const typed = show({ ...set, id: "ask_typed" }, { active: true });
      fireEvent.input(screen.getByPlaceholderText("Other: type your answer"), { target: { value: "Logs" } });
      press("Enter", { ctrlKey: true });
      expect(typed.sent).toEqual([{ kind: "answer", answers: [["Logs"]] }]);
    });

    it("are ignored again when the content of the card changes", () => {
      const ask = anApproval({ command: "ls" });
      const { sent, update } = show(ask, { active: true });
      pass(KEY_GRACE_MS);
      update(anApproval({ command: "rm -rf ." }));
      press("a");
      expect(sent).toEqual([]);
      pass(KEY_GRACE_MS);
      press("a");
      expect(sent).toEqual([{ kind: "approve" }]);
    });
  });

  it("move the highlight, and Enter sends it; without a highlight, Enter only moves the focus", () => {
    const { sent } = show(anAsk(), { active: true });
    settle();
    press("Enter");
    expect([sent, document.activeElement?.textContent]).toEqual([[], "1SQLiteRecommendedone file"]);
    press("ArrowDown");
    press("ArrowDown");
    press("ArrowUp");
    expect(screen.getByRole("button", { name: "Send “SQLite”" })).toBeTruthy();
    press("Enter");
    expect(sent).toEqual([{ kind: "answer", answers: [["sqlite"]] }]);
  });

  it("are off while a field has the focus, and when the card is not the active one", () => {
    const { sent } = show(anAsk(), { active: true });
    settle();
    press("d", {}, screen.getByPlaceholderText("Other: type your answer"));
    expect(sent).toEqual([]);
  });

  it("approve, deny, and deny and stop", () => {
    for (const [key, decision] of [
      ["a", { kind: "approve" }],
      ["d", { kind: "deny" }],
      ["D", { kind: "deny", stop: true }],
    ] as const) {
      cleanup();
      const { sent } = show({ ...anApproval(), id: `ask_${key}` }, { active: true });
      settle();
      press(key);
      expect(sent).toEqual([decision]);
    }
  });

  it("do nothing for decisions that are not allowed", () => {
    const { sent } = show(anApproval({ allowedDecisions: ["edit"] }), { active: true });
    settle();
    for (const key of ["a", "d", "D", "r"]) press(key);
    expect([sent, screen.queryByRole("textbox")]).toEqual([[], null]);
    press("e");
    expect(screen.getByRole("textbox", { name: "Input to approve" })).toBeTruthy();
  });

  it("submit a set with Ctrl+Enter, also from a checkbox", async () => {
    const { sent } = show(anAsk({ questions: [areas] }), { active: true });
    settle();
    press("Enter", { ctrlKey: true });
    expect(sent).toEqual([]);
    const auth = screen.getByRole("checkbox", { name: "Auth" });
    await userEvent.click(auth);
    press("Enter", { ctrlKey: true }, auth);
    expect(sent).toEqual([{ kind: "answer", answers: [["Auth"]] }]);
  });

  it("submit a set with Ctrl+Enter from a field", async () => {
    const { sent } = show(anAsk({ questions: [areas] }), { active: true });
    await userEvent.click(screen.getByRole("checkbox", { name: "Auth" }));
    press("Enter", { ctrlKey: true }, screen.getByPlaceholderText("Other: type your answer"));
    expect(sent).toEqual([{ kind: "answer", answers: [["Auth"]] }]);
  });

  it("focus the text field in a session, unless the person types elsewhere", () => {
    show(anAsk(), { active: true, place: "session" });
    expect(document.activeElement).toBe(screen.getByPlaceholderText("Other: type your answer"));
  });
});

it("shows text of agents as text, and invisible characters as codes", () => {
  const text = "<img src=x onerror=alert(1)>\u202e";
  const { card } = show(anAsk({ title: `A ${text}`, context: text, questions: [{ ...database, text, header: text }] }));
  expect(card().querySelector("img")).toBeNull();
  expect(card().querySelectorAll(".inv").length).toBe(3);
});
