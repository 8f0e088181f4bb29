import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { anotherBrowser, card, expect, pressOnCard, test, visit } from "./fixtures";
import { fill } from "./scene";

async function axe(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map(({ id, nodes }) => ({
    id,
    where,
    nodes: nodes.slice(0, 3).map((node) => node.html.slice(0, 160)),
  }));
  expect.soft(found).toEqual([]);
}

test("axe finds nothing on any page, in light and dark", async ({ browser, server }) => {
  test.setTimeout(180_000);
  const scene = await fill(server);
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await anotherBrowser(browser, server, {
      colorScheme,
      viewport: { width: 1440, height: 900 },
      reducedMotion: "reduce",
    });
    await expect(page.locator(".row").first()).toBeVisible();
    for (const ask of await server.pending()) {
      await visit(page, `#/inbox/${ask.id}`);
      await expect(card(page)).toHaveAttribute("data-ask", ask.id);
      await axe(page, `${colorScheme} ${ask.kind} ${ask.id}`);
    }
    for (const hash of [
      `#/sessions/${scene.session}`,
      `#/sessions/${scene.session}/events`,
      "#/sessions",
      "#/history",
      "#/settings/policy",
      "#/settings/agents",
      "#/settings/tokens",
      "#/settings/page",
    ]) {
      await visit(page, hash);
      await page.waitForTimeout(500);
      await axe(page, `${colorScheme} ${hash}`);
    }
    await visit(page, "#/inbox");
    await pressOnCard(page, "c");
    await expect(page.getByRole("dialog")).toBeVisible();
    await axe(page, `${colorScheme} new session`);
    await page.context().close();
  }
});

test("history tells who, when, how long and which rule, and exports it", async ({ inbox, server }) => {
  await fill(server);
  await visit(inbox, "#/history");
  await expect(inbox.getByRole("row")).not.toHaveCount(1);
  await inbox.getByRole("combobox", { name: "Decided by" }).selectOption("person");
  await inbox.getByRole("textbox", { name: "Search questions, commands, answers" }).fill("locale");
  await expect(inbox.getByRole("row")).toHaveCount(2);
  const [file] = await Promise.all([
    inbox.waitForEvent("download"),
    inbox.getByRole("button", { name: "CSV" }).click(),
  ]);
  const text = await (await file.createReadStream()).toArray();
  expect(String(Buffer.concat(text)).split("\r\n")).toHaveLength(3);
});

test("the policy is tried at every keystroke and never changed", async ({ inbox, server }) => {
  await fill(server);
  await visit(inbox, "#/settings/policy");
  const field = inbox.getByRole("textbox", { name: "policy.toml" });
  await field.fill('[[rules]]\nname = "tests"\ndo = "deny"\nrun = ["git push *"]\n');
  const dry = inbox.getByRole("complementary", { name: "What this policy would have done" });
  await expect(dry.getByText("git push --force origin main").first()).toBeVisible();
  await field.fill("[[rules");
  await expect(dry.getByRole("alert")).toBeVisible();
  expect((await server.api<{ text: string }>("GET", "/policy")).text).toBe("");
});

test("tokens are made, shown once, and revoked", async ({ inbox, server }) => {
  await visit(inbox, "#/settings/tokens");
  await inbox.getByRole("textbox", { name: "Name of a person or program" }).fill("nightly job");
  await inbox.getByRole("button", { name: "New token" }).click();
  const secret = (await inbox.locator(".cmdline").textContent()) ?? "";
  expect(secret).not.toBe("");
  const row = inbox.getByRole("row", { name: /nightly job/ });
  await row.getByRole("button", { name: "Revoke" }).click();
  await expect(row).toContainText("revoked");
  await expect(server.api("GET", "/asks", undefined, secret)).rejects.toThrow("401");
});

test("Chinese is complete on the screen", async ({ inbox }) => {
  await visit(inbox, "#/settings/page");
  await inbox.getByRole("button", { name: "简体中文" }).click();
  await expect(inbox.getByRole("heading", { name: "此页面" })).toBeVisible();
  await expect(inbox.locator("html")).toHaveAttribute("lang", "zh-CN");
  await visit(inbox, "#/inbox");
  await expect(inbox.getByRole("heading", { name: "还没有代理" })).toBeVisible();
});

test("on a phone: one pane at a time, big targets, undo in reach", async ({ browser, server }) => {
  await fill(server);
  const page = await anotherBrowser(browser, server, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  await page.evaluate(() => localStorage.setItem("sayso.prefs", JSON.stringify({ holdMs: 3000 })));
  await page.reload();
  await expect(card(page)).toHaveCount(0);
  await page.locator(".row", { hasText: "Where should login sessions" }).tap();
  const option = card(page).getByRole("button", { name: "Redis" });
  expect((await option.boundingBox())?.height).toBeGreaterThanOrEqual(52);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await option.tap();
  await expect(card(page)).toHaveAttribute("data-state", "sending");
  await page.getByRole("button", { name: "Inbox" }).tap();
  await page.locator(".toast").getByRole("button", { name: "Undo" }).tap();
  await expect(page.locator(".toast")).toHaveCount(0);
  expect((await server.pending()).some((ask) => ask.questions?.[0]?.header === "Session store")).toBe(true);
  await page.context().close();
});

test("it can be installed", async ({ inbox, server }) => {
  const manifest = (await (await fetch(`${server.url}/manifest.webmanifest`)).json()) as {
    icons: { src: string; type: string }[];
  };
  for (const icon of manifest.icons) {
    const response = await fetch(server.url + icon.src);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, icon.type]);
  }
  await expect(inbox.locator('link[rel="manifest"]')).toHaveAttribute("href", "/manifest.webmanifest");
});
