import { anotherBrowser, card, expect, test, visit } from "./fixtures";
import { unusualAsks } from "./scene";

test("a mock session is started from the empty inbox, asks, and continues after the answer", async ({
  inbox,
  server,
}) => {
  await inbox.getByRole("button", { name: "Try a mock session" }).click();
  await card(inbox).getByRole("button", { name: "PostgreSQL" }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await inbox.keyboard.press("o");
  await expect(inbox.getByRole("log")).toContainText("PostgreSQL");
  expect(await server.pending()).toEqual([]);
});

test("a new session is started with a prompt, and its output streams in", async ({ inbox }) => {
  await inbox.keyboard.press("c");
  const dialog = inbox.getByRole("dialog", { name: "New session" });
  await dialog.getByLabel("What should the agent do?").fill("be slow");
  await dialog.getByRole("button", { name: "mock", exact: true }).click();
  await inbox.keyboard.press("Control+Enter");
  await expect(inbox.getByRole("heading", { name: "be slow" })).toBeVisible();
  await expect(inbox.locator(".msg.you")).toHaveText("be slow");
  await expect(inbox.locator(".msg:not(.you):not(.streaming)")).toHaveCount(1);
});

test("a message answers the only waiting question, and no second message appears", async ({ inbox, server }) => {
  const session = await server.session("ask me a question");
  const ask = await server.asked(session.id);
  await visit(inbox, `#/sessions/${session.id}`);
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await expect(inbox.getByPlaceholder("Other: type your answer")).toBeFocused();
  await inbox.getByRole("textbox", { name: /This answers the question above/ }).fill("Use DuckDB");
  await inbox.keyboard.press("Enter");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await expect(card(inbox)).toContainText("Selected: “Use DuckDB”");
  await expect(inbox.locator(".msg.you")).toHaveText(["ask me a question", "Use DuckDB"]);
  expect((await server.readAsk(ask.id)).outcome?.by.kind).toBe("message");
});

test("rejecting inserts no message; a tool call and its ask are one entry", async ({ inbox, server }) => {
  const session = await server.session("approve it");
  await server.asked(session.id);
  await visit(inbox, `#/sessions/${session.id}`);
  await expect(card(inbox)).toHaveCount(1);
  await expect(inbox.locator(".toolbox")).toHaveCount(0);
  await expect(inbox.getByRole("textbox", { name: /A message doesn’t answer it/ })).toBeVisible();
  await card(inbox).getByRole("button", { name: "Deny", exact: true }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "rejected");
  await expect(inbox.locator(".msg.you")).toHaveText(["approve it"]);
});

test("interrupting withdraws pending asks", async ({ inbox, server }) => {
  const session = await server.session("ask me a question");
  await server.asked(session.id);
  await visit(inbox, `#/sessions/${session.id}`);
  await inbox.getByRole("button", { name: "Interrupt" }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "withdrawn");
});

// docs/page.md describes this tab.
test("the events tab shows every event and the agent's own request", async ({ inbox, server }) => {
  const session = await server.session("approve it");
  await server.asked(session.id);
  await visit(inbox, `#/sessions/${session.id}/events`);
  await expect(inbox.locator(".evrow.head ~ div .type, .evrows .type").first()).toHaveText("approval.requested");
  await inbox.locator("body").press("/");
  await inbox.keyboard.type("tool.started");
  await expect(inbox.locator(".evrows .type")).toHaveText(["tool.started"]);
  await expect(inbox.locator(".rawtext")).toContainText("cargo test --workspace");
  await inbox.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await inbox.keyboard.press("Escape");
  await inbox.keyboard.press("y");
  const shown = await inbox.locator(".rawtext").textContent();
  await expect.poll(() => inbox.evaluate(() => navigator.clipboard.readText())).toBe(shown);
});

test("the facts of a session are a sheet on narrow screens", async ({ browser, server }) => {
  const session = await server.session("ask me a question");
  await server.asked(session.id);
  const page = await anotherBrowser(browser, server, { viewport: { width: 1000, height: 800 } });
  await visit(page, `#/sessions/${session.id}`);
  await page.getByRole("button", { name: "About this session" }).click();
  await expect(page.getByRole("dialog", { name: "About this session" })).toContainText("Waiting in this session");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.context().close();
});

test("a new session can have stricter rules than the policy", async ({ inbox, server }) => {
  await inbox.keyboard.press("c");
  const dialog = inbox.getByRole("dialog", { name: "New session" });
  await dialog.getByRole("button", { name: "mock", exact: true }).click();
  await dialog.getByRole("group", { name: "Approvals" }).getByRole("button", { name: "Deny" }).click();
  await dialog.getByLabel("What should the agent do?").fill("approve it");
  await inbox.keyboard.press("Control+Enter");
  await expect(inbox.getByRole("log")).toContainText("Denied");
  expect(await server.pending()).toEqual([]);
});

test("a session in your terminal is shown here and answered there", async ({ inbox, server }) => {
  const external = { agent: "claude", sessionId: "s-1", cwd: server.home };
  const ask = await server.ask({
    external,
    title: "Fix login",
    questions: [{ text: "Which?", options: [{ label: "A" }] }],
  });
  await visit(inbox, `#/sessions/${ask.sessionId}`);
  await expect(card(inbox)).toBeVisible();
  await expect(inbox.getByText("This agent runs in your terminal. Reply there.")).toBeVisible();
  await expect(inbox.locator(".composer textarea")).toHaveCount(0);
  await expect(inbox.getByRole("button", { name: "Interrupt" })).toHaveCount(0);
});

test("an outcome that a terminal session did not get offers no message", async ({ inbox, server }) => {
  const { undelivered } = await unusualAsks(server);
  await server.until(async () => (await server.readAsk(undelivered)).delivery === "undeliverable");
  const { sessionId } = await server.readAsk(undelivered);
  await visit(inbox, `#/sessions/${sessionId}`);
  await expect(card(inbox)).toHaveAttribute("data-state", "undelivered");
  await expect(inbox.getByRole("button", { name: "Send as message" })).toHaveCount(0);
});

test("the empty inbox counts working agents, not open sessions", async ({ inbox, server }) => {
  const { id } = await server.session("hello");
  await server.until(async () => (await server.api<{ status: string }>("GET", `/sessions/${id}`)).status === "idle");
  await expect(inbox.getByText("No agents are working.")).toBeVisible();
});
