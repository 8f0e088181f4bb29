import { card, expect, signIn, test } from "./fixtures";
import { ownMachine } from "./namespace";
import { Server } from "./server";

// The page over plain http from an address that is not loopback, where a browser gives neither Web Locks nor the
// clipboard nor `crypto.randomUUID`.
const THERE = "203.0.113.2";
const NAMESPACE = ownMachine("s", "203.0.113.1", THERE);

test("the page works over plain http on the network", async ({ page }) => {
  const server = await Server.start({ host: THERE, namespace: NAMESPACE, config: `allow_hosts = ["${THERE}"]\n` });
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
