import type { Page } from "@playwright/test";
import { expect, signIn, test } from "./fixtures";
import type { Server } from "./server";

interface Note {
  title: string;
  body?: string;
  tag?: string;
}

/** A page in the background, in a browser that allows notifications. Records the notifications. */
async function inBackground(page: Page, server: Server, prefs: object): Promise<() => Promise<Note[]>> {
  await page.context().grantPermissions(["notifications"]);
  await page.addInitScript(() => {
    const notes: Note[] = [];
    class Kept {
      static permission = Notification.permission;
      constructor(title: string, options: { body?: string; tag?: string } = {}) {
        notes.push({ title, ...options });
      }
    }
    Object.assign(window, { Notification: Kept, notes });
    Object.defineProperty(document, "hidden", { get: () => true });
  });
  await signIn(page, server, prefs);
  await expect(page.getByText("Connected", { exact: true })).toBeVisible();
  return () => page.evaluate(() => (window as unknown as { notes: Note[] }).notes);
}

const SECRETIVE = { questions: [{ text: "Should we buy Globex?", options: [{ label: "Yes" }] }] };

test("the title counts waiting asks, and a notification does not contain the ask", async ({ page, server }) => {
  const notes = await inBackground(page, server, { notify: true });
  await expect(page).toHaveTitle("Sayso");
  const first = await server.ask(SECRETIVE);
  await expect.poll(notes).toEqual([{ title: "An agent needs you", tag: first.id }]);
  await expect(page).toHaveTitle("(1) Sayso");
  await server.ask(SECRETIVE);
  await expect(page).toHaveTitle("(2) Sayso");
  await server.api("DELETE", `/asks/${first.id}`);
  await expect(page).toHaveTitle("(1) Sayso");
  expect(JSON.stringify(await notes())).not.toContain("Globex");
});

test("a notification contains the ask only if that is allowed", async ({ page, server }) => {
  const notes = await inBackground(page, server, { notify: true, notifyContent: true });
  const { id } = await server.ask(SECRETIVE);
  await expect.poll(notes).toEqual([{ title: "An agent needs you", body: "Should we buy Globex?", tag: id }]);
});

test("notifications are off by default", async ({ page, server }) => {
  const notes = await inBackground(page, server, {});
  await server.ask(SECRETIVE);
  await expect(page).toHaveTitle("(1) Sayso");
  expect(await notes()).toEqual([]);
});
