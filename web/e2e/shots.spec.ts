import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "@playwright/test";
import { anotherBrowser, card, expect, pressOnCard, test, visit } from "./fixtures";
import { Model } from "./model";
import { PUSH_CHANNEL, PushService } from "./pushService";
import { fill, RELEASE, unusualAsks } from "./scene";
import { Server } from "./server";

// The pictures of the documentation: `npm run shots`.
const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const WIDE: BrowserContextOptions = { viewport: { width: 1440, height: 900 } };
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  deviceScaleFactor: 2,
};

async function open(browser: Browser, server: Server, options: BrowserContextOptions, find?: string): Promise<Page> {
  const page = await anotherBrowser(browser, server, options);
  if (find) {
    const ask = (await server.pending()).find((one) => JSON.stringify(one).includes(find));
    await visit(page, `#/inbox/${ask?.id}`);
    await expect(card(page)).toHaveAttribute("data-ask", ask?.id ?? "");
  }
  await page.waitForTimeout(700);
  return page;
}

/** Takes a screenshot in which the test's home directory is replaced by a typical one. */
async function shoot(page: Page, server: Server, name: string): Promise<void> {
  await page.evaluate(
    ({ home, name }) => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        text.nodeValue = (text.nodeValue ?? "").replaceAll(home, "/home/ada/work").replaceAll(name, "fork");
      }
    },
    { home: server.home, name: basename(server.home) },
  );
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}${name}.png` });
  await page.context().close();
}

test("@shots of every page", async ({ browser, server }) => {
  test.setTimeout(180_000);
  const scene = await fill(server);
  const dark = { ...WIDE, colorScheme: "dark" as const };
  for (const [name, options, find] of [
    ["inbox", WIDE, "Where should login"],
    ["inbox-dark", dark, "Where should login"],
    ["approval", WIDE, "refund.rs"],
    ["plan-dark", dark, "invoice job twice"],
    ["questions", WIDE, "Which test runner"],
  ] as const) {
    const page = await open(browser, server, options, find);
    if (name.startsWith("inbox")) await pressOnCard(page, "ArrowDown");
    await shoot(page, server, name);
  }
  const rule = await open(browser, server, WIDE, "Bump axum to 0.9");
  await card(rule).getByRole("button", { name: "Open" }).first().click();
  await expect(rule.locator(".batch")).toHaveCount(0);
  await pressOnCard(rule, "m");
  await expect(rule.getByText("Also approve these waiting asks")).toBeVisible();
  await shoot(rule, server, "rule");
  const earlier = await server.run("nightly-verify", [{ id: "verify", agent: "mock", prompt: "Run all tests." }]);
  await server.until(
    async () => (await server.api<{ status: string }>("GET", `/runs/${earlier.id}`)).status === "completed",
  );
  const release = await server.run("release", RELEASE);
  for (const [name, hash] of [
    ["runs", `#/runs/${release.id}`],
    ["history", "#/history"],
    ["settings", "#/settings/policy"],
    ["session", `#/sessions/${scene.session}`],
    ["events", `#/sessions/${scene.session}/events`],
  ] as const) {
    const page = await open(browser, server, WIDE);
    await visit(page, hash);
    await page.waitForTimeout(900);
    if (name === "settings") {
      await page.getByRole("button", { name: "policy.toml" }).click();
      await page
        .getByRole("textbox", { name: "policy.toml" })
        .fill(
          '[[rules]]\nname = "no force"\ndo = "deny"\nrun = ["git push --force *"]\n\n[[rules]]\nname = "tests and lints"\ndo = "allow"\nrun = ["cargo test *", "cargo clippy *"]\n',
        );
      await page.getByRole("button", { name: "Form" }).click();
      await page.getByRole("button", { name: "tests and lints" }).click();
    }
    await page.waitForTimeout(700);
    await shoot(page, server, name);
  }
});

test("@shots of a phone", async ({ browser, server }) => {
  await fill(server);
  for (const [name, options, find] of [
    ["phone-inbox", PHONE, undefined],
    ["phone-card", PHONE, "Where should login"],
    ["phone-approval-dark", { ...PHONE, colorScheme: "dark" as const }, "refund.rs"],
  ] as const) {
    await shoot(await open(browser, server, options, find), server, name);
  }
});

test("@shots of what a link opens", async ({ browser }) => {
  const service = await PushService.start();
  const server = await Server.start({ config: PUSH_CHANNEL });
  await server.api("POST", "/push", service.subscription);
  await fill(server);
  const note = await server.until(async () => service.messages.find((one) => one.includes("Where should login")));
  const page = await (await browser.newContext(PHONE)).newPage();
  await page.goto(`${server.url}${(JSON.parse(note) as { path: string }).path}`);
  await shoot(page, server, "phone-link");
  await server.stop();
  await service.stop();
});

test("@shots of a conversation with a model", async ({ browser }) => {
  const model = await Model.start([
    {
      when: "choose a database",
      turns: [
        [
          {
            text: "Two things decide that: whether other machines need the data, and how much is written at once. You said that it is a tool for one person.",
          },
          {
            call: "question",
            input: {
              header: "Data",
              question: "Who else reads the data?",
              options: [
                { label: "Only this machine", description: "Then a file is enough." },
                { label: "A few machines", description: "Then it should be a server." },
              ],
            },
          },
        ],
      ],
    },
  ]);
  const server = await Server.start({ config: model.config });
  const session = await server.session("Help me to choose a database for my notes", "talk");
  await server.asked(session.id);
  const page = await open(browser, server, WIDE);
  await visit(page, `#/sessions/${session.id}`);
  await expect(card(page)).toBeVisible();
  await page.waitForTimeout(700);
  await shoot(page, server, "chat");
  await server.stop();
  await model.stop();
});

test("@shots of the states of a card", async ({ browser, server }) => {
  const session = await server.session("questions");
  const ask = await server.asked(session.id);
  await server.api("POST", `/asks/${ask.id}/answer`, {
    answers: [["PostgreSQL"], ["Auth", "Search", "Invoices"], ["Keep it small."]],
  });
  const refused = await server.session("approve it");
  await server.api("POST", `/asks/${(await server.asked(refused.id)).id}/deny`, {
    message: "Not on main.",
    stop: false,
  });
  const answered = await open(browser, server, WIDE);
  await visit(answered, `#/sessions/${session.id}`);
  await answered.waitForTimeout(900);
  await shoot(answered, server, "card-answered");
  const denied = await open(browser, server, WIDE);
  await visit(denied, `#/sessions/${refused.id}`);
  await denied.waitForTimeout(900);
  await shoot(denied, server, "card-denied");
  for (const [name, id] of Object.entries(await unusualAsks(server))) {
    const page = await open(browser, server, WIDE);
    await visit(page, `#/inbox/${id}`);
    await expect(card(page)).toHaveAttribute("data-ask", id);
    await page.waitForTimeout(700);
    await shoot(page, server, `card-${name}`);
  }
});
