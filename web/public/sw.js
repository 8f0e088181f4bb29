// Service worker for push messages: shows notifications, and sends the decision when a button is pressed. It has no token: a
// notification decides with its own answer link.

/** Maximum length of a text, and number of buttons. */
const TEXT = 2000;
const BUTTONS = 2;

// A new worker does not wait until all tabs of the previous one are closed.
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

/** Reads a push message. Browsers require a notification for each push, also for an invalid one. */
function read(data) {
  let said;
  try {
    said = data?.json();
  } catch {
    // Not JSON: show the default text.
  }
  const { title, body, tag, path, buttons, over } = said ?? {};
  return {
    title: text(title) || "Sayso",
    body: text(title) ? text(body) : "Open Sayso to see waiting asks",
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

/** Sends a decision. Shows a notification if the decision was not accepted. */
async function press(path, button, tag) {
  let words = "Something went wrong. Open Sayso to answer.";
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
      body: `press=${encodeURIComponent(button)}`,
    });
    if (response.ok) return;
    words = (await response.json()).detail ?? words;
  } catch {
    // No connection, or no reason in the response: show the default text.
  }
  await self.registration.showNotification("Sayso", { body: words, tag, icon: "/icon-192.png" });
}

/** Opens the ask of a notification in the open page, or in a new window. */
async function open(tag) {
  const place = tag.startsWith("ask_") ? `#/inbox/${encodeURIComponent(tag)}` : "#/inbox";
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = windows.find(({ url }) => new URL(url).pathname === "/");
  page?.postMessage({ go: place });
  await (page ? page.focus() : self.clients.openWindow(`/${place}`));
}
