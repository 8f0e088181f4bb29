import { axe, LOOKS } from "./axe";
import { anotherBrowser, card, expect, pressOnCard, signIn, test, visit } from "./fixtures";
import { fill, RELEASE, unusualAsks } from "./scene";
import { Server } from "./server";

for (const { colorScheme, ...screen } of LOOKS) {
  const look = { colorScheme, ...screen, reducedMotion: "reduce" } as const;
  const { width } = screen.viewport;

  test(`axe finds nothing on any card, ${colorScheme}, ${width} pixels`, async ({ browser, server }) => {
    test.setTimeout(300_000);
    await fill(server);
    const unusual = await unusualAsks(server);
    const page = await anotherBrowser(browser, server, look);
    await expect(page.locator(".row").first()).toBeVisible();
    const asks = new Set([...(await server.pending()).map((ask) => ask.id), ...Object.values(unusual)]);
    for (const ask of asks) {
      await visit(page, `#/inbox/${ask}`);
      await expect(card(page)).toHaveAttribute("data-ask", ask);
      await axe(page, ask, ".detail");
    }
    await page.context().close();
  });

  test(`axe finds nothing on any page, ${colorScheme}, ${width} pixels`, async ({ browser, server }) => {
    test.setTimeout(300_000);
    const { session } = await fill(server);
    const snoozed = await server.ask({ questions: [{ text: "Snoozed?", options: [{ label: "Yes" }] }] });
    await server.api("POST", `/asks/${snoozed.id}/snooze`, { until: new Date(Date.now() + 3_600_000).toISOString() });
    const run = await server.run("release", RELEASE);
    const page = await anotherBrowser(browser, server, look);
    await expect(page.getByRole("button", { name: "Snoozed" })).toBeVisible();
    await axe(page, "inbox");
    await page.getByRole("button", { name: "Snoozed" }).click();
    await axe(page, "inbox with snoozed asks");
    for (const [hash, ready] of [
      [`#/sessions/${session}`, ".sayso-ask"],
      [`#/sessions/${session}/events`, ".rawtext"],
      ["#/sessions", "h1"],
      ["#/runs", "h1"],
      [`#/runs/${run.id}`, ".step .sayso-ask"],
      ["#/history", ".hrow .chip"],
      ["#/settings/policy", ".figure"],
      ["#/settings/agents", "tbody tr"],
      ["#/settings/tokens", "tbody tr"],
      ["#/settings/notifications", ".prefs p"],
      ["#/settings/page", ".pref"],
    ] as const) {
      await visit(page, hash);
      await expect(page.locator(ready).first()).toBeVisible();
      await axe(page, hash);
    }
    await visit(page, "#/inbox");
    await page.locator("body").press("c");
    await expect(page.getByRole("dialog")).toBeVisible();
    await axe(page, "new session");
    await page.keyboard.press("Escape");
    await page.locator("body").press("?");
    await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
    await axe(page, "keys");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("dialog").getByRole("option").first()).toBeVisible();
    await axe(page, "palette");
    await page.context().close();
  });
}

test("history shows who, when, how long and which rule, and exports it", async ({ inbox, server }) => {
  await fill(server);
  await visit(inbox, "#/history");
  await expect(inbox.getByRole("row")).not.toHaveCount(1);
  await inbox.getByRole("combobox", { name: "Decided by" }).selectOption("person");
  await inbox.getByRole("textbox", { name: "Search questions, commands, answers" }).fill("locale");
  await expect(inbox.getByRole("row")).toHaveCount(2);
  const [file] = await Promise.all([
    inbox.waitForEvent("download"),
    inbox.getByRole("button", { name: "CSV" }).click(),
  ]);
  const text = await (await file.createReadStream()).toArray();
  expect(String(Buffer.concat(text)).split("\r\n")).toHaveLength(3);
});

test("history is filtered by project and days, and its keys search and open the session", async ({ inbox, server }) => {
  await fill(server);
  const session = await server.session("approve it");
  await server.api("POST", `/asks/${(await server.asked(session.id)).id}/approve`, {});
  await visit(inbox, "#/history");
  const rows = inbox.getByRole("row");
  await inbox.getByRole("combobox", { name: "Project" }).selectOption({ label: "billing" });
  await expect(rows).toHaveCount(3);
  await inbox.getByRole("combobox", { name: "Project" }).selectOption("");
  await inbox.getByRole("combobox", { name: "Period" }).selectOption("Custom range");
  await inbox.getByLabel("From").fill("2100-01-01");
  await expect(rows).toHaveCount(0);
  await inbox.getByLabel("From").fill("");
  await inbox.getByLabel("From").blur();
  await inbox.locator("body").press("/");
  await inbox.keyboard.type("CARGO test");
  await expect(rows).toHaveCount(4);
  await inbox.keyboard.press("Escape");
  await rows.nth(1).getByRole("button", { name: "Approved" }).click();
  await inbox.locator("body").press("o");
  await expect(inbox).toHaveURL(new RegExp(session.id));
});

test("a row of history opens with a click anywhere, and no outcome covers its title", async ({ inbox, server }) => {
  const { undelivered } = await unusualAsks(server);
  await visit(inbox, "#/history");
  const row = inbox.getByRole("row", { name: /Where should login sessions be stored/ });
  const [outcome, title] = [row.getByRole("cell").nth(0), row.getByRole("cell").nth(1)];
  const chip = await row.getByRole("button", { name: "Not delivered" }).boundingBox();
  const words = await title.boundingBox();
  expect((chip?.x ?? 0) + (chip?.width ?? 0)).toBeLessThanOrEqual(words?.x ?? 0);
  await expect(outcome).toHaveText("Not delivered");
  await inbox.mouse.click((words?.x ?? 0) + 4, (words?.y ?? 0) + 4);
  await expect(inbox.getByRole("link", { name: "Open ask", exact: true })).toHaveAttribute(
    "href",
    new RegExp(undelivered),
  );
  await expect(inbox.getByRole("combobox", { name: "Period" })).toHaveValue("14");
  await expect(inbox.locator("input[type=date]")).toHaveCount(0);
});

test("the chart of history has all days and an axis, and reports periods without decisions by people", async ({
  page,
}) => {
  const server = await Server.start({ policy: DENY_PUSH });
  try {
    await server.ask({
      approval: { tool: "Bash", action: "run", command: "git push", input: { command: "git push" } },
    });
    await signIn(page, server);
    await visit(page, "#/history");
    await expect(page.getByRole("row", { name: /git push/ })).toBeVisible();
    const chart = page.getByRole("figure", { name: "Waiting time" });
    await expect(chart).toContainText("People made no decisions in this period.");
    await expect(page.getByText("No decisions yet.")).toHaveCount(0);
    const ask = await server.ask({ questions: [{ text: "Which one?", options: [{ label: "This" }] }] });
    await server.api("POST", `/asks/${ask.id}/answer`, { answers: [["This"]] });
    await expect(chart.locator(".day")).toHaveCount(14);
    await expect(chart.locator(".pillar .d1")).toHaveCount(1);
    await expect(chart.locator(".tick")).toHaveText(["0", "1", "2"]);
  } finally {
    await server.stop();
  }
});

test("a decision by a rule links to the rule", async ({ page }) => {
  const server = await Server.start({ policy: `# first\n${DENY_PUSH}` });
  try {
    await server.ask({
      approval: { tool: "Bash", action: "run", command: "git push", input: { command: "git push" } },
    });
    await signIn(page, server);
    await visit(page, "#/history");
    await page.getByRole("button", { name: "Denied" }).click();
    await expect(page.getByText("Disagree with this?")).toBeVisible();
    await page.getByRole("button", { name: "Edit the rule" }).click();
    const rule = page.getByRole("button", { name: "no pushing", expanded: true });
    await expect(rule).toBeFocused();
  } finally {
    await server.stop();
  }
});

const DENY_PUSH = '[[rules]]\nname = "no pushing"\ndo = "deny"\nrun = ["git push *"]\n';
const policyText = async (server: Server) => (await server.api<{ text: string }>("GET", "/policy")).text;

test("the policy is tried on history at every keystroke, and applies when it is saved", async ({ inbox, server }) => {
  await fill(server);
  await visit(inbox, "#/settings/policy");
  await inbox.getByRole("button", { name: "policy.toml" }).click();
  const field = inbox.getByRole("textbox", { name: "policy.toml" });
  await field.fill(DENY_PUSH);
  const dry = inbox.getByRole("complementary", { name: "What this policy would have done" });
  await expect(dry.getByText("git push --force origin main").first()).toBeVisible();
  await field.fill("[[rules");
  await expect(dry.getByRole("alert")).toContainText("line 1");
  await expect(inbox.getByRole("button", { name: "Save" })).toBeDisabled();
  expect(await policyText(server)).toBe("");
  await field.fill(DENY_PUSH);
  await inbox.getByRole("button", { name: "Save" }).click();
  await expect(inbox.getByRole("button", { name: "Save" })).toHaveCount(0);
  expect(await policyText(server)).toBe(DENY_PUSH);
});

test("a policy that was changed elsewhere is not overwritten", async ({ inbox, server }) => {
  await visit(inbox, "#/settings/policy");
  await inbox.getByRole("button", { name: "policy.toml" }).click();
  const field = inbox.getByRole("textbox", { name: "policy.toml" });
  await field.fill("# mine\n");
  const { textFingerprint } = await server.api<{ textFingerprint: string }>("GET", "/policy");
  await server.api("PUT", "/policy", { text: DENY_PUSH, ifFingerprint: textFingerprint });
  await inbox.getByRole("button", { name: "Save" }).click();
  await expect(inbox.getByRole("alert")).toContainText("changed after you read it");
  await expect(field).toHaveValue("# mine\n");
  await inbox.getByRole("button", { name: "Discard changes" }).click();
  await expect(field).toHaveValue(DENY_PUSH);
});

test("a grant is listed with its project, and revoked", async ({ inbox, server }) => {
  await server.api("POST", "/policy/grants", { edit: ["src/**"], project: "/p", for: "1h" });
  await visit(inbox, "#/settings/policy");
  const grant = inbox.getByRole("listitem").filter({ hasText: "src/**" });
  await expect(grant).toContainText("Edits in src/**/p");
  await grant.getByRole("button", { name: "Revoke" }).click();
  await expect(grant).toHaveCount(0);
  expect(await server.api("GET", "/policy")).toMatchObject({ grants: [] });
});

test("tokens are created, shown once, and revoked", async ({ inbox, server }) => {
  await visit(inbox, "#/settings/tokens");
  await inbox.getByRole("textbox", { name: "Name of a person or program" }).fill("nightly job");
  await inbox.getByRole("button", { name: "New token" }).click();
  const secret = (await inbox.locator(".cmdline").textContent()) ?? "";
  expect(secret).not.toBe("");
  const row = inbox.getByRole("row", { name: /nightly job/ });
  await row.getByRole("button", { name: "Revoke" }).click();
  await expect(row).toContainText("revoked");
  await expect(server.api("GET", "/asks", undefined, secret)).rejects.toThrow("401");
});

test("answerers see no actions that they cannot take", async ({ page }) => {
  const server = await Server.start({ policy: `${DENY_PUSH}[profiles.away]\n` });
  try {
    const refused: string[] = [];
    page.on("response", (response) => response.status() === 403 && refused.push(response.url()));
    const command = (text: string) => ({ tool: "Bash", action: "run", command: text, input: { command: text } });
    await server.ask({ approval: command("git push") });
    const ask = await server.ask({ approval: command("make test") });
    await server.api("POST", "/policy/grants", { edit: ["src/**"], for: "1h" });
    await server.api("PUT", "/policy/profile", { name: "away", for: "2h" });
    await signIn(page, server, { holdMs: 0 }, "answerer");

    await expect(page.getByText(/^Away until/)).toBeVisible();
    await expect(page.getByRole("button", { name: "I’m back" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Away" })).toHaveCount(0);
    await expect(card(page)).toHaveAttribute("data-ask", ask.id);
    await expect(page.getByRole("button", { name: "Make a rule" })).toHaveCount(0);
    await pressOnCard(page, "m");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog")).toBeVisible();
    await expect(page.getByRole("dialog").getByText("Make a rule")).toHaveCount(0);
    await page.keyboard.press("Escape");

    await visit(page, "#/history");
    await page.getByRole("button", { name: "Denied" }).click();
    await expect(page.getByRole("link", { name: "Open ask", exact: true })).toBeVisible();
    await expect(page.getByRole("button", { name: "Edit the rule" })).toHaveCount(0);

    await visit(page, "#/settings/tokens");
    await expect(page.getByRole("heading", { name: "Preferences" })).toBeVisible();
    const sections = page.getByRole("navigation", { name: "Settings" }).getByRole("link");
    await expect(sections).toHaveText(["Policy and rules", "Agents", "Preferences"]);
    await visit(page, "#/settings/policy");
    await expect(page.getByText("Only admins can change it.")).toBeVisible();
    await expect(page.getByRole("button", { name: "New rule" })).toHaveCount(0);
    await page.getByRole("button", { name: "policy.toml" }).click();
    const field = page.getByRole("textbox", { name: "policy.toml" });
    await expect(field).toHaveValue(/no pushing/);
    await expect(field).toHaveJSProperty("readOnly", true);
    await expect(page.getByRole("listitem").filter({ hasText: "src/**" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Revoke" })).toHaveCount(0);

    await visit(page, `#/inbox/${ask.id}`);
    await card(page).getByRole("button", { name: "Approve" }).click();
    await server.until(async () => (await server.readAsk(ask.id)).status === "approved");
    expect(refused).toEqual([]);
  } finally {
    await server.stop();
  }
});

test("viewers see everything, and no actions that they cannot take", async ({ page }) => {
  const server = await Server.start();
  try {
    const refused: string[] = [];
    page.on("response", (response) => response.status() === 403 && refused.push(response.url()));
    const session = await server.session("question");
    const ask = await server.asked(session.id);
    await signIn(page, server, { holdMs: 0 }, "viewer");

    await expect(card(page)).toContainText("You have view-only access.");
    await expect(card(page)).toContainText(ask.questions?.[0]?.text ?? "a question");
    await expect(card(page).getByRole("button", { name: "Reject" })).toHaveCount(0);
    await expect(card(page).getByRole("button", { name: "SQLite" })).toBeDisabled();
    for (const key of ["1", "d", "s", "x", "c"]) await page.keyboard.press(key);
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(page.getByRole("button", { name: "New session" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Snooze" })).toHaveCount(0);
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog").getByText("Next, previous ask")).toBeVisible();
    await expect(page.getByRole("dialog").getByText("Snooze")).toHaveCount(0);
    await page.keyboard.press("Escape");

    await visit(page, `#/sessions/${session.id}`);
    await expect(card(page)).toBeVisible();
    await expect(page.getByRole("button", { name: "Interrupt" })).toHaveCount(0);
    await expect(page.locator(".composer")).toHaveCount(0);
    expect((await server.readAsk(ask.id)).status).toBe("pending");
    expect(refused).toEqual([]);
  } finally {
    await server.stop();
  }
});

test("roles are on one row, and dates are relative within a day and then in the format of the locale", async ({
  page,
  server,
}) => {
  await page.route("**/v1/tokens", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: { device?: string; createdAt: string }[] };
    for (const token of body.data) if (token.device) token.createdAt = "2020-01-02T12:00:00Z";
    await route.fulfill({ response, json: body });
  });
  await signIn(page, server);
  await visit(page, "#/settings/tokens");
  const row = page.locator("tbody tr", { hasText: "this browser" });
  await expect(row.locator("td").nth(3)).toHaveText(/^Jan 2, 2020, /);
  await expect(row.locator("td").nth(4)).toHaveText(/^(now|\d+ (s|min))$/);
  const roles = page.getByRole("group", { name: "Role" }).getByRole("button");
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const rows = () => roles.evaluateAll((all) => new Set(all.map((one) => one.getBoundingClientRect().top)).size);
    await expect.poll(rows).toBe(1);
  }
});

test("devices are listed by name, with this browser marked", async ({ inbox }) => {
  await visit(inbox, "#/settings/tokens");
  const row = inbox.getByRole("row").filter({ hasText: "this browser" });
  await expect(row).toContainText("Chrome");
  await expect(inbox.getByRole("columnheader", { name: "Last used" })).toBeVisible();
});

test("Chinese is complete on the screen", async ({ inbox }) => {
  await visit(inbox, "#/settings/page");
  await inbox.getByRole("button", { name: "简体中文" }).click();
  await expect(inbox.getByRole("heading", { name: "偏好设置" })).toBeVisible();
  await expect(inbox.locator("html")).toHaveAttribute("lang", "zh-CN");
  await visit(inbox, "#/inbox");
  await expect(inbox.getByRole("heading", { name: "还没有智能体" })).toBeVisible();
});

test("on a phone: one pane at a time, big targets, undo in reach", async ({ browser, server }) => {
  await fill(server);
  const page = await anotherBrowser(browser, server, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  await page.evaluate(() => localStorage.setItem("sayso.prefs", JSON.stringify({ holdMs: 3000 })));
  await page.reload();
  await expect(card(page)).toHaveCount(0);
  await page.locator(".row", { hasText: "Where should login sessions" }).tap();
  const option = card(page).getByRole("button", { name: "Redis" });
  expect((await option.boundingBox())?.height).toBeGreaterThanOrEqual(52);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await option.tap();
  await expect(card(page)).toHaveAttribute("data-state", "sending");
  await page.getByRole("button", { name: "Inbox" }).tap();
  await page.locator(".toast").getByRole("button", { name: "Undo" }).tap();
  await expect(page.locator(".toast")).toHaveCount(0);
  expect((await server.pending()).some((ask) => ask.questions?.[0]?.header === "Session store")).toBe(true);
  await page.context().close();
});

test("on the smallest phone every page is in reach of the thumb, with its whole name", async ({ browser, server }) => {
  await server.run("release", RELEASE);
  const page = await anotherBrowser(browser, server, {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  const tabs = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  await expect(tabs).toHaveText([/^Inbox/, /^Sessions/, /^Runs/, "History", "Settings"]);
  for (const tab of await tabs.all()) {
    const words = await tab.locator(".grow").evaluate((span) => {
      const { left, right } = span.getBoundingClientRect();
      const around = span.parentElement?.getBoundingClientRect();
      return {
        cut: span.scrollWidth > span.clientWidth,
        inside: left >= (around?.left ?? 0) && right <= (around?.right ?? 0),
      };
    });
    expect(words).toEqual({ cut: false, inside: true });
    expect((await tab.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
  await tabs.filter({ hasText: "Runs" }).tap();
  await page.getByText("release").first().tap();
  await expect(page.locator(".step").first()).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.context().close();
});

test("a link signs in a browser that is not signed in", async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByText("This browser is not signed in")).toBeVisible();
  await signIn(page, server);
});

test("a page on the home screen is signed in with a pasted link", async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByText("This browser is not signed in")).toBeVisible();
  const field = page.getByRole("textbox", { name: "Or paste the link here" });
  await field.fill(`${server.url}/#code=0123`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("This link has expired or was already used")).toBeVisible();
  await axe(page, "signing in");
  await field.fill(` ${await server.loginLink("answerer")}\n`);
  await field.press("Enter");
  await expect(page.locator(".app")).toBeVisible();
});

test("the page can be installed", async ({ inbox, server }) => {
  const manifest = (await (await fetch(`${server.url}/manifest.webmanifest`)).json()) as {
    icons: { src: string; type: string }[];
  };
  for (const icon of manifest.icons) {
    const response = await fetch(server.url + icon.src);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, icon.type]);
  }
  await expect(inbox.locator('link[rel="manifest"]')).toHaveAttribute("href", "/manifest.webmanifest");
});
