// What the programs that suspend runs share. They run in a folder of their own, and leave what they did in files.
import { appendFileSync, existsSync } from "node:fs";
import { Suspended } from "@sayso/sdk/agent";
import type { Call } from "./models.ts";

export const NAME = process.env.APP_NAME ?? "mailer";
export const planned: Call[] = JSON.parse(process.env.APP_CALLS ?? "[]");

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

export async function main(start: (runKey: string) => Promise<unknown>): Promise<void> {
  const result = await start(process.argv[2] ?? "");
  console.log(result instanceof Suspended ? result.groupId : "ended");
}
