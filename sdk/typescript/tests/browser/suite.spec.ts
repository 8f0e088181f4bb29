import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, type Page, test } from "@playwright/test";
import { Server } from "../../../../web/e2e/server";
import { bundle } from "../../scripts/bundle.mjs";
import type * as suiteModule from "../suite";
import { suite } from "../suite";
import { Site } from "./site";

/** The suite in Chromium, in a page of another origin, with the package as it is published. */
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = `<!doctype html><link rel="icon" href="data:,">
<script type="importmap">{ "imports": { "@sayso/sdk": "/sdk/index.js" } }</script>
<script type="module">import * as all from "/page.js"; window.all = all;</script>`;

declare global {
  interface Window {
    all: typeof suiteModule;
    heard: string[];
  }
}

let site: Site;
let server: Server;

test.beforeAll(async () => {
  site = await Site.start();
  site.files.set("/index.html", PAGE);
  const files = await bundle(here("../suite/index.ts"), { external: [/^@sayso\/sdk$/] });
  for (const [name, code] of files) site.files.set(`/${name}`, code);
  const dist = here("../../dist/");
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".js")) site.files.set(`/sdk/${name}`, readFileSync(dist + name, "utf8"));
  }
  server = await Server.start({ config: `cors_origins = ["${site.origin}"]\n` });
});

test.afterAll(async () => {
  await server.stop();
  await site.stop();
});

async function open(page: Page): Promise<void> {
  await page.goto(site.origin);
  await page.waitForFunction(() => window.all !== undefined);
}

for (const { name } of suite) {
  test(name, async ({ page }) => {
    await open(page);
    await page.evaluate(
      async ({ name, url, token }) => {
        const world = new window.all.World(url, token);
        const found = window.all.suite.find((one) => one.name === name);
        if (!found) throw new Error("the page has other tests");
        await found.run(world);
        world.close();
      },
      { name, url: server.url, token: server.token },
    );
  });
}

test("a page reconnects to a killed server and misses no event", async ({ page }) => {
  await open(page);
  const session = await server.session("hello");
  await page.evaluate(
    ({ url, token }) => {
      window.heard = [];
      const { admin } = new window.all.World(url, token);
      admin.onQuestion(({ id }) => void window.heard.push(id));
    },
    { url: server.url, token: server.token },
  );
  await server.api("POST", `/sessions/${session.id}/messages`, { text: "question" });
  const first = await server.asked(session.id);
  await expect.poll(() => page.evaluate(() => window.heard)).toContain(first.id);
  await server.restart();
  await server.api("POST", `/asks/${first.id}/answer`, { answers: [["SQLite"]] });
  const second = await server.session("question");
  const asked = await server.asked(second.id);
  await expect.poll(() => page.evaluate(() => window.heard)).toContain(asked.id);
  const heard = await page.evaluate(() => window.heard);
  expect(heard).toEqual([...new Set(heard)]);
});

test("a page of an origin that is not configured is refused, even with a token", async ({ page }) => {
  const stranger = await Site.start();
  for (const [path, text] of site.files) stranger.files.set(path, text);
  await page.goto(stranger.origin);
  await page.waitForFunction(() => window.all !== undefined);
  const code = await page.evaluate(
    async ({ url, token }) => {
      const { admin } = new window.all.World(url, token);
      return admin.asks.list().catch((error: { code: string }) => error.code);
    },
    { url: server.url, token: server.token },
  );
  expect(code).toBe("connection_lost");
  await stranger.stop();
});
