#!/usr/bin/env node
// Runs the program of the package for this platform. npm installs that package as an optional dependency; no script runs at
// installation.
"use strict";

const { constants } = require("node:os");

const PLATFORMS = Object.keys(require("./package.json").optionalDependencies ?? {}).map((name) => name.slice("@sayso/cli-".length));

/** Returns the path of the program, or a message that explains why it is missing. */
function findProgram(platform, resolve) {
  try {
    return { path: resolve(`@sayso/cli-${platform}/bin/sayso`) };
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
  }
  if (!PLATFORMS.includes(platform)) {
    const known = PLATFORMS.length > 0 ? ` This package has programs for ${PLATFORMS.join(", ")}.` : "";
    return { message: `Sayso has no program for ${platform}.${known}\nBuild it from source: see the README of Sayso.` };
  }
  return {
    message:
      `The package @sayso/cli-${platform} is missing. It is an optional dependency of @sayso/cli.\n` +
      "Install @sayso/cli again without --no-optional and without --omit=optional.",
  };
}

/** Explains a failed start to the user. */
function explain(error, path) {
  if (error.code === "EACCES") {
    return `${path} cannot be executed. Its file system may be mounted with noexec, or its mode was changed.\nInstall Sayso on a file system that allows programs.`;
  }
  if (error.code === "ENOENT") {
    return `${path} is missing or cannot run on this system.\nInstall @sayso/cli again.`;
  }
  return `${path} cannot be started: ${error.message}`;
}

function stop(message) {
  console.error(message);
  process.exit(1);
}

function run(path, args) {
  // Newer versions of Node.js replace their process by the program: signals and exit codes are the program's own.
  if (typeof process.execve === "function") {
    try {
      // A process that fails to be replaced is aborted by some versions, so what can be checked is checked first.
      require("node:fs").accessSync(path, require("node:fs").constants.X_OK);
      process.removeAllListeners("warning");
      process.execve(path, ["sayso", ...args], process.env);
    } catch (error) {
      stop(explain(error, path));
    }
  }
  // The handlers exist before the program does: a signal in between would end the launcher alone.
  let child;
  // The terminal sends Ctrl-C to both processes. The program decides what it means.
  for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child = require("node:child_process").spawn(path, args, { stdio: "inherit" });
  child.on("error", (error) => stop(explain(error, path)));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

if (require.main === module) {
  const found = findProgram(`${process.platform}-${process.arch}`, require.resolve);
  if (found.path) run(found.path, process.argv.slice(2));
  else stop(found.message);
}

module.exports = { findProgram, explain };
