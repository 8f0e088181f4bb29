import type { Page } from "@playwright/test";
import { card, expect, pressOnCard, signIn, test, visit } from "./fixtures";
import { commandApproval } from "./scene";

test("everything can be done with the keyboard alone", async ({ inbox, server }) => {
  const options = [{ label: "One" }, { label: "Two" }];
  const first = await server.ask({ questions: [{ text: "First?", options }] });
  const second = await server.ask({ questions: [{ text: "Second?", options }] });
  const third = await server.ask({ questions: [{ text: "Third?", options }] });
  await expect(inbox.locator(".row")).toHaveCount(3);
  await pressOnCard(inbox, "j");
  await expect(card(inbox)).toHaveAttribute("data-ask", second.id);
  await inbox.keyboard.press("k");
  await expect(card(inbox)).toHaveAttribute("data-ask", first.id);
  await pressOnCard(inbox, "ArrowDown", "ArrowDown", "Enter");
  await expect.poll(async () => (await server.readAsk(first.id)).outcome?.answers).toEqual([["Two"]]);
  await expect(card(inbox)).toHaveAttribute("data-ask", second.id);
  await pressOnCard(inbox, "s");
  await expect(inbox.getByRole("button", { name: "Snoozed" })).toBeVisible();
  await inbox.keyboard.press("/");
  await inbox.keyboard.type("Third");
  await expect(inbox.locator(".row")).toHaveCount(1);
  await inbox.keyboard.press("Escape");
  await expect(card(inbox)).toHaveAttribute("data-ask", third.id);
  await pressOnCard(inbox, "d");
  await expect.poll(async () => (await server.readAsk(third.id)).status).toBe("rejected");
  await inbox.keyboard.press("?");
  await expect(inbox.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await inbox.keyboard.press("Escape");
  await expect(inbox.getByRole("dialog")).toHaveCount(0);
});

/** Extends the grace period from 400 ms to an hour. */
const holdGrace = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const { setTimeout } = window;
    window.setTimeout = ((run: TimerHandler, ms?: number, ...args: unknown[]) =>
      setTimeout(run, ms === 400 ? 3_600_000 : ms, ...args)) as typeof setTimeout;
  });

test("a new card ignores keys until the person clicks or types in it", async ({ page, server }) => {
  await holdGrace(page);
  await signIn(page, server, { holdMs: 0 });
  const options = [{ label: "One" }, { label: "Two" }];
  const choice = await server.ask({ questions: [{ text: "First?", options }] });
  await expect(card(page)).toHaveAttribute("data-ask", choice.id);
  await page.keyboard.press("2");
  await expect(card(page)).toHaveAttribute("data-state", "pending");
  await card(page).getByRole("heading", { name: "First?" }).click();
  await expect(card(page)).toHaveAttribute("data-accepts-keys", "true");
  await page.keyboard.press("2");
  await expect(card(page)).toHaveAttribute("data-state", "answered");

  const several = await server.ask({ questions: [{ text: "Second?", options, multiple: true }] });
  await visit(page, `#/inbox/${several.id}`);
  await expect(card(page)).toHaveAttribute("data-ask", several.id);
  await page.keyboard.press("Control+Enter");
  await expect(card(page)).toHaveAttribute("data-state", "pending");
  await card(page).getByRole("checkbox", { name: "Two" }).click();
  await page.keyboard.press("Control+Enter");
  await expect(card(page)).toHaveAttribute("data-state", "answered");
  expect((await server.readAsk(several.id)).outcome?.answers).toEqual([["Two"]]);
});

test("a card whose content changes ignores keys again", async ({ page, server }) => {
  await holdGrace(page);
  const changed = commandApproval("make deploy --prod");
  const ask = await server.ask({ approval: commandApproval("make deploy") });
  await server.api("POST", `/asks/${ask.id}/snooze`, { until: new Date(Date.now() + 3_600_000).toISOString() });
  await page.route(`**/v1/asks/${ask.id}/snooze`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), approval: changed } });
  });
  await signIn(page, server, { holdMs: 0 });
  await visit(page, `#/inbox/${ask.id}`);
  // The click ends the grace period of the first content and shows the second content.
  await card(page).getByRole("button", { name: "Show now" }).click();
  await expect(card(page).locator("pre.cmd")).toHaveText("make deploy --prod");
  await expect(card(page)).toHaveAttribute("data-accepts-keys", "false");
  await page.keyboard.press("a");
  await expect(card(page)).toHaveAttribute("data-state", "pending");
  await card(page).locator("pre.cmd").click();
  await pressOnCard(page, "a");
  await expect.poll(async () => (await server.readAsk(ask.id)).status).toBe("approved");
});

test("p shows the previews one after the other, and focuses the command or diff", async ({ inbox, server }) => {
  const options = [
    { label: "One", preview: "first sight" },
    { label: "Two" },
    { label: "Three", preview: "third sight" },
  ];
  await server.ask({ questions: [{ text: "Which?", options }] });
  await pressOnCard(inbox, "p");
  await expect(card(inbox).locator(".prev pre")).toHaveText("first sight");
  await inbox.keyboard.press("p");
  await expect(card(inbox).locator(".prev pre")).toHaveText("third sight");
  const tool = await server.ask({
    approval: { tool: "Bash", action: "run", command: "ls", title: "ls", input: { command: "ls" } },
  });
  await pressOnCard(inbox, "j");
  await expect(card(inbox)).toHaveAttribute("data-ask", tool.id);
  await pressOnCard(inbox, "p");
  await expect(card(inbox).locator(".cmd").first()).toBeFocused();
});
