import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";
import { Server } from "../../../../web/e2e/server";
import { bundle } from "../../../typescript/scripts/bundle.mjs";
import { Site } from "../../../typescript/tests/browser/site";

const main = fileURLToPath(new URL("../../../../examples/react/main.tsx", import.meta.url));

test("examples/react shows pending asks and answers them", async ({ page }) => {
  const site = await Site.start();
  const server = await Server.start({ config: `cors_origins = ["${site.origin}"]\n` });
  try {
    const html =
      '<!doctype html><link rel="stylesheet" href="/page.css"><body><script type="module" src="/page.js"></script>';
    site.files.set("/index.html", html);
    const define = { "process.env.NODE_ENV": '"production"' };
    for (const [name, text] of await bundle(main, { define })) site.files.set(`/${name}`, text);
    await page.goto(`${site.origin}/?server=${server.url}#${server.token}`);
    await expect(page.getByText("You're all caught up")).toBeVisible();
    const ask = await server.ask({ questions: [{ text: "Which one?", options: [{ label: "This" }] }] });
    await page.getByRole("button", { name: /This/ }).click();
    await expect(page.locator(`[data-ask="${ask.id}"]`)).toHaveAttribute("data-state", "answered");
    expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["This"]]);
  } finally {
    await server.stop();
    await site.stop();
  }
});
