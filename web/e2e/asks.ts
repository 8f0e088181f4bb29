import { type Browser, devices, type Page } from "@playwright/test";
import { anotherBrowser, card, expect, settled, visit } from "./fixtures";
import { commandApproval } from "./scene";
import type { Server } from "./server";

// Asks of every kind, and their cards.

export const command = (text: string, change: object = {}) => ({
  agent: "codex",
  project: "/home/ada/work/shop-api",
  branch: "main",
  approval: commandApproval(text),
  ...change,
});
export const OPTIONS = [{ label: "One" }, { label: "Two" }, { label: "Three" }];
export const question = (change: object = {}) => ({
  questions: [{ header: "Pick", text: "Which?", options: OPTIONS, ...change }],
});
export const SET = {
  questions: [
    { header: "First", text: "First?", options: OPTIONS },
    { header: "Several", text: "Several?", options: OPTIONS, multiple: true },
    { header: "Count", text: "How many?", input: "number", minimum: 1, maximum: 9 },
  ],
};
/** A diff that adds lines. */
export const addedLines = (lines: number) =>
  `@@ -1,1 +1,${lines} @@\n${Array.from({ length: lines }, (_, n) => `+line ${n}\n`).join("")}`;
export const edit = (diff: string) => ({
  agent: "claude",
  project: "/p",
  approval: {
    tool: "Edit",
    action: "edit",
    title: "Edit a.rs",
    paths: ["/p/a.rs"],
    input: { file_path: "/p/a.rs" },
    preview: { type: "diff", files: [{ path: "/p/a.rs", diff }] },
  },
});

export const outcomeOf = async (server: Server, id: string) => (await server.readAsk(id)).outcome;
/** Opens the card of an ask. */
export const open = async (page: Page, id: string) => {
  await visit(page, `#/inbox/${id}`);
  await expect(card(page)).toHaveAttribute("data-ask", id);
  await settled(page);
};

const { defaultBrowserType: _, ...PIXEL } = devices["Pixel 7"];
export const phone = (browser: Browser, server: Server) => anotherBrowser(browser, server, PIXEL);
