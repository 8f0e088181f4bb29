#!/usr/bin/env node
// `sayso-resume ./app.js#resume`: resumes suspended runs with a function of your program.

import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { SaysoError } from "../errors.js";
import { LEASE, nameOf, type Resume, resumeAll } from "./resumer.js";

const HELP = `Waits for decided groups, and resumes their runs one at a time.

Usage: sayso-resume MODULE#FUNCTION [options]

  MODULE#FUNCTION    the function that resumes a run, for example ./app.js#resume
  --name NAME        the runs to resume; by default the name in resumer(…), or the name of the file
  --lease SECONDS    after how many seconds a silent worker counts as lost (${LEASE})
  --once             exit when no run can be resumed
  --help             show this text

The first SIGTERM or SIGINT lets the current run finish. The second one gives it up, and a person decides whether it is resumed again.`;

class UsageError extends Error {}

function read() {
  try {
    const options = {
      name: { type: "string" },
      lease: { type: "string" },
      once: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    } as const;
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function load(place: string): Promise<Resume> {
  const hash = place.lastIndexOf("#");
  const [file, name] = [place.slice(0, hash), place.slice(hash + 1)];
  if (hash < 1 || name === "") throw new UsageError(`${place} has no function. Give it as MODULE#FUNCTION.`);
  let module: Record<string, unknown>;
  try {
    module = await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new UsageError(`Cannot load ${file}: ${(error as Error).message}`);
  }
  const value = module[name];
  if (typeof value !== "function") throw new UsageError(`${file} exports no function with the name ${name}.`);
  return value as Resume;
}

async function main(): Promise<void> {
  const { values, positionals } = read();
  if (values.help) return print(HELP);
  const [place, ...others] = positionals;
  if (place === undefined || others.length > 0)
    throw new UsageError("Give one MODULE#FUNCTION. See sayso-resume --help.");
  const lease = Number(values.lease ?? LEASE);
  if (!Number.isInteger(lease) || lease < 1) throw new UsageError("--lease is a number of seconds.");
  const resume = await load(place);
  const file = place.slice(0, place.lastIndexOf("#"));
  const name = values.name ?? nameOf(resume) ?? basename(file, extname(file));
  const [stop, abort] = [new AbortController(), new AbortController()];
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => (stop.signal.aborted ? abort.abort() : stop.abort()));
  }
  print(`waiting for runs of ${name}`);
  await resumeAll(resume, name, {
    lease,
    once: values.once,
    stop: stop.signal,
    abort: abort.signal,
    report: print,
  });
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

main().then(
  // A run that was given up may still have timers and connections.
  () => process.exit(0),
  (error: unknown) => {
    if (!(error instanceof UsageError || error instanceof SaysoError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
