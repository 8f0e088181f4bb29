import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { BINARY } from "./server";

/** The turns of the model, by a word of the last message of the person. */
export interface Entry {
  when: string;
  turns: ({ text: string } | { call: string; input: object })[][];
}

/** The testkit's model on the loopback interface. */
export class Model {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  static async start(script: Entry[]): Promise<Model> {
    const folder = mkdtempSync(join(tmpdir(), "sayso-model-"));
    const file = join(folder, "script.json");
    writeFileSync(file, JSON.stringify(script));
    const child = spawn(join(dirname(BINARY), "model"), [file], { stdio: ["pipe", "pipe", "inherit"] });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on("data", (piece) => resolve(String(piece).trim()));
      child.on("error", reject);
      child.on("exit", () => reject(new Error("the model stopped")));
    });
    return new Model(child, folder, url);
  }

  /** The configuration of the server for this model. */
  get config(): string {
    return `[agents.talk]\nprotocol = "openai"\nbase_url = "${this.url}/v1"\nmodel = "small"\n`;
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.stdin?.end();
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
