import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { test as base } from "./fixtures";

const run = promisify(execFile);

/** The address of the server. It is reserved for documentation (RFC 5737), and browsers do not treat it as loopback. */
export const ADDRESS = "203.0.113.2";
/** The address that connections to the server come from. */
const CLIENT_ADDRESS = "203.0.113.1";

/**
 * A network namespace in which clients reach the server as from another machine. It needs no root: ordinary users create it in a user namespace,
 * like `scripts/isolated.sh`. The server and the browser both run inside.
 */
export class Machine {
  private constructor(private readonly entry: string[]) {}

  /** Creates the namespace and keeps it until `use` returns. A process inside holds it open until its stdin closes. */
  static async with(use: (machine: Machine) => Promise<void>): Promise<void> {
    const namespaces = namespacesToMake();
    const setUp = [
      "ip link set lo up",
      `ip addr add ${CLIENT_ADDRESS}/32 dev lo`,
      `ip addr add ${ADDRESS}/32 dev lo`,
      `ip route replace local ${ADDRESS} dev lo table local src ${CLIENT_ADDRESS}`,
      `ip route add default dev lo src ${ADDRESS}`,
      "echo ready",
      "exec cat",
    ].join(" && ");
    const holder = spawn("unshare", [...namespaces, "sh", "-c", setUp], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(holder, "exit");
    try {
      const ready = await Promise.race([once(holder.stdout, "data"), ended.then(() => undefined)]);
      if (!ready) throw new Error("The namespace cannot be set up: is iproute2 installed?");
      const credentials = namespaces.includes("--user") ? ["--user", "--preserve-credentials"] : [];
      await use(new Machine(["nsenter", "--target", String(holder.pid), ...credentials, "--net"]));
    } finally {
      holder.stdin.end();
      await ended;
    }
  }

  /** The command line that runs `command` inside. */
  command(command: string[]): [program: string, args: string[]] {
    const [program = "", ...args] = [...this.entry, ...command];
    return [program, args];
  }

  /** Makes an HTTP request from inside. */
  async fetch(url: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
    const script = `fetch(...${JSON.stringify([url, init])}).then(async (response) =>
      console.log(JSON.stringify({ status: response.status, text: await response.text() })))`;
    const { stdout } = await run(...this.command([process.execPath, "--eval", script]));
    return JSON.parse(stdout);
  }
}

/** The namespaces that this user can create: root needs no user namespace, and some machines do not permit any. */
function namespacesToMake(): string[] {
  const asAnybody = ["--user", "--map-root-user", "--net"];
  if (process.getuid?.() !== 0) return asAnybody;
  try {
    execFileSync("unshare", ["--net", "true"], { stdio: "ignore" });
    return ["--net"];
  } catch {
    return asAnybody;
  }
}

/** Tests whose server and browser run in a separate network namespace. */
export const test = base.extend<object, { machine: Machine }>({
  machine: [
    // biome-ignore lint/correctness/noEmptyPattern: the test runner wants a pattern
    async ({}, use) => Machine.with(use),
    { scope: "worker" },
  ],
  launchOptions: [
    async ({ launchOptions, machine }, use) => {
      const folder = mkdtempSync(join(tmpdir(), "sayso-browser-"));
      const executablePath = join(folder, "browser");
      const [program, args] = machine.command([launchOptions.executablePath ?? ""]);
      writeFileSync(executablePath, `#!/bin/sh\nexec ${[program, ...args].join(" ")} "$@"\n`);
      chmodSync(executablePath, 0o755);
      await use({ ...launchOptions, executablePath });
      rmSync(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
});
