import type { Client } from "../api/client";

type Calls = Pick<Client, "call">;

const WORKER = "/sw.js";
/** The time limit for a subscription, because browsers retry without end when they are offline. */
const PATIENCE_MS = 10_000;

/** The container of service workers. Undefined outside a secure context. */
const workers = (): ServiceWorkerContainer | undefined => navigator.serviceWorker as ServiceWorkerContainer | undefined;

/** Subscribes this browser to push messages. Returns false if the server has no webpush channel. */
export async function subscribeToPush(client: Calls): Promise<boolean> {
  const { publicKey } = await client.call<{ publicKey?: string | null }>("GET", "/push");
  await workers()?.register(WORKER);
  if (!publicKey || !("PushManager" in globalThis)) return false;
  const worker = await workers()?.ready;
  if (!worker) return false;
  const wanted = { userVisibleOnly: true, applicationServerKey: publicKey };
  const subscribed = worker.pushManager.subscribe(wanted).then(async (subscription) => {
    const { endpoint, keys } = subscription.toJSON();
    await client.call("POST", "/push", { endpoint, keys });
    return true;
  });
  return Promise.race([subscribed, pushTimeout()]);
}

const pushTimeout = (): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new Error("the push service does not respond")), PATIENCE_MS);
  });

/** Cancels the subscription. */
export async function unsubscribeFromPush(client: Calls): Promise<void> {
  const worker = await workers()?.getRegistration(WORKER);
  if (!worker) return;
  await (await worker.pushManager?.getSubscription())?.unsubscribe();
  await client.call("DELETE", "/push");
}

/** Shows a notification. Phones only support notifications of a service worker. */
export async function showPageNotification(title: string, options: NotificationOptions): Promise<void> {
  const worker = await workers()?.getRegistration(WORKER);
  if (worker?.active) await worker.showNotification(title, options);
  else new Notification(title, options);
}

/** Closes the notification about an ask. */
export async function closeNotification(tag: string): Promise<void> {
  const worker = await workers()?.getRegistration(WORKER);
  for (const note of (await worker?.getNotifications({ tag })) ?? []) note.close();
}
