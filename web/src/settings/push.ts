import type { Client } from "../api/client";

type Calls = Pick<Client, "call">;

function workers(): ServiceWorkerContainer | undefined {
  return "PushManager" in globalThis ? navigator.serviceWorker : undefined;
}

/** Lets the server wake this browser when the page is closed. Without a channel for that nothing happens. */
export async function wakeMe(client: Calls): Promise<void> {
  const { publicKey } = await client.call<{ publicKey?: string | null }>("GET", "/push");
  const worker = publicKey && (await workers()?.register("/sw.js"));
  if (!worker) return;
  const wanted = { userVisibleOnly: true, applicationServerKey: publicKey };
  const { endpoint, keys } = (await worker.pushManager.subscribe(wanted)).toJSON();
  await client.call("POST", "/push", { endpoint, keys });
}

/** Takes that back. */
export async function letMeSleep(client: Calls): Promise<void> {
  const worker = await workers()?.getRegistration("/sw.js");
  if (!worker) return;
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  await client.call("DELETE", "/push");
}
