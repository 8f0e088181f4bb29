import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Ask, Session } from "@sayso/react";
import type { Machine } from "./namespace";

export const BINARY = process.env.SAYSO_BIN ?? fileURLToPath(new URL("../../target/debug/sayso", import.meta.url));

export interface ServerOptions {
  host?: string;
  policy?: string;
  config?: string;
  /** Runs the server, and the requests of the test, inside a network namespace. */
  machine?: Machine;
}

/** The real server with its own home directory. */
export class Server {
  readonly home = mkdtempSync(join(tmpdir(), "sayso-page-"));
  #child: ChildProcess | undefined;
  url = "";

  private constructor(private readonly options: ServerOptions) {}

  static async start(options: ServerOptions = {}): Promise<Server> {
    if (!existsSync(BINARY)) {
      throw new Error(
        `There is no server at ${BINARY}. Build it with \`cargo build --package sayso\`, or set SAYSO_BIN.`,
      );
    }
    const server = new Server(options);
    const config = join(server.home, "config", "sayso");
    mkdirSync(config, { recursive: true });
    mkdirSync(join(server.home, "run"), { mode: 0o700 });
    if (options.policy) writeFileSync(join(config, "policy.toml"), options.policy);
    server.configure(options.config ?? "");
    await server.#run("0");
    return server;
  }

  /** Changes `config.toml`; a restart reads it. Agents that outlive a test end by themselves. */
  configure(config: string): void {
    writeFileSync(join(this.home, "config", "sayso", "config.toml"), `lonely_after = "30s"\n${config}`);
  }

  /** Kills the server and starts it again at the same address. */
  async restart(between: () => Promise<void> = async () => {}): Promise<void> {
    await this.#stop("SIGKILL");
    await between();
    await this.#run(new URL(this.url).port);
  }

  async stop(): Promise<void> {
    await this.#stop("SIGTERM");
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  get token(): string {
    return readFileSync(join(this.home, "data", "token"), "utf8").trim();
  }

  async api<T>(method: string, path: string, body?: unknown, token = this.token): Promise<T> {
    const { status, text } = await this.fetch(`${this.url}/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Makes an HTTP request from the server's machine. */
  async fetch(url: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
    if (this.options.machine) return this.options.machine.fetch(url, init);
    const response = await fetch(url, init);
    return { status: response.status, text: await response.text() };
  }

  ask = (body: object): Promise<Ask> => this.api("POST", "/asks", body);
  readAsk = (id: string): Promise<Ask> => this.api("GET", `/asks/${id}`);

  session(prompt: string, agent = "mock"): Promise<Session> {
    return this.api("POST", "/sessions", { agent, prompt, cwd: this.project() });
  }

  /** The directory that sessions and runs work in. */
  project(): string {
    const folder = join(this.home, "shop-api");
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Starts a run of a workflow. */
  run(name: string, steps: object[], input: Record<string, string> = {}): Promise<{ id: string }> {
    return this.api("POST", "/runs", { workflow: { name, steps }, input, directory: this.project() });
  }

  async pending(sessionId?: string): Promise<Ask[]> {
    const { data } = await this.api<{ data: Ask[] }>(
      "GET",
      `/asks?status=pending&limit=500${sessionId ? `&session=${sessionId}` : ""}`,
    );
    return data;
  }

  /** Waits until a session asks. */
  asked(sessionId: string): Promise<Ask> {
    return this.until(async () => (await this.pending(sessionId))[0]);
  }

  /** Polls until there is a value. */
  async until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
    for (const end = Date.now() + 30_000; Date.now() < end; ) {
      const found = await ask();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error("it did not come");
  }

  async loginLink(role = "admin"): Promise<string> {
    const { code } = await this.api<{ code: string }>("POST", "/login-codes", { role });
    return `${this.url}/#code=${code}`;
  }

  async #run(port: string): Promise<void> {
    const { host = "127.0.0.1", machine } = this.options;
    const command = [BINARY, "serve", "--listen", `${host}:${port}`, "--data-dir", join(this.home, "data")];
    const [program = "", args] = machine ? machine.command(command) : [command[0], command.slice(1)];
    const child = spawn(program, args, {
      env: {
        PATH: process.env.PATH,
        HOME: this.home,
        XDG_CONFIG_HOME: join(this.home, "config"),
        XDG_STATE_HOME: join(this.home, "state"),
        XDG_DATA_HOME: join(this.home, "share"),
        XDG_RUNTIME_DIR: join(this.home, "run"),
        ...(process.env.SAYSO_JITTER ? { LD_PRELOAD: process.env.SAYSO_JITTER } : {}),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.url = await new Promise((resolve, reject) => {
      let said = "";
      const listen = (piece: Buffer) => {
        said += String(piece);
        const url = /listening on (http:\S+)/.exec(said)?.[1];
        if (url) resolve(url);
      };
      child.stdout.on("data", listen);
      child.stderr.on("data", listen);
      child.on("exit", () => reject(new Error(`the server stopped: ${said}`)));
    });
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }
}
