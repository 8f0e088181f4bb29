import { card, expect, pressOnCard, test } from "./fixtures";

// Checklist 3.19, 3.21, 3.22.
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
  await inbox.keyboard.press("2");
  expect((await server.readAsk(first.id)).status, "keys rest for a moment after a card appears").toBe("pending");
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
