import type { Client } from "../api/client";

type Calls = Pick<Client, "call">;

const WORKER = "/sw.js";
/** Without a connection a browser tries for ever, and says nothing. */
const PATIENCE_MS = 10_000;

/** Where browsers keep workers; nowhere on a page that is not secure. */
const workers = (): ServiceWorkerContainer | undefined => navigator.serviceWorker as ServiceWorkerContainer | undefined;

/** Lets the server wake this browser when the page is closed. Whether it will: not without a channel for that. */
export async function wakeMe(client: Calls): Promise<boolean> {
  const { publicKey } = await client.call<{ publicKey?: string | null }>("GET", "/push");
  await workers()?.register(WORKER);
  if (!publicKey || !("PushManager" in globalThis)) return false;
  const worker = await workers()?.ready;
  if (!worker) return false;
  const wanted = { userVisibleOnly: true, applicationServerKey: publicKey };
  const woken = worker.pushManager.subscribe(wanted).then(async (subscription) => {
    const { endpoint, keys } = subscription.toJSON();
    await client.call("POST", "/push", { endpoint, keys });
    return true;
  });
  return Promise.race([woken, silence()]);
}

const silence = (): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new Error("its push service does not answer")), PATIENCE_MS);
  });

/** Takes that back. */
export async function letMeSleep(client: Calls): Promise<void> {
  const worker = await workers()?.getRegistration(WORKER);
  if (!worker) return;
  await (await worker.pushManager?.getSubscription())?.unsubscribe();
  await client.call("DELETE", "/push");
}

/** Shows a note of this page. A phone shows those of a worker alone. */
export async function showNote(title: string, options: NotificationOptions): Promise<void> {
  const worker = await workers()?.getRegistration(WORKER);
  if (worker?.active) await worker.showNotification(title, options);
  else new Notification(title, options);
}

/** Takes the note about an ask back that a worker shows. */
export async function closeNote(tag: string): Promise<void> {
  const worker = await workers()?.getRegistration(WORKER);
  for (const note of (await worker?.getNotifications({ tag })) ?? []) note.close();
}
