import { anotherBrowser, card, expect, openMany, signIn, test, visit } from "./fixtures";

const question = (text: string) => ({ questions: [{ text, options: [{ label: "Yes" }, { label: "No" }] }] });

test("a server restart while a card is open is shown, and decided asks do not return", async ({ inbox, server }) => {
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

test("asks decided while the page was offline are not pending after the reconnect", async ({ inbox, server }) => {
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

test("every tab has its own stream without locks and channels", async ({ browser, server }) => {
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

test("a revoked token signs the page out", async ({ inbox, server }) => {
  const id = await inbox.evaluate(() => JSON.parse(localStorage.getItem("sayso.identity") ?? "{}").tokenId as string);
  await server.api("DELETE", `/tokens/${id}`);
  await visit(inbox, "#/settings/agents");
  await expect(inbox.getByRole("heading", { name: "This browser is not signed in" })).toBeVisible();
});

test("of thousands of asks only visible rows are in the document, and scrolling shows the rest", async ({
  page,
  server,
}) => {
  await openMany(server, 1_500);
  await server.ask(question("The last?"));
  await signIn(page, server);
  await expect(page.locator(".badge")).toHaveText("1501", { timeout: 30_000 });
  expect(await page.locator(".row").count()).toBeLessThan(100);
  await page.locator(".rows").evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
  await expect(page.locator(".rows")).toContainText("The last?");
  expect(await page.locator(".row").count()).toBeLessThan(100);
});
