import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "@playwright/test";
import { card, expect, signIn, test } from "./fixtures";
import { BINARY, type Server } from "./server";
import { Screen, TerminalCommand } from "./terminal";

// The animation of the README: `scripts/demo.sh`. An agent asks in a terminal, the card appears on the page, one key
// answers it, and the agent continues. The terminal and the page are real; a third page shows both, one above the other.

const FOLDER = process.env.SAYSO_FRAMES ?? fileURLToPath(new URL("../test-results/demo/", import.meta.url));
const WIDTH = 960;
const PAGE_HEIGHT = 400;
const COMMAND = 'sayso start mock "ask me a question"';
/** Pixels per CSS pixel. */
const SCALE = 1.5;

/** The frames, and how long each is shown, in milliseconds. */
class Recording {
  #names: { name: string; millis: number }[] = [];
  #last = "";

  constructor(
    private readonly stage: Page,
    private readonly page: Page,
    private readonly screen: Screen,
    private readonly server: Server,
  ) {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
  }

  /** Adds a frame, or shows the last one longer if nothing has changed. */
  async add(millis: number, key = ""): Promise<void> {
    const page = (await this.page.screenshot()).toString("base64");
    const terminal = this.screen.html(true).replaceAll(basename(this.server.home), "work");
    await this.stage.evaluate(
      async ({ page, terminal, key }) => {
        const find = (id: string) => document.getElementById(id) as HTMLElement;
        find("terminal").innerHTML = terminal;
        find("key").textContent = key;
        find("key").hidden = !key;
        const image = find("page") as HTMLImageElement;
        image.src = `data:image/png;base64,${page}`;
        await image.decode();
      },
      { page, terminal, key },
    );
    const frame = await this.stage.screenshot();
    const digest = createHash("sha256").update(frame).digest("hex");
    const previous = this.#names.at(-1);
    if (previous && digest === this.#last) {
      previous.millis += millis;
      return;
    }
    this.#last = digest;
    const name = `${String(this.#names.length).padStart(3, "0")}.png`;
    writeFileSync(join(FOLDER, name), frame);
    this.#names.push({ name, millis });
  }

  /** Adds frames while something happens, and the last one for `hold` milliseconds. */
  async until(done: () => Promise<boolean>, hold: number, key = ""): Promise<void> {
    for (const end = Date.now() + 30_000; Date.now() < end; ) {
      const now = await done();
      await this.add(now ? hold : 120, key);
      if (now) return;
    }
    throw new Error("it did not come");
  }

  /** Marks the last frame as the still picture. */
  still(): void {
    writeFileSync(join(FOLDER, "still"), this.#names.at(-1)?.name ?? "");
  }

  save(): void {
    writeFileSync(join(FOLDER, "frames"), this.#names.map(({ name, millis }) => `${millis} ${name}\n`).join(""));
  }
}

const STAGE = `<!doctype html><meta charset="utf-8"><style>
  body { margin: 0; background: #16181d; font-family: system-ui, sans-serif; position: relative; width: ${WIDTH}px }
  .bar { height: 26px; display: flex; align-items: center; gap: 6px; padding: 0 12px; background: #23262d; color: #9aa1ad; font-size: 12px }
  .bar i { width: 10px; height: 10px; border-radius: 50%; background: #4a4f5a }
  .bar span { margin: 0 auto; padding-right: 48px }
  #terminal { margin: 0; padding: 10px 14px; height: 196px; box-sizing: border-box; overflow: hidden;
    font: 13px/17.5px "DejaVu Sans Mono", monospace; color: #d7dae0; white-space: pre }
  #page { display: block; width: ${WIDTH}px; height: ${PAGE_HEIGHT}px }
  #key { position: absolute; right: 28px; bottom: 28px; min-width: 44px; padding: 8px 0; text-align: center; font-size: 24px;
    font-weight: 600; border-radius: 10px; background: #16181d; color: #fff; border-bottom: 4px solid #4a4f5a }
</style>
<div class="bar"><i></i><i></i><i></i><span>Terminal</span></div><pre id="terminal"></pre>
<div class="bar"><i></i><i></i><i></i><span>Sayso</span></div><img id="page" alt=""><div id="key" hidden></div>`;

async function openPages(browser: Browser, server: Server): Promise<{ stage: Page; page: Page }> {
  const sharp = { deviceScaleFactor: SCALE, reducedMotion: "reduce" as const };
  const page = await (
    await browser.newContext({ ...sharp, viewport: { width: WIDTH, height: PAGE_HEIGHT } })
  ).newPage();
  await signIn(page, server, { holdMs: 0 });
  const stage = await (
    await browser.newContext({ ...sharp, viewport: { width: WIDTH, height: 2 * 26 + 196 + PAGE_HEIGHT } })
  ).newPage();
  await stage.setContent(STAGE);
  return { stage, page };
}

test("@demo of a run", async ({ browser, server }) => {
  test.setTimeout(180_000);
  const screen = new Screen(110, 10);
  const { stage, page } = await openPages(browser, server);
  const recording = new Recording(stage, page, screen, server);

  screen.write("$ ");
  await recording.add(900);
  for (const character of COMMAND) {
    screen.write(character);
    await recording.add(45);
  }
  await recording.add(400);
  screen.write("\r\n");

  const run = new TerminalCommand(screen, COMMAND.replace("sayso", `'${BINARY}'`), {
    cwd: server.project(),
    env: {
      PATH: process.env.PATH,
      HOME: server.home,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      SAYSO_DATA_DIR: join(server.home, "data"),
    },
  });
  const acceptsKeys = page.locator(".sayso-ask[data-accepts-keys=true]");
  await recording.until(() => acceptsKeys.isVisible(), 2_600);
  recording.still();

  await page.keyboard.press("2");
  await recording.add(500, "2");
  await recording.until(async () => screen.html(false).includes("You answered"), 300);
  await expect(card(page)).toHaveAttribute("data-state", "answered");
  await recording.add(4_000);
  recording.save();

  run.type("\x03");
  await run.ended;
});
