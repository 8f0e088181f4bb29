"use strict";

const assert = require("node:assert/strict");
const { execFileSync, spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");

/** How long a test waits for a process. A launcher that never ends fails the test. */
const TIMEOUT = { timeout: 60_000 };

/** A directory with @sayso/cli as npm would install it, and the program of this platform if a script is given. */
function install(script, platform = `${process.platform}-${process.arch}`) {
  const modules = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "sayso-launcher-")), "node_modules");
  const cli = path.join(modules, "@sayso/cli");
  fs.mkdirSync(cli, { recursive: true });
  fs.copyFileSync(path.join(__dirname, "launcher.js"), path.join(cli, "launcher.js"));
  fs.writeFileSync(path.join(cli, "package.json"), JSON.stringify({ optionalDependencies: { [`@sayso/cli-${platform}`]: "0" } }));
  const program = path.join(modules, `@sayso/cli-${platform}/bin/sayso`);
  if (script !== undefined) {
    fs.mkdirSync(path.dirname(program), { recursive: true });
    fs.writeFileSync(program, script, { mode: 0o755 });
  }
  test.after(() => fs.rmSync(path.dirname(modules), { recursive: true }));
  return { launcher: path.join(cli, "launcher.js"), program };
}

function run(launcher, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...args], { encoding: "utf8", ...TIMEOUT });
  return { status, stdout, stderr: stderr.replace(/^\(node:.*\n\(Use .*\n/m, "") };
}

test("arguments, output and exit code are those of the program", () => {
  const { launcher } = install('#!/bin/sh\necho "$@"\nexit 7\n');
  assert.deepEqual(run(launcher, "ask", "two words"), { status: 7, stdout: "ask two words\n", stderr: "" });
});

/** Starts the launcher. The process and its pipes are closed when the test ends, also if it fails. */
function start(context, ...args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  context.after(() => {
    child.kill("SIGKILL");
    child.stdout.destroy();
  });
  return child;
}

test("a signal reaches the program", TIMEOUT, async (context) => {
  // The program ends with the launcher, so that a failed test leaves no process.
  const { launcher } = install(
    "#!/bin/sh\ntrap 'echo ended; exit 5' TERM\necho ready\nwhile kill -0 $PPID; do sleep 0.02; done 2>/dev/null\n",
  );
  const child = start(context, launcher);
  let output = "";
  child.stdout.on("data", (bytes) => {
    output += bytes;
    if (output === "ready\n") child.kill("SIGTERM");
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.deepEqual({ code, output }, { code: 5, output: "ready\nended\n" });
});

test("a signal while the program starts ends the program and the launcher", TIMEOUT, async (context) => {
  const { launcher } = install("#!/bin/sh\nwhile kill -0 $PPID; do sleep 0.02; done 2>/dev/null\n");
  const preload = path.join(path.dirname(launcher), "preload.js");
  // Sends the signal before the launcher runs its next statement.
  fs.writeFileSync(
    preload,
    `process.execve = undefined;
     const processes = require("node:child_process");
     const { spawn } = processes;
     processes.spawn = (...args) => {
       const child = spawn(...args);
       process.kill(process.pid, "SIGTERM");
       return child;
     };`,
  );
  const child = start(context, "--require", preload, launcher);
  const [code, signal] = await new Promise((resolve) => child.on("close", (...result) => resolve(result)));
  assert.deepEqual({ code, signal }, { code: 128 + os.constants.signals.SIGTERM, signal: null });
});

test("a missing optional package is named with the remedy", () => {
  const { launcher } = install(undefined);
  const { status, stderr } = run(launcher, "--version");
  assert.equal(status, 1);
  assert.match(stderr, /^The package @sayso\/cli-\S+ is missing\..*\nInstall @sayso\/cli again without --no-optional/);
});

test("an unsupported platform is named with those that are supported", () => {
  const { launcher } = install(undefined, "plan9-mips");
  const { status, stderr } = run(launcher);
  assert.equal(status, 1);
  assert.match(stderr, /^Sayso has no program for \S+\. This package has programs for plan9-mips\.\nBuild it from source/);
});

test("a program that cannot be executed is explained", () => {
  const { launcher, program } = install("#!/bin/sh\n");
  fs.chmodSync(program, 0o644);
  const { status, stderr } = run(launcher);
  assert.equal(status, 1);
  assert.match(stderr, /cannot be executed\. Its file system may be mounted with noexec/);
});

test("the package has no install scripts", () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, "package.json"), "utf8"));
  assert.equal(manifest.scripts, undefined);
  assert.equal(execFileSync(process.execPath, ["--check", path.join(__dirname, "launcher.js")]).length, 0);
});
