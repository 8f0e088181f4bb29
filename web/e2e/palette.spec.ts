import { card, expect, pressOnCard, signIn, test, visit } from "./fixtures";
import { commandApproval } from "./scene";

// Navigation: the palette, the projects of the inbox, and typed addresses.

const command = (text: string, project: string) => ({
  agent: "codex",
  project: `/home/ada/work/${project}`,
  approval: commandApproval(text),
});

test("the palette opens asks, sessions, runs, devices and settings, and decides nothing", async ({ inbox, server }) => {
  await server.ask(command("make deploy", "infra"));
  const tests = await server.ask(command("cargo test", "shop-api"));
  const session = await server.session("be slow");
  const run = await server.run("nightly", [{ id: "wait", checkpoint: { question: "Go?", options: ["Yes"] } }]);
  const field = inbox.getByRole("combobox");
  const option = inbox.getByRole("option", { selected: true });
  const find = async (text: string, found: RegExp) => {
    await inbox.keyboard.press("Control+k");
    await expect(field).toBeFocused();
    await inbox.keyboard.type(text);
    await expect(inbox.getByRole("dialog").locator(option)).toHaveText(found);
    await inbox.keyboard.press("Enter");
    await expect(inbox.getByRole("dialog")).toHaveCount(0);
  };
  await expect(inbox.locator(".row", { hasText: "cargo test" })).toBeVisible();
  await find("cargo shop", /cargo test/);
  await expect(card(inbox)).toHaveAttribute("data-ask", tests.id);
  await find("be slow", /be slow/);
  await expect(inbox).toHaveURL(new RegExp(session.id));
  await inbox.keyboard.press("Control+k");
  await field.fill("nightly");
  await inbox.getByRole("group", { name: "Runs" }).getByRole("option", { name: "nightly" }).click();
  await expect(inbox).toHaveURL(new RegExp(run.id));
  await find("preferences", /Preferences/);
  await expect(inbox.getByRole("heading", { name: "Preferences" })).toBeVisible();
  await find("linux", /Linux/);
  await expect(inbox).toHaveURL(/settings\/tokens/);
  await inbox.keyboard.press("Control+k");
  await expect(field).toBeFocused();
  await inbox.keyboard.type("no such thing");
  await expect(inbox.getByRole("dialog")).toContainText("Nothing matches “no such thing”.");
  await inbox.keyboard.press("Escape");
  await expect(inbox.getByRole("dialog")).toHaveCount(0);
  expect((await server.pending()).length).toBe(3);
});

test("the palette opens while the person types, moves with arrows, and returns the focus", async ({
  inbox,
  server,
}) => {
  const ask = await server.ask({ questions: [{ text: "Name?", input: "text" }] });
  await inbox.locator(".row").click();
  const answer = card(inbox).locator("[data-field]");
  await expect(answer).toBeFocused();
  await inbox.keyboard.type("half");
  await inbox.keyboard.press("Control+k");
  await expect(inbox.getByRole("combobox")).toBeFocused();
  await inbox.keyboard.press("ArrowDown");
  await expect(inbox.getByRole("dialog").getByRole("option", { selected: true })).not.toHaveText(/Name\?/);
  await inbox.keyboard.press("ArrowUp");
  await expect(inbox.getByRole("dialog").getByRole("option", { selected: true })).toHaveText(/Name\?/);
  await inbox.keyboard.press("Control+k");
  await expect(inbox.getByRole("dialog")).toHaveCount(0);
  await expect(answer).toBeFocused();
  await expect(answer).toHaveValue("half");
  expect((await server.readAsk(ask.id)).status).toBe("pending");
});

test("a held Enter in the palette presses no control of the page", async ({ inbox, server }) => {
  const ask = await server.ask(command("make deploy", "infra"));
  const other = await server.ask(command("make test", "infra"));
  await expect(inbox.locator(".row")).toHaveCount(2);
  await card(inbox).getByRole("button", { name: "Approve" }).focus();
  await inbox.keyboard.press("Control+k");
  await expect(inbox.getByRole("combobox")).toBeFocused();
  await inbox.keyboard.type("make test");
  await inbox.keyboard.down("Enter");
  await expect(card(inbox)).toHaveAttribute("data-ask", other.id);
  await inbox.keyboard.down("Enter");
  await expect(inbox.locator(".sayso-ask[data-accepts-keys=true]")).toBeVisible();
  await inbox.keyboard.down("Enter");
  await inbox.keyboard.up("Enter");
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  expect((await server.pending()).map(({ id }) => id).sort()).toEqual([ask.id, other.id].sort());
});

test("a chip shows the asks of one project, and the open card is always one of them", async ({ inbox, server }) => {
  const deploy = await server.ask(command("make deploy", "infra"));
  const lint = await server.ask(command("cargo clippy", "shop-api"));
  await server.ask(command("cargo test", "shop-api"));
  const chips = inbox.getByRole("group", { name: "Projects" }).getByRole("button");
  await expect(chips).toHaveText(["All", "shop-api 2", "infra 1"]);
  await expect(card(inbox)).toHaveAttribute("data-ask", deploy.id);
  await chips.nth(1).click();
  await expect(inbox.locator(".row")).toHaveText([/cargo clippy/, /cargo test/]);
  await expect(card(inbox)).toHaveAttribute("data-ask", lint.id);
  await pressOnCard(inbox, "a");
  await expect.poll(async () => (await server.readAsk(lint.id)).status).toBe("approved");
  await expect(chips).toHaveText(["All", "infra 1", "shop-api 1"]);
  await pressOnCard(inbox, "a");
  await expect.poll(async () => (await server.pending()).map(({ id }) => id)).toEqual([deploy.id]);
  await expect(card(inbox)).toHaveAttribute("data-ask", deploy.id);
  await expect(chips).toHaveCount(0);
});

test("an address without its # opens the page, and an unknown session is reported immediately", async ({
  inbox,
  server,
}) => {
  const ask = await server.ask(command("make deploy", "infra"));
  await inbox.goto(`${server.url}/inbox/${ask.id}`);
  await expect(card(inbox)).toHaveAttribute("data-ask", ask.id);
  await expect(inbox).toHaveURL(`${server.url}/#/inbox/${ask.id}`);
  await inbox.goto(`${server.url}/settings/page`);
  await expect(inbox.getByRole("heading", { name: "Preferences" })).toBeVisible();
  await visit(inbox, "#/sessions/ses_01a1eb00000000000000000000000000");
  await expect(inbox.getByText("This session doesn’t exist")).toBeVisible();
});

test("a new session lists agents that are not installed, with the command that installs them", async ({
  page,
  server,
}) => {
  await page.route("**/v1/agents", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { name: string; installed: boolean }[] };
    for (const agent of body.data) if (agent.name === "codex") agent.installed = false;
    await route.fulfill({ response, json: body });
  });
  await signIn(page, server);
  await page.locator("body").press("c");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "mock", exact: true })).toBeVisible();
  await expect(dialog.getByRole("button", { name: "codex", exact: true })).toHaveCount(0);
  await dialog.getByText(/not installed/).click();
  await expect(dialog.getByText("npm install -g @openai/codex")).toBeVisible();
});
