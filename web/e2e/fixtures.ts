import {
  type Browser,
  type BrowserContextOptions,
  test as base,
  expect,
  type Locator,
  type Page,
} from "@playwright/test";
import { Server } from "./server";

export { expect } from "@playwright/test";

interface Fixtures {
  server: Server;
  /** Signed in, with decisions sent at once. */
  inbox: Page;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: the test runner wants a pattern
  server: async ({}, use) => {
    const server = await Server.start();
    await use(server);
    await server.stop();
  },
  inbox: async ({ server, page }, use) => {
    await signIn(page, server, { holdMs: 0 });
    await use(page);
  },
});

/** With `make jitter`, replies arrive late and out of order, and the page computes slowly. */
async function addJitter(page: Page): Promise<void> {
  if (!process.env.SAYSO_JITTER) return;
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 1 + Math.random() * 7 });
  await page.route("**/*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() ** 3 * 1_000));
    // The request is gone if the page was closed.
    await route.fallback().catch(() => undefined);
  });
}

/** Opens the login link and waits for the page. */
export async function signIn(page: Page, server: Server, prefs: object = {}, role?: string): Promise<void> {
  await addJitter(page);
  await page.addInitScript((wanted) => {
    if (!localStorage.getItem("sayso.prefs")) localStorage.setItem("sayso.prefs", JSON.stringify(wanted));
  }, prefs);
  await page.goto(await server.loginLink(role));
  await expect(page.locator(".app")).toBeVisible();
  await expect(page).not.toHaveURL(/code=/);
}

export async function anotherBrowser(
  browser: Browser,
  server: Server,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await signIn(page, server, { holdMs: 0 });
  return page;
}

/** Opens a route of the page. */
export const visit = (page: Page, hash: string): Promise<unknown> =>
  page.evaluate((to) => {
    location.hash = to;
  }, hash);

export const card = (page: Page): Locator => page.locator(".sayso-ask");

/** Waits for the end of the card's opening animation. Positions that are read during the animation are inconsistent. */
export const settled = (page: Page): Promise<unknown> =>
  card(page).evaluate((element) =>
    // A card that is replaced cancels its animations.
    Promise.allSettled(element.getAnimations().map((animation) => animation.finished)),
  );

/**
 * Presses keys as soon as an undecided card accepts them. A new card ignores keys at first, and a decided card stays until the
 * page shows the next one.
 */
export async function pressOnCard(page: Page, ...keys: string[]): Promise<void> {
  const undecided = ":is([data-state=pending], [data-state=parked], [data-state=snoozed])";
  await expect(page.locator(`.sayso-ask[data-accepts-keys=true]${undecided}`)).toBeVisible();
  for (const key of keys) await page.keyboard.press(key);
}

/** Opens many questions, a hundred at a time. */
export async function openMany(server: Server, total: number): Promise<void> {
  const options = [{ label: "Yes" }, { label: "No" }];
  for (let from = 0; from < total; from += 100) {
    const some = Array.from({ length: 100 }, (_, n) => ({ questions: [{ text: `Question ${from + n}?`, options }] }));
    await Promise.all(some.map((ask) => server.ask(ask)));
  }
}
