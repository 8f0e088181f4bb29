import type { Browser } from "@playwright/test";
import { card, expect, signIn, visit } from "./fixtures";
import { ADDRESS, test } from "./namespace";
import { Server } from "./server";

// The page over plain http from an address that is not loopback, where browsers provide neither Web Locks nor the
// clipboard nor `crypto.randomUUID`.

test("the page works over plain http on the network", async ({ page, machine }) => {
  const server = await Server.start({ host: ADDRESS, machine, config: `allow_hosts = ["${ADDRESS}"]\n` });
  try {
    await signIn(page, server, { holdMs: 0 });
    expect(await page.evaluate(() => [isSecureContext, "locks" in navigator, "randomUUID" in crypto])).toEqual([
      false,
      false,
      false,
    ]);
    const ask = await server.ask({ questions: [{ text: "From afar?", options: [{ label: "Yes" }, { label: "No" }] }] });
    await page.getByRole("button", { name: "Copy" }).first().click();
    await card(page).getByRole("button", { name: "Yes" }).click();
    await expect(card(page)).toHaveAttribute("data-state", "answered");
    expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["Yes"]]);
  } finally {
    await server.stop();
  }
});

test("Add a phone opens an address after a confirmation, and its code signs a phone in", async ({ page, machine }) => {
  const server = await Server.start({ machine });
  try {
    await signIn(page, server);
    await visit(page, "#/settings/tokens");
    await page.getByRole("button", { name: "Add a phone" }).click();
    const question = page.getByRole("group", { name: "Open Sayso to your network?" });
    await expect(question).toContainText(ADDRESS);
    await question.getByRole("button", { name: "Not now" }).click();
    const opened = () => server.api<{ data: object[] }>("GET", "/listeners");
    expect((await opened()).data).toHaveLength(1);
    await page.getByRole("button", { name: "Add a phone" }).click();
    await page.getByRole("button", { name: /^Open 203/ }).click();
    await expect(page.getByRole("img", { name: "QR code of the link" })).toBeVisible();
    const link = (await page.locator(".phonelink .cmdline").textContent()) ?? "";
    expect(link).toMatch(new RegExp(`^http://${ADDRESS}:\\d+/#code=`));
    expect((await opened()).data).toHaveLength(2);

    const phone = await (page.context().browser() as Browser).newContext();
    const other = await phone.newPage();
    await other.goto(link);
    await expect(other.locator(".app")).toBeVisible();
    await visit(other, "#/settings/tokens");
    await expect(other.getByRole("heading", { name: "Preferences" })).toBeVisible();
    await expect(other.getByRole("button", { name: "Add a phone" })).toHaveCount(0);
    await phone.close();
  } finally {
    await server.stop();
  }
});
