import type { Page } from "@playwright/test";
import { addedLines, command, edit, outcomeOf, phone, question, SET } from "./asks";
import { card, expect, test } from "./fixtures";

// Every kind of card is decided by keyboard and by thumb.

/** One ask of each kind, how to decide it with keys and with a thumb, and the outcome of both. */
const plan = {
  tool: "ExitPlanMode",
  action: "plan",
  title: "Plan",
  input: { plan: "1. Go" },
  preview: { type: "plan", text: "1. Go" },
};
const KINDS: { ask: object; keys: string[]; taps: (page: Page) => Promise<void>; outcome: Record<string, unknown> }[] =
  [
    {
      ask: question({ text: "Choice?" }),
      keys: ["2"],
      taps: (page) => card(page).getByRole("button", { name: "Two" }).tap(),
      outcome: { answers: [["Two"]] },
    },
    {
      ask: question({ text: "Own words?" }),
      keys: ["4", "type:Four", "Enter"],
      taps: async (page) => {
        await page.getByPlaceholder("Other: type your answer").fill("Four");
        await card(page).getByRole("button", { name: "Send “Four”" }).tap();
      },
      outcome: { answers: [["Four"]] },
    },
    {
      ask: question({ text: "Yes?", input: "yesNo", options: [] }),
      keys: ["d"],
      taps: (page) => card(page).getByRole("button", { name: "No", exact: true }).tap(),
      outcome: { answers: [["false"]] },
    },
    {
      ask: question({ text: "Name?", input: "text", options: [] }),
      keys: ["Enter", "type:dsa", "Enter"],
      taps: async (page) => {
        await card(page).locator("[data-field]").fill("dsa");
        await card(page).getByRole("button", { name: "Submit" }).tap();
      },
      outcome: { answers: [["dsa"]] },
    },
    {
      ask: question({ text: "Token?", input: "text", secret: true, options: [] }),
      keys: ["Enter", "type:dsa", "Enter"],
      taps: async (page) => {
        await card(page).locator("[data-field]").fill("dsa");
        await card(page).getByRole("button", { name: "Submit" }).tap();
      },
      outcome: { status: "answered" },
    },
    {
      ask: question({ text: "How many?", input: "number", minimum: 1, maximum: 9, options: [] }),
      keys: ["Enter", "type:7", "Enter"],
      taps: async (page) => {
        await card(page).locator("[data-field]").fill("7");
        await card(page).getByRole("button", { name: "Submit" }).tap();
      },
      outcome: { answers: [["7"]] },
    },
    {
      ask: question({ text: "Several?", multiple: true }),
      keys: ["1", "3", "Control+Enter"],
      taps: async (page) => {
        await card(page).getByText("One", { exact: true }).tap();
        await card(page).getByText("Three", { exact: true }).tap();
        await card(page).getByRole("button", { name: "Submit" }).tap();
      },
      outcome: { answers: [["One", "Three"]] },
    },
    {
      ask: SET,
      keys: ["1", "Enter", "2", "Enter", "type:5", "Enter", "Enter"],
      taps: async (page) => {
        await card(page).getByText("One", { exact: true }).first().tap();
        await card(page).getByText("Two", { exact: true }).last().tap();
        await card(page).locator("[data-field]").fill("5");
        await card(page).getByRole("button", { name: "Submit" }).tap();
      },
      outcome: { answers: [["One"], ["Two"], ["5"]] },
    },
    {
      ask: command("make edit"),
      keys: ["e", "type: -n", "Control+Enter"],
      taps: async (page) => {
        await card(page).getByRole("button", { name: "Edit command" }).tap();
        await page.getByRole("textbox", { name: "Input to approve" }).fill("make edit -n");
        await card(page).getByRole("button", { name: "Approve with changes" }).tap();
      },
      outcome: { status: "approved", input: { command: "make edit -n" } },
    },
    {
      ask: command("make reason"),
      keys: ["r", "type:No", "Enter"],
      taps: async (page) => {
        await card(page).getByRole("button", { name: "Deny with reason" }).tap();
        await page.getByRole("textbox", { name: /^Why/ }).fill("No");
        await card(page).getByRole("button", { name: "Deny with reason" }).tap();
      },
      outcome: { status: "denied", message: "No" },
    },
    {
      ask: command("make stop"),
      keys: ["D"],
      taps: async (page) => {
        await card(page).getByRole("button", { name: "More" }).tap();
        await card(page).getByRole("button", { name: "Deny and stop" }).tap();
      },
      outcome: { status: "denied", stop: true },
    },
    {
      ask: edit(addedLines(3)),
      keys: ["a"],
      taps: (page) => card(page).getByRole("button", { name: "Approve" }).tap(),
      outcome: { status: "approved" },
    },
    {
      ask: { approval: plan },
      keys: ["a"],
      taps: (page) => card(page).getByRole("button", { name: "Approve plan" }).tap(),
      outcome: { status: "approved" },
    },
    {
      ask: { link: { url: "https://example.com/login", message: "Sign in" } },
      keys: ["a"],
      taps: (page) => card(page).getByRole("button", { name: "Done" }).tap(),
      outcome: { status: "approved" },
    },
  ];

test("every kind of card is decided with the keyboard alone", async ({ inbox, server }) => {
  test.setTimeout(180_000);
  const asks = [];
  for (const kind of KINDS) asks.push({ ...kind, id: (await server.ask(kind.ask)).id });
  await expect(inbox.locator(".badge")).toHaveText(String(KINDS.length));
  for (const { id, keys, outcome } of asks) {
    await expect(card(inbox)).toHaveAttribute("data-ask", id);
    await expect(inbox.locator(".sayso-ask[data-accepts-keys=true]")).toBeVisible();
    for (const key of keys) {
      if (key.startsWith("type:")) await inbox.keyboard.type(key.slice(5));
      else await inbox.keyboard.press(key);
    }
    await expect.poll(() => outcomeOf(server, id)).toMatchObject(outcome);
  }
});

test("every kind of card is decided with a thumb alone", async ({ browser, server }) => {
  test.setTimeout(180_000);
  const asks = [];
  for (const kind of KINDS) asks.push({ ...kind, id: (await server.ask(kind.ask)).id });
  const page = await phone(browser, server);
  await page.locator(".row").first().tap();
  for (const { id, taps, outcome } of asks) {
    await expect(card(page)).toHaveAttribute("data-ask", id);
    await taps(page);
    await expect.poll(() => outcomeOf(server, id)).toMatchObject(outcome);
  }
  await page.context().close();
});
