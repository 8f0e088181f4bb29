// What the programs that suspend runs share. They run in a folder of their own, and leave what they did in files.
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync } from "node:fs";
import { Suspended } from "@sayso/sdk/agent";
import type { Call } from "./models.ts";

export const NAME = process.env.APP_NAME ?? "mailer";
const { APP_CALLS = "[]", APP_RANDOM_IDS } = process.env;
/** The calls of the scripted model. Real models choose other ids in each process. */
export const planned: Call[] = (JSON.parse(APP_CALLS) as Call[]).map((call) =>
  APP_RANDOM_IDS ? { ...call, id: `${call.id}-${randomUUID()}` } : call,
);

export function note(file: string, ...lines: string[]): void {
  appendFileSync(`${file}.txt`, lines.map((line) => `${line}\n`).join(""));
}

/** The effect of the tool: it must happen once. */
export function sendEmail(to: string): string {
  note("sent", to);
  return `sent to ${to}`;
}

/** With `APP_HANGS`, a worker waits after its claim until there is a file `continue.txt`. */
export async function beforeResuming(): Promise<void> {
  if (process.env.APP_HANGS === undefined) return;
  note("hangs", String(process.pid));
  while (!existsSync("continue.txt")) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Notes how a resumed run ended: its result, or the group of its next pause. */
export function noteEnd(groupId: string, result: Suspended | string): void {
  if (result instanceof Suspended) note("suspended", result.groupId);
  else note("done", groupId, result);
}

export async function main(start: (runKey: string) => Promise<unknown>): Promise<void> {
  const result = await start(process.argv[2] ?? "");
  console.log(result instanceof Suspended ? result.groupId : "ended");
}
