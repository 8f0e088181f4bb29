import type { Locator } from "@playwright/test";
import { card, expect, pressOnCard, signIn, test, visit } from "./fixtures";
import { commandApproval } from "./scene";
import type { Server } from "./server";

// No key and no link causes a decision that the person did not intend.

const command = (text: string, change: object = {}) => ({ approval: { ...commandApproval(text), ...change } });
const question = (change: object) => ({ questions: [{ text: "Which name?", ...change }] });
const statusOf = async (server: Server, id: string) => (await server.readAsk(id)).status;

test("undo cancels all decisions of a batch", async ({ page, server }) => {
  const asks = await Promise.all([1, 2, 3, 4].map(() => server.ask(command("ls"))));
  await signIn(page, server, { holdMs: 600_000 });
  for (const undo of [
    () => page.keyboard.press("u"),
    () => page.locator(".toast").getByRole("button", { name: "Undo all" }).click(),
    () => card(page).getByRole("button", { name: "Undo all" }).click(),
  ]) {
    await pressOnCard(page, "X");
    await page.getByRole("button", { name: "Approve 4" }).click();
    await expect(card(page)).toContainText("Approving 4");
    await expect(page.locator(".row[data-state=sending]", { hasText: "×4" })).toHaveCount(1);
    await undo();
    await expect(page.locator(".row[data-state=pending]", { hasText: "×4" })).toHaveCount(1);
  }
  expect(await Promise.all(asks.map(({ id }) => statusOf(server, id)))).toEqual(Array(4).fill("pending"));
});

for (const [name, field, text] of [
  ["text", { input: "text" }, "shop-metrics"],
  ["number", { input: "number" }, "1234"],
  ["secret", { input: "text", secret: true }, "dsxcary"],
] as const) {
  test(`letters on a ${name} question are text, and Enter focuses its field`, async ({ inbox, server }) => {
    const ask = await server.ask(question(field));
    const input = card(inbox).locator("[data-field]");
    await pressOnCard(inbox, "d", "a", "r", "n", "s", "c", "x", "o", "y", "m");
    await expect(card(inbox)).toHaveAttribute("data-state", "pending");
    await expect(inbox.getByRole("dialog")).toHaveCount(0);
    await expect(card(inbox).getByRole("textbox")).toHaveCount(1);
    await inbox.keyboard.press("Enter");
    await expect(input).toBeFocused();
    await inbox.keyboard.type(text);
    await inbox.keyboard.press("Escape");
    await expect(input).not.toBeFocused();
    await inbox.keyboard.press("Enter");
    await inbox.keyboard.press("Enter");
    await expect(card(inbox)).toHaveAttribute("data-state", "answered");
    if (!field.secret) expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([[text]]);
  });
}

test("a click on a text question in the list focuses its field; j does not", async ({ inbox, server }) => {
  await server.ask(question({ text: "First?", options: [{ label: "Yes" }] }));
  const typed = await server.ask(question({ text: "Second?", input: "text" }));
  await expect(inbox.locator(".row")).toHaveCount(2);
  await pressOnCard(inbox, "j");
  await expect(card(inbox)).toHaveAttribute("data-ask", typed.id);
  const field = card(inbox).getByRole("textbox");
  await expect(field).not.toBeFocused();
  await pressOnCard(inbox, "k");
  await inbox.locator(".row", { hasText: "Second?" }).click();
  await expect(card(inbox)).toHaveAttribute("data-ask", typed.id);
  await expect(field).toBeFocused();
});

test("a answers Yes and d answers No to a yes/no question", async ({ inbox, server }) => {
  for (const [key, answer] of [
    ["a", "true"],
    ["d", "false"],
  ] as const) {
    const ask = await server.ask(question({ text: `With ${key}?`, input: "yesNo" }));
    await visit(inbox, `#/inbox/${ask.id}`);
    await expect(card(inbox)).toHaveAttribute("data-ask", ask.id);
    await expect(card(inbox).getByRole("button", { name: key === "a" ? "Yes" : "No", exact: true })).toContainText(key);
    await expect(card(inbox).getByRole("button", { name: "Reject", exact: true })).not.toContainText("d");
    await pressOnCard(inbox, key);
    await expect(card(inbox)).toHaveAttribute("data-state", "answered");
    expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([[answer]]);
  }
});

test("an editor gets the focus only when it is opened, and Escape closes an unchanged one", async ({
  inbox,
  server,
}) => {
  const ask = await server.ask(command("make deploy"));
  await server.ask(command("make test"));
  await expect(inbox.locator(".row")).toHaveCount(2);
  const editor = inbox.getByRole("textbox", { name: "Input to approve" });
  await pressOnCard(inbox, "e");
  await expect(editor).toBeFocused();
  await inbox.keyboard.press("Escape");
  await expect(editor).toHaveCount(0);

  await inbox.keyboard.press("e");
  await editor.fill("make deploy --dry-run");
  await inbox.keyboard.press("Escape");
  await expect(editor).not.toBeFocused();
  await inbox.keyboard.press("j");
  await expect(editor).toHaveCount(0);
  await inbox.keyboard.press("k");
  await expect(editor).toHaveValue("make deploy --dry-run");
  await expect(editor).not.toBeFocused();
  await pressOnCard(inbox, "a");
  await expect
    .poll(async () => (await server.readAsk(ask.id)).outcome?.input)
    .toEqual({ command: "make deploy --dry-run" });
});

test("a link to an ask that does not exist opens no other ask", async ({ inbox, server }) => {
  const ask = await server.ask(command("rm -rf build"));
  await expect(card(inbox)).toBeVisible();
  await visit(inbox, "#/inbox/ask_01a1eb00000000000000000000000000");
  await expect(card(inbox)).toHaveCount(0);
  await expect(inbox.getByText("This ask doesn’t exist or you can’t see it.")).toBeVisible();
  for (const key of ["a", "d", "1", "Enter"]) await inbox.keyboard.press(key);
  expect(await statusOf(server, ask.id)).toBe("pending");
});

test("in a session, digits are text in the text field, and select options elsewhere", async ({ inbox, server }) => {
  const session = await server.session("ask me a question");
  const ask = await server.asked(session.id);
  await visit(inbox, `#/sessions/${session.id}`);
  const other = inbox.getByPlaceholder("Other: type your answer");
  await expect(other).toBeFocused();
  await expect(card(inbox).locator(".opts .kbd").first()).toBeHidden();
  await pressOnCard(inbox, "2");
  await expect(other).toHaveValue("2");
  expect(await statusOf(server, ask.id)).toBe("pending");
  await inbox.keyboard.press("Backspace");
  await inbox.keyboard.press("ArrowUp");
  await expect(card(inbox).locator("[data-option]").last()).toBeFocused();
  await expect(card(inbox).locator(".opts .kbd").first()).toBeVisible();
  await inbox.keyboard.press("ArrowDown");
  await expect(other).toBeFocused();
  await inbox.keyboard.press("ArrowDown");
  await expect(card(inbox).locator("[data-option]").first()).toBeFocused();
  await inbox.keyboard.press("2");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([[ask.questions?.[0]?.options?.[1]?.label]]);
});

/** The words that are broken across lines. */
const brokenWords = (text: Locator) =>
  text.evaluate((element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const lines: { character: string; top: number }[] = [];
    for (let text = texts.nextNode() as Text | null; text; text = texts.nextNode() as Text | null) {
      for (let at = 0; at < text.length; at++) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        lines.push({ character: text.data.charAt(at), top: Math.round(range.getBoundingClientRect().top) });
      }
    }
    const broken: string[] = [];
    for (let at = 0; at < lines.length; at++) {
      const end = lines.findIndex(({ character }, index) => index >= at && character === " ");
      const word = lines.slice(at, end < 0 ? undefined : end);
      if (word.some(({ top }) => top !== word[0]?.top)) broken.push(word.map(({ character }) => character).join(""));
      at += word.length;
    }
    return broken;
  });

test("a command wraps only at spaces, is complete, and is copied exactly", async ({ inbox, server }) => {
  const long = "x".repeat(400);
  const text = `cargo test ${"--workspace --all-targets --no-fail-fast ".repeat(6)}--token-${long} end`;
  await server.ask(command(text));
  for (const width of [1440, 1024, 390]) {
    await inbox.setViewportSize({ width, height: 900 });
    const shown = card(inbox).locator("pre.cmd");
    await expect(shown).toBeVisible();
    expect(await brokenWords(shown)).toEqual([`--token-${long}`]);
    const { clipped, copied } = await shown.evaluate((element) => {
      const selection = getSelection();
      selection?.selectAllChildren(element);
      return { clipped: element.scrollWidth > element.clientWidth, copied: selection?.toString() };
    });
    expect(clipped).toBe(false);
    expect(copied).toBe(text);
  }
});

test("on a phone, a command in the list wraps only at spaces", async ({ inbox, server }) => {
  await inbox.setViewportSize({ width: 390, height: 800 });
  for (const text of [
    "terraform apply -var-file=staging.tfvars -auto-approve",
    "git log --first-parent --no-merges main",
  ]) {
    await server.ask(command(text));
    const title = inbox.locator(".row .t", { hasText: text });
    await expect(title).toBeVisible();
    expect(await brokenWords(title)).toEqual([]);
  }
});

test("a held key decides one card, not the next one", async ({ inbox, server }) => {
  // One after the other: an ask that is older than the open one, but arrives later, is hidden behind "1 new ask".
  const asks = [await server.ask(command("make 1")), await server.ask(command("make 2"))];
  await expect(inbox.locator(".row")).toHaveCount(2);
  await expect(inbox.locator(".sayso-ask[data-accepts-keys=true]")).toBeVisible();
  await inbox.keyboard.down("a");
  await expect.poll(async () => (await server.pending()).length).toBe(1);
  await expect(inbox.locator(".sayso-ask[data-accepts-keys=true][data-state=pending]")).toBeVisible();
  await inbox.keyboard.down("a");
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await inbox.keyboard.up("a");
  await inbox.keyboard.press("a");
  await expect.poll(async () => (await server.pending()).length).toBe(0);
  expect(await Promise.all(asks.map(({ id }) => statusOf(server, id)))).toEqual(["approved", "approved"]);
});

test("a plan shows the agent's numbers, tables and hidden text, and its source on demand", async ({
  inbox,
  server,
}) => {
  const plan =
    "1. Stop the server\n   - drain it first\n2. Migrate\n3. Start it\n\n- Roll back\n  1. restore\n  2. restart\n\n| step | minutes |\n|---|---|\n| migrate | 12 |\n\nSee [the guide](https://example.com/guide). <!-- skip the backup -->\n";
  await server.ask({
    approval: {
      tool: "ExitPlanMode",
      action: "plan",
      title: "Plan",
      input: { plan },
      preview: { type: "plan", text: plan },
    },
  });
  const shown = card(inbox).locator(".plan");
  const numbers = () => shown.locator("ol > li").evaluateAll((all) => all.map((one) => (one as HTMLLIElement).value));
  await expect.poll(numbers).toEqual([1, 2, 3, 1, 2]);
  await expect(shown.locator("ol > li > ul > li")).toHaveText("drain it first");
  await expect(shown.locator("ul > li > ol > li")).toHaveText(["restore", "restart"]);
  await expect(shown.getByRole("cell", { name: "12" })).toBeVisible();
  await expect(shown).toContainText("the guide (https://example.com/guide)");
  await expect(shown).toContainText("<!-- skip the backup -->");
  await expect(shown.locator("p", { hasText: "-->" })).toHaveCSS("font-variant-ligatures", "none");
  await shown.getByRole("button", { name: "Show source" }).click();
  await expect(shown.locator("pre")).toHaveText(plan, { useInnerText: false });
});
