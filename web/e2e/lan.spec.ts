import { execFileSync } from "node:child_process";
import { card, expect, signIn, test } from "./fixtures";
import { Server } from "./server";

// A host of the test's own, in a network namespace: the page over plain http from an address that is not loopback, where
// a browser gives neither Web Locks nor the clipboard nor `crypto.randomUUID`.
const NAMESPACE = `sayso-${process.pid}`;
const HERE = "203.0.113.1";
const THERE = "203.0.113.2";
const ip = (...args: string[]) => execFileSync("ip", args, { stdio: "pipe" });

test.beforeAll(() => {
  const [near, far] = [`sa${process.pid}`, `sb${process.pid}`];
  ip("netns", "add", NAMESPACE);
  ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", NAMESPACE);
  ip("addr", "add", `${HERE}/30`, "dev", near);
  ip("link", "set", near, "up");
  ip("-n", NAMESPACE, "addr", "add", `${THERE}/30`, "dev", far);
  ip("-n", NAMESPACE, "link", "set", far, "up");
  ip("-n", NAMESPACE, "link", "set", "lo", "up");
});
test.afterAll(() => {
  ip("netns", "del", NAMESPACE);
});

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
