import { anotherBrowser, card, expect, test, visit } from "./fixtures";

const question = (text: string) => ({ questions: [{ text, options: [{ label: "Yes" }, { label: "No" }] }] });

test("an ask is on the screen at most 100 ms after it is committed", async ({ inbox, server }) => {
  await server.ask(question("First?"));
  await expect(card(inbox)).toBeVisible();
  const times: number[] = [];
  for (let n = 0; n < 5; n++) {
    const text = `Number ${n}?`;
    await inbox.evaluate((wanted) => {
      const found = () => document.querySelector(".rows")?.textContent?.includes(wanted) ?? false;
      (window as unknown as { seen: Promise<number> }).seen = new Promise((resolve) => {
        const look = () => (found() ? resolve(Date.now()) : requestAnimationFrame(look));
        look();
      });
    }, text);
    const ask = await server.ask(question(text));
    const seen = await inbox.evaluate(() => (window as unknown as { seen: Promise<number> }).seen);
    times.push(seen - Date.parse(ask.openedAt));
  }
  times.sort((a, b) => a - b);
  expect(times[2]).toBeLessThanOrEqual(100);
});

test("a server that is restarted while a card is open is told honestly, and nothing comes back", async ({
  inbox,
  server,
}) => {
  const open = await server.ask(question("Still there?"));
  await expect(card(inbox)).toBeVisible();
  await inbox.getByPlaceholder("Other: type your answer").fill("half a thought");
  await server.restart(async () => {
    await expect(inbox.getByRole("alert").filter({ hasText: "Disconnected" })).toBeVisible();
  });
  await expect(inbox.getByText("Connected", { exact: true })).toBeVisible({ timeout: 20_000 });
  await expect(inbox.getByPlaceholder("Other: type your answer")).toHaveValue("half a thought");
  await inbox.keyboard.press("Enter");
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  await server.restart();
  await expect(inbox.getByText("Connected", { exact: true })).toBeVisible({ timeout: 20_000 });
  await expect(card(inbox)).not.toHaveAttribute("data-state", "pending");
  expect((await server.readAsk(open.id)).outcome?.answers).toEqual([["half a thought"]]);
});

test("what was decided while the page was cut off is not pending when it is back", async ({ inbox, server }) => {
  const ask = await server.ask(question("Decided elsewhere?"));
  await expect(card(inbox)).toBeVisible();
  await inbox.context().setOffline(true);
  await server.restart();
  await server.api("POST", `/asks/${ask.id}/answer`, { answers: [["No"]] });
  await inbox.context().setOffline(false);
  await expect(card(inbox)).toHaveAttribute("data-state", "answered", { timeout: 20_000 });
  await expect(card(inbox)).toContainText("Selected: “No”");
});

test("tabs of one browser share one stream, and another tab takes over", async ({ inbox, server }) => {
  const second = await inbox.context().newPage();
  const streams: string[] = [];
  second.on("request", (request) => request.url().includes("/v1/events") && streams.push(request.url()));
  await second.goto(server.url);
  await expect(second.locator(".app")).toBeVisible();
  await server.ask(question("Seen by both?"));
  await expect(second.locator(".row")).toContainText("Seen by both?");
  expect(streams).toEqual([]);
  await inbox.close();
  await expect.poll(() => streams.length).toBe(1);
  await server.ask(question("Seen by who is left?"));
  await expect(second.locator(".rows")).toContainText("Seen by who is left?");
});

test("every tab streams for itself where locks and channels are missing", async ({ browser, server }) => {
  const page = await anotherBrowser(browser, server);
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "locks", { value: undefined });
    Object.defineProperty(window, "BroadcastChannel", { value: undefined });
    Object.defineProperty(crypto, "randomUUID", { value: undefined });
    Object.defineProperty(navigator, "clipboard", { value: undefined });
  });
  await page.reload();
  await server.ask(question("Without anything?"));
  await expect(card(page)).toContainText("Without anything?");
  await page.context().close();
});

test("a token that is revoked signs the page out", async ({ inbox, server }) => {
  const id = await inbox.evaluate(() => JSON.parse(localStorage.getItem("sayso.identity") ?? "{}").tokenId as string);
  await server.api("DELETE", `/tokens/${id}`);
  await visit(inbox, "#/settings/agents");
  await expect(inbox.getByRole("heading", { name: "This browser is not signed in" })).toBeVisible();
});

test("ten thousand asks open fast and scroll", async ({ page, server }) => {
  test.setTimeout(240_000);
  const { signIn } = await import("./fixtures");
  const total = 10_000;
  for (let from = 0; from < total; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, n) => server.ask(question(`Question ${from + n}?`))));
  }
  await signIn(page, server);
  await expect(page.locator(".badge")).toHaveText(String(total), { timeout: 60_000 });
  const started = Date.now();
  await page.reload();
  await expect(page.locator(".row").first()).toBeVisible();
  expect(Date.now() - started).toBeLessThanOrEqual(1000);
  await expect(page.locator(".badge")).toHaveText(String(total), { timeout: 60_000 });
  const slow = await page.evaluate(async () => {
    const rows = document.querySelector(".rows") as HTMLElement;
    const frames: number[] = [];
    let last = performance.now();
    for (let n = 0; n < 90; n++) {
      rows.scrollTop += 900;
      await new Promise(requestAnimationFrame);
      frames.push(performance.now() - last);
      last = performance.now();
    }
    return frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.9)] ?? 0;
  });
  expect(slow).toBeLessThanOrEqual(50);
  expect(await page.locator(".row").count()).toBeLessThan(100);
});
