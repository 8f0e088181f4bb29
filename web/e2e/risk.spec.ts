import { devices } from "@playwright/test";
import { card, expect, pressOnCard, settled, signIn, test, visit } from "./fixtures";
import { commandApproval } from "./scene";

// Risk hints, plans, and undo after the page moved on.

const command = (text: string) => ({
  agent: "codex",
  project: "/home/ada/work/shop-api",
  approval: commandApproval(text),
});

test("destructive words are underlined, and writes outside the project are named", async ({ inbox, server }) => {
  const text = "cd .. && rm -rf build && git push --force origin main > ~/push.log";
  await server.ask(command("cargo test --workspace"));
  await server.ask(command(text));
  await expect(inbox.locator(".row")).toHaveCount(2);
  await expect(card(inbox).locator("pre.cmd")).toHaveText("cargo test --workspace");
  await expect(card(inbox).locator(".risks")).toHaveCount(0);
  await expect(inbox.locator(".row .risky")).toHaveCount(1);
  await pressOnCard(inbox, "j");
  await expect(card(inbox).locator("pre.cmd")).toHaveText(text);
  await expect(card(inbox).locator("pre.cmd mark")).toHaveText(["rm", "-rf", "--force"]);
  await expect(card(inbox).locator(".risks li")).toHaveText([
    "Destructive: rm -rf, --force",
    "Writes outside the project: build, ~/push.log",
  ]);
  const copied = await card(inbox)
    .locator("pre.cmd")
    .evaluate((element) => {
      getSelection()?.selectAllChildren(element);
      return getSelection()?.toString();
    });
  expect(copied).toBe(text);
  await pressOnCard(inbox, "e");
  await inbox.getByRole("textbox", { name: "Input to approve" }).fill("git push origin main");
  await expect(card(inbox).locator(".risks")).toHaveCount(0);
});

test("an input with a schema is edited in a form, and a refused change is kept", async ({ inbox, server }) => {
  const approval = {
    tool: "send_email",
    action: "other",
    title: "Mail to Ada",
    input: { to: "ada@example.com", copies: 1 },
    allowedDecisions: ["edit", "deny"],
    inputSchema: {
      type: "object",
      required: ["to", "copies"],
      properties: { to: { type: "string", pattern: "@example\\.com$" }, copies: { type: "integer", maximum: 3 } },
    },
  };
  const ask = await server.ask({ approval });
  await settled(inbox);
  await expect(card(inbox).getByRole("button", { name: "Approve" })).toHaveCount(0);
  await pressOnCard(inbox, "e");
  const to = card(inbox).getByLabel("to");
  await expect(to).toBeFocused();
  await to.fill("ada@example.org");
  await card(inbox).getByLabel("copies").fill("2");
  await card(inbox).getByRole("button", { name: "Approve with changes" }).click();
  await expect(card(inbox).getByRole("alert")).toContainText("`/to`: the value does not match");
  expect((await server.readAsk(ask.id)).status).toBe("pending");
  await expect(to).toHaveValue("ada@example.org");
  await to.fill("bob@example.com");
  await card(inbox).getByRole("button", { name: "Approve with changes" }).click();
  await server.until(async () => (await server.readAsk(ask.id)).status === "approved");
  expect((await server.readAsk(ask.id)).outcome?.input).toEqual({ to: "bob@example.com", copies: 2 });
});

test("a switch changes between reading and editing a plan, and keeps the changes", async ({ inbox, server }) => {
  const approval = (plan: string) => ({
    tool: "ExitPlanMode",
    action: "plan",
    title: "Plan",
    input: { plan },
    preview: { type: "plan", text: plan },
    editable: true,
  });
  const ask = await server.ask({ approval: approval("1. Stop\n2. Go") });
  const modes = card(inbox).getByRole("group", { name: "Read or edit the plan" });
  const editor = inbox.getByRole("textbox", { name: "Input to approve" });
  await settled(inbox);
  const tops = await card(inbox).evaluate((element) => {
    const buttons = [...element.querySelectorAll(".foot > *")].filter((one) => one.checkVisibility());
    return buttons.map((one) => Math.round(one.getBoundingClientRect().y + one.getBoundingClientRect().height / 2));
  });
  expect(new Set(tops).size).toBe(1);
  await modes.getByRole("button", { name: "Edit" }).click();
  await expect(editor).toBeFocused();
  await editor.fill("1. Stop\n2. Wait");
  await modes.getByRole("button", { name: "Read" }).click();
  await expect(card(inbox).locator(".plan li")).toHaveText(["Stop", "Wait"]);
  await expect(editor).toHaveCount(0);
  await pressOnCard(inbox, "e");
  await expect(editor).toHaveValue("1. Stop\n2. Wait");
  await card(inbox).getByRole("button", { name: "Approve with changes" }).click();
  await expect.poll(async () => (await server.readAsk(ask.id)).outcome?.input).toEqual({ plan: "1. Stop\n2. Wait" });
});

test("with the next ask shown immediately, decisions are stacked, and undo returns to the last one", async ({
  page,
  server,
}) => {
  const asks = [];
  for (const n of [1, 2, 3]) asks.push((await server.ask(command(`make ${n}`))).id);
  const [first, second, third] = asks as [string, string, string];
  await signIn(page, server, { holdMs: 600_000, advance: "atOnce" });
  const toasts = page.locator(".toast");
  await expect(card(page)).toHaveAttribute("data-ask", first);
  await pressOnCard(page, "a");
  await expect(card(page)).toHaveAttribute("data-ask", second);
  await expect(toasts).toHaveText([/Sending “Approve” make 1/]);
  await pressOnCard(page, "d");
  await expect(card(page)).toHaveAttribute("data-ask", third);
  await expect(toasts).toHaveText([/Sending “Approve” make 1/, /Sending “Deny” make 2/]);
  await page.keyboard.press("u");
  await expect(card(page)).toHaveAttribute("data-ask", second);
  await expect(card(page)).toHaveAttribute("data-state", "pending");
  await expect(toasts).toHaveText([/make 1/]);
  await toasts.getByRole("button", { name: "Undo" }).click();
  await expect(card(page)).toHaveAttribute("data-ask", first);
  await expect(toasts).toHaveCount(0);
  expect((await server.pending()).map(({ id }) => id).sort()).toEqual(asks.sort());
});

test("a decision that is refused after the page moved on links to its card", async ({ page, server }) => {
  const refused = await server.ask(command("make 1"));
  const next = await server.ask(command("make 2"));
  await signIn(page, server, { holdMs: 0, advance: "atOnce" });
  await expect(card(page)).toHaveAttribute("data-ask", refused.id);
  await page.route(`**/v1/asks/${refused.id}/approve`, (route) =>
    route.fulfill({ status: 422, json: { error: { code: "invalid_request", message: "It was not valid." } } }),
  );
  await pressOnCard(page, "a");
  await expect(card(page)).toHaveAttribute("data-ask", next.id);
  await expect(page.locator(".toast")).toHaveText(/Not sent: make 1/);
  await page.locator(".toast").getByRole("button", { name: "Show" }).click();
  await expect(card(page)).toHaveAttribute("data-ask", refused.id);
  await expect(card(page).getByRole("alert")).toContainText("Not sent");
  await expect(page.locator(".toast")).toHaveCount(0);
});

test("when to show the next ask is a setting, and on a phone no toast covers the buttons", async ({
  browser,
  server,
}) => {
  for (const n of [1, 2]) await server.ask(command(`make ${n}`));
  const { defaultBrowserType: _, ...pixel } = devices["Pixel 7"];
  const page = await (await browser.newContext(pixel)).newPage();
  await signIn(page, server, { holdMs: 600_000 });
  await visit(page, "#/settings/page");
  await page.getByRole("group", { name: "Show the next ask" }).getByRole("button", { name: "Immediately" }).tap();
  await visit(page, "#/inbox");
  await page.locator(".row").first().tap();
  await card(page).getByRole("button", { name: "Approve" }).tap();
  await expect(card(page)).toContainText("make 2");
  await settled(page);
  const toast = await page.locator(".toast").boundingBox();
  const yes = await card(page).getByRole("button", { name: "Approve" }).boundingBox();
  expect(toast && yes && toast.y + toast.height < yes.y).toBe(true);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).tap();
  await expect(card(page)).toContainText("make 1");
  expect((await server.pending()).length).toBe(2);
  await page.context().close();
});
