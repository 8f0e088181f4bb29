// Woken by a push: shows who waits, and decides when one of the buttons is pressed. It holds no token: what a note may
// decide stands behind its own link.

/** Characters of a text, and buttons of a note, at most. */
const TEXT = 2000;
const BUTTONS = 2;

// A newer worker does not wait until every tab of the older one is closed.
self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => {
  const note = read(event.data);
  const options = {
    body: note.body,
    tag: note.tag || "sayso",
    icon: "/icon-192.png",
    silent: note.over,
    data: { path: note.path },
    actions: note.buttons,
  };
  event.waitUntil(self.registration.showNotification(note.title, options));
});

self.addEventListener("notificationclick", (event) => {
  const { data, tag } = event.notification;
  event.notification.close();
  event.waitUntil(event.action && data?.path ? press(data.path, event.action, tag) : open(tag));
});

/** What a push says. A browser has to show something for each, also for one that cannot be read. */
function read(data) {
  let said;
  try {
    said = data?.json();
  } catch {
    // It is no JSON.
  }
  const { title, body, tag, path, buttons, over } = said ?? {};
  return {
    title: text(title) || "Sayso",
    body: text(title) ? text(body) : "Open Sayso to see what waits",
    tag: text(tag),
    path: text(path).startsWith("/a/") ? path : undefined,
    buttons: (Array.isArray(buttons) ? buttons : [])
      .filter((button) => text(button?.label) && text(button.press))
      .slice(0, BUTTONS)
      .map(({ label, press }) => ({ action: press, title: text(label) })),
    over: over === true,
  };
}

function text(value) {
  return typeof value === "string" ? value.slice(0, TEXT) : "";
}

/** Decides, and says so if it was not this press that decided. */
async function press(path, button, tag) {
  let words = "That did not work; open Sayso to answer";
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
      body: `press=${encodeURIComponent(button)}`,
    });
    if (response.ok) return;
    words = (await response.json()).detail ?? words;
  } catch {
    // There is no connection, or no reason.
  }
  await self.registration.showNotification("Sayso", { body: words, tag, icon: "/icon-192.png" });
}

/** The page at what the note is about: where it is open already, else in a window of its own. */
async function open(tag) {
  const place = tag.startsWith("ask_") ? `#/inbox/${encodeURIComponent(tag)}` : "#/inbox";
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = windows.find(({ url }) => new URL(url).pathname === "/");
  page?.postMessage({ go: place });
  await (page ? page.focus() : self.clients.openWindow(`/${place}`));
}
