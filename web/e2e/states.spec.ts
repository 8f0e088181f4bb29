import { card, expect, signIn, test, visit } from "./fixtures";
import { unusualAsks } from "./scene";

test("parked, withdrawn and undelivered asks are shown as such, and parked ones can be answered", async ({
  inbox,
  server,
}) => {
  const asks = await unusualAsks(server);
  const open = async (id: string) => {
    await visit(inbox, `#/inbox/${id}`);
    await expect(card(inbox)).toHaveAttribute("data-ask", id);
  };
  await open(asks.withdrawn);
  await expect(card(inbox)).toHaveAttribute("data-state", "withdrawn");
  await expect(card(inbox)).toContainText("The turn was interrupted.");

  await open(asks.undelivered);
  await expect(card(inbox)).toHaveAttribute("data-state", "undelivered");
  await expect(card(inbox)).toContainText("Selected: “SQLite table”");
  await expect(card(inbox)).toContainText("The terminal was first; this did not reach the agent.");
  await expect(card(inbox).getByRole("button", { name: "Dismiss" })).toBeVisible();

  await open(asks.parked);
  await expect(card(inbox)).toHaveAttribute("data-state", "parked");
  await expect(card(inbox)).toContainText("The agent stopped. Answering restarts it.");
  await card(inbox).getByRole("button", { name: "SQLite" }).click();
  await expect(card(inbox)).toHaveAttribute("data-state", "answered");
  const { sessionId } = await server.readAsk(asks.parked);
  await expect
    .poll(async () => (await server.api<{ status: string }>("GET", `/sessions/${sessionId}`)).status)
    .toBe("idle");
});

test("a card appears amber and shrinks to its emerald result, without motion if that is preferred", async ({
  page,
  server,
}) => {
  await page.addInitScript(() => {
    const moved: string[] = [];
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (this: Element, ...args) {
      if (this.matches(".sayso-ask")) moved.push(...Object.keys(args[0] ?? {}));
      return animate.apply(this, args);
    };
    document.addEventListener("animationstart", ({ target, animationName }) => {
      if (target instanceof Element && target.matches(".sayso-ask")) moved.push(animationName);
    });
    Object.assign(window, { moved });
  });
  const moved = () => page.evaluate(() => [...new Set((window as unknown as { moved: string[] }).moved)].sort());
  const colours = () =>
    card(page).evaluate((element) => {
      const style = getComputedStyle(element);
      const token = (name: string) => style.getPropertyValue(name).trim();
      return { state: token("--st"), amber: token("--pending"), emerald: token("--answered") };
    });
  const ask = () => server.ask({ questions: [{ text: "Which?", options: [{ label: "One" }] }] });
  await ask();
  await signIn(page, server, { holdMs: 0 });
  await expect(card(page)).toHaveAttribute("data-state", "pending");
  await expect.poll(moved).toEqual(["sayso-enter"]);
  const before = await colours();
  expect(before.state).toBe(before.amber);
  await expect(card(page).locator(".state svg.lucide").first()).toBeVisible();
  await card(page).getByRole("button", { name: "One" }).click();
  await expect(card(page)).toHaveAttribute("data-state", "answered");
  await expect.poll(moved).toEqual(["height", "sayso-enter"]);
  const after = await colours();
  expect(after.state).toBe(after.emerald);

  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.reload();
  const quiet = await ask();
  await visit(page, `#/inbox/${quiet.id}`);
  await card(page).getByRole("button", { name: "One" }).click();
  await expect(card(page)).toHaveAttribute("data-state", "answered");
  expect(await moved()).toEqual([]);
});
