import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { subscribeToPush, unsubscribeFromPush } from "./push";

const KEYS = { p256dh: "p", auth: "a" };

/** A fake browser with push support, and the calls it received. */
function browser() {
  const unsubscribe = vi.fn();
  const subscribe = vi.fn(async () => ({
    toJSON: () => ({ endpoint: "https://push.test/x", expirationTime: null, keys: KEYS }),
  }));
  const pushManager = { subscribe, getSubscription: async () => ({ unsubscribe }) };
  const worker = { pushManager };
  const register = vi.fn(async () => ({}));
  const serviceWorker = { register, ready: Promise.resolve(worker), getRegistration: async () => worker };
  vi.stubGlobal("PushManager", class {});
  vi.stubGlobal("navigator", { serviceWorker });
  return { register, subscribe, unsubscribe };
}

describe("push subscription", () => {
  it("sends the subscription of this browser to the server", async () => {
    const { register, subscribe } = browser();
    const call = vi.fn(async (method: string) => (method === "GET" ? { publicKey: "key" } : undefined));
    expect(await subscribeToPush({ call: call as never })).toBe(true);
    expect(register).toHaveBeenCalledWith("/sw.js");
    expect(subscribe).toHaveBeenCalledWith({ userVisibleOnly: true, applicationServerKey: "key" });
    expect(call).toHaveBeenLastCalledWith("POST", "/push", { endpoint: "https://push.test/x", keys: KEYS });
  });

  it("is not requested without a webpush channel", async () => {
    const { register, subscribe } = browser();
    expect(await subscribeToPush({ call: vi.fn(async () => ({ publicKey: null })) as never })).toBe(false);
    expect(register).toHaveBeenCalled();
    expect(subscribe).not.toHaveBeenCalled();
  });

  it("times out when the push service does not respond", async () => {
    vi.useFakeTimers();
    browser().subscribe.mockReturnValue(new Promise(() => {}));
    const woken = subscribeToPush({ call: vi.fn(async () => ({ publicKey: "key" })) as never });
    const told = expect(woken).rejects.toThrow("the push service does not respond");
    await vi.advanceTimersByTimeAsync(10_000);
    await told;
    vi.useRealTimers();
  });

  it("is canceled in the browser and on the server", async () => {
    const { unsubscribe } = browser();
    const call = vi.fn(async () => undefined);
    await unsubscribeFromPush({ call: call as never });
    expect(unsubscribe).toHaveBeenCalled();
    expect(call).toHaveBeenCalledWith("DELETE", "/push");
  });
});

type Handler = (event: unknown) => void;

/** The service worker in a fake browser. */
function worker(windows: object[] = []) {
  const handlers: Record<string, Handler> = {};
  const showNotification = vi.fn(async (_title: string, _options: object) => undefined);
  const openWindow = vi.fn(async () => undefined);
  const self = {
    addEventListener: (name: string, handler: Handler) => {
      handlers[name] = handler;
    },
    registration: { showNotification },
    clients: { matchAll: async () => windows, openWindow },
  };
  new Function("self", readFileSync("public/sw.js", "utf8"))(self);
  const send = async (name: string, event: object) => {
    let work: Promise<unknown> | undefined;
    handlers[name]?.({ ...event, waitUntil: (promise: Promise<unknown>) => (work = promise) });
    await work;
  };
  const push = (said: string) => send("push", { data: { json: () => JSON.parse(said) } });
  return { send, push, showNotification, openWindow };
}

const note = (tag: string, path?: string) => ({ notification: { tag, data: { path }, close: () => {} } });
const NOTE = { title: "claude needs you", body: "make", tag: "ask_1", path: "/a/x" };

describe("the service worker", () => {
  it("shows a notification with its buttons", async () => {
    const { push, showNotification } = worker();
    await push(JSON.stringify({ ...NOTE, buttons: [{ label: "Approve", press: "approve" }] }));
    const options = { body: "make", tag: "ask_1", icon: "/icon-192.png", silent: false, data: { path: "/a/x" } };
    const actions = [{ action: "approve", title: "Approve" }];
    expect(showNotification).toHaveBeenCalledWith("claude needs you", { ...options, actions });
  });

  it.each(["", "no JSON", "null", "7", "[]", '{"title":{}}', '{"buttons":"x"}'])(
    "shows that something waits for a push that it cannot read: %s",
    async (said) => {
      const { push, showNotification } = worker();
      await push(said);
      const shown = { body: "Open Sayso to see waiting asks", tag: "sayso", data: { path: undefined }, actions: [] };
      expect(showNotification).toHaveBeenCalledWith("Sayso", expect.objectContaining(shown));
    },
  );

  it("limits the size of a push, and ignores links to other sites", async () => {
    const { push, showNotification } = worker();
    const button = { label: "Approve", press: "approve" };
    const buttons = [null, 7, { label: "Deny" }, { ...button, press: {} }, button, button, button];
    await push(JSON.stringify({ ...NOTE, body: "x".repeat(100_000), path: "//elsewhere.test/a/x", buttons }));
    const action = { action: "approve", title: "Approve" };
    const shown = { body: "x".repeat(2000), data: { path: undefined }, actions: [action, action] };
    expect(showNotification).toHaveBeenCalledWith(NOTE.title, expect.objectContaining(shown));
  });

  it("sends the decision with the answer link when a button is pressed", async () => {
    const fetched = vi.fn(async () => new Response(null, { status: 204 }));
    vi.stubGlobal("fetch", fetched);
    const { send, showNotification } = worker();
    await send("notificationclick", { ...note("ask_1", "/a/x"), action: "choose:1" });
    expect(fetched).toHaveBeenCalledWith("/a/x", expect.objectContaining({ method: "POST", body: "press=choose%3A1" }));
    expect(showNotification).not.toHaveBeenCalled();
  });

  it("reports that a press without a connection decided nothing", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    const { send, showNotification } = worker();
    await send("notificationclick", { ...note("ask_1", "/a/x"), action: "approve" });
    const shown = { body: "Something went wrong. Open Sayso to answer.", tag: "ask_1" };
    expect(showNotification).toHaveBeenCalledWith("Sayso", expect.objectContaining(shown));
  });

  it("opens the page at the ask of the notification", async () => {
    const link = { url: "https://box.test/a/x", focus: vi.fn(), postMessage: vi.fn() };
    const closed = worker([link]);
    await closed.send("notificationclick", { ...note("ask_1", "/a/x"), action: "" });
    expect(closed.openWindow).toHaveBeenCalledWith("/#/inbox/ask_1");
    await closed.send("notificationclick", { ...note("test_1_webpush"), action: "" });
    expect(closed.openWindow).toHaveBeenCalledWith("/#/inbox");
    expect(link.focus).not.toHaveBeenCalled();
  });

  it("shows the ask in an open page", async () => {
    const page = { url: "https://box.test/#/history", focus: vi.fn(), postMessage: vi.fn() };
    const open = worker([page]);
    await open.send("notificationclick", { ...note("ask_1", "/a/x"), action: "" });
    expect(page.postMessage).toHaveBeenCalledWith({ go: "#/inbox/ask_1" });
    expect(page.focus).toHaveBeenCalled();
    expect(open.openWindow).not.toHaveBeenCalled();
  });
});
