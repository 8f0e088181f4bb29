import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { letMeSleep, wakeMe } from "./push";

const KEYS = { p256dh: "p", auth: "a" };

/** A browser that can be woken, and what it was asked. */
function browser() {
  const unsubscribe = vi.fn();
  const subscribe = vi.fn(async () => ({
    toJSON: () => ({ endpoint: "https://push.test/x", expirationTime: null, keys: KEYS }),
  }));
  const pushManager = { subscribe, getSubscription: async () => ({ unsubscribe }) };
  const register = vi.fn(async () => ({ pushManager }));
  vi.stubGlobal("PushManager", class {});
  vi.stubGlobal("navigator", { serviceWorker: { register, getRegistration: async () => ({ pushManager }) } });
  return { register, subscribe, unsubscribe };
}

describe("being woken", () => {
  it("gives the server the subscription of this browser", async () => {
    const { register, subscribe } = browser();
    const call = vi.fn(async (method: string) => (method === "GET" ? { publicKey: "key" } : undefined));
    await wakeMe({ call: call as never });
    expect(register).toHaveBeenCalledWith("/sw.js");
    expect(subscribe).toHaveBeenCalledWith({ userVisibleOnly: true, applicationServerKey: "key" });
    expect(call).toHaveBeenLastCalledWith("POST", "/push", { endpoint: "https://push.test/x", keys: KEYS });
  });

  it("does nothing where the server has no channel for it", async () => {
    const { register } = browser();
    await wakeMe({ call: vi.fn(async () => ({ publicKey: null })) as never });
    expect(register).not.toHaveBeenCalled();
  });

  it("is taken back here and there", async () => {
    const { unsubscribe } = browser();
    const call = vi.fn(async () => undefined);
    await letMeSleep({ call: call as never });
    expect(unsubscribe).toHaveBeenCalled();
    expect(call).toHaveBeenCalledWith("DELETE", "/push");
  });
});

type Handler = (event: unknown) => void;

/** The worker in a browser of this test's making. */
function worker(windows: { focus: () => void }[] = []) {
  const handlers: Record<string, Handler> = {};
  const showNotification = vi.fn(async () => undefined);
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
  return { send, showNotification, openWindow };
}

const note = (tag: string, path?: string) => ({ notification: { tag, data: { path }, close: () => {} } });

describe("the worker", () => {
  it("shows a note with its buttons", async () => {
    const { send, showNotification } = worker();
    const said = {
      title: "claude waits for you",
      body: "make",
      tag: "ask_1",
      path: "/a/x",
      buttons: [{ label: "Approve", press: "approve" }],
    };
    await send("push", { data: { json: () => said } });
    const options = { body: "make", tag: "ask_1", icon: "/icon-192.png", silent: false, data: { path: "/a/x" } };
    const actions = [{ action: "approve", title: "Approve" }];
    expect(showNotification).toHaveBeenCalledWith("claude waits for you", { ...options, actions });
  });

  it("shows something for a push that it cannot read", async () => {
    const { send, showNotification } = worker();
    await send("push", {
      data: {
        json: () => {
          throw new SyntaxError("no JSON");
        },
      },
    });
    expect(showNotification).toHaveBeenCalledWith("Sayso", expect.objectContaining({ tag: "sayso" }));
  });

  it("decides with the link when a button is pressed", async () => {
    const fetched = vi.fn(async () => new Response(null, { status: 204 }));
    vi.stubGlobal("fetch", fetched);
    const { send, showNotification } = worker();
    await send("notificationclick", { ...note("ask_1", "/a/x"), action: "choose:1" });
    expect(fetched).toHaveBeenCalledWith("/a/x", expect.objectContaining({ method: "POST", body: "press=choose%3A1" }));
    expect(showNotification).not.toHaveBeenCalled();
  });

  it("says who was faster", async () => {
    const late = { status: 409, code: "ask_already_resolved", detail: "No longer waiting: denied by ben" };
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify(late), { status: 409 }));
    const { send, showNotification } = worker();
    await send("notificationclick", { ...note("ask_1", "/a/x"), action: "approve" });
    expect(showNotification).toHaveBeenCalledWith(
      "Sayso",
      expect.objectContaining({ body: late.detail, tag: "ask_1" }),
    );
  });

  it("opens what the note is about, or the page that is open", async () => {
    const closed = worker();
    await closed.send("notificationclick", { ...note("ask_1", "/a/x"), action: "" });
    expect(closed.openWindow).toHaveBeenCalledWith("/a/x");
    const focus = vi.fn();
    const open = worker([{ focus }]);
    await open.send("notificationclick", { ...note("ask_1", "/a/x"), action: "" });
    expect(focus).toHaveBeenCalled();
    expect(open.openWindow).not.toHaveBeenCalled();
  });
});
