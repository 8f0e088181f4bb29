import { card, expect, pressOnCard, signIn, test, visit } from "./fixtures";

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

test("a new card ignores keys at first, until the person clicks or types in it", async ({ page, server }) => {
  // The grace period of 400 ms lasts an hour here.
  await page.addInitScript(() => {
    const { setTimeout } = window;
    window.setTimeout = ((run: TimerHandler, ms?: number, ...args: unknown[]) =>
      setTimeout(run, ms === 400 ? 3_600_000 : ms, ...args)) as typeof setTimeout;
  });
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

test("p shows the previews one after the other, and goes to what is to be approved", async ({ inbox, server }) => {
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
