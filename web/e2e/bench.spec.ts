import { card, expect, openMany, signIn, test } from "./fixtures";

// The measurements of the page in docs/benchmarks.md: `npm run bench`. It prints results and never fails on a time.
const quantile = (values: number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;
const tell = (what: string, times: number[]) =>
  console.log(
    JSON.stringify({
      what,
      n: times.length,
      p50: quantile(times, 0.5),
      p90: quantile(times, 0.9),
      max: Math.max(...times),
    }),
  );

test("@bench from the commit of an ask to its row on the screen", async ({ inbox, server }) => {
  await server.ask({ questions: [{ text: "First?", options: [{ label: "Yes" }] }] });
  await expect(card(inbox)).toBeVisible();
  const times: number[] = [];
  for (let n = 0; n < 50; n++) {
    const text = `Number ${n}?`;
    await inbox.evaluate((wanted) => {
      const found = () => document.querySelector(".rows")?.textContent?.includes(wanted) ?? false;
      (window as unknown as { seen: Promise<number> }).seen = new Promise((resolve) => {
        const look = () => (found() ? resolve(Date.now()) : requestAnimationFrame(look));
        look();
      });
    }, text);
    const ask = await server.ask({ questions: [{ text, options: [{ label: "Yes" }] }] });
    const seen = await inbox.evaluate(() => (window as unknown as { seen: Promise<number> }).seen);
    times.push(seen - Date.parse(ask.openedAt));
    await server.api("DELETE", `/asks/${ask.id}`);
  }
  tell("page.visible_ms", times);
});

test("@bench five hundred pending asks: opening the inbox", async ({ page, server }) => {
  test.setTimeout(600_000);
  await openMany(server, 500);
  await signIn(page, server);
  await expect(page.locator(".badge")).toHaveText("500", { timeout: 120_000 });
  const opened: number[] = [];
  for (let n = 0; n < 10; n++) {
    await page.reload();
    // Measured in the page: the clock of the test also counts the calls between test and browser.
    opened.push(
      await page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            const look = () =>
              document.querySelector(".row") ? resolve(Math.round(performance.now())) : requestAnimationFrame(look);
            look();
          }),
      ),
    );
  }
  tell("page.first_row_500_ms", opened);
  await expect(page.locator(".badge")).toHaveText("500", { timeout: 120_000 });
  const lists = await page.evaluate(() =>
    (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
      .filter(({ name }) => new URL(name).pathname === "/v1/asks")
      .map(({ encodedBodySize, decodedBodySize }) => ({ encodedBodySize, decodedBodySize })),
  );
  console.log(JSON.stringify({ what: "page.list_500_bytes", lists }));
});

test("@bench ten thousand pending asks: opening the inbox, and scrolling it", async ({ page, server }) => {
  test.setTimeout(600_000);
  await openMany(server, 10_000);
  await signIn(page, server);
  await expect(page.locator(".badge")).toHaveText("10000", { timeout: 120_000 });
  const opened: number[] = [];
  const whole: number[] = [];
  for (let n = 0; n < 5; n++) {
    const started = Date.now();
    await page.reload();
    await expect(page.locator(".row").first()).toBeVisible();
    opened.push(Date.now() - started);
    await expect(page.locator(".badge")).toHaveText("10000", { timeout: 120_000 });
    whole.push(Date.now() - started);
  }
  tell("page.open_10000_ms", opened);
  tell("page.all_10000_ms", whole);
  const frames = await page.evaluate(async () => {
    const rows = document.querySelector(".rows") as HTMLElement;
    const between: number[] = [];
    let last = performance.now();
    for (let n = 0; n < 300; n++) {
      rows.scrollTop += 900;
      await new Promise(requestAnimationFrame);
      between.push(Math.round(performance.now() - last));
      last = performance.now();
    }
    return between;
  });
  tell("page.scroll_frame_ms", frames);
});
