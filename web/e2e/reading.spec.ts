import { edit } from "./asks";
import { axe, LOOKS } from "./axe";
import { anotherBrowser, card, expect, test, visit } from "./fixtures";
import { commandApproval } from "./scene";
import { Server } from "./server";

// Previews of a card, and dialogs.

const LONG_LINE = `let total = ${"order.price * order.count + ".repeat(12)}0;`;
test("a wrapped diff line keeps its number and indent, and Wrap shows it on one line", async ({ inbox, server }) => {
  await server.ask(edit(`@@ -7,1 +7,2 @@\n same\n+${LONG_LINE}\n`));
  const lines = card(inbox).getByRole("region", { name: "Changes to /p/a.rs" });
  const added = lines.locator(".dl[data-kind=add]");
  await expect(added.locator("> span").nth(1)).toHaveText("8");
  const text = added.locator("> span").last();
  await expect(text).toHaveText(LONG_LINE);
  // How many lines the text takes, and whether all but the first are indented.
  const shape = () =>
    text.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const left = new Map<number, number>();
      for (const { top, left: at } of range.getClientRects()) {
        left.set(Math.round(top), Math.min(at, left.get(Math.round(top)) ?? at));
      }
      const [first = 0, ...others] = [...left.entries()].sort(([a], [b]) => a - b).map(([, at]) => at);
      return { wraps: others.length > 0, indented: others.every((at) => at > first) };
    });
  await expect.poll(shape).toEqual({ wraps: true, indented: true });
  await card(inbox).getByRole("button", { name: "Wrap long lines", pressed: true }).click();
  await expect.poll(shape).toEqual({ wraps: false, indented: true });
  await expect.poll(() => lines.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true);
});

test("the first preview of an option is shown immediately", async ({ inbox, server }) => {
  const options = [{ label: "One" }, { label: "Two", preview: "second sight" }];
  await server.ask({ questions: [{ text: "Which?", options }] });
  await expect(card(inbox).locator(".prev pre")).toHaveText("second sight");
});

test("the shortcut dialog has a close button", async ({ inbox }) => {
  await inbox.locator("body").press("?");
  const keys = inbox.getByRole("dialog", { name: "Keys" });
  await keys.getByRole("button", { name: "Close" }).click();
  await expect(keys).toBeHidden();
});

for (const { colorScheme, ...screen } of LOOKS) {
  test(`axe finds nothing in rules and their dialogs, ${colorScheme}, ${screen.viewport.width} pixels`, async ({
    browser,
  }) => {
    const server = await Server.start({
      policy: '[[rules]]\nname = "tests"\ndo = "allow"\nrun = ["cargo test *"]\n',
    });
    try {
      const session = await server.session("question");
      await server.asked(session.id);
      const command = { agent: "codex", project: "/p", approval: commandApproval("make deploy") };
      const ask = await server.ask(command);
      const page = await anotherBrowser(browser, server, { colorScheme, ...screen, reducedMotion: "reduce" });
      await visit(page, "#/settings/policy");
      const rule = page.getByRole("region", { name: "tests", exact: true });
      await rule.getByRole("button", { name: "tests" }).click();
      await expect(rule.getByRole("textbox", { name: "Command" })).toBeVisible();
      await axe(page, "rule in the form");
      await page.getByRole("button", { name: "policy.toml" }).click();
      await expect(page.getByRole("textbox", { name: "policy.toml" })).toBeVisible();
      await axe(page, "policy as text");
      await visit(page, `#/sessions/${session.id}`);
      await page.getByRole("button", { name: "Mode and model" }).click();
      await expect(page.getByRole("dialog", { name: "Mode and model" })).toBeVisible();
      await axe(page, "mode and model");
      await page.keyboard.press("Escape");
      await visit(page, `#/inbox/${ask.id}`);
      await expect(card(page)).toHaveAttribute("data-ask", ask.id);
      await axe(page, "command", ".detail");
      await page.context().close();
    } finally {
      await server.stop();
    }
  });
}
