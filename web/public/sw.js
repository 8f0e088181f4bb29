// Woken by a push: shows who waits, and decides when one of the buttons is pressed. It holds no token: what a note may
// decide stands behind its own link.

self.addEventListener("push", (event) => {
  const note = read(event.data);
  const options = {
    body: note.body ?? "",
    tag: note.tag ?? "sayso",
    icon: "/icon-192.png",
    silent: note.over === true,
    data: { path: note.path },
    actions: (note.buttons ?? []).map(({ label, press }) => ({ action: press, title: label })),
  };
  event.waitUntil(self.registration.showNotification(note.title ?? "Sayso", options));
});

self.addEventListener("notificationclick", (event) => {
  const { data, tag } = event.notification;
  event.notification.close();
  event.waitUntil(event.action && data?.path ? press(data.path, event.action, tag) : open(data?.path ?? "/"));
});

function read(data) {
  try {
    return data?.json() ?? {};
  } catch {
    return {};
  }
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
  await self.registration.showNotification("Sayso", { body: words, tag, data: { path } });
}

/** The page if it is open, else what the note is about. */
async function open(path) {
  const [page] = await self.clients.matchAll({ type: "window" });
  await (page ? page.focus() : self.clients.openWindow(path));
}
