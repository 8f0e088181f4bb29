import type { Page } from "@playwright/test";
import { test as base, card, expect, pressOnCard, signIn, visit } from "./fixtures";
import { type Entry, Model } from "./model";
import { Server } from "./server";

const question = (change: object = {}) => ({
  header: "Database",
  question: "Which database should it use?",
  options: [{ label: "SQLite", description: "One file." }, { label: "PostgreSQL" }, { label: "DuckDB" }],
  ...change,
});
const asks = (when: string, change: object = {}): Entry => ({
  when,
  turns: [
    [{ text: "One thing first." }, { call: "question", input: question(change) }],
    [{ text: "Then I go on by myself." }],
  ],
});
const says = (when: string, text: string): Entry => ({ when, turns: [[{ text }]] });

const SCRIPT = [
  asks("choose one"),
  asks("choose several", { multiple: true }),
  asks("choose strictly", { custom: false }),
  {
    when: "break the rules",
    turns: [
      [
        { call: "question", input: question() },
        { call: "rm", input: {} },
      ],
      [{ text: "Sorry. No question then." }],
    ],
  },
  says("SQLite", "A file it is."),
  says("wait", "I wait."),
];

/** A server with a mock model, and a signed-in browser. */
const test = base.extend<{ model: Model }>({
  // biome-ignore lint/correctness/noEmptyPattern: the test runner wants a pattern
  model: async ({}, use) => {
    const model = await Model.start(SCRIPT);
    await use(model);
    await model.stop();
  },
  server: async ({ model }, use) => {
    const server = await Server.start({ config: model.config });
    await use(server);
    await server.stop();
  },
});

/** Talks to the model and shows the conversation. */
async function talk(page: Page, server: Server, prompt: string): Promise<string> {
  const session = await server.session(prompt, "talk");
  await visit(page, `#/sessions/${session.id}`);
  return session.id;
}

const said = (page: Page) => page.locator(".msg.you");
const heard = (page: Page) => page.locator(".msg:not(.you):not(.streaming)");

test("a model asks below its message; one click is the reply and it continues", async ({ inbox, server }) => {
  const session = await talk(inbox, server, "choose one");
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await expect(card(inbox)).toContainText("Which database should it use?");
  await expect(card(inbox)).toContainText("One file.");
  await expect(inbox.getByPlaceholder("Other: type your answer")).toBeFocused();
  await expect(heard(inbox)).toHaveCount(1);
  await expect(inbox.locator(".bar .chip")).toHaveText("Waiting for you");
  await card(inbox).getByRole("button", { name: "SQLite" }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await expect(card(inbox)).toContainText("Selected: “SQLite”");
  await expect(card(inbox).getByRole("button", { name: "PostgreSQL" })).toHaveCount(0);
  await expect(said(inbox)).toHaveText(["choose one", "SQLite"]);
  await expect(heard(inbox).last()).toContainText("A file it is.");
  expect(await server.pending(session)).toEqual([]);
});

// One label per line, followed by the person's own text.
test("several options and free text are one message, line by line", async ({ inbox, server }) => {
  await talk(inbox, server, "choose several");
  await card(inbox).getByRole("checkbox", { name: "SQLite" }).click();
  await card(inbox).getByRole("checkbox", { name: "DuckDB" }).click();
  await inbox.getByPlaceholder("Other: type your answer").fill("and a cache");
  await inbox.keyboard.press("Control+Enter");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await expect(said(inbox).last()).toHaveText("SQLite\nDuckDB\nand a cache");
  await expect(heard(inbox).last()).toContainText("A file it is.");
});

// Any message answers a question of a model, even if the question does not offer free text.
test("any typed message resolves the question, and nothing else is inserted", async ({ inbox, server }) => {
  const session = await talk(inbox, server, "choose strictly");
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await expect(inbox.getByPlaceholder("Other: type your answer")).toHaveCount(0);
  const ask = await server.asked(session);
  await inbox.getByRole("textbox", { name: /This answers the question above/ }).fill("Please wait");
  await inbox.keyboard.press("Enter");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await expect(card(inbox)).toContainText("Please wait");
  await expect(said(inbox)).toHaveText(["choose strictly", "Please wait"]);
  await expect(heard(inbox).last()).toContainText("I wait.");
  expect((await server.readAsk(ask.id)).outcome?.by.kind).toBe("message");
});

test("a rejection inserts nothing, and the model waits until the person writes", async ({ inbox, server }) => {
  const session = await talk(inbox, server, "choose one");
  await expect(inbox.getByPlaceholder("Other: type your answer")).toBeFocused();
  await inbox.keyboard.press("Escape");
  await pressOnCard(inbox, "d");
  await expect(card(inbox)).toHaveAttribute("data-state", "rejected");
  await expect(card(inbox)).toContainText("Which database should it use?");
  await expect(inbox.locator(".bar .chip")).toHaveText("Ready");
  await expect(said(inbox)).toHaveText(["choose one"]);
  await expect(heard(inbox)).toHaveCount(1);
  await inbox.getByRole("textbox", { name: "Message talk" }).fill("Just wait");
  await inbox.keyboard.press("Enter");
  await expect(heard(inbox).last()).toContainText("I wait.");
  await expect(said(inbox)).toHaveText(["choose one", "Just wait"]);
  expect(await server.pending(session)).toEqual([]);
});

// An invalid call is shown as an error, and no ask is opened.
test("an invalid turn is an error in the conversation, not a question", async ({ inbox, server }) => {
  const session = await talk(inbox, server, "break the rules");
  await expect(heard(inbox).last()).toContainText("Sorry. No question then.");
  await expect(inbox.locator(".notice[data-error=true]")).toHaveCount(1);
  await expect(card(inbox)).toHaveCount(0);
  expect(await server.pending(session)).toEqual([]);
});

test("a question that a rule answers is never asked, and is shown with its rule", async ({ page, model }) => {
  const policy = '[[rules]]\nname = "the usual database"\ndo = "answer"\nmatch = "database"\nanswer = ["DuckDB"]\n';
  const server = await Server.start({ config: model.config, policy });
  try {
    await signIn(page, server);
    await talk(page, server, "choose one");
    await expect(card(page)).toHaveAttribute("data-state", "answered");
    await expect(card(page)).toContainText("the usual database");
    await expect(said(page)).toHaveText(["choose one"]);
    await expect(heard(page).last()).toContainText("Then I go on by myself.");
  } finally {
    await server.stop();
  }
});
