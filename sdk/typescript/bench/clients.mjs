// Measures the memory that a client costs the server: 1,000 clients listen for questions, and each receives one.
// Prints one JSON object. SAYSO_BIN is the server; measure a release build.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Sayso } from "@sayso/sdk";

const clients = Number(process.env.CLIENTS ?? 1000);
const binary = process.env.SAYSO_BIN ?? fileURLToPath(new URL("../../../target/release/sayso", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "sayso-bench-"));
mkdirSync(join(home, "run"), { mode: 0o700 });
const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", join(home, "data")], {
  env: { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: join(home, "run") },
  stdio: ["ignore", "pipe", "ignore"],
});
const baseUrl = await new Promise((resolve, reject) => {
  let said = "";
  server.stdout.on("data", (piece) => {
    said += piece;
    const url = /listening on (http:\S+)/.exec(said)?.[1];
    if (url) resolve(url);
  });
  server.on("exit", () => reject(new Error(`the server stopped: ${said}`)));
});

/** The server's own memory, in KiB. */
const memory = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1]);
const until = async (condition) => {
  for (const end = Date.now() + 60_000; !condition(); ) {
    if (Date.now() > end) throw new Error("in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

try {
  const token = readFileSync(join(home, "data", "token"), "utf8").trim();
  // The first client warms up the server before the first measurement.
  const first = Sayso.connect({ baseUrl, token });
  let told = 0;
  const listen = (sayso) => sayso.onQuestion(() => void told++);
  listen(first);
  await until(() => first.live.connection().state === "open");
  const before = memory();
  const all = [];
  for (let made = 0; made < clients; made++) {
    const sayso = Sayso.connect({ baseUrl, token });
    listen(sayso);
    all.push(sayso);
    if (made % 50 === 49) await until(() => all.every((one) => one.live.connection().state === "open"));
  }
  await until(() => all.every((one) => one.live.connection().state === "open"));
  const idle = memory();
  const start = performance.now();
  await first.asks.open({ questions: [{ text: "Which?", options: [{ label: "This" }] }] });
  await until(() => told === clients + 1);
  const took = performance.now() - start;
  const busy = memory();
  const each = (now) => Number(((now - before) / clients).toFixed(1));
  console.log(
    JSON.stringify({
      bench: "sdk_clients",
      clients,
      idle_kib_each: each(idle),
      after_event_kib_each: each(busy),
      limit_kib_each: 40,
      told_all_ms: Math.round(took),
    }),
  );
  for (const sayso of [first, ...all]) sayso.close();
} finally {
  server.kill("SIGTERM");
  await new Promise((resolve) => server.on("exit", resolve));
  rmSync(home, { recursive: true, force: true });
}
