import { card, expect, signIn } from "./fixtures";
import { ADDRESS, test } from "./namespace";
import { Server } from "./server";

// The page over plain http from an address that is not loopback, where a browser gives neither Web Locks nor the
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
