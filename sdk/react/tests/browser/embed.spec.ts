import { fileURLToPath } from "node:url";
import { expect, type Page, test } from "@playwright/test";
import { Sayso } from "@sayso/sdk";
import { Server } from "../../../../web/e2e/server";
import { bundle } from "../../../typescript/scripts/bundle.mjs";
import { Site } from "../../../typescript/tests/browser/site";
import { type Example, examples, place } from "../../../typescript/tests/docs";

/** The pages of the documentation, on a site with another origin and with a token for one session. */
const PAGE = `<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css">
<body><script type="module" src="/page.js"></script>`;

let site: Site;
let server: Server;
let admin: Sayso;

test.beforeEach(async () => {
  site = await Site.start();
  site.files.set("/index.html", PAGE);
  server = await Server.start({ config: `cors_origins = ["${site.origin}"]\n` });
  admin = Sayso.connect({ baseUrl: server.url, token: server.token });
});

test.afterEach(async () => {
  await server.stop();
  await site.stop();
});

const FOLDER = fileURLToPath(new URL("../../.docs", import.meta.url));

/** Builds the page of the documentation with the built packages, as a reader would. */
async function build(page: string): Promise<void> {
  const example = examples(page).find(({ language }) => language === "tsx") as Example;
  const define = { "process.env.NODE_ENV": '"production"' };
  for (const [name, text] of await bundle(place(FOLDER, example, "tsx"), { define })) {
    site.files.set(`/${name}`, text);
  }
}

const give = (facts: object) => site.files.set("/sayso.json", JSON.stringify({ baseUrl: server.url, ...facts }));

/** Records all responses to the page, including streams. Returns the recorded text. */
async function listenIn(page: Page): Promise<() => Promise<string>> {
  await page.addInitScript(() => {
    window.came = "";
    const real = window.fetch;
    window.fetch = async (...args) => {
      const response = await real(...args);
      const copy = response.clone().body?.pipeThrough(new TextDecoderStream()).getReader();
      void (async () => {
        for (let piece = await copy?.read(); piece && !piece.done; piece = await copy?.read())
          window.came += piece.value;
      })().catch(() => {});
      return response;
    };
  });
  return () => page.evaluate(() => window.came);
}

declare global {
  interface Window {
    came: string;
    moves: string[];
  }
}

test("a page of another origin shows and answers only the asks of its token", async ({ page }) => {
  await build("embedding.md");
  const mine = await server.session("question");
  const other = await server.session("approve");
  const [ask, foreign] = [await server.asked(mine.id), await server.asked(other.id)];
  const scoped = { role: "answerer", actor: "carol", sessionId: mine.id } as const;
  const { token } = await admin.tokens.create({ ...scoped, expiresIn: "1h" });
  give({ token, sessionId: mine.id });
  const came = await listenIn(page);
  await page.goto(site.origin);
  const cards = page.locator(".sayso-ask");
  await expect(cards).toHaveCount(1);
  await expect(cards).toContainText("Which database should this feature use?");
  // Events of another session do not reach this page.
  await server.api("POST", `/asks/${foreign.id}/deny`, {});
  await cards.getByRole("button", { name: /PostgreSQL/ }).click();
  await expect(cards).toHaveAttribute("data-state", "answered");
  const decided = await server.readAsk(ask.id);
  expect([decided.outcome?.answers, decided.outcome?.by.name]).toEqual([[["PostgreSQL"]], "carol"]);
  await expect.poll(came).toContain('"type":"question.resolved"');
  expect(await came()).toContain(ask.id);
  expect(await came()).not.toContain(foreign.id);

  // For this token, the ask of the other session looks like one that does not exist.
  const status = await page.evaluate(
    async ({ url, token, id }) => {
      const headers = { Authorization: `Bearer ${token}` };
      const seen = await fetch(`${url}/v1/asks/${id}`, { headers });
      const listed = await (await fetch(`${url}/v1/asks`, { headers })).json();
      return [seen.status, listed.data.map((ask: { id: string }) => ask.id)];
    },
    { url: server.url, token, id: foreign.id },
  );
  expect(status).toEqual([404, [ask.id]]);
});

test("a chat of another origin shows prompts between its messages", async ({ page }) => {
  await build("embedding.md");
  const session = await server.session("question");
  const ask = await server.asked(session.id);
  const { token } = await admin.tokens.create({ role: "answerer", actor: "carol", sessionId: session.id });
  give({ token, sessionId: session.id });
  await page.goto(`${site.origin}/#chat`);
  const prompt = page.locator(".sayso-ask");
  await expect(prompt).toHaveAttribute("data-state", "pending");
  await prompt.getByText("SQLite").click();
  await prompt.getByRole("button", { name: "Submit" }).click();
  await expect(prompt).toHaveAttribute("data-state", "answered");
  await expect(page.getByLabel("Chat")).toContainText("You answered: SQLite.");
  expect((await server.readAsk(ask.id)).outcome?.by).toMatchObject({ name: "carol", via: "gateway" });

  await server.api("POST", `/sessions/${session.id}/messages`, { text: "approve" });
  await expect(page.locator('.sayso-ask[data-state="pending"]')).toContainText("cargo test --workspace");
  const pending = await server.asked(session.id);
  await server.api("POST", `/asks/${pending.id}/deny`, {});
  await expect(page.getByText("Decided")).toBeVisible();
});

for (const { reducedMotion, moves } of [
  { reducedMotion: "no-preference", moves: ["sayso-enter", "height"] },
  { reducedMotion: "reduce", moves: [] },
] as const) {
  test(`prompts animate opening and collapsing: ${reducedMotion}`, async ({ page }) => {
    await build("embedding.md");
    const session = await server.session("question");
    await server.asked(session.id);
    const { token } = await admin.tokens.create({ role: "answerer", actor: "carol", sessionId: session.id });
    give({ token, sessionId: session.id });
    await page.emulateMedia({ reducedMotion });
    await page.addInitScript(() => {
      window.moves = [];
      document.addEventListener("animationstart", ({ animationName }) => window.moves.push(animationName));
      const animate = Element.prototype.animate;
      Element.prototype.animate = function (frames, options) {
        window.moves.push(...Object.keys(frames ?? {}));
        return animate.call(this, frames, options);
      };
    });
    await page.goto(`${site.origin}/#chat`);
    const prompt = page.locator(".sayso-ask").first();
    await prompt.getByText("SQLite").click();
    await prompt.getByRole("button", { name: "Submit" }).click();
    await expect(prompt).toHaveAttribute("data-state", "answered");
    await expect(page.getByLabel("Chat")).toContainText("You answered: SQLite.");
    expect(await page.evaluate(() => window.moves)).toEqual(moves);
  });
}

test("a custom component replaces the card for asks with its label", async ({ page }) => {
  await build("interactive-tools.md");
  const labels = { component: "colour" };
  const ask = await server.ask({ questions: [{ text: "Which colour?", options: [{ label: "#fff" }] }], labels });
  const plain = await server.ask({ questions: [{ text: "Which one?", options: [{ label: "This" }] }] });
  const { token } = await admin.tokens.create({ role: "answerer", actor: "carol" });
  give({ token });
  await page.goto(site.origin);
  await expect(page.locator(".sayso-ask")).toHaveAttribute("data-ask", plain.id);
  const use = page.getByRole("button", { name: "Use this colour" });
  await expect(use).toBeDisabled();
  await page.getByLabel("Which colour?").fill("#336699");
  await use.click();
  await expect(page.locator(`[data-ask="${ask.id}"]`)).toHaveAttribute("data-state", "answered");
  expect((await server.readAsk(ask.id)).outcome?.answers).toEqual([["#336699"]]);
});

test("a page with a revoked token shows an error and nothing new", async ({ page }) => {
  await build("embedding.md");
  const session = await server.session("hello");
  const { token, id } = await admin.tokens.create({ role: "answerer", actor: "carol", sessionId: session.id });
  give({ token, sessionId: session.id });
  await page.goto(site.origin);
  await expect(page.getByText("Nothing waits.")).toBeVisible();
  const errors: string[] = [];
  page.on("console", (message) => errors.push(message.text()));
  await admin.tokens.revoke(id);
  await server.api("POST", `/sessions/${session.id}/messages`, { text: "question" });
  await server.asked(session.id);
  await expect.poll(() => errors.join()).toContain("sayso:");
  await expect(page.locator(".sayso-ask")).toHaveCount(0);
});
