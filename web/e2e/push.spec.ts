import { type CDPSession, chromium, type Page, type Worker } from "@playwright/test";
import { test as base, card, expect, signIn, visit } from "./fixtures";
import { PUSH_CHANNEL, PushService } from "./pushService";
import { Server } from "./server";

// The real service worker in the real browser. The browser vendor's push service is not reachable in tests: the server
// sends to a push service of the test, which passes each decrypted message to the browser.

interface Shown {
  title: string;
  body: string;
  tag: string;
  actions: string[];
}

interface Action {
  action: string;
  title: string;
}

/** A signed-in browser with the service worker, its push service, and no open page. */
interface Woken {
  page: Page;
  server: Server;
  worker: Worker;
  /** Delivers a push message to the browser. */
  push: (data: string) => Promise<void>;
  /** The notifications that the browser shows. */
  shown: () => Promise<Shown[]>;
  /** Waits for the server's next message about an ask, and delivers it to the browser. */
  relay: (ask: string) => Promise<void>;
}

const test = base.extend<{ woken: Woken }>({
  // biome-ignore lint/correctness/noEmptyPattern: the test runner wants a pattern
  server: async ({}, use) => {
    const server = await Server.start({ config: PUSH_CHANNEL });
    await use(server);
    await server.stop();
  },
  woken: async ({ page, context, server }, use) => {
    const service = await PushService.start();
    await context.grantPermissions(["notifications"]);
    await signIn(page, server, { holdMs: 0 });
    const token = await page.evaluate(() => JSON.parse(localStorage.getItem("sayso.identity") ?? "{}").token as string);
    await server.api("POST", "/push", service.subscription, token);
    const cdp = await context.newCDPSession(page);
    const registrationId = registered(cdp);
    await cdp.send("ServiceWorker.enable");
    const [worker] = await Promise.all([
      context.waitForEvent("serviceworker"),
      page.evaluate(async () => {
        await navigator.serviceWorker.register("/sw.js");
        await navigator.serviceWorker.ready;
      }),
    ]);
    await keepNotes(worker);
    await page.goto("about:blank");
    const place = { origin: server.url, registrationId: await registrationId };
    const push = async (data: string) => {
      await cdp.send("ServiceWorker.deliverPushMessage", { ...place, data });
    };
    const read = new Set<string>();
    const relay = async (ask: string) => {
      const isNew = (message: string) => message.includes(ask) && !read.has(message);
      const message = await server.until(async () => service.messages.find(isNew));
      read.add(message);
      await push(message);
    };
    await use({ page, server, worker, push, relay, shown: () => shownBy(worker) });
    await service.stop();
  },
});

/** The browser's id of the service worker registration. */
const registered = (cdp: CDPSession): Promise<string> =>
  new Promise((resolve) => {
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      if (registrations[0]) resolve(registrations[0].registrationId);
    });
  });

/** Records the notifications that the browser shows and closes. Polling the browser's own list would not work: it drops
 * notifications that are not on the screen yet. */
const keepNotes = (place: Pick<Worker, "evaluate">): Promise<void> =>
  place.evaluate(() => {
    const notes = new Map<string, object>();
    Object.assign(self, { notes });
    const { showNotification } = ServiceWorkerRegistration.prototype;
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      await showNotification.call(this, title, options);
      notes.set(options?.tag ?? "", { title, ...options });
    };
    const { close } = Notification.prototype;
    Notification.prototype.close = function () {
      notes.delete(this.tag);
      close.call(this);
    };
  });

/** The visible notifications. */
const shownBy = (place: Pick<Worker, "evaluate">): Promise<Shown[]> =>
  place.evaluate(() => {
    const { notes } = self as unknown as { notes: Map<string, Omit<Shown, "actions"> & { actions?: Action[] }> };
    return [...notes.values()].map(({ title, body, tag, actions }) => {
      return { title, body: body ?? "", tag, actions: (actions ?? []).map((one) => `${one.title}=${one.action}`) };
    });
  });

/** Clicks the only notification, or one of its buttons. The test dispatches a synthetic click, which cannot open or focus windows,
 * so the result is the attempted action. */
const click = (worker: Worker, action = ""): Promise<string[]> =>
  worker.evaluate(async (wanted) => {
    // biome-ignore lint/suspicious/noExplicitAny: what a worker has is not among the types of pages
    const scope = self as any;
    const windows: string[] = [];
    scope.clients.openWindow = async (to: string) => windows.push(`open ${to}`);
    scope.WindowClient.prototype.focus = async () => windows.push("focus");
    const [note] = scope.notes.values();
    const notification = { ...note, close: () => scope.notes.delete(note.tag) };
    let work: Promise<unknown> | undefined;
    const waitUntil = (promise: Promise<unknown>) => {
      work = promise;
    };
    scope.dispatchEvent(Object.assign(new Event("notificationclick"), { notification, action: wanted, waitUntil }));
    await work;
    return windows;
  }, action);

const NOTIFY_ME = "Notify me while this page is in the background";
const QUESTION = {
  agent: "claude",
  project: "/home/ada/work/shop-api",
  questions: [{ text: "Which port?", options: [{ label: "3000" }, { label: "8080" }] }],
};
const NOTE = {
  title: "claude in shop-api needs you",
  body: "Which port?\n1. 3000\n2. 8080",
  actions: ["3000=choose:0", "8080=choose:1"],
};

test("a push shows the waiting agent with buttons, and is replaced after the outcome", async ({ woken }) => {
  const { server, relay, shown } = woken;
  const { id: tag } = await server.ask(QUESTION);
  await relay(tag);
  await expect.poll(shown).toEqual([{ ...NOTE, tag }]);
  await server.api("POST", `/asks/${tag}/answer`, { answers: [["3000"]] });
  await relay(tag);
  await expect
    .poll(shown)
    .toEqual([{ title: "Sayso", body: expect.stringMatching(/^No longer waiting: answered by /), tag, actions: [] }]);
});

test("a button of a notification answers without a token", async ({ woken }) => {
  const { server, relay, shown, worker } = woken;
  const { id } = await server.ask(QUESTION);
  await relay(id);
  await expect.poll(shown).toHaveLength(1);
  expect(await click(worker, "choose:1")).toEqual([]);
  await expect.poll(shown).toEqual([]);
  const { outcome } = await server.readAsk(id);
  expect(outcome).toMatchObject({ status: "answered", answers: [["8080"]], by: { kind: "person", via: "webpush" } });
});

test("a button that is pressed too late shows the outcome", async ({ woken }) => {
  const { server, relay, shown, worker } = woken;
  const { id: tag } = await server.ask(QUESTION);
  await relay(tag);
  await expect.poll(shown).toHaveLength(1);
  await server.api("POST", `/asks/${tag}/answer`, { answers: [["3000"]] });
  await click(worker, "choose:1");
  const body = expect.stringMatching(/^No longer waiting: answered by /);
  await expect.poll(shown).toEqual([{ title: "Sayso", body, tag, actions: [] }]);
  expect((await server.readAsk(tag)).outcome?.answers).toEqual([["3000"]]);
});

test("a click on a notification opens its ask in a new or open page", async ({ woken }) => {
  const { page, server, push, relay, shown, worker } = woken;
  await server.ask({ questions: [{ text: "What should the inbox show first?", options: [{ label: "This" }] }] });
  const { id } = await server.ask(QUESTION);
  await relay(id);
  await expect.poll(shown).toHaveLength(1);
  const [wanted = ""] = await click(worker);
  expect(wanted).toBe(`open /#/inbox/${id}`);
  await page.goto(server.url + wanted.slice("open ".length));
  await expect(card(page)).toHaveAttribute("data-ask", id);

  await visit(page, "#/history");
  await expect(card(page)).toHaveCount(0);
  await push(JSON.stringify({ title: "claude needs you", tag: id }));
  await expect.poll(shown).toHaveLength(1);
  expect(await click(worker)).toEqual(["focus"]);
  await expect(card(page)).toHaveAttribute("data-ask", id);
});

test("an invalid push is harmless", async ({ woken }) => {
  const { push, shown, worker } = woken;
  const broken = await worker.evaluateHandle(() => {
    const errors: string[] = [];
    self.addEventListener("error", (event) => errors.push(event.message));
    self.addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
    return errors;
  });
  const nothing = { title: "Sayso", body: "Open Sayso to see waiting asks", tag: "sayso", actions: [] };
  for (const data of ["", "\u0000", "{", "null", '"text"', "[[]]", '{"title":7,"buttons":{"length":3}}']) {
    await push(data);
    await expect.poll(shown, data).toEqual([nothing]);
    expect(await click(worker)).toEqual(["open /#/inbox"]);
    await expect.poll(shown).toEqual([]);
  }
  const button = { label: "<b>\u202e".repeat(5_000), press: "approve" };
  const much = {
    title: "T".repeat(50_000),
    body: "<img src=x>".repeat(10_000),
    tag: "ask_1",
    path: "https://elsewhere.test/",
  };
  await push(JSON.stringify({ ...much, buttons: Array(500).fill(button) }));
  await expect.poll(async () => (await shown()).map(({ tag }) => tag)).toEqual(["ask_1"]);
  const [note] = await shown();
  expect([note?.title.length, note?.body.length, note?.actions.length]).toEqual([2_000, 2_000, 2]);
  // Its link has another origin, so pressing the button opens the page instead.
  expect(await click(worker, "approve")).toEqual(["open /#/inbox/ask_1"]);
  expect(await broken.jsonValue()).toEqual([]);
});

test("the page reports that the browser cannot reach its push service", async ({ server }, info) => {
  const { executablePath, args = [] } = info.project.use.launchOptions ?? {};
  const context = await chromium.launchPersistentContext(info.outputPath("profile"), {
    ...(executablePath ? { executablePath } : {}),
    args: [...args, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    permissions: ["notifications"],
  });
  const page = await context.newPage();
  await signIn(page, server);
  await visit(page, "#/settings/page");
  await page.getByLabel(NOTIFY_ME).click();
  await expect(page.getByText("Notifications for a closed page couldn’t be set up: ")).toBeVisible();
  await expect(page.getByLabel(NOTIFY_ME)).toBeChecked();
  await context.close();
});

test("a private window gets notifications only while the page is open", async ({ page, context, server }) => {
  await context.grantPermissions(["notifications"]);
  await signIn(page, server);
  await visit(page, "#/settings/page");
  await page.getByLabel(NOTIFY_ME).click();
  await expect(page.getByText(/Notifications for a closed page couldn’t be set up: Registration failed/)).toBeVisible();
  await expect(page.getByLabel(NOTIFY_ME)).toBeChecked();

  await keepNotes(page);
  await page.evaluate(() => Object.defineProperty(document, "hidden", { get: () => true }));
  const { id: tag } = await server.ask(QUESTION);
  await expect.poll(() => shownBy(page)).toEqual([{ title: "An agent needs you", body: "", tag, actions: [] }]);
  // The page reads the browser's list of notifications, so the notification must be on the screen first.
  await page.waitForTimeout(1_000);
  await server.api("POST", `/asks/${tag}/answer`, { answers: [["3000"]] });
  await expect.poll(() => shownBy(page)).toEqual([]);
});

test("the page reports that notifications are not allowed", async ({ page, server }) => {
  await signIn(page, server);
  await visit(page, "#/settings/page");
  await page.getByLabel(NOTIFY_ME).click();
  await expect(page.getByText("This browser blocks notifications from this page.")).toBeVisible();
  await expect(page.getByLabel(NOTIFY_ME)).not.toBeChecked();
});
