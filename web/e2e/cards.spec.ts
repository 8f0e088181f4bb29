import type { Locator, Page } from "@playwright/test";
import { addedLines, command, edit, open, outcomeOf, phone, question, SET } from "./asks";
import { anotherBrowser, card, expect, pressOnCard, signIn, test, visit } from "./fixtures";
import { fill } from "./scene";
import { Server } from "./server";

// The card and the inbox: nothing is lost or shown twice.

test("several options are selected with digits, arrows and Space, and sent with Enter", async ({ inbox, server }) => {
  const ask = await server.ask(question({ multiple: true }));
  await pressOnCard(inbox, "Enter");
  await expect(card(inbox).getByRole("checkbox", { name: "One" })).toBeFocused();
  await inbox.keyboard.press("ArrowDown");
  await expect(card(inbox).getByRole("checkbox", { name: "Two" })).toBeFocused();
  await inbox.keyboard.press("Space");
  await inbox.keyboard.press("3");
  await expect(card(inbox).getByRole("checkbox", { name: "Three" })).toBeChecked();
  await inbox.keyboard.press("1");
  await inbox.keyboard.press("1");
  await expect(card(inbox).getByRole("checkbox", { name: "One" })).not.toBeChecked();
  await inbox.keyboard.press("Enter");
  await expect.poll(async () => (await outcomeOf(server, ask.id))?.answers).toEqual([["Two", "Three"]]);
});

test("a set is answered with the keyboard, and an incomplete one focuses the missing question", async ({
  inbox,
  server,
}) => {
  const ask = await server.ask(SET);
  await pressOnCard(inbox, "2");
  await expect(card(inbox).getByRole("radio", { name: "Two" })).toBeChecked();
  await inbox.keyboard.press("Control+Enter");
  await expect(card(inbox).getByRole("checkbox", { name: "One" })).toBeFocused();
  await inbox.keyboard.press("1");
  await inbox.keyboard.press("Enter");
  const count = inbox.getByLabel("Answer to Count");
  await expect(count).toBeFocused();
  await inbox.keyboard.type("12");
  await inbox.keyboard.press("Control+Enter");
  await expect(card(inbox).getByRole("alert")).toHaveText("Enter a number from 1 to 9.");
  await expect(count).toBeFocused();
  await count.fill("2");
  await inbox.keyboard.press("Enter");
  await expect(card(inbox).getByRole("button", { name: "Submit" })).toBeFocused();
  await inbox.keyboard.press("Enter");
  await expect.poll(async () => (await outcomeOf(server, ask.id))?.answers).toEqual([["Two"], ["One"], ["2"]]);
});

test("on a phone deny and approve share the bottom row, and other buttons are in reach", async ({
  browser,
  server,
}) => {
  const ask = await server.ask(command("ls"));
  const page = await phone(browser, server);
  await open(page, ask.id);
  const box = async (name: string) => {
    const found = await card(page).getByRole("button", { name, exact: true }).boundingBox();
    if (!found) throw new Error(`${name} is not shown`);
    return found;
  };
  const { height, width } = page.viewportSize() ?? { height: 0, width: 0 };
  const [no, yes, reason] = [await box("Deny"), await box("Approve"), await box("Deny with reason")];
  expect(no.y).toBe(yes.y);
  expect(no.x).toBeLessThan(yes.x);
  expect(Math.abs(no.width - yes.width)).toBeLessThan(2);
  expect(no.width + yes.width).toBeGreaterThan(width * 0.85);
  expect(reason.y).toBeGreaterThan(no.y);
  expect(height - (reason.y + reason.height)).toBeLessThan(24);
  await expect(card(page).getByRole("button", { name: "Deny and stop" })).toBeHidden();
  await card(page).getByRole("button", { name: "More" }).tap();
  await card(page).getByRole("button", { name: "Deny and stop" }).tap();
  await expect.poll(async () => (await outcomeOf(server, ask.id))?.stop).toBe(true);
  await page.context().close();
});

/** All elements that can be tapped and are narrower or lower than a thumb. */
const small = (page: Page): Promise<string[]> =>
  page.locator("body").evaluate((body) => {
    const found: string[] = [];
    for (const element of body.querySelectorAll<HTMLElement>(
      "button, a[href], input, textarea, select, [role=option]",
    )) {
      const target = element.closest("label") ?? element.closest(".field") ?? element;
      const { width, height, right, bottom } = target.getBoundingClientRect();
      const visible = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!visible || right <= 0 || bottom <= 0 || element.closest(".skip, .hidden")) continue;
      if (width < 43.9 || height < 43.9)
        found.push(`${element.tagName} ${element.textContent?.slice(0, 30)} ${width}×${height}`);
    }
    return found;
  });

test("every target of the inbox and of every card is at least 44 pixels on a phone", async ({ browser, server }) => {
  test.setTimeout(180_000);
  const { session } = await fill(server);
  const page = await phone(browser, server);
  await expect(page.locator(".row").first()).toBeVisible();
  expect.soft(await small(page), "list").toEqual([]);
  for (const ask of await server.pending()) {
    await open(page, ask.id);
    expect.soft(await small(page), ask.id).toEqual([]);
  }
  await visit(page, `#/sessions/${session}`);
  await expect(card(page)).toBeVisible();
  const placeholder = page.locator(".composer textarea");
  expect(await placeholder.evaluate((field) => field.scrollHeight <= field.clientHeight + 1)).toBe(true);
  await page.getByRole("link", { name: "Sessions" }).first().tap();
  await expect(page.getByRole("heading", { name: "Sessions" })).toBeVisible();
  await page.context().close();
});

test("the footer of a long card is at the bottom edge, and nothing shows below it", async ({ inbox, server }) => {
  const ask = await server.ask(edit(addedLines(200)));
  for (const width of [1440, 1024, 390]) {
    await inbox.setViewportSize({ width, height: 800 });
    await open(inbox, ask.id);
    const below = () =>
      inbox.locator(".scroll").evaluate((scroll) => {
        const foot = [...scroll.querySelectorAll(".foot")].find((one) => one.checkVisibility());
        const bar = foot?.closest(".actions");
        const shown = bar && getComputedStyle(bar).display !== "contents" ? bar : foot;
        return Math.abs(scroll.getBoundingClientRect().bottom - (shown?.getBoundingClientRect().bottom ?? 0));
      });
    // The card moves during its opening animation.
    await expect.poll(below, `at ${width}`).toBeLessThan(2);
  }
});

test("at 1024 pixels icons, projects and hints are not cut", async ({ inbox, server }) => {
  await server.ask(
    command("terraform apply", { project: "/home/ada/infra", branch: "a-very-long-branch-name-indeed", timeout: "9m" }),
  );
  await inbox.setViewportSize({ width: 1024, height: 768 });
  const row = inbox.locator(".row").first();
  await expect(row).toBeVisible();
  expect((await row.locator(".branch svg").boundingBox())?.width).toBe(14);
  expect(await row.locator(".project").evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  expect(await row.locator(".branch .cut").evaluate((one) => getComputedStyle(one).textOverflow)).toBe("ellipsis");
  await expect(inbox.locator(".hintbar")).toHaveText(/jk move1–9 choosead yes/);
  for (const key of await inbox.locator(".hintbar > span:visible .kbd").all()) await expect(key).toBeVisible();
});

test("a long answer keeps its header readable, and one that no person wrote is cut to one line until it is opened", async ({
  page,
}) => {
  const words = "a rule's answer ".repeat(40).trim();
  const policy = `[[rules]]\nname = "auto"\ndo = "answer"\nheader = "Auto"\nanswer = ["${words}"]\n`;
  const server = await Server.start({ policy });
  try {
    const ask = await server.ask({ questions: [{ header: "Session store", text: "Where?", input: "text" }] });
    const auto = await server.ask({ questions: [{ header: "Auto", text: "What?", input: "text" }] });
    await signIn(page, server, { holdMs: 0 });
    await open(page, ask.id);
    await card(page).getByRole("textbox").fill("first line\nsecond line\nthird line".repeat(20));
    await page.keyboard.press("Enter");
    await expect(card(page)).toHaveAttribute("data-state", "answered");
    const header = await card(page).locator(".ln .q").boundingBox();
    expect(header?.width).toBeGreaterThan(60);
    await open(page, auto.id);
    const row = card(page).locator(".ln");
    const closed = (await row.boundingBox())?.height ?? 0;
    expect(closed).toBeLessThan(30);
    await row.click();
    await expect.poll(async () => (await row.boundingBox())?.height ?? 0).toBeGreaterThan(closed * 2);
  } finally {
    await server.stop();
  }
});

test("the slower person keeps their text, and has nothing to undo", async ({ page, server }) => {
  const [typed, held] = [await server.ask(question()), await server.ask(command("make deploy"))];
  await signIn(page, server, { holdMs: 600_000 });
  await open(page, typed.id);
  await page.getByPlaceholder("Other: type your answer").fill("half a thought");
  await server.api("POST", `/asks/${typed.id}/answer`, { answers: [["One"]] });
  await expect(card(page)).toHaveAttribute("data-state", "answered");
  await expect(card(page)).toContainText("Your answer “half a thought” wasn’t sent.");
  await expect(card(page).getByRole("button", { name: "Copy it" })).toBeVisible();

  await open(page, held.id);
  await pressOnCard(page, "r");
  await page.keyboard.type("Not on Friday");
  await page.keyboard.press("Enter");
  await expect(card(page)).toHaveAttribute("data-state", "sending");
  await server.api("POST", `/asks/${held.id}/approve`, {});
  await expect(card(page)).toHaveAttribute("data-state", "answered");
  await expect(card(page).getByRole("button", { name: "Undo" })).toHaveCount(0);
  await expect(card(page)).toContainText("Already answered by");
  await expect(card(page)).toContainText("Not on Friday");
  await expect(card(page)).not.toContainText("was first");
});

test("an approval shows its reason without repeating the command, its directory and its deadline", async ({
  inbox,
  server,
}) => {
  const text = "terraform apply -auto-approve";
  await server.ask(command(text, { timeout: "9m" }));
  await expect(card(inbox).locator(".why")).toHaveText("No rule allows this command.");
  await expect(card(inbox).getByText(text, { exact: true })).toHaveCount(1);
  const facts = card(inbox).locator(".factlist");
  await expect(facts).toContainText("Directory/home/ada/work/shop-api");
  await expect(facts).toContainText("Machinethis machine");
  await expect(facts).toContainText("Denied if you don’t answer.");
});

test("while a reason is typed, the footer has only buttons that use it", async ({ inbox, server }) => {
  const ask = await server.ask(command("make deploy"));
  await pressOnCard(inbox, "r");
  const buttons = card(inbox).locator(".foot").getByRole("button");
  await expect(buttons).toHaveText(["Deny with reason Enter", "Deny and stop", "Cancel", "Approve instead"]);
  await inbox.keyboard.type("Not on Friday");
  await inbox.keyboard.press("Escape");
  await inbox.keyboard.press("a");
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await inbox.keyboard.press("d");
  await expect.poll(() => outcomeOf(server, ask.id)).toMatchObject({ status: "denied", message: "Not on Friday" });
});

test("y copies the diff or the command, and confirms it", async ({ browser, server }) => {
  const page = await anotherBrowser(browser, server, { permissions: ["clipboard-read", "clipboard-write"] });
  const change = await server.ask(edit(addedLines(2)));
  const run = await server.ask(command("ls -l"));
  for (const [id, text] of [
    [change.id, "--- /p/a.rs\n+++ /p/a.rs\n@@ -1,1 +1,2 @@\n+line 0\n+line 1\n"],
    [run.id, "ls -l"],
  ] as const) {
    await open(page, id);
    await pressOnCard(page, "y");
    await expect(page.locator(".notices")).toHaveText("Copied");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
  }
  await page.context().close();
});

test("a decided card still names the agent, and repeats nothing", async ({ inbox, server }) => {
  const ask = await server.ask(command("ls -l"));
  await server.api("POST", `/asks/${ask.id}/approve`, {});
  await open(inbox, ask.id);
  await expect(card(inbox).locator(".src")).toContainText("codex");
  await expect(card(inbox).locator(".src")).toContainText("shop-api");
  await expect(card(inbox).locator(".src")).toContainText("main");
  const name = /by (.+) via/.exec((await card(inbox).locator(".state").textContent()) ?? "")?.[1] ?? "?";
  await expect(card(inbox).locator(".res")).not.toContainText(name);
});

test("an empty list next to a decided ask says that you are caught up", async ({ page, server }) => {
  const { id } = await server.ask(command("ls -l"));
  await server.api("POST", `/asks/${id}/approve`, {});
  await signIn(page, server);
  await open(page, id);
  await expect(page.locator(".list .none")).toHaveText("You’re all caught up");
});

test("a rule shows different decisions first, in amber, with the old reason", async ({ inbox, server }) => {
  for (const [text, how, body] of [
    ["cargo test -p a", "approve", {}],
    ["cargo test -- --ignored", "deny", { message: "Takes 40 minutes" }],
  ] as const) {
    const ask = await server.ask(command(text));
    await server.api("POST", `/asks/${ask.id}/${how}`, body);
  }
  await open(inbox, (await server.ask(command("cargo test"))).id);
  await pressOnCard(inbox, "m");
  const dialog = inbox.getByRole("dialog", { name: "Make a rule" });
  const first = dialog.locator(".hit").first();
  await expect(first).toContainText("cargo test -- --ignored");
  await expect(first).toContainText("“Takes 40 minutes”");
  const colour = (chip: Locator) => chip.evaluate((one) => getComputedStyle(one).color);
  const amber = await colour(dialog.locator(".dryhead .chip[data-status=waiting]"));
  expect(await colour(first.locator(".chip"))).toBe(amber);
});

test("Ctrl-click and Shift-click select asks, which are decided together", async ({ inbox, server }) => {
  const asks = [];
  for (const n of [1, 2, 3, 4]) asks.push(await server.ask(command(`make ${n}`)));
  await expect(inbox.locator(".row")).toHaveCount(4);
  await inbox.locator(".row", { hasText: "make 1" }).click({ modifiers: ["ControlOrMeta"] });
  await inbox.locator(".row", { hasText: "make 3" }).click({ modifiers: ["Shift"] });
  await expect(inbox.getByRole("heading", { name: "Decide 3 approvals together" })).toBeVisible();
  await inbox.locator(".row", { hasText: "make 2" }).click({ modifiers: ["ControlOrMeta"] });
  await expect(inbox.locator(".batch li")).toHaveCount(2);
  await pressOnCard(inbox, "d");
  await expect
    .poll(async () => (await server.pending()).map((ask) => ask.approval?.command))
    .toEqual(["make 2", "make 4"]);
});

test("a long press selects on a phone", async ({ browser, server }) => {
  for (const n of [1, 2, 3]) await server.ask(command(`make ${n}`));
  const page = await phone(browser, server);
  const row = page.locator(".row", { hasText: "make 1" });
  await row.dispatchEvent("pointerdown", { pointerType: "touch" });
  await expect(row).toHaveAttribute("data-selected", "true");
  await row.dispatchEvent("pointerup", { pointerType: "touch" });
  await page.locator(".row", { hasText: "make 3" }).tap();
  await page.getByRole("button", { name: "Decide 2" }).tap();
  await card(page).getByRole("button", { name: "Approve 2" }).tap();
  await expect.poll(async () => (await server.pending()).map((ask) => ask.approval?.command)).toEqual(["make 2"]);
  await page.context().close();
});

test("identical asks share one row; all are listed, and later ones are added only on demand", async ({
  inbox,
  server,
}) => {
  for (const branch of ["a", "b", "c"]) await server.ask(command("cargo test", { branch }));
  await expect(inbox.locator(".row")).toHaveCount(1);
  await expect(inbox.locator(".row")).toContainText("×3");
  await server.ask(question());
  await pressOnCard(inbox, "j");
  await expect(card(inbox)).toContainText("Which?");
  await pressOnCard(inbox, "k");
  await expect(inbox.locator(".batch li")).toHaveText([/cargo test.*a/, /cargo test.*b/, /cargo test.*c/]);
  await server.ask(command("cargo test", { branch: "d" }));
  await expect(card(inbox).getByRole("button", { name: "1 more identical ask arrived" })).toBeVisible();
  await pressOnCard(inbox, "a");
  await expect
    .poll(async () => (await server.pending()).filter((ask) => ask.approval).map((ask) => ask.branch))
    .toEqual(["d"]);
});

test("Open shows one of several identical asks, including the first", async ({ page, server }) => {
  const first = await server.ask(command("cargo test", { branch: "a" }));
  await server.ask(command("cargo test", { branch: "b" }));
  await signIn(page, server, { holdMs: 0 });
  await expect(page.locator(".row")).toContainText(["×2"]);
  await card(page).getByRole("button", { name: "Open" }).first().click();
  await expect(page.locator(".batch")).toHaveCount(0);
  await expect(card(page)).toHaveAttribute("data-ask", first.id);
  await pressOnCard(page, "a");
  await expect.poll(async () => (await server.pending()).map((ask) => ask.branch)).toEqual(["b"]);
});

test("offline decisions are queued, canceled by undo, and sent when the connection is back", async ({
  inbox,
  server,
}) => {
  const [first, second] = [
    await server.ask(question({ text: "First?" })),
    await server.ask(question({ text: "Second?" })),
  ];
  await open(inbox, first.id);
  await inbox.context().setOffline(true);
  await card(inbox).getByRole("button", { name: "Two" }).click();
  await expect(card(inbox).locator(".state")).toContainText("Queued “Two”");
  await expect(inbox.locator(".banner")).toContainText("1 decision is queued");
  await open(inbox, second.id);
  await card(inbox).getByRole("button", { name: "One" }).click();
  await expect(card(inbox).locator(".state")).toContainText("Queued “One”");
  await card(inbox).getByRole("button", { name: "Undo" }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await inbox.context().setOffline(false);
  await expect.poll(async () => (await outcomeOf(server, first.id))?.answers).toEqual([["Two"]]);
  expect(await outcomeOf(server, second.id)).toBeFalsy();
});

test("an approval that was queued for more than a minute must be repeated", async ({ page, server }) => {
  const ask = await server.ask(command("make deploy"));
  await page.addInitScript(() => {
    const { now } = Date;
    const later = window as unknown as { later?: number };
    Date.now = () => now() + (later.later ?? 0);
  });
  await signIn(page, server, { holdMs: 0 });
  await open(page, ask.id);
  await page.context().setOffline(true);
  await pressOnCard(page, "a");
  await expect(card(page).locator(".state")).toContainText("Queued “Approve”");
  await page.evaluate(() => Object.assign(window, { later: 61_000 }));
  await page.context().setOffline(false);
  await expect(card(page).getByRole("alert")).toContainText("queued for more than a minute");
  expect(await outcomeOf(server, ask.id)).toBeFalsy();
  await pressOnCard(page, "a");
  await expect.poll(async () => (await outcomeOf(server, ask.id))?.status).toBe("approved");
});

test("decisions and withdrawals are announced, and the focus returns to the list", async ({ page, server }) => {
  const asks = [await server.ask(command("make 1")), await server.ask(command("make 2")), await server.ask(question())];
  await signIn(page, server, { holdMs: 600_000 });
  const said = page.locator("[data-said]");
  await expect(said).toHaveCSS("display", "block");
  await card(page).getByRole("button", { name: "Approve" }).click();
  await expect(said).toHaveText("Sending Approve. Press U to undo.");
  await expect(page.getByRole("listbox")).toBeFocused();
  await page.keyboard.press("u");
  await server.api("POST", `/asks/${asks[0]?.id}/approve`, {});
  await expect(said).toHaveText("Approved. 2 waiting.");
  await server.api("DELETE", `/asks/${asks[2]?.id}?reason=${encodeURIComponent("The turn was interrupted.")}`);
  await expect(said).toHaveText("Withdrawn: The turn was interrupted. 1 waiting.");
});

test("a held key decides once, even if its events are not marked as repeated", async ({ inbox, server }) => {
  for (const n of [1, 2]) await server.ask(command(`make ${n}`));
  await expect(inbox.locator(".row")).toHaveCount(2);
  const down = () =>
    inbox.evaluate(() =>
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", code: "KeyA", bubbles: true })),
    );
  await expect(inbox.locator(".sayso-ask[data-accepts-keys=true]")).toBeVisible();
  await down();
  await expect.poll(async () => (await server.pending()).length).toBe(1);
  await expect(inbox.locator(".sayso-ask[data-accepts-keys=true][data-state=pending]")).toBeVisible();
  await down();
  await expect(card(inbox)).toHaveAttribute("data-state", "pending");
  await inbox.evaluate(() =>
    document.body.dispatchEvent(new KeyboardEvent("keyup", { key: "a", code: "KeyA", bubbles: true })),
  );
  expect((await server.pending()).length).toBe(1);
  await inbox.keyboard.press("a");
  await expect.poll(async () => (await server.pending()).length).toBe(0);
});

test("a filter closes a card that no longer matches", async ({ inbox, server }) => {
  await server.ask(command("make apples"));
  const pears = await server.ask(command("make pears"));
  await expect(inbox.locator(".row")).toHaveCount(2);
  await inbox.keyboard.press("/");
  await inbox.keyboard.type("pears");
  await expect(card(inbox)).toHaveAttribute("data-ask", pears.id);
});

test("a viewer sees no shortcuts and no hint to pick an option", async ({ page, server }) => {
  await server.ask(question());
  await signIn(page, server, { holdMs: 0 }, "viewer");
  await expect(card(page)).toContainText("You have view-only access.");
  await expect(card(page)).not.toContainText("Pick one to send it");
  await expect(card(page).locator(".kbd:visible")).toHaveCount(0);
});
