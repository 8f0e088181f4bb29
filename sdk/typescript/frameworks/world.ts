import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Ask } from "@sayso/sdk";
import { AgentClient, type AgentOptions } from "@sayso/sdk/agent";
import { Server } from "../../../web/e2e/server.ts";

export { Server };

let made = 0;

/** Polls until there is a value. */
export async function until<T>(
  what: string,
  look: () => Promise<T | false | undefined> | T | false | undefined,
  within = 120_000,
): Promise<T> {
  for (const end = Date.now() + within; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`did not happen: ${what}`);
}

/** A person who decides the asks of one agent token. */
export class Person {
  private constructor(
    readonly server: Server,
    readonly name: string,
    readonly token: string,
    readonly tokenId: string,
  ) {}

  static async on(server: Server): Promise<Person> {
    const name = `bot-${made++}`;
    const { id, token } = await server.api<{ id: string; token: string }>("POST", "/tokens", {
      role: "agent",
      actor: name,
    });
    return new Person(server, name, token, id);
  }

  client(options: AgentOptions = {}): AgentClient {
    return new AgentClient({ url: this.server.url, token: this.token, agent: this.name, ...options });
  }

  async asks(status = "pending"): Promise<Ask[]> {
    const { data } = await this.server.api<{ data: Ask[] }>("GET", `/asks?status=${status}&agent=${this.name}`);
    return data;
  }

  /** Waits until so many asks are pending. */
  several = (count: number): Promise<Ask[]> =>
    until(`${count} asks are pending`, async () => {
      const asks = await this.asks();
      return asks.length === count && asks;
    });

  next = async (): Promise<Ask> => (await this.several(1))[0] as Ask;

  async decide(how: string, ask: Ask, body: object = {}): Promise<void> {
    await this.server.api("POST", `/asks/${ask.id}/${how}`, body);
  }

  /** Decides the next ask, and returns it. */
  async act(how: string, body: object = {}): Promise<Ask> {
    const ask = await this.next();
    await this.decide(how, ask, body);
    return ask;
  }

  withdrawn = (count = 1): Promise<boolean> =>
    until("the asks are withdrawn", async () => (await this.asks("withdrawn")).length === count);

  environment(more: Record<string, string> = {}): Record<string, string> {
    const { PATH = "" } = process.env;
    // The data directory of the server has tokens that a program must not use.
    const own = { PATH, HOME: this.server.home, NODE_NO_WARNINGS: "1", OPENAI_AGENTS_DISABLE_TRACING: "1" };
    return { ...own, SAYSO_URL: this.server.url, SAYSO_AGENT_TOKEN: this.token, ...more };
  }

  /** Starts a program of this folder. */
  program(path: string, args: string[], cwd: string, more?: Record<string, string>): Program {
    return new Program([resolve(here("."), path), ...args], cwd, this.environment(more));
  }
}

export const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A Node.js program that runs. */
export class Program {
  readonly #child;
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  stdout = "";

  constructor(args: string[], cwd: string, env: Record<string, string>) {
    const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    this.#child = child;
    this.ended = new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout: this.stdout, stderr })));
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal);
    await this.ended;
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The output of a program that ends without an error. */
  async output(): Promise<string> {
    const { code, stdout, stderr } = await this.ended;
    if (code !== 0) throw new Error(`exit ${code}\n${stderr}`);
    return stdout;
  }
}
